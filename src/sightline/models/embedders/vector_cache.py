"""Vectors that were made before: kept in the workspace by content, embedder and revision.

Vectors lie in one append-only file of float32 rows for each embedder and revision; SQLite knows which row is whose.
Rows are on disk before SQLite is told of them, so a process that is killed leaves at most a tail that nobody knows of,
and the next writer writes over it. Readers map the files and are never in the way of a writer. Each row has a checksum,
which is looked at when it is read: a damaged vector is forgotten and made again, and never searched with.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.english import counted
from sightline.errors import READ_AGAIN, StorageError, UserError, explained
from sightline.io.checksums import checksum
from sightline.io.files import PathLike
from sightline.io.private import private_folder
from sightline.io.sqlite import Database, ReadOnlyError, open_database
from sightline.models.embedders.base import EmbedderIdentity
from sightline.models.protocols import Vectors

FILE_NAME = "vectors.sqlite"
FOLDER = "vectors"
_VERSION_1 = """
CREATE TABLE spaces (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    revision TEXT NOT NULL,
    dim INTEGER NOT NULL,
    rows INTEGER NOT NULL DEFAULT 0,
    UNIQUE (name, revision)
);
CREATE TABLE vectors (
    space INTEGER NOT NULL REFERENCES spaces (id),
    key BLOB NOT NULL,
    row INTEGER NOT NULL,
    cut INTEGER,
    PRIMARY KEY (space, key)
) WITHOUT ROWID;
CREATE TABLE files (
    root BLOB NOT NULL,
    path BLOB NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    PRIMARY KEY (root, path)
) WITHOUT ROWID;
CREATE TABLE told (host TEXT PRIMARY KEY) WITHOUT ROWID
"""
# Who has been told of is now kept in the journal, for chat models too (calls/privacy_notice.py).
_VERSION_2 = "DROP TABLE told"
# `sum`: the checksum of the row; where there is none yet, the first reader notes it.
_VERSION_3 = "ALTER TABLE vectors ADD COLUMN sum INTEGER"
MIGRATIONS = (_VERSION_1, _VERSION_2, _VERSION_3)
"""Script n brings a cache from version n to n + 1; never edit one that has been released."""
_PAGE = 500
_MANY = 8


class _KnownVector(NamedTuple):
    """A row of `vectors`."""

    key: bytes
    row: int
    cut: int | None
    sum: int | None


class CachedVectors(NamedTuple):
    """A row for each key, in the order of the keys; zero where `missing`, which are positions. Not to be written to."""

    vectors: Vectors
    missing: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The vectors of one embedder at one revision; rows from `rows` on are nobody's."""

    id: int
    dim: int
    rows: int


def text_key(text: str) -> bytes:
    """What a text's vector is kept under; never the key of a picture, which is the SHA-256 of its file."""
    return hashlib.sha256(b"text\0" + text.encode("utf-8", "surrogatepass")).digest()


