"""Sections of `trust.py` about pools: is the stated share of relevant pictures that the pools hold right?

100 queries, 300 pictures: 30 in each pool, 270 outside, of which 20 are drawn for the judge. Relevant pictures in the
pools are as frequent as `prevalence` says, outside so frequent that the pools hold 0.6, 0.8 or 0.95 of all. Judges
err as in `trust_worlds`; where errors depend on the system, they do on being pooled. People decide about 150 pairs, 50
in the pools and 100 of the draw from outside: for the estimate by people where the judge is unsure or says "relevant"
more often, for the estimate by positives only where it says so. Error rates come from about 300 decisions of each kind
in another world of the same kind.

`growth`: pools that hold 0.6 grow by `judge.coverage` = 0.9; of 270 pictures outside 30 are near, which hold 60 % of
what is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.authoring.judge import DOUBLINGS, is_short
from sightline.authoring.judge_pool import CHANCE, NEAR, QueryPool, estimate_missed
from sightline.authoring.project_files import PlannedQuery
from sightline.errors import UserError
from sightline.metrics.labels.corrected import JudgedPairs
from sightline.metrics.labels.shares import Share, weighted_share
from trust_draws import Draw, draw_pairs, informative_rates
from trust_pool_coverage import (
    Coverage,
    coverage_by_error_rates,
    coverage_by_people,
    coverage_by_positives,
)
from trust_scores import held_share, in_parallel
from trust_worlds import KINDS, World, judge, probability

if TYPE_CHECKING:
    from trust import Options

Floats = NDArray[np.float64]

QUERIES, INSIDE, OUTSIDE, DRAWN = 100, 30, 270, 20
PEOPLE_INSIDE, PEOPLE_OUTSIDE = 50, 100
ELSEWHERE = 300
WAYS = ("people", "positives", "error rates")
COVERAGES = (0.6, 0.8, 0.95)
TARGET, DRAWS, NEAR_SIZE = 0.9, 3, 30
_ICC = 0.2


@dataclass(frozen=True, slots=True)
class PoolCell:
    """One combination; `coverage` is the share that the pools hold on average over worlds."""

    kind: str
    accuracy: float
    prevalence: float
    coverage: float
    repetitions: int
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Pools:
    """What the judge labelled: all pooled pairs, and the draw from outside."""

    world: World
    outside: NDArray[np.bool_]
    expansion: Floats
    stated: Floats
    share: float

    @classmethod
    def draw(cls, cell: PoolCell, rng: np.random.Generator) -> Pools:
        beyond = cell.prevalence * INSIDE / OUTSIDE * (1 / cell.coverage - 1)
        size = (1 - _ICC) / _ICC
        level = rng.beta(cell.prevalence * size, (1 - cell.prevalence) * size, size=QUERIES) / cell.prevalence
        inside = rng.random((QUERIES, INSIDE)) < level[:, None] * cell.prevalence
        outer = rng.random((QUERIES, OUTSIDE)) < level[:, None] * beyond
        truth = np.concatenate([inside.ravel(), outer[:, :DRAWN].ravel()]).astype(np.float64)
        query = np.concatenate([np.repeat(np.arange(QUERIES), INSIDE), np.repeat(np.arange(QUERIES), DRAWN)])
        outside = np.arange(len(truth)) >= QUERIES * INSIDE
        picture = rng.integers(300, size=len(truth))
        # What is pooled is the "first system" of a judge that favors its own source.
        world = World(query, picture, truth, np.where(outside, 0, 1), np.where(outside, 1, 0))
        stated = judge(rng, world, cell.kind, cell.accuracy)
        expansion = np.where(outside, OUTSIDE / DRAWN, 1.0)
        return cls(world, outside, expansion, stated, float(inside.sum() / (inside.sum() + outer.sum())))

    def people(self, seed: int) -> Draw:
        """Both parts drawn apart, each by what the judge is unsure of."""
        believed = probability(self.stated)
        rates = np.zeros(len(believed))
        for part, size in ((~self.outside, PEOPLE_INSIDE), (self.outside, PEOPLE_OUTSIDE)):
            # Outside few are relevant: a "relevant" there is worth a look.
            prior = believed[part] if not self.outside[part].any() else np.maximum(0.02, believed[part] * 0.5)
            rates[part] = informative_rates(np.ones(int(part.sum())), prior, size)
        return draw_pairs(rates, self.outside.astype(np.intp) * QUERIES + self.world.query, seed)

    def about_positives(self, seed: int) -> Draw:
        """As many decisions, all about what the judge calls relevant."""
        believed, says = probability(self.stated), (self.stated > 0).astype(np.float64)
        rates = np.zeros(len(believed))
        for part, size in ((~self.outside, PEOPLE_INSIDE), (self.outside, PEOPLE_OUTSIDE)):
            prior = believed[part] if not self.outside[part].any() else believed[part] * 0.5
            rates[part] = informative_rates(says[part] * self.expansion[part], prior, size)
        return draw_pairs(rates, self.outside.astype(np.intp) * QUERIES + self.world.query, seed)

    def pairs(self, draw: Draw) -> JudgedPairs:
        people = np.where(draw.drawn, self.world.truth, np.nan)
        return JudgedPairs(self.world.query, self.stated, people, draw.weights, QUERIES)

    def rates(self) -> tuple[Share, Share]:
        """Sensitivity and specificity, counted on 300 decisions of each kind."""
        found = []
        for kind in (1, 0):
            those = np.flatnonzero(self.world.truth == kind)
            seen = those[:: max(1, len(those) // ELSEWHERE)]
            share = weighted_share((self.stated[seen] > 0) == kind, None, self.world.query[seen])
            assert share is not None
            found.append(share)
        return found[0], found[1]


def coverage_cell(cell: PoolCell) -> dict[str, tuple[float, float, float, float, float, float]]:
    """For each way: held with limits, mean estimate, mean length of the interval, share refused."""
    parts = (KINDS.index(cell.kind), round(1000 * cell.accuracy), round(1000 * cell.prevalence))
    rng = np.random.default_rng((cell.seed, *parts, round(1000 * cell.coverage)))
    found: dict[str, list[Coverage]] = {way: [] for way in WAYS}
    truth = []
    for _ in range(cell.repetitions):
        pools = Pools.draw(cell, rng)
        truth.append(pools.share)
        for way, one in _all_ways(pools, Pools.draw(cell, rng), int(rng.integers(1 << 30))).items():
            found[way].append(one)
    return {way: _summary(rows, float(np.mean(truth)), cell.repetitions) for way, rows in found.items()}


def _all_ways(pools: Pools, elsewhere: Pools, seed: int) -> dict[str, Coverage]:
    world, says = pools.world, pools.stated > 0
    pairs, positives = pools.pairs(pools.people(seed)), pools.pairs(pools.about_positives(seed))
    ways: dict[str, Callable[[], Coverage]] = {
        "people": lambda: coverage_by_people(pairs, pools.outside, pools.expansion, seed=seed),
        "positives": lambda: coverage_by_positives(positives, says, pools.outside, pools.expansion, seed=seed),
        "error rates": lambda: coverage_by_error_rates(
            world.query, says, pools.outside, pools.expansion, *elsewhere.rates(), seed=seed
        ),
    }
    made = {}
    for name, way in ways.items():
        with suppress(UserError):
            made[name] = way()
    return made


def _summary(rows: list[Coverage], truth: float, repetitions: int) -> tuple[float, float, float, float, float, float]:
    if not rows:
        return (float("nan"),) * 5 + (1.0,)
    hits = sum(one.low <= truth <= one.high for one in rows)
    return (
        *held_share(hits, len(rows)),
        float(np.mean([one.value for one in rows])),
        float(np.mean([one.high - one.low for one in rows])),
        1 - len(rows) / repetitions,
    )


def coverage(options: Options) -> list[str]:
    """Three estimates of coverage under every kind of errors."""
    cells = [
        PoolCell(kind, accuracy, prevalence, share, max(options.repetitions // 4, 1), options.seed)
        for kind, accuracy, prevalence, share in product(KINDS, (0.7, 0.85, 0.95), (0.25, 0.5), COVERAGES)
    ]
    results = in_parallel(coverage_cell, cells, options.processes)
    missed = []
    for way in WAYS:
        print(f"\nCoverage by {way}, {cells[0].repetitions} repetitions a cell\n")
        print("| errors | accuracy | prevalence | true coverage | holds [99 %] | mean | length | refused |")
        print("|---|---|---|---|---|---|---|---|")
        for cell, result in zip(cells, results, strict=True):
            held, low, high, mean, length, refused = result[way]
            print(
                f"| {cell.kind} | {cell.accuracy} | {cell.prevalence} | {cell.coverage} | {held:.3f} [{low:.3f}, "
                f"{high:.3f}] | {mean:.2f} | {length:.2f} | {refused:.2f} |"
            )
        for kinds, note in ((KINDS[:-1], "errors that are alike in and outside"), (KINDS[-1:], "same-source")):
            rows = [row[way] for cell, row in zip(cells, results, strict=True) if cell.kind in kinds]
            missed += _missed(way, note, rows)
    return missed


def _missed(way: str, note: str, rows: Sequence[tuple[float, ...]]) -> list[str]:
    """Cells in which most repetitions were refused say nothing."""
    told = [row for row in rows if row[5] < 0.5]
    if not told:
        print(f"\n{note}: refused in every cell.")
        return []
    mean, worst = float(np.mean([row[0] for row in told])), min(row[1] for row in told)
    length = float(np.mean([row[4] for row in told]))
    print(f"\n{note}: holds {mean:.3f} on average, lowest 99 % limit {worst:.3f}, mean length {length:.2f}.")
    checks = {
        f"coverage by {way}, {note}: holds {mean:.3f} on average": 0.93 <= mean <= 0.97,
        f"coverage by {way}, {note}: a cell's 99 % limit is {worst:.3f}": worst >= 0.92,
    }
    return [line for line, met in checks.items() if not met]


class Growth(NamedTuple):
    """What became of pools that grew: the target was met, how much was judged, what is true, and what is stated."""

    reached: float
    judged: float
    true: float
    stated: float
    held: tuple[float, float, float]
    length: float


def growth_cell(cell: PoolCell) -> Growth:
    """Grow as the stage `judge` does; `held`: the interval holds the share of what the judge calls relevant."""
    rng = np.random.default_rng((cell.seed, round(1000 * cell.accuracy), round(1000 * cell.prevalence)))
    rows = [_grown(cell, rng) for _ in range(cell.repetitions)]
    reached, judged, true, stated, held, length = np.array(rows).T
    mean = [float(part.mean()) for part in (reached, judged, true, stated, length)]
    return Growth(mean[0], mean[1], mean[2], mean[3], held_share(int(held.sum()), len(held)), mean[4])


def _grown(cell: PoolCell, rng: np.random.Generator) -> tuple[float, ...]:
    level = rng.beta(cell.prevalence * 4, (1 - cell.prevalence) * 4, size=(QUERIES, 1))
    rate = np.concatenate([np.ones(INSIDE), *(np.full(size, share) for size, share in _rates_outside(cell))])
    truth = rng.random((QUERIES, len(rate))) < np.minimum(1.0, level * rate)
    said = np.where(rng.random(truth.shape) < cell.accuracy, truth, ~truth)
    # Columns are in random order within the pool, near outside and far outside, so that a draw is a prefix.
    for doubled in range(DOUBLINGS + 1):
        drawn = DRAWS * 2**doubled
        seen = [INSIDE, min(drawn, NEAR_SIZE), min(drawn, OUTSIDE - NEAR_SIZE)]
        found = estimate_missed(*_as_pools(said, seen)).coverage
        if found is None or not is_short(found, TARGET):
            break
    assert found is not None
    columns = np.concatenate(
        [start + np.arange(count) for start, count in zip((0, INSIDE, INSIDE + NEAR_SIZE), seen, strict=True)]
    )
    apparent, true = (float(of[:, columns].sum() / of.sum()) for of in (said, truth))
    held = found.low <= apparent <= found.high
    return not is_short(found, TARGET), sum(seen), true, found.value, held, found.high - found.low


def _rates_outside(cell: PoolCell) -> tuple[tuple[int, float], tuple[int, float]]:
    missed = INSIDE * (1 / cell.coverage - 1)
    return (NEAR_SIZE, 0.6 * missed / NEAR_SIZE), (OUTSIDE - NEAR_SIZE, 0.4 * missed / (OUTSIDE - NEAR_SIZE))


def _as_pools(said: NDArray[np.bool_], seen: list[int]) -> tuple[list[QueryPool], dict[str, dict[str, bool]]]:
    parts = list(zip(("plan", NEAR, CHANCE), (0, INSIDE, INSIDE + NEAR_SIZE), seen, strict=True))
    by = {str(start + at): (name,) for name, start, count in parts for at in range(count)}
    relevant = {str(query): {id_: bool(row[int(id_)]) for id_ in by} for query, row in enumerate(said)}
    pools = [QueryPool(PlannedQuery(query, (), ()), by, OUTSIDE, NEAR_SIZE) for query in relevant]
    return pools, relevant


def growth(options: Options) -> list[str]:
    """Does `judge.coverage` = 0.9 get there, at what price, and does the interval hold after stopping?"""
    cells = [
        PoolCell("independent", accuracy, prevalence, share, max(options.repetitions // 20, 1), options.seed)
        for accuracy, prevalence, share in product((1.0, 0.99, 0.95), (0.1, 0.25), (0.6, 0.8))
    ]
    print(f"\nPools that grow to {TARGET}, {cells[0].repetitions} repetitions a cell, judge.outside = {DRAWS}\n")
    print("| judge right | prevalence | held at first | target met | judged of 300 | true share | stated | holds |")
    print("|---|---|---|---|---|---|---|---|")
    missed = []
    for cell, one in zip(cells, in_parallel(growth_cell, cells, options.processes), strict=True):
        held, low, high = one.held
        print(
            f"| {cell.accuracy} | {cell.prevalence} | {cell.coverage} | {one.reached:.2f} | {one.judged:.0f} "
            f"| {one.true:.2f} | {one.stated:.2f} (length {one.length:.2f}) | {held:.3f} [{low:.3f}, {high:.3f}] |"
        )
        if high < 0.93:
            missed.append(f"growth: accuracy {cell.accuracy}, prevalence {cell.prevalence} holds {held:.3f}")
    return missed
