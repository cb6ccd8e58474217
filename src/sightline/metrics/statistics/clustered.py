"""The interval of a score over clusters of unequal sizes.

Scores of one system are skewed, where differences of two hardly are: a sign-flip inversion alone (`splits`) misses on
the side of the long tail. Its end on that side is moved out by what the skewness of the clusters' deviations does to a
studentized mean (Edgeworth's expansion):

    end = mean ± s (q + a (2q² + 1)),    q = |end without - mean| / s,    a = skewness of the mean / 6,

s being the CR2 standard error. The other end is never moved in: the skewness of few clusters is a rough figure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sightline.metrics.statistics.intervals import BootstrapSampling, Codes, Floats, Interval, Units, units_of
from sightline.metrics.statistics.splits import Splits, split_means


class _Moments(NamedTuple):
    """By column: standard error of the mean, and its skewness divided by 6."""

    errors: Floats
    accelerations: Floats


def cluster_intervals(
    values: Floats, codes: Codes, sampling: BootstrapSampling, weights: Floats | None = None
) -> list[Interval | None]:
    """The interval of each column (of tasks, in rows); None where there are too few clusters.

    A score lies between 0 and 1 unless the values say otherwise; so do the ends.
    """
    units = units_of(values, codes, weights)
    moments = _moments(values, units, np.ones(len(values)) if weights is None else weights)
    floor, ceiling = np.minimum(values.min(axis=0), 0.0), np.maximum(values.max(axis=0), 1.0)
    found: list[Interval | None] = []
    for column, splits in enumerate(split_means(units, sampling.resamples, sampling.seed)):
        error, acceleration = float(moments.errors[column]), float(moments.accelerations[column])
        ends = _moved_out(splits, sampling.level, error, acceleration)
        bounded = None if ends is None else Interval(max(ends.low, floor[column]), min(ends.high, ceiling[column]))
        found.append(None if bounded is None else Interval(float(bounded.low), float(bounded.high)))
    return found


def _moved_out(splits: Splits, level: float, error: float, acceleration: float) -> Interval | None:
    ends = splits.interval(level)
    if ends is None:
        return None

    def further(distance: float, towards: float) -> float:
        return distance + max(towards, 0.0) * (2 * distance * (distance / error) + error)

    return Interval(
        splits.mean - further(splits.mean - ends.low, -acceleration),
        splits.mean + further(ends.high - splits.mean, acceleration),
    )


def cr2_errors(units: Units) -> Floats:
    """Standard error of each column's mean: the root of Σ e_g² / (1 - N_g/N) / N², e_g = S_g - mean · N_g.

    CR2 of Bell and McCaffrey for a model with nothing but a mean: each cluster's residual is made larger by as much as
    its own pull on the mean made it smaller.
    """
    total = float(units.sizes.sum())
    deviations, scale = _deviations(units)
    inflated = deviations**2 / (1 - units.sizes / total)[:, None]
    errors: Floats = scale * np.sqrt(inflated.sum(axis=0)) / total
    return errors


def _deviations(units: Units) -> tuple[Floats, Floats]:
    """Each cluster's S_g - mean · N_g relative to the largest of its column (the cube of a tiny number is nothing)."""
    deviations = units.sums - units.sizes[:, None] * units.means
    scale: Floats = np.abs(deviations).max(axis=0)
    return deviations / scale, scale


def _moments(values: Floats, units: Units, weights: Floats) -> _Moments:
    """Two estimates of the mean's skewness, averaged: each cluster's own cube, and one shape for all clusters.

    The first, Σ e³ / (Σ e²)^1.5, hangs on the largest clusters; the second takes the skewness of e_g / √v_g over all
    clusters and weighs it by v_g = N_g (1 + (N_g - 1) ρ), the variance of a cluster's sum at intraclass correlation ρ.
    """
    count, sizes = len(units.sizes), units.sizes[:, None]
    deviations, _ = _deviations(units)
    variances = sizes * (1 + (sizes - 1) * _intraclass(values, units, weights))
    own = (deviations**3).sum(axis=0) / (deviations**2).sum(axis=0) ** 1.5
    shapes = deviations / np.sqrt(variances)
    shape = (shapes**3).mean(axis=0) / (shapes**2).mean(axis=0) ** 1.5
    shared = shape * (variances**1.5).sum(axis=0) / variances.sum(axis=0) ** 1.5
    # Few values look less skewed than what they were drawn from.
    small = np.sqrt(count * (count - 1)) / max(1, count - 2)
    return _Moments(cr2_errors(units), small * (own + shared) / 12)


def _intraclass(values: Floats, units: Units, weights: Floats) -> Floats:
    """ICC(1) of each column by one-way analysis of variance, between 0 and 1; weights have a mean of 1."""
    n, count, sizes = len(values), len(units.sizes), units.sizes[:, None]
    between = ((units.sums / sizes - units.means) ** 2 * sizes).sum(axis=0) / (count - 1)
    inside = np.maximum((weights[:, None] * values**2).sum(axis=0) - (units.sums**2 / sizes).sum(axis=0), 0.0)
    within = inside / max(1, n - count)
    each = (n - float((units.sizes**2).sum()) / n) / (count - 1)
    component = np.maximum(between - within, 0.0) / each
    total = component + within
    shares: Floats = np.divide(component, total, out=np.zeros_like(total), where=total > 0)
    return shares
