"""Vectors on disk, by row number: an append-only file of float32 slots, and SQLite that knows which slot is whose.

Slots are on disk before SQLite is told of them, so a process that is killed leaves at most a tail that nobody knows of,
and the next writer writes over it. A replaced or removed row leaves a dead slot behind; `compact` writes the living
ones, in the order of their rows, to the file of the next generation. Any number of processes may read and write, each
by objects of its own; one thread at a time uses one. Checksums are kept piece by piece, as the pieces were written.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError, explained
from sightline.io.checksums import checksum, chosen
from sightline.io.sqlite import open_database, transaction
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import DamagedError, Rows, rebuild_fix

TABLE = """CREATE TABLE sums (
    file TEXT NOT NULL, generation INTEGER NOT NULL, slot INTEGER NOT NULL,
    count INTEGER NOT NULL, size INTEGER NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (file, generation, slot)) WITHOUT ROWID"""


VECTORS, CODES, BOUNDS = "f32", "i8", "bounds"
"""Files of which there is one for each generation."""
FILE_NAME = "slots.sqlite"
_VERSION_1 = """
CREATE TABLE state (dim INTEGER NOT NULL, generation INTEGER NOT NULL, coded INTEGER NOT NULL);
CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    slot INTEGER,
    rows BLOB NOT NULL
)
"""
_VERSION_2 = f"ALTER TABLE changes ADD COLUMN sum INTEGER; {TABLE}"
MIGRATIONS = (_VERSION_1, _VERSION_2)
"""Script n brings an index from version n to n + 1; never edit one that has been released."""
_PAGE = 8192
_FEW = 4096
"""Dead slots that are not worth the work."""
_TRIES = 5


class PieceChecksums:
    """The pieces of each file; what was written before there were checksums is not looked at."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def keep(self, file: str, generation: int, slot: int, content: NDArray[Any]) -> None:
        """Remember what was written from this slot on."""
        whole = np.ascontiguousarray(content)
        self._database.execute(
            "INSERT OR REPLACE INTO sums VALUES (?, ?, ?, ?, ?, ?)",
            (file, generation, slot, len(whole), whole.nbytes, checksum(whole.data)),
        )

    def forget(self, *files: str) -> None:
        """The pieces of files."""
        self._database.executemany("DELETE FROM sums WHERE file = ?", ((file,) for file in files))

    def find_damage(self, file: str, generation: int, content: NDArray[Any], *, whole: bool) -> int | None:
        """The first slot of a piece of the content that is not what was written."""
        pieces = self._database.execute(
            "SELECT slot, count, size, sum FROM sums WHERE file = ? AND generation = ? AND slot + count <= ?",
            (file, generation, len(content)),
        ).fetchall()
        for at in chosen([size for _, _, size, _ in pieces], whole=whole) if pieces else ():
            slot, count, _, wanted = pieces[at]
            if checksum(np.ascontiguousarray(content[slot : slot + count]).data) != wanted:
                return int(slot)
        return None


