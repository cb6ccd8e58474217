"""All that is asked about some systems: one sequence of duels for each two of them, or one of pairs for all scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Literal, TypeAlias

import numpy as np

from sightline.metrics.assessment.draws import DrawnPairs, Draws, side_sizes
from sightline.metrics.assessment.estimates import Assessed, Judge, assess_target
from sightline.metrics.assessment.pool import Floats, RankedPool
from sightline.metrics.labels.calibration import confidence_feature, with_query_mean

Goal: TypeAlias = Literal["compare", "score"]
Two: TypeAlias = tuple[int, int]
"""Numbers of two systems: first, second."""
Item: TypeAlias = tuple[int, int]
"""Numbers of a query and of a picture."""
_TIE, _ENOUGH = 1e-12, 20


@dataclass(slots=True, eq=False)
class _Sequence:
    """Draws, how many of them are decided, and the last result of each target with the answers it was made from.

    `unasked` is what results on queries that the other system failed on can add, and take away.
    """

    draws: Draws
    judge: Judge | None
    unasked: tuple[float, float]
    decided: int = 0
    results: dict[tuple[int, float], tuple[bytes, Assessed]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Inquiry:
    """Draws for a goal, and estimates from what people said.

    `compare` has a sequence of duels for each two systems, each estimating second − first. `score` has one sequence for
    all scores; its differences are estimated too, from more decisions. Levels are for all intervals together (union
    bound). `judge` holds a model's probabilities that items are relevant, where there are any. What is asked
    about two systems depends on the seed, their `names` and their results alone, not on their order or on other
    systems: decisions are of use when systems are named in another order, and when one joins.
    """

    pool: RankedPool
    goal: Goal
    seed: int = 0
    level: float = 0.95
    judge: Mapping[Item, float] = field(default_factory=dict)
    names: Sequence[str] = ()
    twos: list[Two] = field(init=False)
    _numbers: dict[Item, int] = field(init=False)
    _items: list[Item] = field(init=False, default_factory=list)
    _gains: list[float] = field(init=False, default_factory=list)
    _sequences: list[_Sequence] = field(init=False)

    def __post_init__(self) -> None:
        self.twos = list(combinations(range(self.pool.systems), 2))
        unit = np.eye(self.pool.systems)
        differences = [unit[[second]] - unit[[first]] for first, second in self.twos]
        duels = self.goal == "compare"
        contrasts = differences if duels else [np.concatenate([unit, *differences])]
        judged = self._judged_items()
        self._numbers = {item: number for number, item in enumerate(judged)}
        turned = [bool(self.names) and self.names[first] > self.names[second] for first, second in self.twos]
        sized = zip(contrasts, turned if duels else [False], *side_sizes(self.pool, contrasts, duels), strict=True)
        self._sequences = [
            _Sequence(
                Draws(self.pool, one, duels, sizes, (self.seed, 0), self._numbers, turn),
                self._judge(judged, one),
                (float(unasked[0]), float(unasked[1])),
            )
            for one, turn, sizes, unasked in sized
        ]

    def _judged_items(self) -> dict[Item, Floats]:
        """Weights of the items that the judge said something of."""
        found = {}
        for query in sorted({query for query, _ in self.judge}):
            items = self.pool.items(query, query + 1)
            for picture, weights in zip(items.picture.tolist(), items.weights, strict=True):
                if (query, picture) in self.judge:
                    found[query, picture] = weights
        return found

    def _judge(self, judged: Mapping[Item, Floats], contrasts: Floats) -> Judge | None:
        if not judged:
            return None
        stated = confidence_feature([self.judge[item] for item in judged])
        features = with_query_mean(stated, [query for query, _ in judged], self.pool.queries)
        return Judge(features, np.array(list(judged.values())) @ contrasts.T)

    def tell(self, item: Item, gain: float | None) -> None:
        """What is known of an item now: a gain from 0 to 1, or None for nothing."""
        number = self._numbers.setdefault(item, len(self._numbers))
        if gain is None:
            for sequence in self._sequences:
                sequence.decided = 0
        self._known()[number] = math.nan if gain is None else gain

    def _known(self) -> list[float]:
        """The gain of each item by its number, NaN where it is not known."""
        for item in islice(self._numbers, len(self._gains), None):
            self._items.append(item)
            self._gains.append(math.nan)
        return self._gains

    def difference(self, two: Two) -> Assessed:
        """Second − first."""
        return self._result(*self._place(two), 1 - (1 - self.level) / len(self.twos))

    def score(self, system: int) -> Assessed | None:
        """The score of a system; None where only duels are judged: they say nothing of what systems have in common."""
        return None if self.goal == "compare" else self._result(0, system, 1 - (1 - self.level) / self.pool.systems)

    def outcomes(self, two: Two) -> tuple[int, int, int]:
        """In how many judged queries the pictures that speak for the second system are better, as good, or worse."""
        at, target = self._place(two)
        drawn, gains = self._decided(at)
        worth = (drawn.coefficients[:, :, target] * np.append(gains, 0.0)[drawn.pairs]).sum(axis=1)
        queries = np.array([self._items[one][0] for one in drawn.pairs.max(axis=1).tolist()], np.intp)
        total = np.bincount(queries, worth)[np.unique(queries)]
        return int((total > _TIE).sum()), int((abs(total) <= _TIE).sum()), int((total < -_TIE).sum())

    def ahead(self) -> Floats:
        """By how much each system is ahead of all others together, as far as is known."""
        found = np.zeros(self.pool.systems)
        for two in self.twos:
            found[list(two)] += np.array([-1, 1]) * self.difference(two).mean
        return found

    def settled(self, half_width: float) -> bool:
        """Whether the goal is reached: the best system is known, or every score is known to within `half_width`.

        Systems that surely differ by no more than `half_width` count as equally good.
        """
        if self.goal == "compare":
            return not self._open(half_width)
        found = (self.score(system) for system in range(self.pool.systems))
        return all(one is None or one.half_width <= half_width for one in found)

    def _open(self, half_width: float) -> list[int]:
        """Sequences of the leader and each system from which it can't be told apart yet, the least judged first.

        Told apart: zero is outside of the interval, or all of the interval is within ±`half_width`.
        """
        leader = int(np.argmax(self.ahead()))
        found = {at: self.difference(two) for at, two in enumerate(self.twos) if leader in two}
        left = [at for at, one in found.items() if one.low <= 0 <= one.high and one.at_most > half_width]
        return sorted(left, key=lambda at: found[at].draws)

    def reachable(self, decisions: int) -> float:
        """About the least difference (or half-width of a score) that so many decisions settle: σ √(2 ln(2 / α) / n).

        With n draws and σ as seen in at least 20 draws; before, half of what a draw can be.
        """
        shared = 2 * max(1, self.pool.systems - 1) if self.goal == "compare" else 1
        found = [self._result(at, 0, self.level) for at in range(len(self._sequences))]
        ranges = [sequence.draws.reach_at(0) / 2 for sequence in self._sequences]
        spread = max(one.deviation if one.draws >= _ENOUGH else half for one, half in zip(found, ranges, strict=True))
        chances = len(self.twos) if self.goal == "compare" else self.pool.systems
        return spread * math.sqrt(2 * math.log(2 * chances / (1 - self.level)) * shared / max(decisions, 1))

    def undecided(self, half_width: float) -> Iterator[Item]:
        """Items to ask about, in order; those that the goal does not need any more come last."""
        first = self._open(half_width) if self.goal == "compare" else []
        for at in dict.fromkeys([*first, *range(len(self._sequences))]):
            self._decided(at)
            draw = self._sequences[at].decided
            while pairs := self._sequences[at].draws.pairs_of(draw):
                gains = self._known()
                yield from (self._items[pair] for pair in pairs if math.isnan(gains[pair]))
                draw += 1

    def _place(self, two: Two) -> tuple[int, int]:
        """The sequence that estimates a difference, and its target there."""
        at = self.twos.index(two)
        return (at, 0) if self.goal == "compare" else (0, self.pool.systems + at)

    def _decided(self, at: int) -> tuple[DrawnPairs, Floats]:
        """The draws up to the first that is not decided, and all gains: later draws wait for it."""
        sequence = self._sequences[at]
        while pairs := sequence.draws.pairs_of(sequence.decided):
            gains = self._known()
            if any(math.isnan(gains[pair]) for pair in pairs):
                break
            sequence.decided += 1
        return sequence.draws.upto(sequence.decided), np.array(self._known(), np.float64)

    def _result(self, at: int, target: int, level: float) -> Assessed:
        sequence, (drawn, gains) = self._sequences[at], self._decided(at)
        answers = np.append(gains, 0.0)[drawn.pairs].tobytes()
        known = sequence.results.get((target, level))
        if known is None or known[0] != answers:
            signed = bool((sequence.draws.contrasts[target] < 0).any())
            left = sequence.draws.reach_at(sequence.decided)
            found = assess_target(
                drawn, gains, target, left, signed=signed, level=level, judge=sequence.judge, unasked=sequence.unasked
            )
            known = sequence.results[target, level] = answers, found
        return known[1]
