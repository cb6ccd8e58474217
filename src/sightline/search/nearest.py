"""The nearest by vectors: of pictures alone, or of pictures and their captions together, without approximation."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.models.protocols import Vectors
from sightline.search.backends import Rows, VectorIndex
from sightline.search.fusion import Ranked, ranked

_FIRST = 64
_DEEPER = 4


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A back-end, which rows it holds (a mask over all rows), and what its users wait for."""

    index: VectorIndex
    holds: NDArray[np.bool_]
    lock: AbstractContextManager[object]

    def nearest(self, query: NDArray[np.float32], k: int, within: Rows | None) -> tuple[Rows, NDArray[np.float32]]:
        """The k nearest rows, best first, and their cosines."""
        with self.lock:
            found = self.index.nearest(query[None], k, within)
        return found.rows[0], found.scores[0]

    def vectors(self, rows: Rows) -> Vectors:
        """The vectors of rows; zero where the back-end has none."""
        found = np.zeros((len(rows), self.index.dim), np.float32)
        there = np.flatnonzero(self.holds[rows])
        if len(there):
            with self.lock:
                found[there] = self.index.get(rows[there])
        return found

    def scores(self, query: NDArray[np.float32], rows: Rows) -> NDArray[np.float64]:
        """Cosines with these rows; NaN where the back-end has none."""
        found = np.einsum("ij,j->i", self.vectors(rows), query, dtype=np.float64)
        return np.where(self.holds[rows], found, np.nan)

    def has_alone(self, other: Held, within: Rows | None) -> bool:
        """Does it hold a row that the other does not?"""
        alone = self.holds & ~other.holds
        return bool((alone if within is None else alone[within]).any())


def nearest_pictures(pictures: Held, query: NDArray[np.float32], k: int, within: Rows | None) -> Ranked:
    """The k nearest pictures."""
    return ranked("picture", *pictures.nearest(query, k, within))


def nearest_fused(
    pictures: Held, captions: Held, query: NDArray[np.float32], k: int, weight: float, within: Rows | None
) -> Ranked:
    """The k best by weight · cosine of the picture + (1 − weight) · cosine of its caption.

    A picture without a caption counts by its own cosine alone. Both lists are followed down until nothing further
    below can reach the k best (the threshold algorithm), so no pair is missed that a full comparison would find.
    """
    depth = max(_FIRST, 2 * k)
    while True:
        (first, first_scores), (second, second_scores) = (
            part.nearest(query, depth, within) for part in (pictures, captions)
        )
        rows = np.union1d(first, second)
        own, told = pictures.scores(query, rows), captions.scores(query, rows)
        fused = _fused(own, told, weight)
        order = np.lexsort((rows, -fused))[:k]
        lowest = _Lowest.of(first_scores, second_scores, depth)
        bound = lowest.bound(weight, pictures.has_alone(captions, within), captions.has_alone(pictures, within))
        if bound == -np.inf or (len(order) == k and fused[order[-1]] >= bound):
            return _ranked(rows[order], fused[order], own[order], told[order])
        depth *= _DEEPER


class _Lowest(NamedTuple):
    """The score that nothing further down either list exceeds; -inf where a list has ended."""

    own: float
    told: float

    @staticmethod
    def of(own: NDArray[np.float32], told: NDArray[np.float32], depth: int) -> _Lowest:
        ends = [float(scores[-1]) if len(scores) == depth else -np.inf for scores in (own, told)]
        return _Lowest(*ends)

    def bound(self, weight: float, own_alone: bool, told_alone: bool) -> float:
        """The highest score that a row of neither list can have."""
        ended = -np.inf in self
        both = -np.inf if ended else weight * self.own + (1.0 - weight) * self.told
        return max(both, self.own if own_alone else -np.inf, self.told if told_alone else -np.inf)


def _fused(own: NDArray[np.float64], told: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    both = weight * own + (1.0 - weight) * told
    return np.where(np.isnan(own), told, np.where(np.isnan(told), own, both))


def _ranked(rows: Rows, fused: NDArray[np.float64], own: NDArray[np.float64], told: NDArray[np.float64]) -> Ranked:
    parts = {
        name: {row: score for row, score in zip(rows.tolist(), scores.tolist(), strict=True) if not math.isnan(score)}
        for name, scores in (("picture", own), ("caption", told))
    }
    return Ranked(rows, fused, parts)
