"""Confidence intervals of a mean: Wilson for proportions, BCa bootstrap over tasks or over clusters of tasks.

Resampling with replacement is fast because only counts are drawn: how often each unit (a task, or a cluster of tasks)
comes up, times what it is worth. Units with equal values are interchangeable, so a few distinct values need only a
multinomial draw; many need one index for each unit. Both are the same exact distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.statistics.distributions import normal_cdf, normal_quantile, student_quantile

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

# A multinomial draw costs as much for one distinct value as an index draw does for about 30 units.
_UNITS_PER_CATEGORY = 30
# Draws held at once; counts of this size stay in the processor's cache, and their memory is used again.
_BLOCK = 1 << 16


class Units(NamedTuple):
    """What is resampled: each unit's sums (one column per metric) and its number of tasks."""

    sums: Floats
    sizes: Floats

    @property
    def means(self) -> Floats:
        """The mean over all tasks, one per column."""
        means: Floats = self.sums.sum(axis=0) / self.sizes.sum()
        return means


def units_of(values: Floats, clusters: Codes | None = None, weights: Floats | None = None) -> Units:
    """Tasks (rows of `values`) summed within their cluster; without clusters each task is a unit.

    A task of weight w counts as w tasks: the mean of units is then Σ w v / Σ w.
    """
    each = np.ones(len(values)) if weights is None else weights
    weighted = values if weights is None else values * weights[:, None]
    if clusters is None:
        return Units(weighted, each)
    sizes: Floats = np.bincount(clusters, each).astype(np.float64)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, clusters, weighted)
    return Units(sums, sizes)


def effective_count(weights: Floats) -> float:
    """How many tasks of equal weight these are worth (Kish): (Σ w)² / Σ w²."""
    return float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else 0.0


Draw = Callable[[Floats, NDArray[np.intp] | None, int, np.random.Generator], Floats]
"""Column sums of random draws of a table's rows: `resampled` or `halves`."""


def replicates(units: Units, resamples: int, seed: int) -> Floats:
    """Means of `resamples` resamples (rows), one column per metric."""
    totals = drawn_totals(units, resamples, seed, resampled)
    return np.column_stack([part[:, 0] / part[:, 1] for part in totals])


def drawn_totals(units: Units, draws: int, seed: int, draw: Draw) -> list[Floats]:
    """By column, the sum and the number of tasks in each draw (rows).

    A column's are the same whatever the order of the units and whatever other columns there are.
    """
    found: dict[int, Floats] = {}
    pending: dict[int, Floats] = {}
    for column, sums in enumerate(units.sums.T):
        # Sorted, so that the order of the tasks does not matter.
        table = np.column_stack([sums, units.sizes])[np.lexsort((units.sizes, sums))]
        fresh = np.flatnonzero(np.any(table[1:] != table[:-1], axis=1)) + 1
        if (len(fresh) + 1) * _UNITS_PER_CATEGORY > len(table):
            pending[column] = table
            continue
        starts = np.concatenate([[0], fresh])
        multiplicity = np.diff(np.append(starts, len(table)))
        found[column] = draw(table[starts], multiplicity, draws, np.random.default_rng(seed))
    if pending:
        totals = draw(np.concatenate(list(pending.values()), axis=1), None, draws, np.random.default_rng(seed))
        found |= {column: totals[:, 2 * place : 2 * place + 2] for place, column in enumerate(pending)}
    return [found[column] for column in range(units.sums.shape[1])]


def resampled(table: Floats, multiplicity: NDArray[np.intp] | None, draws: int, rng: np.random.Generator) -> Floats:
    """As many rows as there are, drawn with replacement; distinct rows may be given with their number."""
    if multiplicity is None:
        return _in_blocks(table, draws, lambda rows: _index_counts(len(table), rows, rng))
    n = int(multiplicity.sum())
    return _in_blocks(table, draws, lambda rows: rng.multinomial(n, multiplicity / n, size=rows))


def halves(table: Floats, multiplicity: NDArray[np.intp] | None, draws: int, rng: np.random.Generator) -> Floats:
    """Each row with probability ½; distinct rows may be given with their number."""
    if multiplicity is None:
        return _in_blocks(table, draws, lambda rows: _coins(len(table), rows, rng))
    return _in_blocks(table, draws, lambda rows: rng.binomial(multiplicity, 0.5, size=(rows, len(table))))


