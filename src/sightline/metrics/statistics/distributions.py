"""The few distributions that the statistics need, without scipy: normal, Student's t, binomial(n, ½)."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError

_NORMAL = NormalDist()
_NODES = 200
# Past this many degrees of freedom t and normal quantiles agree to 1e-5.
_LARGE_DF = 1_000_000


def check_fraction(name: str, value: float) -> None:
    """Refuse a level, an alpha or a power that is not strictly between 0 and 1."""
    if not 0 < value < 1:
        raise UserError(f"{name} is {value}, but it must lie between 0 and 1.", f"write it like {name}=0.95")


def normal_cdf(x: float) -> float:
    """P(Z ≤ x); ±inf give 0 and 1."""
    return _NORMAL.cdf(x)


def normal_quantile(p: float) -> float:
    """The z with P(Z ≤ z) = p, for 0 < p < 1."""
    return _NORMAL.inv_cdf(p)


def student_cdf(t: float, df: int) -> float:
    """P(T ≤ t) with a whole number of degrees of freedom: the finite trigonometric series in atan(t/√df)."""
    if df >= _LARGE_DF:
        return normal_cdf(t)
    angle = math.atan(t / math.sqrt(df))
    sine, squared = math.sin(angle), math.cos(angle) ** 2
    odd = df % 2
    steps = np.arange(1, (df - odd) // 2, dtype=np.float64)
    # Ratio of neighbouring terms: (2k-1)/2k · cos² when df is even, 2k/(2k+1) · cos² when odd.
    terms = np.cumprod(squared * (2 * steps - 1 + odd) / (2 * steps + odd))
    series = 1.0 + float(terms.sum())
    if odd:
        inside = angle + (sine * math.cos(angle) * series if df > 1 else 0.0)
        return 0.5 + inside / math.pi
    return 0.5 + sine * series / 2


def student_quantile(p: float, df: int) -> float:
    """The t with P(T ≤ t) = p, for 0 < p < 1, by bisection."""
    if p < 0.5:
        return -student_quantile(1 - p, df)
    low, high = 0.0, 1.0
    while student_cdf(high, df) < p and high < 1e300:
        low, high = high, high * 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if student_cdf(middle, df) < p else (low, middle)
    return high


def noncentral_t_cdf(t: float, df: int, shift: float) -> float:
    """P(T ≤ t) where T = (Z + shift) / s and df·s² is chi-square(df): the normal cdf averaged over s."""
    width = 10 / math.sqrt(2 * df)
    low, high = max(0.0, 1 - width), 1 + width
    nodes, weights = _quadrature()
    s = low + (high - low) * nodes
    with np.errstate(divide="ignore"):
        log_density = (df - 1) * np.log(s) - df * s * s / 2
    log_density += math.log(2) + (df / 2) * math.log(df / 2) - math.lgamma(df / 2)
    below = np.array([normal_cdf(x) for x in t * s - shift])
    return float(np.clip((high - low) * (weights * np.exp(log_density)) @ below, 0.0, 1.0))


@cache
def _quadrature() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, weights / 2


def half_binomial_cdf(k: int, n: int) -> float:
    """P(X ≤ k) for n tosses of a fair coin, exact: whole numbers until the last division."""
    if 2 * k >= n:
        return 1.0 if k >= n else 1.0 - half_binomial_cdf(n - k - 1, n)
    term, total = 1, 1
    for i in range(k):
        term = term * (n - i) // (i + 1)
        total += term
    return total / (1 << n)
