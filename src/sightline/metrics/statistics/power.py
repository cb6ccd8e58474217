"""How many tasks does a difference need, and what difference can so many tasks show?

All of it for the paired design that `compare` uses: two systems on the same tasks, two-sided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sightline.errors import UserError
from sightline.metrics.statistics.distributions import (
    check_fraction,
    noncentral_t_cdf,
    normal_quantile,
    student_quantile,
)
from sightline.metrics.statistics.estimates import ClusterLabels, cluster_codes, narrow
from sightline.metrics.statistics.intervals import Floats

_MOST_TASKS = 10**9


@dataclass(frozen=True, slots=True)
class DifferenceSpread:
    """What two earlier runs say about the differences to expect: their sd, how often they differ, the design effect."""

    sd: float
    disagreement: float
    design_effect: float
    n: int


def paired_power(n: float, difference: float, sd: float, *, alpha: float = 0.05) -> float:
    """The chance that a paired t test over n tasks finds a true difference."""
    df = max(1, round(n) - 1)
    critical = student_quantile(1 - alpha / 2, df)
    shift = abs(difference) / sd * math.sqrt(n)
    return 1 - noncentral_t_cdf(critical, df, shift) + noncentral_t_cdf(-critical, df, shift)


def tasks_needed(
    difference: float, sd: float, *, alpha: float = 0.05, power: float = 0.8, design_effect: float = 1.0
) -> int:
    """The fewest tasks with which a paired test finds `difference` with probability `power`.

    `sd` is that of the per-task differences; `design_effect` (1 + (tasks per cluster - 1) · ICC) multiplies the
    number when tasks come in clusters.
    """
    _check(difference, sd, alpha, power, design_effect)
    low, high = 1, 2
    while paired_power(high, difference, sd, alpha=alpha) < power:
        low, high = high, high * 2
        if high > _MOST_TASKS:
            raise UserError(
                f"a difference of {difference:g} with sd {sd:g} needs more than a billion tasks.",
                "look for a larger difference",
            )
    while high - low > 1:
        middle = (low + high) // 2
        enough = paired_power(middle, difference, sd, alpha=alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return math.ceil(high * design_effect)


def tasks_needed_binary(
    difference: float,
    disagreement: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    design_effect: float = 1.0,
) -> int:
    """The same for right/wrong tasks (McNemar): `disagreement` is the share of tasks that only one system gets right.

    n = ((z_(1-α/2) √ψ + z_power √(ψ - δ²)) / δ)², with ψ the disagreement and δ the difference.
    """
    _check(difference, math.sqrt(max(disagreement, 0.0)), alpha, power, design_effect)
    if not abs(difference) <= disagreement <= 1:
        raise UserError(
            f"the systems can't differ by {difference:g} when they disagree on {disagreement:g} of the tasks.",
            "give a disagreement between the difference and 1",
        )
    null = normal_quantile(1 - alpha / 2) * math.sqrt(disagreement)
    real = normal_quantile(power) * math.sqrt(disagreement - difference**2)
    return math.ceil(((null + real) / difference) ** 2 * design_effect)


def detectable(n: int, sd: float, *, alpha: float = 0.05, power: float = 0.8, design_effect: float = 1.0) -> float:
    """The smallest true difference that n tasks find with probability `power`."""
    _check(1.0, sd, alpha, power, design_effect)
    independent = n / design_effect
    if independent < 2:
        raise UserError(f"{n} tasks are too few to show any difference.", "use at least two")
    low, high = 0.0, sd
    while paired_power(independent, high, sd, alpha=alpha) < power:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        enough = paired_power(independent, middle, sd, alpha=alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def spread(differences: Floats, clusters: ClusterLabels | None = None) -> DifferenceSpread:
    """Measured from per-task differences of two runs; the design effect is that of the mean over clusters."""
    kept = np.isfinite(differences)
    values = differences[kept]
    if len(values) < 2:
        raise UserError("the spread of differences needs two tasks that both runs have a value for.")
    codes = None if clusters is None else narrow(cluster_codes(clusters)[kept])
    variance = float(values.var(ddof=1))
    effect = 1.0
    if codes is not None and variance > 0:
        effect = _variance_of_mean(values, codes) * len(values) / variance
    return DifferenceSpread(
        sd=math.sqrt(variance),
        disagreement=float(np.mean(np.abs(values) > 1e-12)),
        design_effect=max(effect, 1.0),
        n=len(values),
    )


def _variance_of_mean(values: Floats, codes: np.typing.NDArray[np.intp]) -> float:
    """Variance of the mean over tasks when whole clusters are what was sampled."""
    residuals = np.bincount(codes, values - values.mean())
    count = len(residuals)
    return float(residuals @ residuals) * count / (count - 1) / len(values) ** 2


def _check(difference: float, sd: float, alpha: float, power: float, design_effect: float) -> None:
    check_fraction("alpha", alpha)
    check_fraction("power", power)
    if not abs(difference) > 0:
        raise UserError(
            f"no number of tasks shows a difference of {difference or 'zero'}.", "give the smallest that matters"
        )
    if not sd > 0:
        raise UserError(
            f"the standard deviation of the differences is {sd:g}, but it must be positive.",
            "give one, or two earlier runs to measure it from",
        )
    if not design_effect > 0:
        raise UserError(f"the design effect is {design_effect:g}, but it must be positive.", "use 1 for none")
