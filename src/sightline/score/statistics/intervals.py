"""Intervals for a mean: Wilson for proportions, BCa over tasks, BCa over clusters."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sightline.score.statistics.bootstrap import Floats, Units, jackknife, replicates
from sightline.score.statistics.distributions import normal_cdf, normal_quantile, student_quantile

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


class Sampling(NamedTuple):
    """How a bootstrap is drawn."""

    level: float = 0.95
    seed: int = 0
    resamples: int = RESAMPLES


def bootstrap_intervals(units: Units, sampling: Sampling, *, expand: bool = False) -> list[Interval | None]:
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
