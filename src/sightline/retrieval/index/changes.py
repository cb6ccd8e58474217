"""What changed since the index was built: one transaction that brings rows and words up to date.

For an index from nothing all its files are put aside, and what only they hold is carried over where it can be read.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

from sightline.retrieval.bm25 import words_of
from sightline.retrieval.columns.files import FILE_NAME as COLUMNS
from sightline.retrieval.index.content import Content, absolute, local_path
from sightline.retrieval.index.table import FILE_NAME as TABLE
from sightline.retrieval.index.table import (
    IndexTable,
    KnownPicture,
    dump_annotation,
    dump_picture,
    load_annotation,
    sealed,
)
from sightline.retrieval.threshold import FILE_NAME as THRESHOLD
from sightline.types import Picture

COLUMNS_DUE = "columns due"
"""A note that is set while the columns are older than the rows."""
_SEEN = "CREATE TEMP TABLE IF NOT EXISTS seen (row INTEGER PRIMARY KEY)"
_log = logging.getLogger(__name__)
_ASIDE = "before.sqlite"
_KEPT = ("annotations", "seen_words")
"""What was said of pictures, and the words that were read in them: both may come from nowhere else."""


@dataclass(slots=True)
class IndexChanges:
    """How many pictures came, changed and went; `unmatched` annotations are of pictures that are not there."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unmatched: int = 0
    state: str = ""


def take_in(table: IndexTable, content: Content) -> IndexChanges:
    """Bring rows, words, annotations and groups to what `content` says, all of it or nothing."""
    changes, digest = IndexChanges(), hashlib.blake2b(digest_size=16)
    table.database.execute(_SEEN)
    with table.transaction():
        table.database.execute("DELETE FROM seen")
        _take_annotations(table, content)
        _take_groups(table, content)
        for picture in content.pictures:
            digest.update(_take_picture(table, absolute(picture, content.base), changes))
        gone = table.rows("row NOT IN (SELECT row FROM seen)")
        table.remove(gone)
        changes.removed = len(gone)
        changes.unmatched = table.database.execute(
            "SELECT count(*) FROM annotations WHERE picture NOT IN (SELECT id FROM rows)"
        ).fetchone()[0]
        if changes.added or changes.changed or changes.removed:
            table.set_note(COLUMNS_DUE, "yes")
    changes.state = content.state or digest.hexdigest()
    return changes


def _take_annotations(table: IndexTable, content: Content) -> None:
    """Of several annotations of a picture the last one counts."""
    if content.annotations is None:
        return
    table.database.execute("DELETE FROM annotations")
    table.database.executemany(
        "INSERT OR REPLACE INTO annotations VALUES (?, ?)",
        ((said.picture_id, dump_annotation(said)) for said in content.annotations),
    )


def _take_groups(table: IndexTable, content: Content) -> None:
    table.database.execute("DELETE FROM memberships")
    table.database.executemany(
        "INSERT INTO memberships VALUES (?, ?, ?, ?)",
        ((id_, group.id, group.kind, group.hidden) for group in content.groups for id_ in group.pictures),
    )


def _take_picture(table: IndexTable, picture: Picture, changes: IndexChanges) -> bytes:
    """One picture; the digest of all that the index holds of it."""
    data, source = dump_picture(picture), _source(picture)
    said = table.database.execute("SELECT said FROM annotations WHERE picture = ?", (picture.id,)).fetchone()
    groups = table.database.execute(
        "SELECT id, kind, hidden FROM memberships WHERE picture = ? ORDER BY id", (picture.id,)
    ).fetchall()
    digest = hashlib.blake2b(b"\0".join((data, source, b"" if said is None else said[0])), digest_size=16)
    digest.update(orjson.dumps(groups))
    known, mark = table.find(picture.id), digest.digest()
    row = table.next_row() if known is None else known.row
    if table.database.execute("INSERT OR IGNORE INTO seen VALUES (?)", (row,)).rowcount == 0:
        return b""  # A picture belongs to the index once.
    if known is not None and known.digest == mark:
        return mark
    _keep(table, row, picture, (source, mark, sealed(data)), known)
    annotation = None if said is None else load_annotation(said[0])
    table.index_words(row, words_of(picture, annotation, table.seen_words(source) or ""))
    changes.added += known is None
    changes.changed += known is not None
    return mark


def _keep(
    table: IndexTable, row: int, picture: Picture, marks: tuple[bytes, bytes, bytes], known: KnownPicture | None
) -> None:
    if known is None:
        table.database.execute(
            "INSERT INTO rows (row, id, uri, source, digest, picture, key) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (row, picture.id, picture.uri, *marks, _key(picture)),
        )
        return
    key = "key" if known.source == marks[0] else "?5"
    table.database.execute(
        f"UPDATE rows SET uri = ?2, source = ?3, digest = ?4, key = {key}, picture = ?6 WHERE row = ?1",
        (row, picture.uri, marks[0], marks[1], _key(picture), marks[2]),
    )


def _key(picture: Picture) -> bytes | None:
    return None if picture.sha256 is None else bytes.fromhex(picture.sha256)


def _source(picture: Picture) -> bytes:
    """What changes with the content of a picture: its hash, else the file, its size and its time."""
    key = _key(picture)
    if key is not None:
        return key
    path = local_path(picture.uri)
    try:
        status = os.stat(path) if path is not None else None  # noqa: PTH116 (bytes, which pathlib does not take)
    except OSError:
        status = None
    if path is None or status is None:
        return b"nowhere"
    # Size and time alone are shared by files that were unpacked together.
    name = hashlib.blake2b(path, digest_size=16).digest()
    return name + np.array([status.st_size, status.st_mtime_ns], "<i8").tobytes()


def put_aside(folder: Path) -> None:
    """Take away rows, columns and threshold; the table waits for `carry_over`, also after a kill."""
    if (folder / TABLE).is_file() and not (folder / _ASIDE).is_file():
        for ending in ("-wal", ""):  # The table last: then its log has the new name already.
            if (folder / f"{TABLE}{ending}").is_file():
                (folder / f"{TABLE}{ending}").replace(folder / f"{_ASIDE}{ending}")
    for name in (TABLE, f"{TABLE}-wal", f"{TABLE}-shm", COLUMNS, THRESHOLD):
        (folder / name).unlink(missing_ok=True)


def carry_over(folder: Path, table: IndexTable) -> None:
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


def _copy(aside: Path, table: IndexTable) -> None:
    table.database.execute("ATTACH ? AS before", (str(aside),))
    try:
        with table.transaction():
            for name in _KEPT:
                table.database.execute(f"INSERT OR IGNORE INTO {name} SELECT * FROM before.{name}")
    finally:
        table.database.execute("DETACH before")
