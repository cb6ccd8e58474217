"""The few distributions that the statistics need, without scipy: normal, Student's t, beta."""

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
# A continued fraction stands still when a step changes it by less than rounding does.
_STANDSTILL = 1e-15
_MOST_STEPS = 10_000


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


def student_cdf(t: float, df: float) -> float:
    """P(T ≤ t) with any positive number of degrees of freedom, whole or not."""
    return student_tail(-t, df)


def student_tail(t: float, df: float) -> float:
    """P(T > t), which stays exact where it is tiny: half of I_x(df/2, 1/2) with x = df / (df + t²), for t ≥ 0."""
    if df >= _LARGE_DF:
        return normal_cdf(-t)
    if t < 0:
        return 1 - student_tail(-t, df)
    squared = t * t
    return incomplete_beta(df / (df + squared), squared / (df + squared), df / 2, 0.5) / 2


def student_quantile(p: float, df: float) -> float:
    """The t with P(T ≤ t) = p, for 0 < p < 1: Newton's steps, and halves of the bracket where they leave it."""
    if p < 0.5:
        return -student_quantile(1 - p, df)
    low, high, beyond = 0.0, 1.0, 1 - p
    while student_tail(high, df) > beyond and high < 1e150:
        low, high = high, high * 2
    t = (low + high) / 2
    while high - low > 1e-13 * high:
        excess = student_tail(t, df) - beyond
        low, high = (t, high) if excess > 0 else (low, t)
        moved = t + excess / _student_density(t, df)
        if abs(moved - t) <= 1e-13 * t:
            return moved
        t = moved if low < moved < high else (low + high) / 2
    return t


def _student_density(t: float, df: float) -> float:
    df = min(df, _LARGE_DF)
    log = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - (df + 1) / 2 * math.log1p(t * t / df)
    return max(math.exp(log) / math.sqrt(df * math.pi), 1e-300)


def incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b); `rest` is 1 - x, given apart because it may be tiny.

    x^a (1-x)^b / (a B(a, b)) times a continued fraction, which converges fast for x below the mean of the
    distribution; beyond it I_x(a, b) = 1 - I_(1-x)(b, a).
    """
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(rest, x, b, a)
    front = a * math.log(x) + b * math.log(rest) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(front) / (a * _beta_fraction(x, a, b))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """1 + d₁/(1 + d₂/(1 + …)) with d_(2m) = m(b-m)x / ((a+2m-1)(a+2m)), d_(2m+1) = -(a+m)(a+b+m)x / ((a+2m)(a+2m+1)).

    Evaluated forwards as a product of ratios of neighboring numerators and denominators, until it stands still.
    """
    value, above, below = 1.0, 1.0, 0.0
    for step in range(1, _MOST_STEPS):
        m = step // 2
        if step % 2:
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        below = 1 / (1 + part * below)
        above = 1 + part / above
        value *= above * below
        if abs(above * below - 1) < _STANDSTILL:
            break
    return value


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
