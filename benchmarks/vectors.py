"""The vector cache beside a table of blobs, on 100,000 vectors of 512 numbers: python benchmarks/vectors.py [N]."""

from __future__ import annotations

import hashlib
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from sightline.models.embedders.vector_cache import VectorCache

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
DIM, STEP = 512, 1000
WHO = SimpleNamespace(name="benchmark", revision="1")
KEYS = [hashlib.sha256(str(n).encode()).digest() for n in range(COUNT)]


def rows(start: int) -> np.ndarray:
    return np.random.default_rng(start).standard_normal((STEP, DIM), dtype=np.float32)


def timed(what: str, work: Callable[[], object]) -> None:
    started = time.perf_counter()
    work()
    print(f"  {what:<42} {time.perf_counter() - started:7.2f} s")


def cache(folder: Path) -> None:
    """An append-only file of rows and an index in SQLite."""
    shuffled = [KEYS[at] for at in np.random.default_rng(0).permutation(COUNT)]
    with VectorCache(folder) as store:

        def build() -> None:
            for start in range(0, COUNT, STEP):
                store.put_many(KEYS[start : start + STEP], rows(start), WHO)

        timed(f"build, {STEP:,} at a time, on disk after each", build)
        timed("which of all are there", lambda: store.missing(KEYS, WHO))
        timed("all as one matrix, in order (mapped)", lambda: store.get_many(KEYS, WHO))
        timed("the same, and read once", lambda: float(store.get_many(KEYS, WHO).vectors.sum()))
        timed("all as one matrix, shuffled (copied)", lambda: store.get_many(shuffled, WHO))


def blobs(folder: Path) -> None:
    """One SQLite row with a blob for each vector."""
    database = sqlite3.connect(folder / "blobs.sqlite", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def build() -> None:
        for start in range(0, COUNT, STEP):
            database.execute("BEGIN")
            pairs = zip(KEYS[start : start + STEP], rows(start), strict=True)
            database.executemany("INSERT INTO vectors VALUES (?, ?)", ((key, row.tobytes()) for key, row in pairs))
            database.execute("COMMIT")

    def matrix() -> np.ndarray:
        found = dict(database.execute("SELECT key, vector FROM vectors"))
        return np.frombuffer(b"".join(found[key] for key in KEYS), dtype=np.float32).reshape(COUNT, DIM)

    timed(f"build, {STEP:,} at a time", build)
    timed("all as one matrix, in order", matrix)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for part in (cache, blobs):
            print(part.__doc__)
            part(Path(folder))
            print(f"  peak memory so far {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
