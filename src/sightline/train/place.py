"""The folder of a training: one process writes there at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from sightline.errors import UserError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows has no flock; there the user sees to it that one training writes.
    fcntl = None

_LOCK = "lock"


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Hold the folder until the block ends, or refuse it if another training does; a killed one lets go of it."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / _LOCK).open("ab") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(
                    f"{out}: another training writes here at this moment.", "wait for its end, or choose another --out"
                ) from None
        yield
