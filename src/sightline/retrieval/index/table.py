"""The rows of an index: which picture each is, what is known of it, what of it is embedded, and its words.

All of it lies in one SQLite file, so that rows and words change together or not at all. Pictures and annotations are
JSON, pictures with a checksum at the end; a damaged table is told from other faults, and reported with its fix.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from sightline.errors import SightlineError, UserError
from sightline.io.checksums import checksum
from sightline.io.sqlite import Database, open_database, quick_check
from sightline.models.protocols import Vectors
from sightline.retrieval.bm25 import FIELDS, TOKENIZER, WEIGHTS, WordFields, match_expression
from sightline.retrieval.columns.builder import Record
from sightline.retrieval.vector_stores.base import DamagedError, Rows, rebuild_fix
from sightline.types import Annotation, Group, Picture, Rights

_SEAL = 9
FILE_NAME = "index.sqlite"
_WORDS_CHECK = "INSERT INTO words (words) VALUES ('integrity-check')"
_VERSION_1 = f"""
CREATE TABLE rows (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    uri TEXT NOT NULL,
    source BLOB NOT NULL,
    digest BLOB NOT NULL,
    picture BLOB NOT NULL,
    key BLOB,
    done BLOB,
    caption BLOB,
    why TEXT
);
CREATE INDEX rows_by_uri ON rows (uri);
CREATE INDEX rows_to_do ON rows (row) WHERE done IS NOT source;
CREATE TABLE annotations (picture TEXT PRIMARY KEY, said BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE memberships (picture TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, hidden INTEGER NOT NULL);
CREATE INDEX memberships_by_picture ON memberships (picture);
CREATE TABLE seen_words (source BLOB PRIMARY KEY, words TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tokens (row INTEGER PRIMARY KEY, source BLOB NOT NULL, dim INTEGER NOT NULL, vectors BLOB NOT NULL);
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 ({", ".join(FIELDS)}, tokenize = '{TOKENIZER}')
"""
MIGRATIONS = (_VERSION_1,)
"""Script n brings a table from version n to n + 1; never edit one that has been released."""
PAGE = 2048
_SMALL = 1 << 22
"""Bytes of a table that are looked over in a hundredth of a second."""
_NEXT = "next row"
_BM25 = f"bm25(words, {', '.join(map(str, WEIGHTS))})"


class ContentError(ValueError):
    """What a table holds is not what was written there."""


def sealed(data: bytes) -> bytes:
    """JSON of one line, and below it its checksum."""
    return b"%b\n%08x" % (data, checksum(data))


def dump_picture(picture: Picture) -> bytes:
    """All that is known of a picture; equal pictures give equal bytes."""
    return orjson.dumps(picture, default=dict, option=orjson.OPT_SORT_KEYS)


def load_picture(data: bytes) -> Picture:
    """The picture back; from an index that is older than checksums, too."""
    try:
        fields: dict[str, Any] = orjson.loads(_unsealed(data))
        taken_at = fields["taken_at"]
        fields["taken_at"] = None if taken_at is None else datetime.fromisoformat(taken_at)
        fields["rights"] = Rights(**fields["rights"])
        return Picture(**fields)
    except (ValueError, KeyError, TypeError) as error:
        raise ContentError(f"a picture's row is not what was written ({error})") from error


def _unsealed(data: bytes) -> bytes:
    if data[-_SEAL : 1 - _SEAL] != b"\n":
        return data
    if sealed(data[:-_SEAL]) != data:
        raise ContentError("its checksum differs")
    return data[:-_SEAL]


def dump_annotation(said: Annotation) -> bytes:
    """All that was said of a picture; equal annotations give equal bytes."""
    return orjson.dumps(said, default=dict, option=orjson.OPT_SORT_KEYS)


def load_annotation(data: bytes) -> Annotation:
    """The annotation back."""
    fields: dict[str, Any] = orjson.loads(data)
    return Annotation(**{**fields, "tags": tuple(fields["tags"])})


@contextmanager
def noticing_damage(folder: Path) -> Iterator[None]:
    """What can't be read from the table of an index is damage, if a look at the whole of it confirms that."""
    path = folder / FILE_NAME
    try:
        yield
    except ContentError as error:
        raise DamagedError(f"{path} is damaged: {error}.", rebuild_fix(folder)) from error
    except (sqlite3.DatabaseError, UserError) as error:
        # An error of ours may stand for one of SQLite.
        cause = error.__context__ if isinstance(error, UserError) else error
        if not isinstance(cause, sqlite3.DatabaseError) or not _is_damaged(path):
            raise
        raise DamagedError(f"{path} is damaged: {cause}.", rebuild_fix(folder)) from error


def _is_damaged(path: Path) -> bool:
    """A lock, a full disk, and another database that is damaged, are not damage of this one."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as database:
            quick_check(database)
            database.execute(_WORDS_CHECK)
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True
    return False


class ToEmbed(NamedTuple):
    """A row whose vector is not yet what its picture is now."""

    row: int
    uri: str
    source: bytes
    key: bytes | None


class KnownPicture(NamedTuple):
    """What the table has of a picture."""

    row: int
    source: bytes
    digest: bytes


class IndexTable(Database):
    """The rows of an index; one thread at a time uses it.

    Damage is looked for when it is opened to be written to (`whole`), or where that takes no time.
    """

    def __init__(self, folder: Path, *, whole: bool = False) -> None:
        self._path = folder / FILE_NAME
        if not whole and not self._path.is_file():  # A new one would be empty, and find nothing.
            raise DamagedError(f"{self._path} is not there any more.", rebuild_fix(folder))
        with noticing_damage(folder):
            self.database = self._opened(reading=not whole)
            if whole or self._path.stat().st_size <= _SMALL:
                quick_check(self.database)

    def _opened(self, reading: bool) -> sqlite3.Connection:
        try:
            return open_database(
                self._path,
                MIGRATIONS,
                any_thread=True,
                reading=reading,
                existing=reading,
                fix=rebuild_fix(self._path.parent),
            )
        except sqlite3.OperationalError as error:
            if "fts5" not in str(error):
                raise
            raise SightlineError(
                "this Python's SQLite has no FTS5, which the word index needs.",
                "use a Python from python.org, conda or your Linux distribution: theirs have it",
            ) from error

    # --- pictures ---------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The row that the next new picture gets: all rows that ever were are lower."""
        return int(self.note(_NEXT) or 0)

    def next_row(self) -> int:
        """A row that nobody had."""
        row = self.size
        self.set_note(_NEXT, str(row + 1))
        return row

    def __len__(self) -> int:
        count: int = self.database.execute("SELECT count(*) FROM rows").fetchone()[0]
        return count

    def rows(self, where: str = "1") -> Rows:
        """Row numbers, ascending."""
        found = self.database.execute(f"SELECT row FROM rows WHERE {where} ORDER BY row")
        return np.fromiter((row for (row,) in found), np.int64)

    def rows_under(self, address: str) -> Rows:
        """Rows of pictures whose address begins with that of a folder (which ends in a slash)."""
        end = address[:-1] + "0"  # "0" is the sign after "/".
        found = self.database.execute("SELECT row FROM rows WHERE uri >= ? AND uri < ? ORDER BY row", (address, end))
        return np.fromiter((row for (row,) in found), np.int64)

    def copies(self) -> dict[int, tuple[int, ...]]:
        """Each row whose content other rows have too → all of these rows, ascending."""
        found = self.database.execute(
            """WITH alike AS (SELECT DISTINCT picture FROM memberships WHERE kind = 'duplicate')
            SELECT json_group_array(row) FROM alike JOIN rows ON id = alike.picture
            GROUP BY source HAVING count(*) > 1"""
        )
        groups = [tuple(sorted(orjson.loads(rows))) for (rows,) in found]
        return {row: group for group in groups for row in group}

    def find(self, id_: str) -> KnownPicture | None:
        found = self.database.execute("SELECT row, source, digest FROM rows WHERE id = ?", (id_,)).fetchone()
        return None if found is None else KnownPicture(*found)

    def pictures(self, rows: Sequence[int]) -> dict[int, Picture]:
        """The pictures of rows that are there."""
        query = "SELECT row, picture FROM rows WHERE row IN (SELECT value FROM json_each(?))"
        found = self.database.execute(query, (orjson.dumps(rows).decode(),))
        return {row: load_picture(picture) for row, picture in found}

    def tokens(self, rows: Sequence[int]) -> dict[int, Vectors]:
        """The token vectors of rows that have any."""
        query = "SELECT row, dim, vectors FROM tokens WHERE row IN (SELECT value FROM json_each(?))"
        found = self.database.execute(query, (orjson.dumps(rows).decode(),))
        return {row: np.frombuffer(data, "<f2").reshape(-1, dim).astype(np.float32) for row, dim, data in found}

    def annotation(self, id_: str) -> Annotation | None:
        """What was said of a picture."""
        found = self.database.execute("SELECT said FROM annotations WHERE picture = ?", (id_,)).fetchone()
        return None if found is None else load_annotation(found[0])

    def groups(self, id_: str) -> list[Group]:
        """The groups of a picture, without their other members."""
        found = self.database.execute("SELECT id, kind, hidden FROM memberships WHERE picture = ? ORDER BY id", (id_,))
        return [Group(group, kind, (), bool(hidden)) for group, kind, hidden in found]

    def records(self) -> Iterator[Record | None]:
        """For the columns: what is known of each row, None for rows whose picture was removed."""
        following = 0
        for row, picture in self.database.execute("SELECT row, picture FROM rows ORDER BY row"):
            yield from (None for _ in range(following, row))
            loaded = load_picture(picture)
            yield loaded, self.annotation(loaded.id), self.groups(loaded.id)
            following = row + 1

    def remove(self, rows: Rows) -> None:
        """Forget pictures; their rows are never used again."""
        for table, column in (("rows", "row"), ("tokens", "row"), ("words", "rowid")):
            self.database.executemany(f"DELETE FROM {table} WHERE {column} = ?", ((row,) for row in rows.tolist()))

    # --- vectors ----------------------------------------------------------------------------------------------

    def to_embed(self, last: int = -1) -> Iterator[list[ToEmbed]]:
        """Rows after `last` whose vector is missing or outdated, page by page (they may be changed meanwhile)."""
        query = "SELECT row, uri, source, key FROM rows WHERE done IS NOT source AND row > ? ORDER BY row LIMIT ?"
        while page := [ToEmbed(*found) for found in self.database.execute(query, (last, PAGE))]:
            yield page
            last = page[-1].row

    def count_to_embed(self, last: int) -> int:
        """How many those are."""
        query = "SELECT count(*) FROM rows WHERE done IS NOT source AND row > ?"
        count: int = self.database.execute(query, (last,)).fetchone()[0]
        return count

    def set_keys(self, found: Iterable[tuple[bytes | None, str | None, int]]) -> None:
        """What content rows have, or why it is not known: (key, why, row)."""
        with self.transaction():
            self.database.executemany("UPDATE rows SET key = ?, why = ? WHERE row = ?", found)

    def set_done(self, rows: Iterable[tuple[bytes, int]]) -> None:
        """These sources are in the back-end: (source, row)."""
        with self.transaction():
            self.database.executemany("UPDATE rows SET done = ?, why = NULL WHERE row = ?", rows)

    def captions(self) -> Iterator[list[tuple[int, str, bytes | None]]]:
        """Rows that have a caption: (row, caption, key of the caption that is in the back-end), page by page."""
        last = -1
        query = """SELECT row, json_extract(CAST(said AS TEXT), '$.summary') AS text, caption
            FROM rows JOIN annotations ON annotations.picture = rows.id
            WHERE row > ? AND trim(text) <> '' ORDER BY row LIMIT ?"""
        while page := self.database.execute(query, (last, PAGE)).fetchall():
            yield page
            last = page[-1][0]

    def texts_said(self, count: int) -> list[str]:
        """About so many captions, or first tags where there is no caption, of pictures spread over the index."""
        query = """SELECT DISTINCT coalesce(nullif(trim(json_extract(CAST(said AS TEXT), '$.summary')), ''),
                json_extract(CAST(said AS TEXT), '$.tags[0]')) AS text
            FROM rows JOIN annotations ON annotations.picture = rows.id
            WHERE row % ? = 0 AND text <> '' LIMIT ?"""
        step = max(1, self.size // (4 * count))  # Several may say the same.
        return [text for (text,) in self.database.execute(query, (step, count))]

    def set_captions(self, rows: Iterable[tuple[bytes | None, int]]) -> None:
        """The captions of these keys are in the back-end: (key, row)."""
        with self.transaction():
            self.database.executemany("UPDATE rows SET caption = ? WHERE row = ?", rows)

    def forget(self, column: str, rows: Rows | None = None) -> None:
        """These are not in the back-end (`column` is `done` or `caption`)."""
        if rows is None:
            self.database.execute(f"UPDATE rows SET {column} = NULL")
        else:
            with self.transaction():
                self.database.executemany(
                    f"UPDATE rows SET {column} = NULL WHERE row = ?", ((row,) for row in rows.tolist())
                )

    # --- words ------------------------------------------------------------------------------------------------

    def index_words(self, row: int, words: WordFields) -> None:
        """Put the words of a picture in place of those that were there."""
        self.database.execute("DELETE FROM words WHERE rowid = ?", (row,))
        marks = ", ".join("?" * len(FIELDS))
        self.database.execute(
            f"INSERT INTO words (rowid, {', '.join(FIELDS)}) VALUES (?, {marks})",
            (row, *(getattr(words, name) for name in FIELDS)),
        )

    def seen_words(self, source: bytes) -> str | None:
        """Words read in a picture of this content; None where nobody looked."""
        found = self.database.execute("SELECT words FROM seen_words WHERE source = ?", (source,)).fetchone()
        return None if found is None else str(found[0])

    def ranked_words(self, words: Sequence[str], k: int, within: Rows | None = None) -> list[tuple[int, float]]:
        """The k best rows that hold any of the words, with their BM25 scores; equal ones in order of row."""
        # The plus keeps SQLite from asking the word index once for each row of the list.
        limit = "" if within is None else "AND +rowid IN (SELECT value FROM json_each(?))"
        query = f"SELECT rowid, {_BM25} AS score FROM words WHERE words MATCH ? {limit} ORDER BY score, rowid LIMIT ?"
        values = () if within is None else (orjson.dumps(within, option=orjson.OPT_SERIALIZE_NUMPY).decode(),)
        found = self.database.execute(query, (match_expression(words), *values, k))
        return [(row, -score) for row, score in found]

    def rows_with_all(self, words: Sequence[str], rows: Sequence[int]) -> set[int]:
        """Those of the rows that hold every one of the words."""
        query = "SELECT rowid FROM words WHERE words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
        found = self.database.execute(query, (match_expression(words, "AND"), orjson.dumps(rows).decode()))
        return {row for (row,) in found}
