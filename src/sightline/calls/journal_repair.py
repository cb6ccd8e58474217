"""Damage to the journal: found by the rows' checksums, set aside, and repaired.

A damaged row answers nothing: it moves to the table `lost`, where the ledger counts it as paid at an unknown price, and
its request is asked again. `repair_journal` writes a new file of all that can be read, and keeps the old one beside it.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sightline.calls.journal_claims import CLAIMS_FOLDER, is_alive
from sightline.calls.journal_tables import (
    DAMAGED,
    INSERT,
    JOURNAL_FILE,
    LOSE,
    MIGRATIONS,
    DamagedRowError,
    from_row,
    hits_are_sound,
)
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import link_or_copy
from sightline.io.sqlite import DATABASE_FAULTS, is_damage, open_database, transaction

REPAIR = "Run `sightline ledger --verify` to see what is damaged, and `sightline ledger --repair` to keep all the rest."
_OTHER_TABLES = ("hits", "batches", "batch_results", "told", "lost")
_CHUNK = 10_000
_IDS = "SELECT id FROM calls WHERE key = ? AND reusable = 1 ORDER BY id DESC"
_UNKNOWN = (None, "unknown", None, "unknown")

_log = logging.getLogger(__name__)


def set_aside_damaged(database: sqlite3.Connection, path: Path, key: bytes, error: Exception) -> None:
    """Move the damaged rows of one request to `lost`, and say which; an `error` that is no damage is raised again."""
    if not isinstance(error, DamagedRowError) and not is_damage(error):
        raise error
    found = set(error.args) if isinstance(error, DamagedRowError) else set()
    with transaction(database):
        database.execute("REINDEX calls_by_key")  # It may be what is damaged; else it would still name the row.
        for number in found.union(number for (number,) in database.execute(_IDS, (key,))):
            if _sound_row(database, number) is None:
                _lose(database, number)
                _log.warning("%s: row %s is damaged; its request is asked again", path, f"{number:,}")


@dataclass(frozen=True, slots=True)
class JournalCheck:
    """What a look at every row and page found; `damaged` are the numbers of rows."""

    path: Path
    rows: int
    unchecked: int
    damaged: tuple[int, ...]
    fault: str | None
    kept_as: Path | None = None

    @property
    def is_sound(self) -> bool:
        return not self.damaged and self.fault is None

    def to_dict(self) -> dict[str, Any]:
        kept = None if self.kept_as is None else str(self.kept_as)
        return asdict(self) | {"path": str(self.path), "kept_as": kept, "sound": self.is_sound}

    def __str__(self) -> str:
        """What was found, and what to do."""
        old = f" {counted(self.unchecked, 'row')} of an older version had no checksum." if self.unchecked else ""
        if self.is_sound:
            return f"{self.path}: {counted(self.rows, 'row')}, nothing is damaged.{old}"
        shown = ", ".join(f"{number:,}" for number in self.damaged[:20]) + (" …" if len(self.damaged) > 20 else "")
        rows = f" Damaged rows: {shown}." if self.damaged else ""
        fault = f" SQLite says: {self.fault}." if self.fault else ""
        end = REPAIR if self.kept_as is None else f"Repaired; the file as it was is {self.kept_as}."
        paid = " They count as paid at an unknown price, and are asked again when needed." if self.kept_as else ""
        return f"{self.path}: {counted(self.rows, 'sound row')}.{rows}{fault}{old}\n  {end}{paid}"


def verify_journal(workspace: Path) -> JournalCheck:
    """Look at every page and every row of a workspace's journal; nothing is changed."""
    path = _existing(workspace)
    with suppress(UserError, *DATABASE_FAULTS):  # Brought up to date where that can be.
        open_database(path, MIGRATIONS, existing=True).close()
    with closing(_read_only(path)) as database:
        fault = _fault(database)
        sound, unchecked, damaged = 0, 0, []
        for number, row in _rows(database):
            sound += row is not None
            unchecked += row is not None and row[-1] is None
            if row is None:
                damaged.append(number)
    return JournalCheck(path, sound, unchecked, tuple(damaged), fault)


def repair_journal(workspace: Path) -> JournalCheck:
    """Keep all that can be read of a damaged journal in a new file, and the old one under another name."""
    check = verify_journal(workspace)
    if check.is_sound:
        return check
    _refuse_while_open(workspace)
    path, fresh = check.path, check.path.with_name("journal.repaired.sqlite")
    _remove(fresh)
    with closing(_read_only(path)) as old, closing(open_database(fresh, MIGRATIONS)) as new:
        _copy_calls(old, new)
        for table in _OTHER_TABLES:
            _copy_table(table, old, new)
        new.execute("PRAGMA journal_mode = DELETE")  # All of it in one file, which can be moved.
    kept = path.with_name(time.strftime("journal.damaged-%Y%m%d-%H%M%S.sqlite"))
    link_or_copy(path, kept)
    fresh.replace(path)
    _remove(path, keep=True)
    return JournalCheck(path, check.rows, check.unchecked, check.damaged, check.fault, kept)


