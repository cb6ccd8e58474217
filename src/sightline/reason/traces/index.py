"""The index of a folder of traces: rows, outcomes, and MinHash signatures by which near-duplicate texts are found.

All of a shard is in it, or nothing.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from sightline.errors import UserError
from sightline.io.sqlite import open_database, transaction
from sightline.metrics.text.tokens import word_bytes
from sightline.reason.traces.folder import INDEX, not_written, writing
from sightline.reason.traces.records import NO_USAGE, TeacherReply, TraceRow, Verified
from sightline.types import Failure

SIZE = 24
BANDS = 4
_WIDTH = 4 * SIZE // BANDS
_SHINGLE = 3
_FEWEST_WORDS = 8
_WORDS_AT_ONCE = 2_048
"""So many words are worked on at a time: numpy takes as long for few, and memory for many."""
_RNG = np.random.default_rng(20_261_115)
# Odd factors: each permutes the numbers below 2³², so that every shingle has the same chance to be the least.
_FACTORS = _RNG.integers(0, 2**31, (SIZE, 1), dtype=np.uint32) * np.uint32(2) + np.uint32(1)
_SHIFTS = _RNG.integers(0, 2**32, (SIZE, 1), dtype=np.uint32)
_PLACES = _RNG.integers(0, 2**31, _SHINGLE, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
NEARLY_EQUAL = 0.85
"""Likeness of prints from which on a trace is a copy of an earlier one."""
_BANDS_AT_ONCE = 500
_NEXT_NUMBER = """SELECT min(number) FROM (SELECT 0 AS number UNION ALL SELECT number + 1 FROM shards)
    WHERE number NOT IN (SELECT number FROM shards)"""
"""The first that is free: that of a shard that was lost, where one was."""
_SCHEMA = """
CREATE TABLE shards (number INTEGER PRIMARY KEY, file TEXT NOT NULL, rows INTEGER NOT NULL);
CREATE TABLE rows (id TEXT PRIMARY KEY, shard INTEGER NOT NULL, kept INTEGER NOT NULL, retryable INTEGER NOT NULL,
    agreement REAL, conflicts INTEGER NOT NULL, verifier TEXT, verifier_usd REAL) WITHOUT ROWID;
CREATE TABLE outcomes (row TEXT NOT NULL, place INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT,
    input INTEGER NOT NULL, output INTEGER NOT NULL, reasoning INTEGER NOT NULL, answered INTEGER NOT NULL, usd REAL,
    quality REAL, PRIMARY KEY (row, place)) WITHOUT ROWID;
