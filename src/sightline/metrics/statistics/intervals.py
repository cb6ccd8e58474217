"""Confidence intervals of a mean: Wilson for proportions, BCa bootstrap over tasks or over clusters of tasks.

Resampling with replacement is fast because only counts are drawn: how often each unit (a task, or a cluster of tasks)
comes up, times what it is worth. Units with equal values are interchangeable, so a few distinct values need only a
multinomial draw; many need one index for each unit. Both are the same exact distribution.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.statistics.distributions import normal_cdf, normal_quantile, student_quantile

Floats = NDArray[np.float64]

# A multinomial draw costs as much for one distinct value as an index draw does for about 30 units.
_UNITS_PER_CATEGORY = 30
# Draws held at once; counts of this size stay in the processor's cache.
_BLOCK = 1 << 17


class Units(NamedTuple):
    """What is resampled: each unit's sums (one column per metric) and its number of tasks."""

    sums: Floats
    sizes: Floats

    @property
    def means(self) -> Floats:
        """The mean over all tasks, one per column."""
        means: Floats = self.sums.sum(axis=0) / self.sizes.sum()
        return means


def units_of(values: Floats, clusters: NDArray[np.intp] | None = None) -> Units:
    """Tasks (rows of `values`) summed within their cluster; without clusters each task is a unit."""
    if clusters is None:
        return Units(values, np.ones(len(values)))
    sizes = np.bincount(clusters).astype(np.float64)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, clusters, values)
    return Units(sums, sizes)


def replicates(units: Units, resamples: int, seed: int) -> Floats:
    """Means of `resamples` resamples (rows), one column per metric.

    A column's are the same whatever the order of the units and whatever other columns there are.
    """
    means = np.empty((resamples, units.sums.shape[1]))
    pending: list[int] = []
    tables: list[Floats] = []
    for column, sums in enumerate(units.sums.T):
        # Sorted, so that the order of the tasks does not matter.
        table = np.column_stack([sums, units.sizes])[np.lexsort((units.sizes, sums))]
        fresh = np.flatnonzero(np.any(table[1:] != table[:-1], axis=1)) + 1
        if (len(fresh) + 1) * _UNITS_PER_CATEGORY > len(table):
            pending.append(column)
            tables.append(table)
            continue
        starts = np.concatenate([[0], fresh])
        multiplicity = np.diff(np.append(starts, len(table)))
        totals = _by_multinomial(table[starts], multiplicity, resamples, np.random.default_rng(seed))
        means[:, column] = totals[:, 0] / totals[:, 1]
    if pending:
        totals = _by_index(np.concatenate(tables, axis=1), resamples, np.random.default_rng(seed))
        means[:, pending] = totals[:, 0::2] / totals[:, 1::2]
    return means


def _by_multinomial(table: Floats, multiplicity: NDArray[np.intp], resamples: int, rng: np.random.Generator) -> Floats:
    """Column sums of resamples of units that have few distinct rows, each given with its number."""
    n = int(multiplicity.sum())
    totals = np.empty((resamples, table.shape[1]))
    block = max(1, _BLOCK // len(table))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        totals[start : start + rows] = rng.multinomial(n, multiplicity / n, size=rows) @ table
    return totals


def _by_index(table: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Column sums of resamples of the rows."""
    n = len(table)
    totals = np.empty((resamples, table.shape[1]))
    block = max(1, _BLOCK // n)
    offsets = np.arange(block, dtype=np.intp)[:, None] * n
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = rng.integers(0, n, size=(rows, n), dtype=np.uint32) + offsets[:rows]
        counts = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        totals[start : start + rows] = counts.astype(np.float64) @ table
    return totals


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


def bootstrap_intervals(units: Units, sampling: BootstrapSampling, *, expand: bool = False) -> list[Interval | None]:
    """BCa interval of each column's mean; None where the units don't differ.

    One set of resamples serves all columns. `expand` replaces the normal quantile by t·√(G/(G-1)) over G units,
    without which a bootstrap over few clusters is too narrow.
    """
    columns, count = units.sums.shape[1], len(units.sizes)
    found: list[Interval | None] = [None] * columns
    if count < 2 or not columns:
        return found
    upper = (1 + sampling.level) / 2
    z = -normal_quantile(upper)
    if expand:
        z = -student_quantile(upper, count - 1) * math.sqrt(count / (count - 1))
    means, without = units.means, jackknife(units)
    moved = without.mean(axis=0) - without
    scale = np.abs(units.sums).max(axis=0) / units.sizes.max()
    varies = np.abs(moved).max(axis=0) > _ROUNDING * scale
    kept = np.flatnonzero(varies)
    if kept.size:
        drawn = replicates(Units(units.sums[:, kept], units.sizes), sampling.resamples, sampling.seed)
        for column, sample in zip(kept, drawn.T, strict=True):
            found[column] = _bca(sample, float(means[column]), moved[:, column], z)
    return found


def _bca(sample: Floats, mean: float, moved: Floats, z: float) -> Interval:
    """Bias-corrected and accelerated ends at the normal quantiles z and -z."""
    slack = _ROUNDING * max(1.0, abs(mean))
    below = (np.count_nonzero(sample < mean - slack) + np.count_nonzero(sample <= mean + slack)) / 2
    edge = 0.5 / len(sample)
    bias = normal_quantile(min(max(below / len(sample), edge), 1 - edge))
    # Only the shape matters, and the cube of a tiny number is nothing.
    shape = moved / np.abs(moved).max()
    acceleration = float((shape**3).sum()) / (6 * float((shape**2).sum()) ** 1.5)
    ends = np.quantile(sample, [_adjusted(bias, acceleration, quantile) for quantile in (z, -z)])
    return Interval(float(ends[0]), float(ends[1]))


def _adjusted(bias: float, acceleration: float, z: float) -> float:
    """The share of the bootstrap distribution that lies below the corrected end."""
    remaining = 1 - acceleration * (bias + z)
    if remaining <= 0:
        return 1.0 if z > 0 else 0.0
    return normal_cdf(bias + (bias + z) / remaining)
