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
from numpy.typing import NDArray

from sightline.metrics.assessment.pool import Codes, Floats, QueryItems, RankedPool

_NOBODY = -1
_LEAST = 1e-9


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


@dataclass(slots=True)
class _Query:
    """The pairs of a query that were not drawn yet, by side: numbers, measures and target weights."""

    pairs: list[Codes]
    measures: list[Floats]
    weights: list[Floats]

    @property
    def sizes(self) -> list[float]:
        return [float(side.sum()) for side in self.measures]


@dataclass(slots=True, eq=False)
class Draws:
    """An endless sequence of draws that depends on the seed alone, never on an answer.

    `contrasts` (targets × systems) are what is estimated: (−1, 1) for second − first. With `duels` there is one
    contrast, and its two signs are the sides.
    """

    pool: RankedPool
    contrasts: Floats
    duels: bool
    sizes: Floats
    """For each query the larger side; from `side_sizes`."""
    seed: tuple[int, ...]
    pairs: dict[tuple[int, int], int]
    """Numbers of (query, picture), shared by all sequences of a pool; new ones are added."""
    _random: np.random.Generator = field(init=False)
    _open: dict[int, _Query] = field(init=False, default_factory=dict)
    _left: Floats = field(init=False)
    _drawn: list[tuple[list[int], list[Floats], list[Floats], float]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        self._left = np.where(self.sizes > _LEAST * self.sizes.sum(), self.sizes, 0.0)

    def __len__(self) -> int:
        return len(self._drawn)

    def reach_at(self, draw: int) -> float:
        """R before a draw: how far the pairs that were not drawn until then can move a target."""
        return self._drawn[draw][3] if draw < len(self._drawn) else float(self._left.sum())

    def pairs_of(self, draw: int) -> list[int]:
        """The pairs of a draw, in the order in which to show them; drawn now if they were not yet."""
        while len(self._drawn) <= draw:
            if not self._draw():
                return []
        return self._drawn[draw][0]

    def upto(self, draws: int) -> DrawnPairs:
        """The first draws as arrays."""
        targets = len(self.contrasts)
        pairs = np.full((draws, 2), _NOBODY, np.intp)
        coefficients, weights = np.zeros((draws, 2, targets)), np.zeros((draws, 2, targets))
        for at, (numbers, reach, worth, _) in enumerate(self._drawn[:draws]):
            pairs[at, : len(numbers)] = numbers
            for side in range(len(numbers)):
                coefficients[at, side], weights[at, side] = reach[side], worth[side]
        return DrawnPairs(pairs, coefficients, weights, np.array([drawn[3] for drawn in self._drawn[:draws]]))

    def _draw(self) -> bool:
        """One more; False where everything was drawn."""
        along = np.cumsum(self._left)
        total = float(along[-1]) if len(along) else 0.0
        if total <= 0:
            return False
        spot, first, second, order = self._random.random(4)
        number = int(np.searchsorted(along, spot * total, side="right"))
        query = self._open.get(number)
        if query is None:
            query = self._open[number] = self._sides(self.pool.items(number, number + 1))
        sizes = query.sizes
        drawn = [
            self._take(query, side, lot, total * sizes[side] / max(sizes))
            for side, lot in enumerate((first, second)[: len(sizes)])
            if len(query.pairs[side])
        ]
        if order < 0.5:
            drawn.reverse()
        self._left[number] = max(query.sizes)
        self._drawn.append(([one[0] for one in drawn], [one[1] for one in drawn], [one[2] for one in drawn], total))
        return True

    def _take(self, query: _Query, side: int, lot: float, reach: float) -> tuple[int, Floats, Floats]:
        measure = query.measures[side]
        along = np.cumsum(measure)
        at = min(int(np.searchsorted(along, lot * along[-1], side="right")), len(measure) - 1)
        pair, weight = int(query.pairs[side][at]), query.weights[side][at]
        coefficient = reach * weight / measure[at]
        kept = np.arange(len(measure)) != at
        query.pairs[side], query.measures[side] = query.pairs[side][kept], measure[kept]
        query.weights[side] = query.weights[side][kept]
        return pair, coefficient, weight

    def _sides(self, items: QueryItems) -> _Query:
        weights = items.weights @ self.contrasts.T
        measures = sides_of(items, weights, self.duels)
        numbers = np.array(
            [self._number(*key) for key in zip(items.query.tolist(), items.picture.tolist(), strict=True)]
        )
        kept = [measure > 0 for measure in measures]
        return _Query(
            [numbers[here] for here in kept],
            [measure[here] for measure, here in zip(measures, kept, strict=True)],
            [weights[here] for here in kept],
        )

    def _number(self, query: int, picture: int) -> int:
        return self.pairs.setdefault((query, picture), len(self.pairs))


def sides_of(items: QueryItems, weights: Floats, duels: bool) -> list[Floats]:
    """How likely each pair is in each side: by what it can change."""
    if duels:
        return [np.maximum(weights[:, 0], 0.0), np.maximum(-weights[:, 0], 0.0)]
    return [items.weights.max(axis=1, initial=0.0)]


def side_sizes(pool: RankedPool, contrasts: list[Floats], duels: bool) -> NDArray[np.float64]:
    """The larger side of each query for each sequence (sequences × queries), in one pass over the pool."""
    found = np.zeros((len(contrasts), pool.queries))
    for items in pool.chunks():
        first, last = int(items.query[0]), int(items.query[-1]) + 1
        for number, contrast in enumerate(contrasts):
            sides = sides_of(items, items.weights @ contrast.T, duels)
            sums = [np.bincount(items.query - first, weights=side) for side in sides]
            found[number, first:last] = np.max(sums, axis=0)
    return found
