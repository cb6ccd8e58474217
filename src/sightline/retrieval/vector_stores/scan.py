"""The nearest by products in single precision over slots: bounded memory, and nothing copied that need not be.

Long loops over rows run in pieces, on all cores: numpy lets other threads run while it multiplies.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.engine.worker_pool import cores
from sightline.models.protocols import Vectors
from sightline.retrieval.vector_stores.base import NOTHING, RankedRows, floor_of, joined, scores_of, slack
from sightline.retrieval.vector_stores.slots import Slots

_PIECE = 8192
"""Rows at a time: small, so that on a busy machine a thread that has to wait holds up little."""
Places: TypeAlias = NDArray[np.int64]
"""Slots, ascending."""
_SCORES = 1 << 22
"""Scores that are held at a time: 16 MB."""
_GATHERED = 512
"""Vectors that are copied together at a time."""
_FEW_QUERIES = 3
_RUN = 16
"""From this mean length on, a product for each run of neighbours is faster than to gather them."""
ALMOST_ALL = 0.35
"""From this share on, to compare all slots and pick is faster than to gather."""


def in_pieces(work: Callable[[int, int], None], count: int) -> None:
    """Call `work(start, stop)` for pieces that cover `count` rows; returns when all are done."""
    pieces = count // _PIECE
    if pieces < 2 or cores() < 2:
        work(0, count)
        return
    ends = [count * at // pieces for at in range(pieces + 1)]
    deque(_pool(os.getpid()).map(work, ends[:-1], ends[1:]), maxlen=0)


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of a process: those of its parent are not there after a fork."""
    return ThreadPoolExecutor(cores(), thread_name_prefix=f"vectors-{process}")


def nearest_slots(slots: Slots, queries: Vectors, k: int, within: Places | None = None) -> list[RankedRows]:
    """The k nearest for each query, of all living slots or of those `within`."""
    best = [NOTHING] * len(queries)
    step = max(8 * _GATHERED, _SCORES // max(1, len(queries)))
    places = within if within is not None else slots.used
    for first, scores in _pages(slots, queries, places, step):
        for at, query in enumerate(queries):
            floor = max(floor_of(scores[at], k), worst(best[at], k)) - slack(query)
            hits = np.flatnonzero(scores[at] >= floor)
            chosen = hits + first if within is None else within[hits + first]
            best[at] = merged(slots, query, k, best[at], chosen)
    return best


def worst(best: RankedRows, k: int) -> float:
    """What a new one must reach to be among the k best."""
    return float(best.scores[-1]) if len(best.rows) == k else -np.inf


def merged(slots: Slots, query: NDArray[np.float32], k: int, best: RankedRows, chosen: Places) -> RankedRows:
    """The k best of those known so far and of some slots, dead ones left out, by their true scores."""
    rows = slots.row_of[chosen]
    living = rows >= 0
    found = RankedRows(rows[living], scores_of(slots.vectors, query, chosen[living]))
    return joined(best, found, k)


def _pages(
    slots: Slots, queries: Vectors, places: Places | int, step: int
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Scores of `step` places at a time, queries × places, with the number of the first place."""
    total = places if isinstance(places, int) else len(places)
    for first in range(0, total, step):
        if isinstance(places, int):
            yield first, _of_range(slots, queries, first, min(total, first + step))
        else:
            yield first, _of_places(slots, queries, places[first : first + step])


def _of_range(slots: Slots, queries: Vectors, start: int, stop: int) -> NDArray[np.float32]:
    scores = np.empty((len(queries), stop - start), np.float32)
    _multiply(slots.vectors[start:stop], queries, scores)
    dead = slots.dead
    scores[:, dead[np.searchsorted(dead, start) : np.searchsorted(dead, stop)] - start] = -np.inf
    return scores


def _of_places(slots: Slots, queries: Vectors, places: Places) -> NDArray[np.float32]:
    start, stop = int(places[0]), int(places[-1]) + 1
    if len(places) >= ALMOST_ALL * (stop - start):
        return np.ascontiguousarray(_of_range(slots, queries, start, stop)[:, places - start])
    scores = np.empty((len(queries), len(places)), np.float32)
    ends = np.append(np.flatnonzero(np.diff(places) != 1) + 1, len(places))
    if len(places) >= _RUN * len(ends):
        begun = 0
        for end in ends.tolist():
            first = int(places[begun])
            _multiply(slots.vectors[first : first + end - begun], queries, scores[:, begun:end])
            begun = end
        return scores
    for at in range(0, len(places), _GATHERED):
        _multiply(slots.vectors[places[at : at + _GATHERED]], queries, scores[:, at : at + _GATHERED])
    return scores


def _multiply(vectors: Vectors, queries: Vectors, out: NDArray[np.float32]) -> None:
    if len(queries) > _FEW_QUERIES:
        np.matmul(queries, vectors.T, out=out)
        return
    # One dot product a row reads memory faster than BLAS's matrix-vector product, and waits for no other thread.
    for query, scores in zip(queries, out, strict=True):

        def piece(start: int, stop: int, query: Vectors = query, scores: Vectors = scores) -> None:
            np.vecdot(vectors[start:stop], query, out=scores[start:stop])

        in_pieces(piece, len(vectors))
