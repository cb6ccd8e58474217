"""The folder of a training: one process writes there at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.errors import UserError
from sightline.locks import locked


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Hold the folder until the block ends, or refuse it if another training does; a killed one lets go of it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{out}: no folder can be made here: {error.strerror}.", "choose another --out") from None
    with locked(out, wait=False) as ours:
        if not ours:
            raise UserError(
                f"{out}: another training writes here at this moment.", "wait for its end, or choose another --out"
            )
        yield