class Slots:
    """`vectors` by slot, as they lie on disk; `row_of` each slot and `slot_of` each row, -1 for none.

    The first `used` slots mean something, and the dead among them are there too. Nothing of it is to be written to.
    """

    def __init__(self, folder: Path, dim: int, *, create: bool) -> None:
        self.folder, self.dim = folder, dim
        self.vectors: Vectors
        self._dead: NDArray[np.intp] | None
        if not create and not (folder / FILE_NAME).is_file():
            raise UserError(f"{folder} holds no vectors.", "build the index first: sightline index")
        try:
            self.database = open_database(
                folder / FILE_NAME,
                MIGRATIONS,
                any_thread=True,
                reading=not create,
                existing=not create,
                fix=rebuild_fix(folder),
            )
            self.sums = PieceChecksums(self.database)
            self._version = -1
            self._begin()
            self._forget_all()
            self.refresh()
            self._look_over(whole=create)
        except (sqlite3.DatabaseError, UserError) as error:
            cause = error.__context__ if isinstance(error, UserError) else error
            # A lock, a full disk or another width is no damage.
            if not isinstance(cause, sqlite3.DatabaseError) or isinstance(cause, sqlite3.OperationalError):
                raise
            raise self._damaged(f"{folder / FILE_NAME} is damaged: {cause}.") from error

    # --- what is there ----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._living

    @property
    def dead(self) -> NDArray[np.intp]:
        """The slots that are nobody's."""
        if self._dead is None:
            self._dead = np.flatnonzero(self.row_of[: self.used] < 0)
        return self._dead

    def rows(self) -> Rows:
        """The rows that are there, ascending."""
        return np.flatnonzero(self.slot_of >= 0).astype(np.int64)

    def find(self, rows: Rows) -> Rows:
        """The slots of rows, -1 for those that are not there."""
        known = rows < len(self.slot_of)
        found = np.full(len(rows), -1, np.int64)
        found[known] = self.slot_of[rows[known]]
        return found

    def refresh(self) -> None:
        """Learn what others have written since; next to nothing to do when they have not."""
        version = self.database.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version:
            self._read()
            self._version = version

    # --- changes ----------------------------------------------------------------------------------------------

    def append(self, rows: Rows, vectors: Vectors) -> None:
        """Keep the vectors of rows, each row once; known to all when it returns."""
        with transaction(self.database):
            self._read()
            start = self.used
            self._write(self._file(), start, vectors)
            self.sums.keep(VECTORS, self.generation, start, vectors)
            self._record(start, rows)
        self._read()

    def remove(self, rows: Rows) -> None:
        """Forget rows; those that are not there are none of its business."""
        with transaction(self.database):
            self._read()
            there = rows[self.find(rows) >= 0]
            if len(there):
                self._record(None, there)
        self._read()

    def compact(self) -> None:
        """Give back the room of dead slots, once a quarter of all is dead."""
        if len(self.dead) < max(_FEW, self.used // 4):
            return
        with transaction(self.database):
            self._read()
            old, rows, after = self._file(), self.rows(), self.generation + 1
            slots = self.slot_of[rows]
            self.sums.forget(VECTORS, CODES, BOUNDS)
            for at in range(0, len(rows), _PAGE):
                page = self.vectors[slots[at : at + _PAGE]]
                self._write(self._file(after), at, page)
                self.sums.keep(VECTORS, after, at, page)
            self.database.execute("DELETE FROM changes")
            if len(rows):
                self._record(0, rows)
            self.database.execute("UPDATE state SET generation = ?, coded = 0", (after,))
        self._read()
        try:
            old.unlink(missing_ok=True)
        except OSError:  # Windows keeps a file that another process has mapped; nobody will look at it again.
            return

    # --- inside -----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        with transaction(self.database):
            found = self.database.execute("SELECT dim FROM state").fetchone()
            if found is None:
                self.database.execute("INSERT INTO state VALUES (?, 0, 0)", (self.dim,))
        if found is not None and found[0] != self.dim:
            self.database.close()
            raise UserError(
                f"{self.folder} holds vectors of {found[0]} numbers, not of {self.dim}.",
                "another embedder built it: name that one, or build the index again",
            )

    def _look_over(self, *, whole: bool) -> None:
        slot = self.sums.find_damage(VECTORS, self.generation, self.vectors[: self.used], whole=whole)
        if slot is not None:
            raise self._damaged(f"{self._file()} is damaged: the vectors from {slot:,} on are not what was written.")

    def _damaged(self, what: str) -> DamagedError:
        return DamagedError(what, rebuild_fix(self.folder))

    def _forget_all(self) -> None:
        self.generation, self.used = -1, 0
        self.row_of, self.slot_of = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._seen, self._living = 0, 0
        self._dead = None
        self.vectors = np.zeros((0, self.dim), np.float32)

    def _read(self) -> None:
        for _ in range(_TRIES):
            self._learn()
            try:
                if len(self.vectors) < self.used:
                    self.vectors = self._map()
                return
            except FileNotFoundError:  # Another process has just compacted it.
                self._forget_all()
            except ValueError:
                break
        raise self._damaged(f"{self._file()} is shorter than what was written to it.")

    def _learn(self) -> None:
        with _reading(self.database):
            generation = self.database.execute("SELECT generation FROM state").fetchone()[0]
            if generation != self.generation:
                self._forget_all()
                self.generation = generation
            changes = self.database.execute(
                "SELECT id, slot, rows, sum FROM changes WHERE id > ? ORDER BY id", (self._seen,)
            ).fetchall()
        for number, slot, rows, wanted in changes:
            if wanted is not None and checksum(rows) != wanted:
                raise self._damaged(f"{self.folder / FILE_NAME} is damaged: change {number} is not what was written.")
            self._apply(slot, np.frombuffer(rows, "<i8"))
            self._seen = number

    def _apply(self, slot: int | None, rows: Rows) -> None:
        self.slot_of = _grown(self.slot_of, int(rows.max()) + 1)
        before = self.slot_of[rows]
        before = before[before >= 0]
        self.row_of[before] = -1
        self._living -= len(before)
        self._dead = None
        if slot is None:
            self.slot_of[rows] = -1
            return
        self.used = slot + len(rows)
        self.row_of = _grown(self.row_of, self.used)
        self.row_of[slot : self.used] = rows
        self.slot_of[rows] = np.arange(slot, self.used)
        self._living += len(rows)

    def _record(self, slot: int | None, rows: Rows) -> None:
        data = rows.astype("<i8").tobytes()
        self.database.execute("INSERT INTO changes (slot, rows, sum) VALUES (?, ?, ?)", (slot, data, checksum(data)))

    def _file(self, generation: int | None = None) -> Path:
        return self.folder / f"vectors-{self.generation if generation is None else generation}.f32"

    def _map(self) -> Vectors:
        mapped = np.memmap(self._file(), dtype="<f4", mode="r", shape=(self.used, self.dim))
        return np.asarray(mapped)

    def _write(self, path: Path, slot: int, vectors: Vectors) -> None:
        write_at(path, slot * self.dim * 4, np.ascontiguousarray(vectors, "<f4").data)


def write_at(path: Path, offset: int, data: memoryview) -> None:
    """Write into a file, made if need be, and wait until it is on disk."""
    with explained(f"{path} can't be written", "make room on the disk, or choose another --workspace"):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        with os.fdopen(descriptor, "wb") as file:
            file.seek(offset)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def _grown(numbers: Rows, size: int) -> Rows:
    """The same with room for `size` at least, -1 where it is new; doubled, so that growing stays cheap."""
    if size <= len(numbers):
        return numbers
    grown = np.full(max(size, 2 * len(numbers)), -1, np.int64)
    grown[: len(numbers)] = numbers
    return grown


@contextmanager
def _reading(database: sqlite3.Connection) -> Iterator[None]:
    """One state of the database for several reads; part of a transaction that is already open."""
    nested = database.in_transaction
    if not nested:
        database.execute("BEGIN")
    try:
        yield
    finally:
        if not nested:
            database.execute("COMMIT")
