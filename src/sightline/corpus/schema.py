"""The workspace's database: its tables, version by version. Documented for other readers in docs/workspace.md."""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from sightline.errors import UserError
from sightline.io.sqlite import DATABASE_FAULTS, MOVE_AWAY, is_damage, open_database, quick_check

FILE_NAME = "corpus.sqlite"

MIGRATIONS = ("schema_1.sql", "schema_2.sql", "schema_3.sql")
"""Script n brings a database from version n to n + 1; never edit one that has been released."""


SEALED_ROWS = """SELECT p.*, f.path AS file_path, r.path AS root_path
    FROM pictures AS p LEFT JOIN files AS f ON f.id = p.file LEFT JOIN roots AS r ON r.id = f.root"""
"""Pictures with where they lie; where that is damaged, too, they are there, and not sound."""
_SMALL = 1 << 24
"""Bytes of a database whose pages are all looked at when it is opened: some hundredths of a second."""
SCAN_AGAIN = (
    "Scan its folders again: sightline scan FOLDER sets the damaged file aside and makes a new one. Metadata that was "
    "given with --metadata has to be given again."
)


class DamagedCorpusError(UserError):
    """The corpus is not what was written."""


def connect(workspace: Path, *, reading: bool = False) -> sqlite3.Connection:
    """Open the workspace's database, made or brought up to date as needed; to be read only, where `reading` will do."""
    scripts = [Path(__file__).with_name(name).read_text("utf-8") for name in MIGRATIONS]
    path = workspace / FILE_NAME
    try:
        database = open_database(path, scripts, reading=reading, existing=True, fix=SCAN_AGAIN)
        if path.stat().st_size <= _SMALL:
            quick_check(database)
    except UserError as error:
        raise DamagedCorpusError(error.message, error.fix) if error.fix == SCAN_AGAIN else error from None
    except DATABASE_FAULTS as error:
        if isinstance(error, sqlite3.OperationalError) and not is_damage(error):  # A lock, or the disk.
            raise
        raise DamagedCorpusError(f"{path} is damaged: {error}.", SCAN_AGAIN) from error
    return database


def set_aside(workspace: Path) -> Path:
    """Give a damaged database another name; a new one takes its place."""
    path = workspace / FILE_NAME
    with path.open("rb") as file:
        if file.read(16) not in (b"", b"SQLite format 3\0"):  # It may be anything, and somebody else's.
            raise UserError(f"{path} is not a Sightline database.", MOVE_AWAY)
    aside = path.with_name(time.strftime("corpus.damaged-%Y%m%d-%H%M%S.sqlite"))
    path.rename(aside)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return aside


def row_checksum(row: Sequence[Any]) -> int:
    """CRC-32 of a row of `SEALED_ROWS`, without the column that holds it."""
    return zlib.crc32(orjson.dumps((*row[:-3], *row[-2:]), default=bytes.hex))


def is_sound(row: Sequence[Any]) -> bool:
    """Is a row of `SEALED_ROWS` what was written? Of one without a checksum it is not known."""
    return row[-2] is not None and row[-1] is not None and (row[-3] is None or row[-3] == row_checksum(row))
