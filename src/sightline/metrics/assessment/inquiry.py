"""All that is asked about some systems: one sequence of duels for each two of them, or one of pairs for all scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.assessment.draws import Draws, side_sizes
from sightline.metrics.assessment.estimates import Assessed, assess_target
from sightline.metrics.assessment.pool import Floats, RankedPool

Goal: TypeAlias = Literal["compare", "score"]
Two: TypeAlias = tuple[int, int]
_TIE = 1e-12
Item: TypeAlias = tuple[int, int]
"""Numbers of a query and of a picture."""


@dataclass(slots=True, eq=False)
class _Sequence:
    """Draws, and the last result of each target with the number of decisions that it was made from."""

    draws: Draws
    judged: Floats
    """Σ w · j of each target over all pairs."""
    decided: int = 0
    found: dict[tuple[int, float], tuple[bytes, Assessed]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Inquiry:
    """Draws for a goal, and estimates from what people said.

    `compare` has a sequence of duels for each two systems, each estimating second − first. `score` has one sequence for
    all scores; its differences are estimated too, from more decisions. Levels are for all intervals together (union
    bound). `judge` are grades of a model from 0 to 1 by item, if there are any.
    """

    pool: RankedPool
    goal: Goal
    seed: int = 0
    level: float = 0.95
    judge: Mapping[Item, float] = field(default_factory=dict)
    pairs: dict[Item, int] = field(init=False, default_factory=dict)
    items: list[Item] = field(init=False, default_factory=list)
    gains: list[float] = field(init=False, default_factory=list)
    _sequences: list[_Sequence] = field(init=False)
    _center: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._center = float(np.mean(list(self.judge.values()))) if self.judge else 0.0
        sets = [self._contrasts[at : at + 1] for at in range(len(self.twos))] if self.goal == "compare" else []
        sets = sets or [np.concatenate([np.eye(self.pool.systems), self._contrasts])]
        duels = self.goal == "compare"
        sizes = side_sizes(self.pool, sets, duels)
        self._sequences = [
            _Sequence(Draws(self.pool, one, duels, sizes[at], (self.seed, at), self.pairs), self._judged(one))
            for at, one in enumerate(sets)
        ]

    @property
    def twos(self) -> list[Two]:
        """Every two systems: (first, second)."""
        return list(combinations(range(self.pool.systems), 2))

    @property
    def _contrasts(self) -> Floats:
        found = np.zeros((len(self.twos), self.pool.systems))
        for at, (first, second) in enumerate(self.twos):
            found[at, first], found[at, second] = -1.0, 1.0
        return found

    def _judged(self, contrasts: Floats) -> Floats:
        total = np.zeros(len(contrasts))
        asked = sorted({query for query, _ in self.judge})
        for query in asked:
            items = self.pool.items(query, query + 1)
            said = np.array([self._said((query, picture)) for picture in items.picture.tolist()])
            total += contrasts @ (items.weights.T @ said)
        return total

    def _said(self, item: Item) -> float:
        """The judge's grade, centered; 0 where it said nothing."""
        return self.judge[item] - self._center if item in self.judge else 0.0

    def tell(self, item: Item, gain: float | None) -> None:
        """What is known of an item now: a gain from 0 to 1, or None for nothing."""
        number = self.pairs.setdefault(item, len(self.pairs))
        self._grow()
        if gain is None:
            for sequence in self._sequences:
                sequence.decided = 0
        self.gains[number] = math.nan if gain is None else gain

    def _grow(self) -> None:
        for item in islice(self.pairs, len(self.gains), None):
            self.items.append(item)
            self.gains.append(math.nan)

    def difference(self, two: Two) -> Assessed:
        """Second − first."""
        at = self.twos.index(two)
        level = 1 - (1 - self.level) / len(self.twos)
        return self._result(at, 0, level) if self.goal == "compare" else self._result(0, self.pool.systems + at, level)

    def score(self, system: int) -> Assessed | None:
        """The score of a system; None where only duels are judged: they say nothing of what two systems share."""
        return None if self.goal == "compare" else self._result(0, system, 1 - (1 - self.level) / self.pool.systems)

    def outcomes(self, two: Two) -> tuple[int, int, int]:
        """In how many judged queries the pictures that speak for the second system are better, as good, or worse."""
        at = self.twos.index(two)
        sequence, target = (
            (self._sequences[at], 0) if self.goal == "compare" else (self._sequences[0], self.pool.systems + at)
        )
        drawn = sequence.draws.upto(self._decided(sequence))
        worth = (drawn.coefficients[:, :, target] * np.append(self.gains, 0.0)[drawn.pairs]).sum(axis=1)
        queries = np.array([self.items[one][0] for one in drawn.pairs[:, 0].tolist()], np.intp)
        total = np.bincount(queries, weights=worth) if len(queries) else np.zeros(0)
        judged = total[np.bincount(queries) > 0] if len(queries) else total
        return int((judged > _TIE).sum()), int((abs(judged) <= _TIE).sum()), int((judged < -_TIE).sum())

    def leader(self) -> int:
        """The system that is ahead of the others by the most, as far as is known."""
        ahead = np.zeros(self.pool.systems)
        for two in self.twos:
            mean = self.difference(two).mean
            ahead[two[0]] -= mean
            ahead[two[1]] += mean
        return int(np.argmax(ahead))

    def open_twos(self, half_width: float) -> list[Two]:
        """The leader with each system from which it can't be told apart yet, the least judged first.

        Told apart: zero is outside of the interval, or the interval is as narrow as asked for.
        """
        leader = self.leader()
        found = [(two, self.difference(two)) for two in self.twos if leader in two]
        left = [(two, one) for two, one in found if one.low <= 0 <= one.high and one.half_width > half_width]
        return [two for two, _ in sorted(left, key=lambda pair: pair[1].draws)]

    def settled(self, half_width: float) -> bool:
        """Whether the goal is reached: the best system is known, or every score is known to within `half_width`."""
        if self.goal == "compare":
            return not self.open_twos(half_width)
        return all(
            one.half_width <= half_width for at in range(self.pool.systems) if (one := self.score(at)) is not None
        )

    def undecided(self, half_width: float) -> Iterator[Item]:
        """Items to ask about, in order; those that a goal does not need any more come last. Ends when all are known."""
        twos = self.twos
        order = [twos.index(two) for two in self.open_twos(half_width)] if self.goal == "compare" else [0]
        for at in [*order, *(other for other in range(len(self._sequences)) if other not in order)]:
            sequence = self._sequences[at]
            number = self._decided(sequence)
            while numbers := sequence.draws.pairs_of(number):
                self._grow()
                yield from (self.items[one] for one in numbers if math.isnan(self.gains[one]))
                number += 1

    def _decided(self, sequence: _Sequence) -> int:
        """How many draws are decided; draws whose pairs were all judged before are decided as they are drawn."""
        while numbers := sequence.draws.pairs_of(sequence.decided):
            self._grow()
            if any(math.isnan(self.gains[one]) for one in numbers):
                break
            sequence.decided += 1
        return sequence.decided

    def _result(self, at: int, target: int, level: float) -> Assessed:
        sequence = self._sequences[at]
        draws = self._decided(sequence)
        drawn = sequence.draws.upto(draws)
        gains = np.asarray(self.gains, np.float64)
        mark = drawn.pairs.tobytes() + gains[drawn.pairs].tobytes()
        known = sequence.found.get((target, level))
        if known is not None and known[0] == mark:
            return known[1]
        found = assess_target(
            drawn,
            gains,
            target,
            sequence.draws.reach_at(draws),
            signed=bool((sequence.draws.contrasts[target] < 0).any()),
            level=level,
            judge=self._judge_by_pair() if self.judge else None,
            judged=float(sequence.judged[target]),
        )
        sequence.found[target, level] = mark, found
        return found

    def _judge_by_pair(self) -> NDArray[np.float64]:
        return np.array([self._said(item) for item in self.items], np.float64)
