"""Checksums of vectors and codes, piece by piece as they were written, in the database that knows the slots."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.search.checksums import checksum, chosen

TABLE = """CREATE TABLE sums (
    file TEXT NOT NULL, generation INTEGER NOT NULL, slot INTEGER NOT NULL,
    count INTEGER NOT NULL, size INTEGER NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (file, generation, slot)) WITHOUT ROWID"""


VECTORS, CODES, BOUNDS = "f32", "i8", "bounds"
"""Files of which there is one for each generation."""


class Sums:
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
