"""Python as on a system without `fcntl`, `O_DIRECTORY`, `poll`, links and the like: put this folder on PYTHONPATH.

Processes that are started from there are like it. `msvcrt` stands in for the module of that name on Windows.
"""

from __future__ import annotations

import fcntl
import os
import select
import subprocess  # noqa: F401  # It takes a system with msvcrt for Windows, were it imported later.
import sys
from types import ModuleType
from typing import Any

_flock, _EXCLUSIVE = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB


def _locking(file: int, mode: int, count: int) -> None:
    """As Windows does: nobody can read what is locked, so that must not be a byte that the file has."""
    assert mode == 2 and count == 1
    if os.lseek(file, 0, os.SEEK_CUR) < os.fstat(file).st_size:
        raise AssertionError("a byte of the file is locked: others can't read it on Windows")
    try:
        _flock(file, _EXCLUSIVE)
    except BlockingIOError:
        raise PermissionError(13, "Permission denied") from None


def _no_link(*_: object, **__: object) -> None:
    raise OSError(1, "Operation not permitted")


def take_away() -> None:
    """What not every system has."""
    msvcrt: Any = ModuleType("msvcrt")
    msvcrt.locking, msvcrt.LK_NBLCK = _locking, 2
    sys.modules["msvcrt"] = msvcrt
    sys.modules["fcntl"] = None  # type: ignore[assignment]
    for module, names in (
        (os, "O_DIRECTORY posix_fallocate pread pwrite nice killpg sched_getaffinity"),
        (select, "poll"),
    ):
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    os.link = os.symlink = _no_link


take_away()
