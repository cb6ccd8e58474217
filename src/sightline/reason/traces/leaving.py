"""Rows that leave their shards: the files are written again without them, and the index forgets them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sightline.reason.traces.index import Index
from sightline.reason.traces.prints import bands_of
from sightline.reason.traces.reading import records_of

Write: TypeAlias = Callable[[str, Sequence[Mapping[str, Any]]], int]
"""Writes the records of a file of the folder, and says how large it is; `Shards.write`."""
_PRINTS = """SELECT id, value FROM prints
    WHERE trace IN (SELECT row || ':' || (place + 1) FROM outcomes WHERE row IN leaving)"""
_FORGET = """
DELETE FROM outcomes WHERE row IN leaving;
DELETE FROM rows WHERE id IN leaving;
DELETE FROM shards WHERE number NOT IN (SELECT shard FROM rows)
"""


def take_out(index: Index, folder: Path, write: Write, ids: Collection[str], damaged: Collection[int] = ()) -> None:
    """Rows leave, and all of `damaged` shards with their files; in a change of the index that the caller began.

    Killed before its end, the files have other sizes than the index says: the next run makes them again.
    """
    database = index.database
    database.execute("CREATE TEMP TABLE IF NOT EXISTS leaving (id TEXT PRIMARY KEY)")
    database.execute("DELETE FROM leaving")
    database.executemany("INSERT INTO leaving VALUES (?)", ((id_,) for id_ in ids))
    touched = {shard for (shard,) in database.execute("SELECT DISTINCT shard FROM rows WHERE id IN leaving")}
    for number in sorted(touched.difference(damaged)):
        _write_without(index, folder, write, number, ids)
    for number in damaged:
        database.execute("INSERT OR IGNORE INTO leaving SELECT id FROM rows WHERE shard = ?", (number,))
        for file in _files(index, number):
            (folder / file).unlink(missing_ok=True)
        database.execute("DELETE FROM files WHERE shard = ?", (number,))
    _forget_prints(index)
    for statement in _FORGET.split(";"):
        database.execute(statement)


def _write_without(index: Index, folder: Path, write: Write, number: int, ids: Collection[str]) -> None:
    """The files of a shard again, without some rows."""
    for file in _files(index, number):
        records = [record for record in records_of(folder / file) if record["id"] not in ids]
        size = write(file, records)
        if size:
            index.database.execute("UPDATE files SET bytes = ? WHERE path = ?", (size, file))
        else:
            index.database.execute("DELETE FROM files WHERE path = ?", (file,))
        index.database.execute("UPDATE shards SET rows = ? WHERE file = ?", (len(records), file))


def _forget_prints(index: Index) -> None:
    found = index.database.execute(_PRINTS).fetchall()
    bands = ((band, id_) for id_, print_ in found for band in bands_of(print_))
    index.database.executemany("DELETE FROM bands WHERE band = ? AND print = ?", bands)
    index.database.executemany("DELETE FROM prints WHERE id = ?", ((id_,) for id_, _ in found))


def _files(index: Index, number: int) -> list[str]:
    return [path for (path,) in index.database.execute("SELECT path FROM files WHERE shard = ?", (number,))]
