"""Who asks what: several processes on one workspace, and no request asked by two of them at once.

A claim is a row in the journal's file, written before the request is sent and taken away together with its answer. Its
owner is a journal that is open, shown by a locked file: the system lets go of the lock when the process ends, whatever
ends it, so that whoever finds a claim of the dead takes it over at once.
"""

from __future__ import annotations

import secrets
import sqlite3
from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path
from typing import TypeAlias

try:
    import fcntl
except ImportError:  # Windows has no flock: there two processes may ask the same.
    fcntl = None  # type: ignore[assignment]

FOLDER = "asking"
_NEW = ".new-"
_CLAIM = """INSERT OR IGNORE INTO claims SELECT ?, ?
    WHERE NOT EXISTS (SELECT 1 FROM calls WHERE key = ? AND reusable = 1)"""


@dataclass(slots=True)
class Claim:
    """A request that is to be asked; once written, `is_ours` unless another asks it or it is answered."""

    key: bytes
    owner: str
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """A request that is not asked any more."""

    key: bytes
    owner: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """An owner that asks nothing any more."""

    owner: str


ClaimEntry: TypeAlias = Claim | Left | Forgotten


def write_claim(database: sqlite3.Connection, entry: ClaimEntry) -> None:
    """Make or end a claim inside a transaction of the writer."""
    match entry:
        case Claim(key, owner):
            entry.is_ours = database.execute(_CLAIM, (key, owner, key)).rowcount == 1
        case Left(key, owner):
            database.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, owner))
        case Forgotten(owner):
            database.execute("DELETE FROM claims WHERE owner = ?", (owner,))


class Owner:
    """One open journal, as others see that it lives: a locked file, made when it is first needed."""

    can_claim = fcntl is not None

    def __init__(self, workspace: Path) -> None:
        self._folder = workspace / FOLDER
        self._file: BufferedWriter | None = None
        self._name = secrets.token_hex(8)

    @property
    def name(self) -> str:
        """What claims are made under."""
        if self._file is None and fcntl is not None:
            self._file = self._begin()
        return self._name

    def end(self) -> None:
        """Show no more that it lives; safe to call twice."""
        if self._file is not None:
            (self._folder / self._name).unlink(missing_ok=True)
            self._file.close()
            self._file = None

    def _begin(self) -> BufferedWriter:
        self._folder.mkdir(exist_ok=True)
        for path in self._folder.iterdir():  # What was killed left its file behind.
            if not path.name.startswith(_NEW):
                _is_locked(path)
        new = self._folder / f"{_NEW}{self._name}"
        file = new.open("wb")
        fcntl.flock(file, fcntl.LOCK_EX)
        new.rename(self._folder / self._name)  # Nobody ever sees it without its lock.
        return file


def is_alive(workspace: Path, owner: str) -> bool:
    """Is the journal of that name still open, in whatever process?"""
    return _is_locked(workspace / FOLDER / owner)


def _is_locked(path: Path) -> bool:
    """Does somebody hold the lock? If not, the file is of no use, and goes."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
