"""SQLite files of the workspace: opened with a clear message, migrated, and changed whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Self

from sightline.errors import StorageError, UserError
from sightline.io.private import private_file, private_folder
from sightline.io.temporary_files import name_beside

MOVE_AWAY = "move it away, or choose another --workspace"
DATABASE_FAULTS = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged database may raise; the latter, when what SQLite says of it is not text."""
_MAKE_ROOM = "make room on its disk, and run it again"
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class ReadOnlyError(StorageError):
    """A database that can be read was to be written."""


def error_kind(error: BaseException) -> int:
    """Of which kind an error of SQLite is: the part of its code that says so; 0 where it has none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Is the file's content wrong, and not the disk under it? Python finds text that is not UTF-8, without a code."""
    is_text = isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in str(error)
    return is_text or error_kind(error) in _DAMAGE


def open_database(
    path: Path,
    migrations: Sequence[str],
    *,
    any_thread: bool = False,
    reading: bool = False,
    existing: bool = False,
    fix: str = MOVE_AWAY,
) -> sqlite3.Connection:
    """Open a workspace's database in WAL mode, made or brought up to date as needed.

    Script n of `migrations` brings it from version n to n + 1. With `any_thread` the caller sees to it that only one
    thread uses the connection at a time. With `reading` one that can't be written is opened all the same, and a
    `transaction` on it is refused. With `existing` a file that is there and holds no tables is damaged, and
    is not filled with empty ones. `fix` is what to do when the file is damaged.
    """
    was_there = path.exists()
    try:
        private_folder(path.parent)
        if not was_there:
            _create(path, migrations)
        database = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=not any_thread)
        database.execute("PRAGMA journal_mode = WAL")
    except (OSError, sqlite3.OperationalError) as error:
        if reading and path.is_file():
            return read_database(path, len(migrations), any_thread=any_thread)
        fix = _MAKE_ROOM if error_kind(error) in _NO_ROOM else "choose another --workspace"
        raise StorageError(f"the workspace {path.parent} can't be written: {error}.", fix) from None
    except DATABASE_FAULTS:
        raise StorageError(f"{path} is not a Sightline database.", fix) from None
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("PRAGMA foreign_keys = ON")
    try:
        if existing and was_there and database.execute("PRAGMA user_version").fetchone()[0] == 0:
            database.close()
            raise StorageError(f"{path} is damaged: it is empty.", fix)
        _migrate(database, path, migrations)
    except DATABASE_FAULTS as error:
        database.close()
        if error_kind(error) in _NO_ROOM:
            raise StorageError(f"{path} can't be written: {error}.", _MAKE_ROOM) from error
        if not is_damage(error) and "already exists" not in str(error) and "duplicate column" not in str(error):
            raise
        raise StorageError(f"{path} is damaged: {error}.", fix) from error
    return database


def quick_check(database: sqlite3.Connection) -> None:
    """Look at every page of a database; what is wrong is raised as SQLite would."""
    (said,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise sqlite3.DatabaseError(" ".join(said.split()))


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All of it, or nothing; a `ReadOnlyError` where the database can't be written."""
    try:
        database.execute("BEGIN IMMEDIATE")
        try:
            yield
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:  # After some faults SQLite has undone it all by itself.
                database.execute("ROLLBACK")
            raise
    except sqlite3.OperationalError as error:
        if error_kind(error) != sqlite3.SQLITE_READONLY:
            raise
        raise ReadOnlyError("the workspace can't be written: it is read-only.", "choose another --workspace") from None


class Database:
    """What stands on an open database, and closes it at the end of a `with` block; notes where it has that table."""

    database: sqlite3.Connection

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def transaction(self) -> AbstractContextManager[None]:
        return transaction(self.database)

    def note(self, key: str) -> str | None:
        found = self.database.execute("SELECT value FROM notes WHERE key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def set_note(self, key: str, value: str) -> None:
        self.database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, value))


def _create(path: Path, migrations: Sequence[str]) -> None:
    """Make a database that appears whole: whoever finds an empty one knows that it is damaged."""
    fresh = name_beside(path)
    private_file(fresh)
    try:
        with closing(sqlite3.connect(fresh, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            _migrate(database, path, migrations)
        try:
            os.link(fresh, path)
        except OSError:  # Another process was faster, or the file system has no hard links.
            if not path.exists():
                fresh.rename(path)
    finally:
        fresh.unlink(missing_ok=True)


def read_database(
    path: Path, version: int, *, any_thread: bool = False, fix: str = "choose another --workspace"
) -> sqlite3.Connection:
    """Open a database that nothing writes to, and write nothing beside it.

    It is read without the files that WAL keeps, unless a stopped writer left its last words in them.
    """
    is_whole = not path.with_name(f"{path.name}-wal").exists()
    address = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_whole else ''}"
    try:
        database = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=not any_thread)
        found = database.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise StorageError(
            f"{path} can't be read: {error}.", _MAKE_ROOM if error_kind(error) in _NO_ROOM else fix
        ) from None
    if found != version:
        raise UserError(
            f"{path} is of another version of Sightline (schema {found}, not {version}) and can't be written.",
            f"{fix}, or let this account write there once",
        )
    return database


def _migrate(database: sqlite3.Connection, path: Path, migrations: Sequence[str]) -> None:
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > len(migrations):
        raise UserError(
            f"{path} was written by a newer Sightline (schema {version}; this one knows up to {len(migrations)}).",
            "pip install --upgrade sightline",
        )
    for number in range(version, len(migrations)):
        with transaction(database):
            if database.execute("PRAGMA user_version").fetchone()[0] == number:  # Nobody was faster.
                for statement in migrations[number].split(";"):
                    database.execute(statement)
                database.execute(f"PRAGMA user_version = {number + 1}")
