"""SQLite files of the workspace: opened with a clear message, brought up to date, changed whole or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sightline.errors import UserError


def open_database(path: Path, migrations: Sequence[str], *, any_thread: bool = False) -> sqlite3.Connection:
    """Open a workspace's database in WAL mode, made or brought up to date as needed.

    Script n of `migrations` brings it from version n to n + 1. With `any_thread` the caller sees to it that only one
    thread uses the connection at a time.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=not any_thread)
        database.execute("PRAGMA journal_mode = WAL")
    except (OSError, sqlite3.OperationalError) as error:
        raise UserError(
            f"the workspace {path.parent} can't be written: {error}.", "choose another --workspace"
        ) from None
    except sqlite3.DatabaseError:
        raise UserError(f"{path} is not a Sightline database.", "move it away, or choose another --workspace") from None
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("PRAGMA foreign_keys = ON")
    _migrate(database, path, migrations)
    return database


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All of it, or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


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
