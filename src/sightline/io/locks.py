"""File locks: one writer for each folder; a second process waits, or goes on without it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from sightline.io.private import private_folder

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

LOCK_FILE = "lock"
HAS_FLOCK = fcntl is not None
"""May a locked file be renamed or removed, and handed to a child? On Windows it may not."""
_FAR = (1 << 31) - 2
"Where Windows locks a byte: nobody can read or write locked bytes there, so it is one that hardly any file has."
_TICK_SECONDS = 0.05


@contextmanager
def locked(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Is the folder ours to write? With `wait` it is, sooner or later; a process that ends lets go of it."""
    private_folder(folder)
    with (folder / LOCK_FILE).open("ab") as file:
        yield take_lock(file, wait=wait)


def take_lock(file: IO[bytes] | int, *, wait: bool) -> bool:
    """Is an open file's lock ours, until it is closed or the process ends?"""
    if fcntl is None:
        return _lock_far_byte(file if isinstance(file, int) else file.fileno(), wait=wait)
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_far_byte(file: int, *, wait: bool) -> bool:
    system: Any = import_module("msvcrt")  # Its types are there on Windows alone.
    place = os.lseek(file, 0, os.SEEK_CUR)
    try:
        while True:
            os.lseek(file, _FAR, os.SEEK_SET)
            try:
                system.locking(file, system.LK_NBLCK, 1)
                return True
            except PermissionError:
                if not wait:
                    return False
            time.sleep(_TICK_SECONDS)
    finally:
        os.lseek(file, place, os.SEEK_SET)