def _in_blocks(table: Floats, draws: int, counts: Callable[[int], NDArray[Any]]) -> Floats:
    totals = np.empty((draws, table.shape[1]))
    block = max(1, _BLOCK // max(1, len(table)))
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        totals[start : start + rows] = counts(rows).astype(np.float64) @ table
    return totals


def _index_counts(n: int, rows: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """How often each of n units comes up among n drawn indices."""
    offsets = np.arange(rows, dtype=np.intp)[:, None] * n
    drawn = rng.integers(0, n, size=(rows, n), dtype=np.uint32) + offsets
    return np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)


def _coins(n: int, rows: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    width = -(-n // 8)
    packed = np.frombuffer(rng.bytes(rows * width), np.uint8).reshape(rows, width)
    return np.unpackbits(packed, axis=1)[:, :n]


def jackknife(units: Units) -> Floats:
    """The mean without each unit in turn (rows), in closed form; needs two units or more."""
    left: Floats = (units.sums.sum(axis=0) - units.sums) / (units.sizes.sum() - units.sizes)[:, None]
    return left


RESAMPLES = 10_000
# Means closer than this, relative to the size of the values, are the same mean summed in another order.
_ROUNDING = 1e-12


class Interval(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


def wilson(mean: float, n: float, level: float) -> Interval:
    """Wilson's score interval of a proportion seen in n ≥ 1 trials; never leaves [0, 1], and always holds the mean."""
    z = normal_quantile((1 + level) / 2)
    spread = z / (1 + z * z / n) * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    centre = (mean + z * z / (2 * n)) / (1 + z * z / n)
    # Rounding would put the end beside a mean of exactly 0 or 1.
    return Interval(min(mean, max(0.0, centre - spread)), max(mean, min(1.0, centre + spread)))


class BootstrapSampling(NamedTuple):
    """How a bootstrap is drawn."""

    level: float = 0.95
    seed: int = 0
    resamples: int = RESAMPLES


class Bca(NamedTuple):
    """The bias-corrected and accelerated bootstrap of one mean: means of resamples, and both corrections."""

    sample: Floats
    bias: float
    acceleration: float

    def interval(self, z: float) -> Interval:
        """The ends at the quantiles -z and z of a standard (normal or Student) variable."""
        ends = np.quantile(self.sample, [self._share(quantile) for quantile in (-z, z)])
        return Interval(float(ends[0]), float(ends[1]))

    def quantile_of_zero(self) -> float:
        """The smallest z whose interval holds zero: 0 at the middle, infinite beyond all resamples."""
        last = len(self.sample) - 1
        below, above = self.sample[self.sample < 0], self.sample[self.sample > 0]
        zeros = len(self.sample) - len(below) - len(above)
        if not zeros and not (len(below) and len(above)):
            return math.inf
        # Where `np.quantile` goes through zero, from the first share to the last.
        first, final = float(len(below)), float(len(below) + zeros - 1)
        if not zeros:
            low, high = float(below.max()), float(above.min())
            first = final = len(below) - 1 + low / (low - high)
        return max(0.0, -self._z(final / last), self._z(first / last))

    def _share(self, z: float) -> float:
        """The share of the bootstrap distribution that lies below the corrected end."""
        remaining = 1 - self.acceleration * (self.bias + z)
        if remaining <= 0:
            return 1.0 if z > 0 else 0.0
        return normal_cdf(self.bias + (self.bias + z) / remaining)

    def _z(self, share: float) -> float:
        """The inverse of `_share`."""
        if not 0 < share < 1:
            return math.inf if share > 0 else -math.inf
        moved = normal_quantile(share) - self.bias
        remaining = 1 + self.acceleration * moved
        return math.copysign(math.inf, moved) if remaining <= 0 else moved / remaining - self.bias


def bootstraps(units: Units, sampling: BootstrapSampling) -> list[Bca | None]:
    """The bootstrap of each column's mean, None where the units don't differ; one set of resamples serves all."""
    found: list[Bca | None] = [None] * units.sums.shape[1]
    kept = np.flatnonzero(differing(units))
    if kept.size:
        varied = Units(units.sums[:, kept], units.sizes)
        without = jackknife(varied)
        moved = without.mean(axis=0) - without
        drawn = replicates(varied, sampling.resamples, sampling.seed)
        for place, column in enumerate(kept):
            found[column] = _corrected(drawn[:, place], float(varied.means[place]), moved[:, place])
    return found


def differing(units: Units) -> NDArray[np.bool_]:
    """By column: does the mean depend on which units there are?"""
    if len(units.sizes) < 2:
        return np.zeros(units.sums.shape[1], np.bool_)
    without = jackknife(units)
    scale = np.abs(units.sums).max(axis=0) / units.sizes.max()
    varies: NDArray[np.bool_] = np.abs(without - without.mean(axis=0)).max(axis=0) > _ROUNDING * scale
    return varies


def _corrected(sample: Floats, mean: float, moved: Floats) -> Bca:
    slack = _ROUNDING * max(1.0, abs(mean))
    below = (np.count_nonzero(sample < mean - slack) + np.count_nonzero(sample <= mean + slack)) / 2
    edge = 0.5 / len(sample)
    bias = normal_quantile(min(max(below / len(sample), edge), 1 - edge))
    # Only the shape matters, and the cube of a tiny number is nothing.
    shape = moved / np.abs(moved).max()
    acceleration = float((shape**3).sum()) / (6 * float((shape**2).sum()) ** 1.5)
    return Bca(sample, bias, acceleration)


def expanded_quantile(level: float, units: int) -> float:
    """Student's t · √(G/(G-1)) over G units: without it a bootstrap over few of them is too narrow."""
    return student_quantile((1 + level) / 2, units - 1) * math.sqrt(units / (units - 1))
