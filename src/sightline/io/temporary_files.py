"""Temporary files and folders beside what they will replace, and the removal of those that killed writers left."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from sightline.errors import explained
from sightline.io.locks import HAS_FLOCK, take_lock

_UNFINISHED, _LOCK = ".tmp", ".lock"
_NAME = re.compile(rf"\.sightline-[0-9a-f]{{16}}(?:{_UNFINISHED}|{_LOCK})")


def is_temporary(name: str) -> bool:
    """Is this the name of something that a killed writer leaves behind?"""
    return _NAME.fullmatch(name) is not None


def name_beside(target: Path) -> Path:
    """A new name beside `target`, for what will take its place."""
    return target.with_name(f".sightline-{secrets.token_hex(8)}{_UNFINISHED}")


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, removed when the block ends unless it was moved; those of dead writers go first."""
    with ExitStack() as stack:
        with explained(f"{target} can't be written", "choose another place"):
            target.parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(target.parent)
            fresh = stack.enter_context(_claimed_beside(target))
            fresh.mkdir()
        try:
            yield fresh
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def remove_abandoned(parent: Path) -> None:
    """Remove the folders in `parent` whose writers are dead; one without a lock of ours is not known to be so."""
    if not HAS_FLOCK:
        return
    with suppress(OSError):  # What can't be listed or removed stays, and stops nobody.
        with os.scandir(parent) as entries:
            locks = [Path(entry) for entry in entries if is_temporary(entry.name) and entry.name.endswith(_LOCK)]
        for lock in locks:
            _remove_if_abandoned(lock)


def remove_temporary_files(folder: Path) -> None:
    """Remove what killed writers left in a folder that nobody else writes to now."""
    remove_abandoned(folder)
    for entry in folder.iterdir():
        if is_temporary(entry.name) and entry.suffix == _UNFINISHED and entry.is_file():
            entry.unlink()


@contextmanager
def _claimed_beside(target: Path) -> Iterator[Path]:
    """A name for a new folder; a locked file beside it, which its writer's end unlocks, tells others that it lives."""
    if not HAS_FLOCK:
        yield name_beside(target)
        return
    fresh, lock = _claim(target)
    with lock:
        try:
            yield fresh
        finally:
            fresh.with_suffix(_LOCK).unlink(missing_ok=True)


def _claim(target: Path) -> tuple[Path, IO[bytes]]:
    while True:
        fresh = name_beside(target)
        path = fresh.with_suffix(_LOCK)
        lock = path.open("xb")
        if _is_free(lock, otherwise=True) and path.exists():
            return fresh, lock
        lock.close()  # Between its making and its locking somebody took it for a dead writer's: once more.


def _remove_if_abandoned(path: Path) -> None:
    if path.is_symlink() or not path.is_file():
        return
    fresh = path.with_suffix(_UNFINISHED)
    with suppress(OSError), path.open("r+b") as lock:
        if _is_free(lock, otherwise=False):
            shutil.rmtree(fresh, ignore_errors=True)
            if not os.path.lexists(fresh):
                path.unlink(missing_ok=True)


def _is_free(lock: IO[bytes], *, otherwise: bool) -> bool:
    """Could the lock be taken, which then is ours? `otherwise` is the answer of a file system that has none."""
    try:
        return take_lock(lock, wait=False)
    except OSError:
        return otherwise