CREATE TABLE prints (id INTEGER PRIMARY KEY, trace TEXT NOT NULL, value BLOB NOT NULL);
CREATE TABLE bands (band INTEGER NOT NULL, print INTEGER NOT NULL, PRIMARY KEY (band, print)) WITHOUT ROWID
"""
_FILES = """
ALTER TABLE rows ADD COLUMN sha256 TEXT;
CREATE TABLE files (path TEXT PRIMARY KEY, shard INTEGER NOT NULL, bytes INTEGER) WITHOUT ROWID;
INSERT INTO files SELECT file, number, NULL FROM shards WHERE rows > 0
"""
_CONSISTENCY = "ALTER TABLE outcomes ADD COLUMN consistency REAL"


def minhashes_of(texts: Iterable[str]) -> Iterator[bytes]:
    """Of each text so many minima of hashes, four bytes each; empty if it is too short to say what is a copy of it."""
    lot: list[Sequence[bytes]] = []
    count = 0
    for text in texts:
        words = word_bytes(text).split()
        lot.append(words if len(words) >= _FEWEST_WORDS else ())
        count += len(lot[-1])
        if count >= _WORDS_AT_ONCE:
            yield from _minhashes(lot, count)
            lot, count = [], 0
    yield from _minhashes(lot, count)


def _minhashes(lot: Sequence[Sequence[bytes]], count: int) -> Iterator[bytes]:
    if not count:
        yield from (b"" for _ in lot)
        return
    hashes = np.fromiter(map(zlib.crc32, chain.from_iterable(lot)), np.uint32, count)
    mixed = hashes[:-2] * _PLACES[0] + hashes[1:-1] * _PLACES[1] + hashes[2:] * _PLACES[2]
    mixed ^= mixed >> np.uint32(15)
    sizes = np.array([len(words) for words in lot if words])
    ends = np.cumsum(sizes)
    # Of every second stretch nothing is wanted: shingles with words of two texts.
    edges = np.column_stack((ends - sizes, ends - (_SHINGLE - 1))).ravel()[:-1]
    minima = np.minimum.reduceat(mixed * _FACTORS + _SHIFTS, edges, axis=1)[:, ::2]
    found = iter(np.ascontiguousarray(minima.T, "<u4"))
    yield from (next(found).tobytes() if words else b"" for words in lot)


def bands_of(print_: bytes) -> tuple[int, ...]:
    """Numbers of which equal ones make two prints worth comparing: with 90 % in common, 19 of 20 pairs share one."""
    return tuple((zlib.crc32(print_[band * _WIDTH : (band + 1) * _WIDTH], band) << 3) | band for band in range(BANDS))


def minhash_similarity(one: bytes, other: bytes) -> float:
    """Equal minima / all: an estimate of the share of shingles in common (Jaccard)."""
    return float(np.count_nonzero(np.frombuffer(one, "<u4") == np.frombuffer(other, "<u4"))) / SIZE


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """The earlier trace that a text nearly equals."""

    trace: str
    likeness: float


class _Print(NamedTuple):
    id: int
    trace: str
    value: bytes


class TraceIndex:
    """`index.sqlite` of a folder of traces; one writer, and `Done` for the thread that draws items."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / INDEX
        try:
            self.database = open_database(self.path, [_SCHEMA, _FILES, _CONSISTENCY])
        except UserError as error:  # It speaks of a workspace, which this is not.
            if isinstance(error.__context__, (OSError, sqlite3.OperationalError)):
                raise not_written(self.path, error.__context__) from error
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            # Nothing beside the file is left over: the folder may be uploaded as it is.
            self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError:  # A full disk: the next who opens it does it.
            if error is None:
                raise
        finally:
            self.database.close()

    @contextmanager
    def change(self) -> Iterator[None]:
        """What is changed in the block counts when it ends well."""
        with writing(self.path), transaction(self.database):
            yield

    def next_number(self) -> int:
        """The number of the next shard."""
        found: int = self.database.execute(_NEXT_NUMBER).fetchone()[0]
        return found

    def add_shard(
        self, number: int, file: str, rows: Sequence[TraceRow], in_file: int, sizes: Mapping[str, int]
    ) -> None:
        """What became of the rows of a shard, and how large its files are."""
        self.database.execute("INSERT INTO shards VALUES (?, ?, ?)", (number, file, in_file))
        self.database.executemany(
            "INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (_row_values(number, row) for row in rows)
        )
        self.database.executemany(
            "INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (values for row in rows for values in _outcome_values(row)),
        )
        self.database.executemany(
            "INSERT INTO files VALUES (?, ?, ?)", ((path, number, size) for path, size in sizes.items())
        )

    def copies(self, prints: Mapping[str, bytes]) -> dict[str, NearDuplicate]:
        """Of traces by their prints, in order: those that nearly equal an earlier one; the others are remembered."""
        bands = {trace: bands_of(print_) for trace, print_ in prints.items() if print_}
        near = self._near({band for found in bands.values() for band in found})
        last = self.database.execute("SELECT coalesce(max(id), 0) FROM prints").fetchone()[0]
        copies: dict[str, NearDuplicate] = {}
        new: list[_Print] = []
        for trace, found in bands.items():
            print_ = prints[trace]
            copied = _first_alike(print_, {earlier for band in found for earlier in near.get(band, ())})
            if copied is not None:
                copies[trace] = copied
                continue
            new.append(_Print(last + len(new) + 1, trace, print_))
            for band in found:
                near.setdefault(band, []).append(new[-1])
        self.database.executemany("INSERT INTO prints VALUES (?, ?, ?)", new)
        self.database.executemany(
            "INSERT OR IGNORE INTO bands VALUES (?, ?)", ((band, one.id) for one in new for band in bands[one.trace])
        )
        return copies

    def _near(self, bands: Iterable[int]) -> dict[int, list[_Print]]:
        """What was remembered under these bands."""
        near: dict[int, list[_Print]] = {}
        waiting = iter(bands)
        while some := tuple(islice(waiting, _BANDS_AT_ONCE)):
            query = f"""SELECT b.band, p.id, p.trace, p.value FROM bands AS b JOIN prints AS p ON p.id = b.print
                WHERE b.band IN ({",".join("?" * len(some))})"""
            for band, *earlier in self.database.execute(query, some):
                near.setdefault(band, []).append(_Print(*earlier))
        return near

    def failures(self, ids: Iterable[str]) -> dict[str, int]:
        """Of those questions that are done: how many teachers failed."""
        query = "SELECT sum(state = 'failed') FROM outcomes WHERE row = ?"
        found = ((id_, self.database.execute(query, (id_,)).fetchone()[0]) for id_ in ids)
        return {id_: count for id_, count in found if count is not None}

    def count(self, *, but_failed: bool = False) -> int:
        """Questions that are done, perhaps but for those with a failure that another try may help."""
        query = "SELECT count(*) FROM rows WHERE NOT (retryable AND ?)"
        found: int = self.database.execute(query, (but_failed,)).fetchone()[0]
        return found


