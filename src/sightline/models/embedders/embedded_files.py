"""The files of one run and what became of each; on disk, so that memory does not grow with the folder."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from sightline.corpus.names import picture_id
from sightline.corpus.walk import FoundFile
from sightline.io.sqlite import transaction
from sightline.models.embedders.pixels import DecodeJob
from sightline.models.embedders.vector_cache import VectorCache, VectorSpace

_PAGE = 512
_CREATE = """CREATE TEMP TABLE listing (number INTEGER PRIMARY KEY, path BLOB NOT NULL, id TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sha256 BLOB, reason TEXT, detail TEXT)"""
_INSERT = "INSERT INTO listing (path, id, size, mtime_ns) VALUES (?, ?, ?, ?)"
_REMEMBER = """UPDATE listing SET sha256 = (SELECT f.sha256 FROM files AS f WHERE f.root = ? AND f.path = listing.path
    AND f.size = listing.size AND f.mtime_ns = listing.mtime_ns)"""
_PLAN = """CREATE TEMP TABLE todo AS SELECT number FROM listing WHERE sha256 IS NULL
    OR NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.space = ? AND v.key = listing.sha256) ORDER BY number"""
_LEAVE_OUT_REST = """UPDATE listing SET reason = ?, detail = ? WHERE reason IS NULL AND (sha256 IS NULL
    OR NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.space = ? AND v.key = listing.sha256))"""
_KEEP = """INSERT OR REPLACE INTO files SELECT ?, path, size, mtime_ns, ? FROM listing WHERE number = ?"""


class SkippedInput(NamedTuple):
    """An input that gave no vector, and why."""

    id: str
    reason: str
    detail: str


class EmbeddedFile(NamedTuple):
    """A file whose vector is in the cache."""

    number: int
    sha256: bytes


class Listing:
    """Everything that a walk met under a root."""

    def __init__(self, cache: VectorCache, root: Path, files: Iterable[FoundFile]) -> None:
        self._cache, self._database = cache, cache.database
        self._root = os.fsencode(root)
        self._database.execute("DROP TABLE IF EXISTS temp.listing")
        self._database.execute(_CREATE)
        self._database.execute("BEGIN")
        self.count = sum(self._insert(found) for found in files)
        self._database.execute("COMMIT")
        self._database.execute(_REMEMBER, (self._root,))

    def _insert(self, found: FoundFile) -> int:
        """One row; a second name that becomes the same id (another Unicode spelling) gets `~2`, and so on."""
        id_, number = picture_id(found.path), 1
        while True:
            name = id_ if number == 1 else f"{id_}~{number}"
            try:
                self._database.execute(_INSERT, (found.path, name, found.size, found.mtime_ns))
                return 1
            except sqlite3.IntegrityError:
                number += 1

    def plan(self, space: VectorSpace | None) -> int:
        """Choose the files that have to be read: new, changed, or without a vector; how many they are."""
        self._database.execute("DROP TABLE IF EXISTS temp.todo")
        self._database.execute(_PLAN, (None if space is None else space.id,))
        count: int = self._database.execute("SELECT count(*) FROM todo").fetchone()[0]
        return count

    def jobs(self, side: int, max_pixels: int, space: VectorSpace | None) -> Iterator[DecodeJob]:
        """What `plan` chose, page by page (results are noted meanwhile)."""
        query = """SELECT todo.rowid, number, path FROM todo JOIN listing USING (number)
            WHERE todo.rowid > ? ORDER BY todo.rowid LIMIT ?"""
        last = 0
        while rows := self._database.execute(query, (last, _PAGE)).fetchall():
            last = rows[-1][0]
            for _, number, path in rows:
                full = os.path.join(self._root, path)  # noqa: PTH118 (bytes, which pathlib does not take)
                yield DecodeJob(number, full, side, max_pixels, self._cache.path, None if space is None else space.id)

    def keep(self, done: Iterable[EmbeddedFile]) -> None:
        """These are in the cache; also when the run is over, until the file changes."""
        done = list(done)
        with transaction(self._database):
            self._database.executemany(
                "UPDATE listing SET sha256 = ? WHERE number = ?", [(sha256, number) for number, sha256 in done]
            )
            self._database.executemany(_KEEP, [(self._root, sha256, number) for number, sha256 in done])

    def leave_out(self, number: int, reason: str, detail: str) -> None:
        """This one gives no vector."""
        self._database.execute("UPDATE listing SET reason = ?, detail = ? WHERE number = ?", (reason, detail, number))

    def leave_out_rest(self, space: VectorSpace | None, reason: str, detail: str) -> None:
        """Whatever has no vector by now gives none."""
        self._database.execute(_LEAVE_OUT_REST, (reason, detail, None if space is None else space.id))

    def left_out(self) -> Iterator[SkippedInput]:
        """All that give no vector, by id."""
        query = "SELECT id, reason, detail FROM listing WHERE reason IS NOT NULL ORDER BY id"
        return (SkippedInput(*row) for row in self._database.execute(query).fetchall())

    def outcomes(self) -> Iterator[tuple[int, bytes | None, str | None]]:
        """Of each file, in order: its number from 1, its hash where it has a vector, else why it has none."""
        query = "SELECT number, CASE WHEN reason IS NULL THEN sha256 END, reason FROM listing ORDER BY number"
        return iter(self._database.execute(query))

    def embedded(self) -> tuple[int, int]:
        """How many have a vector, and how long the longest of their ids is."""
        query = "SELECT count(*), coalesce(max(length(id)), 0) FROM listing WHERE reason IS NULL"
        count, longest = self._database.execute(query).fetchone()
        return count, longest

    def pages(self, size: int) -> Iterator[list[tuple[str, bytes]]]:
        """Ids and hashes of all that have a vector, by id."""
        query = "SELECT id, sha256 FROM listing WHERE reason IS NULL AND id > ? ORDER BY id LIMIT ?"
        last = ""
        while page := self._database.execute(query, (last, size)).fetchall():
            last = page[-1][0]
            yield page
