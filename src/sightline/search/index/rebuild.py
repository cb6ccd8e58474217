"""An index from nothing: all its files are put aside, but what only they hold is carried over where it can be read."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

from sightline.search.columns.files import FILE_NAME as COLUMNS
from sightline.search.index.damage import FILE_NAME as TABLE
from sightline.search.index.table import Table
from sightline.search.threshold import FILE_NAME as THRESHOLD

_log = logging.getLogger(__name__)
_ASIDE = "before.sqlite"
_KEPT = ("annotations", "seen_words")
"""What was said of pictures, and the words that were read in them: both may come from nowhere else."""


def put_aside(folder: Path) -> None:
    """Take away rows, columns and threshold; the table waits for `carry_over`, also after a kill."""
    if (folder / TABLE).is_file() and not (folder / _ASIDE).is_file():
        for ending in ("-wal", ""):  # The table last: then its log has the new name already.
            if (folder / f"{TABLE}{ending}").is_file():
                (folder / f"{TABLE}{ending}").replace(folder / f"{_ASIDE}{ending}")
    for name in (TABLE, f"{TABLE}-wal", f"{TABLE}-shm", COLUMNS, THRESHOLD):
        (folder / name).unlink(missing_ok=True)


def carry_over(folder: Path, table: Table) -> None:
    """Take what only the old table holds into the new one; what can't be read is said."""
    aside = folder / _ASIDE
    if not aside.is_file():
        return
    try:
        _copy(aside, table)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
            raise  # A full disk is no damage: it waits for the next time.
        _log.warning("what was said of the pictures can't be read (%s): give it again, with --annotations", error)
    for ending in ("", "-wal", "-shm"):
        (folder / f"{_ASIDE}{ending}").unlink(missing_ok=True)


def _copy(aside: Path, table: Table) -> None:
    table.database.execute("ATTACH ? AS before", (str(aside),))
    try:
        with table.transaction():
            for name in _KEPT:
                table.database.execute(f"INSERT OR IGNORE INTO {name} SELECT * FROM before.{name}")
    finally:
        table.database.execute("DETACH before")