class DoneQuestions:
    """Is a question done? Opened by the thread that asks, beside the one that writes.

    With `but_failed`, one with a failure that another try may help is not.
    """

    def __init__(self, path: Path, *, but_failed: bool = False) -> None:
        self._but_failed = but_failed
        self._database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)

    def __contains__(self, id_: object) -> bool:
        query = "SELECT 1 FROM rows WHERE id = ? AND NOT (retryable AND ?)"
        return self._database.execute(query, (id_, self._but_failed)).fetchone() is not None

    def close(self) -> None:
        self._database.close()


def _first_alike(print_: bytes, earlier: Iterable[_Print]) -> NearDuplicate | None:
    for one in sorted(earlier):
        alike = minhash_similarity(print_, one.value)
        if alike >= NEARLY_EQUAL:
            return NearDuplicate(one.trace, round(alike, 3))
    return None


def _row_values(number: int, row: TraceRow) -> tuple[object, ...]:
    verified = row.asked.verified
    state = None if verified is None else verified.kind if isinstance(verified, Failure) else "done"
    return (
        row.question.id,
        number,
        sum(trace.state == "kept" for trace in row.found.traces),
        any(trace.failure is not None and trace.failure.retryable for trace in row.found.traces) or _may_pass(verified),
        row.found.agreement,
        len(row.found.conflicts),
        state,
        None if verified is None else _paid(verified),
        row.question.subject.sha256,
    )


def _may_pass(verified: Verified | Failure | None) -> bool:
    """A reply of the verifier that does not fit is in the journal, and comes again."""
    return isinstance(verified, Failure) and verified.retryable and verified.kind != "wrong-schema"


def _outcome_values(row: TraceRow) -> Iterator[tuple[object, ...]]:
    for place, trace in enumerate(row.found.traces):
        reply = row.asked.replies[place]
        usage = reply.usage or NO_USAGE
        yield (
            row.question.id,
            place,
            trace.state,
            trace.reasons[0] if trace.reasons else None,
            usage.input,
            usage.output,
            usage.reasoning,
            reply.usage is not None,
            _paid(reply),
            trace.quality,
            trace.parts.get("consistency", 1.0) if trace.parts is not None and trace.thinking else None,
        )


def _paid(came: TeacherReply | Verified | Failure) -> float | None:
    """Dollars, also of what failed; None: nobody knows."""
    return 0.0 if isinstance(came, Failure) and came.usage is None else came.usd
