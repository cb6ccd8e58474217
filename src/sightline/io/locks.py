"""File locks: one writer for each folder; a second process waits, or goes on without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO

from sightline.io.private import private_folder

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows has no flock; there the user sees to it that one process writes.
    fcntl = None

LOCK_FILE = "lock"
CAN_LOCK = fcntl is not None


@contextmanager
def locked(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Is the folder ours to write? With `wait` it is, sooner or later; a process that ends lets go of it."""
    private_folder(folder)
    with (folder / LOCK_FILE).open("ab") as file:
        yield take_lock(file, wait=wait)


def take_lock(file: IO[bytes] | int, *, wait: bool) -> bool:
    """Is an open file's lock ours, until it is closed or the process ends? Always where there are no locks."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