def explain(path: Path, error: Exception) -> UserError:
    """An error of the journal's file, with what to do about it."""
    if not isinstance(error, sqlite3.OperationalError) or is_damage(error) or "user-defined function" in str(error):
        return UserError(f"{path} is damaged: {error}.", REPAIR)
    return UserError(f"{path} can't be read: {error}.", "Check its disk, or choose another --workspace.")


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _existing(workspace: Path) -> Path:
    path = workspace / JOURNAL_FILE
    if not path.is_file():
        raise UserError(f"There is no journal in {workspace}: no model was asked there.", "Give another --workspace.")
    return path


def _remove(path: Path, *, keep: bool = False) -> None:
    """A database with the files that SQLite keeps beside it; with `keep` only those."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm")[keep:]:
        path.with_name(name).unlink(missing_ok=True)


def _refuse_while_open(workspace: Path) -> None:
    folder = workspace / CLAIMS_FOLDER
    if folder.is_dir() and any(is_alive(workspace, path.name) for path in folder.iterdir()):
        raise UserError(f"Another process is asking models in {workspace}.", "Repair the journal when it has ended.")


def _fault(database: sqlite3.Connection) -> str | None:
    """What SQLite finds wrong with the pages; None: nothing."""
    try:
        (said,) = database.execute("PRAGMA integrity_check(1)").fetchone()
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            return "the file is empty"
        sound = hits_are_sound(database)
    except DATABASE_FAULTS as error:
        return str(error)
    if said != "ok":
        return " ".join(said.split())
    return None if sound else "the counts of reused replies are not what was written"


def _rows(database: sqlite3.Connection) -> Iterator[tuple[int, tuple[Any, ...] | None]]:
    """Every row of `calls` by its number, None where it is damaged; a page that can't be read is passed over."""
    last, unread = 0, list[int]()
    while len(unread) < _CHUNK:
        try:
            for (number,) in database.execute("SELECT id FROM calls NOT INDEXED WHERE id > ? ORDER BY id", (last,)):
                yield from ((one, None) for one in unread)
                unread.clear()
                yield number, _sound_row(database, number)
                last = number
            break
        except DATABASE_FAULTS:
            last += 1
            unread.append(last)
    if unread:  # How many there were after that is not known: one stands for all.
        yield unread[0], None


def _sound_row(database: sqlite3.Connection, number: int) -> tuple[Any, ...] | None:
    """A row of `calls`, unless it is damaged."""
    try:
        row: tuple[Any, ...] | None = database.execute("SELECT * FROM calls WHERE id = ?", (number,)).fetchone()
        if row is not None:
            from_row(row)
    except (*DATABASE_FAULTS, DamagedRowError):
        return None
    return row


def _lose(database: sqlite3.Connection, number: int) -> None:
    """Only the reply is kept as it is: no other column of the row can be trusted."""
    database.execute(LOSE, (*_UNKNOWN, time.time(), DAMAGED, None))
    keep = "UPDATE lost SET reply = (SELECT reply FROM calls WHERE id = ?) WHERE rowid = last_insert_rowid()"
    database.execute(keep, (number,))
    database.execute("DELETE FROM calls WHERE id = ?", (number,))


def _copy_calls(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    rows = _rows(old)
    insert = INSERT.replace("NULL", "?", 1).replace("INSERT", "INSERT OR IGNORE", 1)
    while part := list(islice(rows, _CHUNK)):
        with transaction(new):
            kept = new.executemany(insert, [row for _, row in part if row is not None]).rowcount
            # A row that stands twice, as where a page was written over another, is one in the place of a lost one.
            new.executemany(LOSE, [(*_UNKNOWN, time.time(), DAMAGED, None)] * (len(part) - max(0, kept)))


def _copy_table(table: str, old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    rows: list[tuple[Any, ...]] = []
    with suppress(*DATABASE_FAULTS):  # What can't be read of these tables is not needed to go on.
        if table != "hits" or hits_are_sound(old):
            rows.extend(old.execute(f"SELECT * FROM {table}"))
    if rows:
        with transaction(new):
            marks = ", ".join("?" * len(rows[0]))
            new.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)
