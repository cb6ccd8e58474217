"""Who asks what: several processes on one workspace, and no request asked by two of them at once.

A claim is a row in the journal's file, written before the request is sent and taken away together with its answer. Its
owner is a journal that is open, shown by a locked file: the system lets go of the lock when the process ends, whatever
ends it, so that whoever finds a claim of the dead takes it over at once.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path
from typing import TypeAlias

from sightline.io.locks import CAN_LOCK, take_lock

CLAIMS_FOLDER = "asking"
_NEW = ".new-"
_CLAIM = """INSERT OR IGNORE INTO claims SELECT ?, ?
    WHERE NOT EXISTS (SELECT 1 FROM calls WHERE key = ? AND reusable = 1)"""
_LEAVE = "DELETE FROM claims WHERE key = ? AND owner = ?"


@dataclass(slots=True)
class RequestClaim:
    """A request that is to be asked; once written, `is_ours` unless another asks it or it is answered."""

    key: bytes
    owner: str
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class ReleasedClaim:
    """A request that is not asked any more."""

    key: bytes
    owner: str


@dataclass(frozen=True, slots=True)
class ForgottenOwner:
    """An owner that asks nothing any more."""

    owner: str


ClaimEntry: TypeAlias = RequestClaim | ReleasedClaim | ForgottenOwner


def write_claims(database: sqlite3.Connection, entries: Sequence[ClaimEntry]) -> None:
    """Make and end claims, in this order, inside a transaction of the writer."""
    claims = [entry for entry in entries if isinstance(entry, RequestClaim)]
    left = [(entry.key, entry.owner) for entry in entries if isinstance(entry, ReleasedClaim)]
    # Each key once: then the order does not matter, and many are written at a time, which takes half as long.
    if len({*(claim.key for claim in claims), *(key for key, _ in left)}) == len(entries):
        database.executemany(_LEAVE, left)
        made = database.executemany(_CLAIM, [(claim.key, claim.owner, claim.key) for claim in claims]).rowcount
        ours = None if made == len(claims) else _held(database, claims)
        for claim in claims:
            claim.is_ours = ours is None or (claim.key, claim.owner) in ours
    else:
        for entry in entries:
            _write_one(database, entry)


def _held(database: sqlite3.Connection, claims: Sequence[RequestClaim]) -> set[tuple[bytes, str]]:
    """Who holds what is claimed."""
    find = "SELECT owner FROM claims WHERE key = ?"
    found = ((claim.key, database.execute(find, (claim.key,)).fetchone()) for claim in claims)
    return {(key, row[0]) for key, row in found if row is not None}


def _write_one(database: sqlite3.Connection, entry: ClaimEntry) -> None:
    match entry:
        case RequestClaim(key, owner):
            entry.is_ours = database.execute(_CLAIM, (key, owner, key)).rowcount == 1
        case ReleasedClaim(key, owner):
            database.execute(_LEAVE, (key, owner))
        case ForgottenOwner(owner):
            database.execute("DELETE FROM claims WHERE owner = ?", (owner,))


class JournalOwner:
    """One open journal, as others see that it lives: a locked file, made when it is first needed."""

    can_claim = CAN_LOCK
    "Without locks two processes may ask the same."

    def __init__(self, workspace: Path) -> None:
        self._folder = workspace / CLAIMS_FOLDER
        self._file: BufferedWriter | None = None
        self._name = secrets.token_hex(8)

    @property
    def name(self) -> str:
        """What claims are made under."""
        if self._file is None and self.can_claim:
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
        take_lock(file, wait=True)
        new.rename(self._folder / self._name)  # Nobody ever sees it without its lock.
        return file


def is_alive(workspace: Path, owner: str) -> bool:
    """Is the journal of that name still open, in whatever process?"""
    return _is_locked(workspace / CLAIMS_FOLDER / owner)


def _is_locked(path: Path) -> bool:
    """Does somebody hold the lock? If not, the file is of no use, and goes."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return False
    with file:
        if not take_lock(file, wait=False):
            return True
        path.unlink(missing_ok=True)
    return False
