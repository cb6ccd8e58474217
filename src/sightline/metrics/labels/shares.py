"""A share among drawn pairs (label precision, sensitivity), with an interval that knows weights and clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.metrics.statistics.distributions import normal_quantile, student_quantile
from sightline.metrics.statistics.intervals import wilson

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Share:
    """A share of `n` decisions with its interval; `effective`: how many equal, independent decisions it is worth."""

    value: float
    low: float
    high: float
    n: int
    effective: float
    level: float = 0.95


def weighted_share(
    hits: ArrayLike, weights: ArrayLike | None = None, clusters: ArrayLike | None = None, level: float = 0.95
) -> Share | None:
    """Σ w·hit / Σ w with Wilson's interval at the effective number of decisions; None without decisions.

    The effective number is p(1−p) / V, where V is the variance of the ratio between clusters (each decision its own
    where there are none), shrunk by (z / t)² for the clusters' degrees of freedom, and at most the number of decisions.
    Where all decisions agree V says nothing, and (Σ w)² / Σ w² over clusters takes its place (after Korn and Graubard).
    """
    values = np.asarray(hits, dtype=np.float64)
    w = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    kept = w > 0
    values, w = values[kept], w[kept]
    if not len(values):
        return None
    codes = np.arange(len(values)) if clusters is None else np.asarray(clusters)[kept]
    _, codes = np.unique(codes, return_inverse=True)
    share = min(1.0, float(w @ values / w.sum()))  # Rounding may leave it above.
    effective = _effective(values - share, w, codes, share * (1 - share), level)
    low, high = wilson(share, effective, level)
    return Share(share, low, high, len(values), effective, level)


def _effective(residuals: Floats, w: Floats, codes: Codes, spread: float, level: float) -> float:
    count = int(codes.max()) + 1
    by_cluster = np.bincount(codes, weights=w)
    kish = float(by_cluster.sum() ** 2 / (by_cluster @ by_cluster))
    if count < 2:
        return 1.0
    sums = np.bincount(codes, weights=w * residuals)
    variance = float(sums @ sums) / float(w.sum()) ** 2 * count / (count - 1)
    found = kish if spread <= 0 or variance <= 0 else spread / variance
    shrunk = (normal_quantile((1 + level) / 2) / student_quantile((1 + level) / 2, count - 1)) ** 2
    return max(1.0, min(found * shrunk, float(len(w))))
