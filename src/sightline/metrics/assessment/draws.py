"""Which pairs people are asked about, drawn by lot with known probabilities, and what each answer adds.

A draw takes a query by lot, then one picture of each side by lot. Sides of a *duel* are the pictures that count for the
second system and those that count for the first; for scores there is one side, all pictures. Lots are weighted by what
a pair can change: |w_second − w_first|, or the largest weight in any score. Nothing is drawn twice.

With S the weights that are left in the sides of a query, R = Σ max(S) over queries, and a query drawn with probability
max(S) / R, an answer g to pair i of a side counts as c_i · g, with c_i = R · S_side / max(S) · w_i / |w_i|. What is
drawn and what is left then add up: known + Σ c · g has the mean Σ w · g, given everything before (weighted sampling
without replacement: Shekhar et al. 2023). So answers may come in any number, and R, which bounds a draw, shrinks as
pairs become known.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sightline.metrics.assessment.pool import Codes, Floats, QueryItems, RankedPool


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPairs:
    """Draws in order, at most two pairs each (draws × 2); pair number −1 is none.

    `coefficients` and `weights` (draws × 2 × targets) say what a gain of 1 adds to the estimate of a target and what it
    is worth; `reach` is R before each draw.
    """

    pairs: Codes
    coefficients: Floats
    weights: Floats
    reach: Floats


@dataclass(slots=True, eq=False)
class _Query:
    """The pairs of a query: their numbers, what is left of their measures (sides × pairs), and their target weights."""

    pairs: list[int]
    measures: Floats
    weights: Floats


@dataclass(slots=True, eq=False)
class Draws:
    """A sequence of draws that depends on the seed alone, never on an answer; it ends when everything was drawn.

    `contrasts` (targets × systems) are what is estimated: (−1, 1) for second − first. With `duels` there is one
    contrast, and its two signs are the sides. `sizes` are the larger side of each query (`side_sizes`). `pairs` are the
    numbers of (query, picture), shared by all sequences of a pool; new ones are added. `is_turned` swaps the lots of
    the two sides: second − first, turned, draws what first − second draws.
    """

    pool: RankedPool
    contrasts: Floats
    duels: bool
    sizes: Floats
    seed: tuple[int, ...]
    pairs: dict[tuple[int, int], int]
    is_turned: bool = False
    _random: np.random.Generator = field(init=False)
    _queries: dict[int, _Query] = field(init=False, default_factory=dict)
    _drawn: list[tuple[list[int], Floats, Floats, float]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._random, self.sizes = np.random.default_rng(self.seed), self.sizes.copy()

    def reach_at(self, draw: int) -> float:
        """R before a draw: how far the pairs that were not drawn until then can move a target."""
        return self._drawn[draw][3] if draw < len(self._drawn) else float(self.sizes.sum())

    def pairs_of(self, draw: int) -> list[int]:
        """The pairs of a draw, in the order in which to show them, drawn now if they were not yet; none at the end."""
        while len(self._drawn) <= draw:
            if not self._draw():
                return []
        return [pair for pair in self._drawn[draw][0] if pair >= 0]

    def upto(self, draws: int) -> DrawnPairs:
        """The first draws as arrays, or all where there are fewer."""
        kept = self._drawn[:draws]
        shape = (len(kept), 2, len(self.contrasts))
        return DrawnPairs(
            np.array([one[0] for one in kept], np.intp).reshape(shape[:2]),
            np.array([one[1] for one in kept]).reshape(shape),
            np.array([one[2] for one in kept]).reshape(shape),
            np.array([one[3] for one in kept]),
        )

    def _draw(self) -> bool:
        """One more; False where everything was drawn."""
        total = float(self.sizes.sum())
        if total <= 0:
            return False
        spot, *lots, order = self._random.random(4)
        number = _lot(self.sizes, spot)
        if (query := self._queries.get(number)) is None:
            query = self._queries[number] = self._open(self.pool.items(number, number + 1))
        pairs, coefficients, weights = [-1, -1], np.zeros((2, len(self.contrasts))), np.zeros((2, len(self.contrasts)))
        sides = query.measures.sum(axis=1)
        for side in np.flatnonzero(sides > 0).tolist():
            turn = 1 - side if self.is_turned else side
            at = _lot(query.measures[side], lots[turn])
            place = turn if order < 0.5 else 1 - turn
            pairs[place], weights[place] = query.pairs[at], query.weights[at]
            coefficients[place] = total * sides[side] / sides.max() / query.measures[side, at] * query.weights[at]
            query.measures[side, at] = 0.0
        self.sizes[number] = query.measures.sum(axis=1).max()
        self._drawn.append((pairs, coefficients, weights, total))
        return True

    def _open(self, items: QueryItems) -> _Query:
        keys = zip(items.query.tolist(), items.picture.tolist(), strict=True)
        numbers = [self.pairs.setdefault(key, len(self.pairs)) for key in keys]
        weights = items.weights @ self.contrasts.T
        return _Query(numbers, _measures(items, weights, self.duels), weights)


def _lot(sizes: Floats, spot: float) -> int:
    """One place by lot, in proportion to the sizes."""
    along = np.cumsum(sizes)
    at = int(np.searchsorted(along, spot * along[-1], side="right"))
    return at if at < len(sizes) else int(np.argmax(sizes))


def _measures(items: QueryItems, weights: Floats, duels: bool) -> Floats:
    """How likely each pair is in each side (sides × pairs): by what it can change."""
    if duels:
        return np.maximum(np.stack([weights[:, 0], -weights[:, 0]]), 0.0)
    largest: Floats = items.weights.max(axis=1, initial=0.0)[None]
    return largest


def side_sizes(pool: RankedPool, contrasts: list[Floats], duels: bool) -> tuple[Floats, Floats]:
    """The larger side of each query for each sequence (sequences × queries), in one pass over the pool.

    Nobody is asked about a query on which one side of a duel failed: its size is 0. The second result (sequences × 2)
    is by how much what the second, or the first, returned on such queries could be ahead of the zero of the other.
    """
    found, unasked = np.zeros((len(contrasts), pool.queries)), np.zeros((len(contrasts), 2))
    asked = [pool.answered_by(one[0] != 0) if duels else np.ones(pool.queries, np.bool_) for one in contrasts]
    for items in pool.chunks():
        first, last = int(items.query[0]), int(items.query[-1]) + 1
        for number, contrast in enumerate(contrasts):
            sides, kept = _measures(items, items.weights @ contrast.T, duels), asked[number][items.query]
            sizes = [np.bincount(items.query - first, side * kept) for side in sides]
            found[number, first:last] = np.max(sizes, axis=0)
            if duels:
                unasked[number] += sides @ ~kept
    return found, unasked
