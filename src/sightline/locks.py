"""One writer for each folder: a second process waits, or does without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows has no flock; there the user sees to it that one process writes.
    fcntl = None

FILE_NAME = "lock"


@contextmanager
def locked(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Is the folder ours to write? With `wait` it is, sooner or later; a process that ends lets go of it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FILE_NAME).open("ab") as file:
        yield fcntl is None or _taken(fcntl, file.fileno(), wait)


def _taken(locks: ModuleType, file: int, wait: bool) -> bool:
    try:
        locks.flock(file, locks.LOCK_EX if wait else locks.LOCK_EX | locks.LOCK_NB)
    except BlockingIOError:
        return False
    return True
