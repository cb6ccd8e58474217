"""The interval of a weighted count of what is rare."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.statistics.distributions import normal_quantile

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

# Past this shape the cube-root normal approximation of the gamma quantile is right to four digits.
_LARGE_SHAPE = 200.0


@dataclass(frozen=True, slots=True)
class Total:
    """A total with its interval."""

    value: float
    low: float
    high: float


def weighted_count(
    hits: Floats, weights: Floats, clusters: Codes, level: float, squares: Floats | None = None
) -> Total:
    """Σ w·hit with the gamma interval of Fay and Feuer, as changed by Tiwari et al.; for equal weights it is Garwood's.

    With R the total and v = Σ (Σ_{cluster} w·hit)², the limits are gamma quantiles with mean R and variance v below,
    and with mean R + w̄ and variance v + mean w² above: one more find of a mean weight. Σ over clusters allows for
    finds that come together. `squares` stand for w² where a find adds another variance, each find then by itself.
    """
    found = weights * hits
    total = float(found.sum())
    by_cluster = np.bincount(clusters, weights=found)
    each = weights**2 if squares is None else squares
    variance = float(by_cluster @ by_cluster) if squares is None else float(squares @ hits)
    low = 0.0 if total <= 0 else variance / total * gamma_quantile((1 - level) / 2, total**2 / variance)
    above, spread = total + float(weights.mean()), variance + float(each.mean())
    return Total(total, low, spread / above * gamma_quantile((1 + level) / 2, above**2 / spread))


def gamma_quantile(p: float, shape: float) -> float:
    """The x with P(X ≤ x) = p for a gamma variable of that shape and scale 1, by bisection."""
    if shape > _LARGE_SHAPE:
        z = normal_quantile(p)
        return shape * (1 - 1 / (9 * shape) + z / (3 * math.sqrt(shape))) ** 3
    low, high = 0.0, shape + 1.0
    while gamma_cdf(high, shape) < p:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if gamma_cdf(middle, shape) < p else (low, middle)
        if high - low <= 1e-12 * high:
            break
    return high


def gamma_cdf(x: float, shape: float) -> float:
    """P(X ≤ x) = x^a e^−x Σ_n x^n / Γ(a + n + 1)."""
    if x <= 0:
        return 0.0
    term = math.exp(shape * math.log(x) - x - math.lgamma(shape + 1))
    total, n = term, 0
    while term > 1e-17 * total or n < x - shape:
        n += 1
        term *= x / (shape + n)
        total += term
    return min(1.0, total)
