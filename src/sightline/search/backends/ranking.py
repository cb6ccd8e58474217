"""One order for all back-ends: scores in double precision, rounded once; among equal scores the lower row.

A matrix product gives the same row different last bits at different places. So every back-end finds candidates its own
way, with room for such errors, and the candidates are compared here: answers are the same bits with any back-end, any
filter, and any number of queries at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.models.protocols import Vectors
from sightline.search.backends.base import Rows

LONGEST = 1.01
"""No vector is longer than this: unit length, with room for rounding."""
_BLOCK = 64
_MOST = 1 << 22
"""Numbers that are compared in double precision at a time."""


class Found(NamedTuple):
    """Rows with their vectors, in any order."""

    rows: Rows
    vectors: Vectors


class Ranked(NamedTuple):
    """Rows and scores, best first."""

    rows: Rows
    scores: NDArray[np.float32]


NOTHING = Ranked(np.zeros(0, np.int64), np.zeros(0, np.float32))


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


def ranked(rows: Rows, scores: NDArray[np.float32], k: int) -> Ranked:
    """The k best of them, in the order of all answers."""
    order = np.lexsort((rows, -scores))[:k]
    return Ranked(rows[order], scores[order])


def joined(first: Ranked, second: Ranked, k: int) -> Ranked:
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
    closest: Callable[[int], Found], query: NDArray[np.float32], k: int, most: int | None = None
) -> Ranked | None:
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
