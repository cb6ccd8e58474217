"""What every vector store can do, what goes into it, and one order for all answers.

Scores are in double precision, rounded once; among equal scores the lower row comes first. A matrix product gives the
same row different last bits at different places. So every store finds candidates its own way, with room for such
errors, and the candidates are compared here: answers are the same bits with any store, any filter, and any number of
queries at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sightline.errors import SightlineError, StorageError, UserError
from sightline.models.protocols import Vectors

Rows: TypeAlias = NDArray[np.int64]
"""Numbers of pictures in an index, from 0 on."""
Queries: TypeAlias = Callable[[], Mapping[str, Vectors]]
"""Queries by kind, made when they are needed."""
LONGEST = 1.01
"""No vector is longer than this: unit length, with room for rounding."""
_BLOCK = 64
_MOST = 1 << 22
"""Numbers that are compared in double precision at a time."""
_OTHER_MODEL = "the index was built by another embedder: name that one, or build the index again"


class DamagedError(StorageError):
    """The files of a back-end are not what was written to them; they can be made again from the workspace's vectors."""


def rebuild_fix(folder: Path) -> str:
    """What to do about a damaged index; `folder` is the index's own, or that of its vectors."""
    index = folder.parent if folder.name.startswith(("pictures-", "captions-")) else folder
    from_cache = "vectors come from the workspace; nothing is embedded again"
    if index.name.startswith("run-"):
        return f"remove {index}: the next run makes it again ({from_cache})"
    return f"make it again: sightline index --name {index.name} --rebuild ({from_cache})"


class VectorStoreGoneError(SightlineError):
    """The server did not answer; nothing is known to be wrong with the question, so asking again may help."""

    retryable = True

    def __init__(self, name: str, why: str) -> None:
        super().__init__(
            f"the {name} server went away: {why}.", "check that it runs and can be reached, then run the command again"
        )


class Nearest(NamedTuple):
    """For each query, rows and their scores (cosine), best first; among equal scores the lower row."""

    rows: list[Rows]
    scores: list[NDArray[np.float32]]