class VectorCache(Database):
    """The workspace's vectors; any number of processes may read and write at once. One thread at a time uses one."""

    def __init__(self, workspace: PathLike) -> None:
        self._folder = Path(workspace) / FOLDER
        self.path = Path(workspace) / FILE_NAME
        self.database = open_database(self.path, MIGRATIONS, any_thread=True, reading=True, existing=True)
        self.database.execute("PRAGMA cache_size = -16384")

    def get_many(self, keys: Sequence[bytes], embedder: EmbedderIdentity) -> CachedVectors:
        """The vectors of these keys; memory-mapped as they lie on disk where they lie in the order of the keys."""
        space = self.space(embedder)
        if space is None:
            return CachedVectors(np.zeros((len(keys), 0), dtype=np.float32), np.arange(len(keys)))
        found = {one.key: one for one in self._find(keys, space)}
        rows = np.fromiter((found[key].row if key in found else -1 for key in keys), dtype=np.int64, count=len(keys))
        missing = np.flatnonzero(rows < 0)
        if not len(rows) or len(missing) == len(rows):
            return CachedVectors(np.zeros((len(rows), space.dim), dtype=np.float32), missing)
        vectors = _take(self._map(space, int(rows.max()) + 1), rows)
        read = zip(keys, np.asarray(vectors), strict=True)
        self._check(space, ((found[key], vector) for key, vector in read if key in found))
        return CachedVectors(vectors, missing)

    def has(self, key: bytes, embedder: EmbedderIdentity) -> bool:
        """Is there a vector of this key?"""
        space = self.space(embedder)
        return space is not None and bool(self._find([key], space))

    def missing(self, keys: Sequence[bytes], embedder: EmbedderIdentity) -> list[int]:
        """Positions of the keys that have no vector."""
        space = self.space(embedder)
        known = {one.key for one in self._find(keys, space)} if space is not None else set()
        return [at for at, key in enumerate(keys) if key not in known]

    def count_cut(self, keys: Sequence[bytes], embedder: EmbedderIdentity) -> int | None:
        """How many of these texts were too long for the model; None where it is not known of some."""
        space = self.space(embedder)
        total = 0
        for one in self._find(keys, space) if space is not None else ():
            if one.cut is None:
                return None
            total += one.cut
        return total

    def put_many(
        self,
        keys: Sequence[bytes],
        vectors: Vectors,
        embedder: EmbedderIdentity,
        cut: Sequence[bool] | NDArray[np.bool_] | None = None,
    ) -> None:
        """Keep vectors, all or none; on disk when it returns. A key that is already there keeps its vector."""
        if len(keys) != len(vectors):
            raise ValueError(f"{len(keys)} keys for {len(vectors)} vectors")
        if not len(keys):
            return
        rows = np.ascontiguousarray(vectors, dtype="<f4")
        flags = [None] * len(keys) if cut is None else [int(flag) for flag in cut]
        with self.transaction():
            space = self._space_for(embedder, rows.shape[1])
            known = {one.key for one in self._find(keys, space)}
            fresh: dict[bytes, int] = {}
            for at, key in enumerate(keys):
                if key not in known:
                    fresh.setdefault(key, at)
            self._append(space, rows[list(fresh.values())])
            self.database.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?, ?)",
                [
                    (space.id, key, space.rows + n, flags[at], checksum(rows[at]))
                    for n, (key, at) in enumerate(fresh.items())
                ],
            )
            self.database.execute("UPDATE spaces SET rows = rows + ? WHERE id = ?", (len(fresh), space.id))

    def space(self, embedder: EmbedderIdentity) -> VectorSpace | None:
        """Where the vectors of an embedder lie; None when there are none yet."""
        found = self.database.execute(
            "SELECT id, dim, rows FROM spaces WHERE name = ? AND revision = ?", (embedder.name, embedder.revision)
        ).fetchone()
        if found is None:
            return None
        space = VectorSpace(*found)
        left = self._rows_on_disk(space)
        return space if left >= space.rows else self._shortened(space, left)

    # --- the index ------------------------------------------------------------------------------------------

    def _find(self, keys: Sequence[bytes], space: VectorSpace) -> list[_KnownVector]:
        if len(keys) * _MANY > space.rows:  # To read all of them in their order is then the faster way.
            wanted = set(keys)
            rows = self.database.execute("SELECT key, row, cut, sum FROM vectors WHERE space = ?", (space.id,))
            return [_KnownVector(*row) for row in rows if row[0] in wanted]
        found: list[_KnownVector] = []
        for start in range(0, len(keys), _PAGE):
            page = keys[start : start + _PAGE]
            marks = ", ".join("?" * len(page))
            rows = self.database.execute(
                f"SELECT key, row, cut, sum FROM vectors WHERE space = ? AND key IN ({marks})", (space.id, *page)
            )
            found += (_KnownVector(*row) for row in rows)
        return found

    def _check(self, space: VectorSpace, found: Iterable[tuple[_KnownVector, Vectors]]) -> None:
        """Refuse vectors that are not what was written, and forget them; note the checksums of older ones."""
        damaged, unsealed = [], []
        for known, vector in found:
            now = checksum(vector.data)
            if known.sum is None:
                unsealed.append((now, space.id, known.key))
            elif known.sum != now:
                damaged.append((space.id, known.key))
        if unsealed:
            with suppress(ReadOnlyError), self.transaction():
                self.database.executemany("UPDATE vectors SET sum = ? WHERE space = ? AND key = ?", unsealed)
        if damaged:
            with self.transaction():
                self.database.executemany("DELETE FROM vectors WHERE space = ? AND key = ?", damaged)
            raise StorageError(
                f"{self._file(space)} is damaged: {counted(len(damaged), 'vector is', 'vectors are')} not what was "
                "written.",
                "run the same command again: they are made again",
            )

    def _space_for(self, embedder: EmbedderIdentity, dim: int) -> VectorSpace:
        self.database.execute(
            "INSERT OR IGNORE INTO spaces (name, revision, dim) VALUES (?, ?, ?)",
            (embedder.name, embedder.revision, dim),
        )
        space = self.space(embedder)
        assert space is not None
        if space.dim != dim:
            raise UserError(
                f"{embedder.name} ({embedder.revision}) gave vectors of {dim} numbers, and of {space.dim} before.",
                "another model answers under the same name: give it another revision, or choose another --workspace",
            )
        return space

    # --- the rows -------------------------------------------------------------------------------------------

    def _file(self, space: VectorSpace) -> Path:
        return self._folder / f"{space.id}.f32"

    def _append(self, space: VectorSpace, rows: NDArray[np.float32]) -> None:
        if not len(rows):
            return
        with explained(f"{self._file(space)} can't be written", "make room on the disk, or choose another --workspace"):
            private_folder(self._folder)
            descriptor = os.open(self._file(space), os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.seek(space.rows * space.dim * 4)
                file.write(rows.data)
                file.flush()
                os.fsync(file.fileno())

    def _map(self, space: VectorSpace, rows: int) -> Vectors:
        return np.memmap(self._file(space), dtype="<f4", mode="r", shape=(rows, space.dim))

    def _rows_on_disk(self, space: VectorSpace) -> int:
        with explained(f"{self._file(space)} can't be read", READ_AGAIN):
            try:
                return self._file(space).stat().st_size // (space.dim * 4)
            except FileNotFoundError:
                return 0

    def _shortened(self, space: VectorSpace, left: int) -> VectorSpace:
        """Somebody took away rows (a workspace copied in part): forget them, so that they are made again."""
        with nullcontext() if self.database.in_transaction else self.transaction():
            self.database.execute("DELETE FROM vectors WHERE space = ? AND row >= ?", (space.id, left))
            self.database.execute("UPDATE spaces SET rows = min(rows, ?) WHERE id = ?", (left, space.id))
        return VectorSpace(space.id, space.dim, left)


def _take(mapped: Vectors, rows: NDArray[np.int64]) -> Vectors:
    first, last = int(rows[0]), int(rows[-1])
    if first >= 0 and last - first == len(rows) - 1 and bool((np.diff(rows) == 1).all()):
        return mapped[first : last + 1]
    taken = np.asarray(mapped)[np.maximum(rows, 0)]
    taken[rows < 0] = 0
    taken.flags.writeable = False
    return taken
