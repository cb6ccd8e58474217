"""Ranked lists: the nearest by vectors, fusion, diversity (MMR), and late interaction (MaxSim).

Several lists become one by weighted, normalised scores, or by reciprocal ranks (RRF); block by block (`in_blocks`), so
that how far they are followed does not change what comes first. The nearest are of pictures alone, or of pictures and
their captions together, without approximation. Late interaction compares a text and a picture token by token, where an
embedder gives token vectors: the mean over the query's tokens of the highest product with any token of the picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.models.protocols import Embedder, Pixels, Vectors
from sightline.retrieval.vector_stores.base import Rows, VectorIndex

_FIRST = 64
_DEEPER = 4


@dataclass(frozen=True, slots=True, eq=False)
class RankedList:
    """Rows, best first, with scores; `parts` are the scores by which each part of a search found them."""

    rows: Rows
    scores: NDArray[np.float64]
    parts: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def taking(self, places: Sequence[int] | NDArray[np.intp]) -> RankedList:
        """The rows at these places, in that order."""
        at = np.asarray(places, np.intp)
        return RankedList(self.rows[at], self.scores[at], self.parts)

    def followed_by(self, rest: RankedList) -> RankedList:
        """These, then those of another part of the same list."""
        return RankedList(
            np.concatenate([self.rows, rest.rows]), np.concatenate([self.scores, rest.scores]), self.parts
        )

    def adding(self, part: str, scores: Mapping[int, float]) -> RankedList:
        """The same with the scores of another part."""
        return RankedList(self.rows, self.scores, {**self.parts, part: scores})


def ranked_by(part: str, rows: Rows, scores: NDArray[np.floating]) -> RankedList:
    """The list of one part."""
    wide = np.asarray(scores, np.float64)
    return RankedList(rows, wide, {part: dict(zip(rows.tolist(), wide.tolist(), strict=True))})


def normalise(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(s − min) / (max − min); 1 for all where they are equal."""
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    return np.ones_like(scores) if high == low else (scores - low) / (high - low)


def fuse_weighted(lists: Sequence[tuple[RankedList, float]]) -> RankedList:
    """Σ weight · normalised score; a row that a list does not have gets 0 from it. Equal ones in order of row."""
    return _summed([(each, weight * normalise(each.scores)) for each, weight in lists])


def fuse_ranks(lists: Sequence[RankedList], constant: float = 60.0) -> RankedList:
    """Σ 1 / (constant + rank), ranks from 1 (reciprocal rank fusion). Equal ones in order of row."""
    return _summed([(each, 1.0 / (constant + np.arange(1, len(each) + 1, dtype=np.float64))) for each in lists])


class Blocks(NamedTuple):
    """A fused list, and how many of it come from the first block."""

    found: RankedList
    head: int


def in_blocks(lists: Sequence[RankedList], depth: int, fuse: Callable[[Sequence[RankedList]], RankedList]) -> Blocks:
    """The first `depth` of each list fused, then what the next `depth` of each have that is new, and so on.

    So a longer answer begins with the shorter one. Scores of each block are one lower than those of the block before.
    """
    whole = fuse([each.taking(range(min(depth, len(each)))) for each in lists])
    head = len(whole)
    longest = max(map(len, lists))
    for number, start in enumerate(range(depth, longest, depth), 1):
        block = fuse([each.taking(range(min(start, len(each)), min(start + depth, len(each)))) for each in lists])
        new = block.taking(np.flatnonzero(~np.isin(block.rows, whole.rows)))
        whole = whole.followed_by(RankedList(new.rows, new.scores - number))
    return Blocks(whole, head)


def _summed(lists: Sequence[tuple[RankedList, NDArray[np.float64]]]) -> RankedList:
    rows = np.unique(np.concatenate([each.rows for each, _ in lists]))
    totals = np.zeros(len(rows))
    for each, shares in lists:
        totals[np.searchsorted(rows, each.rows)] += shares
    order = np.lexsort((rows, -totals))
    parts = {name: scores for each, _ in lists for name, scores in each.parts.items()}
    return RankedList(rows[order], totals[order], parts)


@dataclass(frozen=True, slots=True, eq=False)
class HeldVectors:
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

    def has_alone(self, other: HeldVectors, within: Rows | None) -> bool:
        """Does it hold a row that the other does not?"""
        alone = self.holds & ~other.holds
        return bool((alone if within is None else alone[within]).any())


def nearest_pictures(pictures: HeldVectors, query: NDArray[np.float32], k: int, within: Rows | None) -> RankedList:
    """The k nearest pictures."""
    return ranked_by("picture", *pictures.nearest(query, k, within))


def nearest_fused(
    pictures: HeldVectors, captions: HeldVectors, query: NDArray[np.float32], k: int, weight: float, within: Rows | None
) -> RankedList:
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


def _ranked(rows: Rows, fused: NDArray[np.float64], own: NDArray[np.float64], told: NDArray[np.float64]) -> RankedList:
    parts = {
        name: {row: score for row, score in zip(rows.tolist(), scores.tolist(), strict=True) if not math.isnan(score)}
        for name, scores in (("picture", own), ("caption", told))
    }
    return RankedList(rows, fused, parts)


def spread_out(scores: NDArray[np.float64], vectors: Vectors, diversity: float, k: int) -> list[int]:
    """Places of the k chosen, one by one: argmax (1 − d) · normalised score − d · highest cosine with those chosen.

    d = 0 keeps the order; d = 1 looks at variety alone, after the best. Among equals the earlier is taken.
    """
    relevance = (1.0 - diversity) * normalise(scores)
    nearest = np.full(len(scores), -np.inf)
    open_ = np.ones(len(scores), np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(k, len(scores)):
        penalty = diversity * nearest if chosen else 0.0
        at = int(np.argmax(np.where(open_, relevance - penalty, -np.inf)))
        chosen.append(at)
        open_[at] = False
        nearest = np.maximum(nearest, vectors @ vectors[at])
    return chosen


class TokenVectors(Protocol):
    """What an embedder may offer as its attribute `token_vectors`: a row of unit length for each token."""

    def pictures(self, batch: Sequence[Pixels]) -> Sequence[Vectors]: ...

    def texts(self, batch: Sequence[str]) -> Sequence[Vectors]: ...


def token_vectors_of(embedder: Embedder) -> TokenVectors | None:
    """The token vectors of an embedder, if it gives any."""
    offered: TokenVectors | None = getattr(embedder, "token_vectors", None)
    return offered


def max_sim(query: Vectors, pictures: Sequence[Vectors]) -> NDArray[np.float32]:
    """For each picture, the mean over the query's tokens of the best product; -1 for a picture without tokens."""
    scores = [float((query @ tokens.T).max(axis=1).mean()) if len(tokens) else -1.0 for tokens in pictures]
    return np.array(scores, np.float32)