class VectorIndex(Protocol):
    """Unit-length vectors by row number; exact unless `exact` says otherwise.

    A row that is put again replaces what was there. `within` limits a search to those rows (ascending, no row twice):
    the answer is then exact too, whatever the back-end, unless they are as many as make an approximate index
    worthwhile. Only rows that are there are ever returned, so an answer may be shorter than `k`.
    """

    @property
    def name(self) -> str: ...

    @property
    def exact(self) -> bool: ...

    @property
    def dim(self) -> int: ...

    def __len__(self) -> int: ...

    def put(self, batches: Iterable[tuple[Rows, Vectors]]) -> None: ...

    def remove(self, rows: Rows) -> None: ...

    def rows(self) -> Rows:
        """All row numbers that are there, ascending."""
        ...

    def get(self, rows: Rows) -> Vectors:
        """The vectors of rows that are there."""
        ...

    def nearest(self, queries: Vectors, k: int, within: Rows | None = None) -> Nearest: ...

    def flush(self) -> None:
        """Make what was put durable, and build what an approximate search needs."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class MeasuresRecall(Protocol):
    """A back-end that tries queries when it builds, and says what share of their true neighbours it finds."""

    @property
    def recalls(self) -> Mapping[str, float]: ...

    def expect(self, queries: Queries) -> None: ...


@dataclass(frozen=True, slots=True)
class BackendKind:
    """How a back-end is opened; `address` is what it takes for one where none is given, None if it takes none."""

    open: Callable[..., VectorIndex]
    options: Mapping[str, type]
    address: str | None = None


class FoundVectors(NamedTuple):
    """Rows with their vectors, in any order."""

    rows: Rows
    vectors: Vectors


class RankedRows(NamedTuple):
    """Rows and scores, best first."""

    rows: Rows
    scores: NDArray[np.float32]


NOTHING = RankedRows(np.zeros(0, np.int64), np.zeros(0, np.float32))


def scores_of(
    vectors: Vectors, query: NDArray[np.float32], chosen: NDArray[np.intp] | None = None
) -> NDArray[np.float32]:
    """Products of all, or of the `chosen`, with the query; each depends on its own vector only."""
    exact = query.astype(np.float64)
    step = max(1, _MOST // max(1, len(query)))
    scores = np.empty(len(vectors) if chosen is None else len(chosen), np.float32)
    for at in range(0, len(scores), step):
        page = vectors[at : at + step] if chosen is None else vectors[chosen[at : at + step]]
        scores[at : at + step] = (page.astype(np.float64) * exact).sum(axis=1)
    return scores


def ranked(rows: Rows, scores: NDArray[np.float32], k: int) -> RankedRows:
    """The k best of them, in the order of all answers."""
    order = np.lexsort((rows, -scores))[:k]
    return RankedRows(rows[order], scores[order])


def joined(first: RankedRows, second: RankedRows, k: int) -> RankedRows:
    """The k best of two answers without a common row."""
    return ranked(np.concatenate([first.rows, second.rows]), np.concatenate([first.scores, second.scores]), k)


def slack(query: NDArray[np.float32]) -> float:
    """Two products in single precision, summed in any order, that differ by more than this are truly in that order."""
    length = math.sqrt(float(np.square(query, dtype=np.float64).sum()))
    return (2 * len(query) + 8) * 2.0**-24 * length * LONGEST


def floor_of(values: NDArray[np.float32], k: int) -> float:
    """A number that at least k of the values reach, close below the k-th highest; all reach it where there are fewer.

    The k-th highest of the maxima of blocks: k blocks hold a value that reaches it. Much faster than a partition.
    """
    if len(values) <= k:
        return -math.inf
    whole = len(values) // _BLOCK * _BLOCK
    if whole >= 8 * k * _BLOCK:
        values = values[:whole].reshape(_BLOCK, -1).max(axis=0)
    return float(np.partition(values, len(values) - k)[len(values) - k])


def settled(
    closest: Callable[[int], FoundVectors], query: NDArray[np.float32], k: int, most: int | None = None
) -> RankedRows | None:
    """The k best of a back-end that gives any number of its nearest, with ties and last bits in its own way.

    It is asked for more until the last that it gave is clearly worse than the k-th, so no tie is cut in two; None where
    that takes more than the `most` that it gives.
    """
    asked = k + max(8, k // 4)
    room = slack(query)
    while most is None or asked <= most:
        found = closest(asked)
        scores = scores_of(found.vectors, query)
        best = ranked(found.rows, scores, k)
        if len(found.rows) < asked or scores.min() < best.scores[-1] - room:
            return best
        asked *= 4
    return None


def checked_batches(batches: Iterable[tuple[Rows, Vectors]], dim: int) -> Iterator[tuple[Rows, Vectors]]:
    """The batches as int64 and float32, each row once (the last one given); empty ones are left out."""
    for rows, vectors in batches:
        rows, vectors = as_rows(rows), np.ascontiguousarray(vectors, dtype="<f4")
        if vectors.ndim != 2 or vectors.shape[1] != dim:
            raise UserError(f"a vector has {_width(vectors)} numbers; this index holds {dim}.", _OTHER_MODEL)
        if len(rows) != len(vectors):
            raise ValueError(f"{len(rows)} rows for {len(vectors)} vectors")
        _refuse_bad_numbers(rows, vectors)
        if len(rows):
            yield _last_of_each(rows, vectors)


def checked_queries(queries: Vectors, dim: int, k: int) -> Vectors:
    """The queries as float32, one a line; a single vector is one query."""
    asked = np.atleast_2d(np.ascontiguousarray(queries, dtype="<f4"))
    if asked.ndim != 2 or asked.shape[1] != dim:
        raise UserError(f"the query has {_width(asked)} numbers; this index holds {dim}.", _OTHER_MODEL)
    if not np.isfinite(asked).all():
        raise UserError("the query's vector holds NaN or infinity.", "the embedder is at fault: try another query")
    if k < 1:
        raise UserError(f"k must be at least 1, not {k}.", "ask for 1 or more")
    return asked


def as_rows(rows: Rows) -> Rows:
    """Row numbers as int64; negative ones are refused."""
    numbers = np.ascontiguousarray(rows, dtype=np.int64)
    if len(numbers) and int(numbers.min()) < 0:
        raise ValueError(f"{int(numbers.min())} is not a row: rows count from 0")
    return numbers


def in_order(asked: Rows, found: Rows, vectors: Vectors) -> Vectors:
    """The vectors of `asked`, in that order; `found` came in any order."""
    order = np.argsort(found)
    at = np.searchsorted(found, asked, sorter=order)
    there = at < len(found)
    there[there] = found[order[at[there]]] == asked[there]
    if not there.all():
        raise KeyError(f"row {int(asked[~there][0])} is not in the index")
    return vectors[order[at]]


def _width(vectors: NDArray[np.float32]) -> int:
    return int(vectors.shape[-1]) if vectors.ndim else 0


def _refuse_bad_numbers(rows: Rows, vectors: Vectors) -> None:
    lengths = np.sqrt(np.square(vectors).sum(axis=1))
    bad = np.flatnonzero(~(lengths <= LONGEST))  # NaN is not at most anything.
    if len(bad):
        length = float(lengths[bad[0]])
        what = f"has length {length:.4g}" if np.isfinite(length) else "holds NaN or infinity"
        raise UserError(
            f"the vector of row {int(rows[bad[0]])} {what}; vectors of unit length are kept.",
            "divide each vector by its length before it is put",
        )


def _last_of_each(rows: Rows, vectors: Vectors) -> tuple[Rows, Vectors]:
    unique, at = np.unique(rows[::-1], return_index=True)
    if len(unique) == len(rows):
        return rows, vectors
    kept = len(rows) - 1 - at
    return unique, vectors[kept]
