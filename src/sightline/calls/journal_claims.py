"""Who asks what: several processes on one workspace, and no request asked by two of them at once.

A claim is a row in the journal's file, written before the request is sent and taken away together with its answer. Its
owner is a journal that is open, shown by a locked file: the system lets go of the lock when the process ends, whatever
ends it, so that whoever finds a claim of the dead takes it over at once.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sightline.calls.in_flight import InFlightFile, lost_calls
from sightline.calls.journal_tables import INTERRUPTED, LOSE
from sightline.io.locks import HAS_FLOCK, take_lock
from sightline.io.private import private_folder
from sightline.io.sqlite import transaction

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


@dataclass(slots=True)
class ReleasedClaim:
    """A request that is not asked any more."""

    key: bytes
    owner: str


@dataclass(slots=True)
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
    """One open journal, as others see that it lives: a locked file, made when it is first needed.

    The file holds what the journal's process is asking (`in_flight`).
    """

    can_claim = HAS_FLOCK
    "On Windows two processes may ask the same, and a kill leaves no word of what was in flight."

    def __init__(self, workspace: Path) -> None:
        self._folder = workspace / CLAIMS_FOLDER
        self._file: InFlightFile | None = None
        self._name = secrets.token_hex(8)

    @property
    def name(self) -> str:
        """What claims are made under."""
        if self.can_claim:
            self.in_flight()
        return self._name

    def in_flight(self) -> InFlightFile:
        """The file, made if need be; its name comes last, so that nobody ever sees it without its lock."""
        if self._file is None:
            private_folder(self._folder)
            file = InFlightFile(self._folder / f"{_NEW}{self._name}")
            try:
                take_lock(file.fileno(), wait=True)
                file.path = file.path.rename(self._folder / self._name)
            except BaseException:
                file.close()  # Left open, it would hold the lock against our own next try.
                raise
            self._file = file
        return self._file

    @property
    def calls_in_flight(self) -> int:
        return 0 if self._file is None else len(self._file)

    def ended(self, keys: Iterable[bytes], size: int = 0) -> None:
        """The rows of these calls are on disk, or there was nothing to pay."""
        if self._file is not None:
            for key in keys:
                self._file.end(key, size)

    def release_room(self) -> bool:
        """Give back the room on the disk that was set aside; was there any?"""
        return self._file is not None and self._file.release_room()

    def end(self) -> None:
        """Show no more that it lives; safe to call twice."""
        if self._file is not None:
            self._file.close()
            self._file = None


def is_alive(workspace: Path, owner: str) -> bool:
    """Is the journal of that name still open, in whatever process?"""
    try:
        file = (workspace / CLAIMS_FOLDER / owner).open("rb")
    except FileNotFoundError:
        return False
    with file:
        return not take_lock(file, wait=False)


def collect_lost(workspace: Path, database: sqlite3.Connection) -> None:
    """Note in the journal what processes that were killed had in flight: it may have been billed."""
    try:
        left = [path for path in (workspace / CLAIMS_FOLDER).iterdir() if not path.name.startswith(_NEW)]
    except FileNotFoundError:
        return
    for path in left:
        with suppress(FileNotFoundError), path.open("rb") as file:
            if take_lock(file, wait=False):
                with transaction(database):
                    database.executemany(LOSE, [(*call, INTERRUPTED, None) for call in lost_calls(file.fileno())])
                path.unlink(missing_ok=True)
