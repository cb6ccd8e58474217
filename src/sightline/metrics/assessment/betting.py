"""Confidence sequences by betting: intervals that hold at every moment, however often one looks.

Observations X_1, X_2, … have the same mean m given everything before them, and X_t lies in [low_t, high_t], bounds that
were known before X_t. Whoever claims that the mean is m offers a fair bet: a stake that pays back (X_t − low_t) / (m −
low_t) times itself. A player who always stakes the share f of the capital holds Π (1 − f + f · (X_t − low_t) / (m −
low_t)), a nonnegative martingale if m is right, which exceeds 2 / α at any time with a chance of at most α / 2 (Ville).
The player here splits the capital evenly over a fixed set of shares f, which loses little against the best of them.
Means at which the player got that rich are excluded from below; the mirrored game excludes from above. (Hedged capital:
Waudby-Smith & Ramdas 2024; a mixture in place of their plug-in bet: Orabona & Jun 2021.) The capital falls as m grows,
so what is left is an interval, and bisection finds its ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHARES: Floats = np.geomspace(0.01, 0.9, 16)
"""What the players stake of their capital: small shares see small differences, large ones see large ones soon."""
_STEPS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Bets:
    """Observations with bounds that were known before each of them."""

    values: Floats
    low: Floats
    high: Floats

    @property
    def mirrored(self) -> Bets:
        """The same with the sign changed."""
        return Bets(-self.values, -self.high, -self.low)


def log_wealth(bets: Bets, mean: float) -> Floats:
    """Logarithm of the capital after each observation of the player who bets that the mean is above `mean`.

    log (1/J) Σ_j Π_t (1 − f_j + f_j · (X_t − low_t) / (mean − low_t)). A mean that the bounds exclude gives infinity.
    """
    room = mean - bets.low
    with np.errstate(divide="ignore", invalid="ignore"):
        payoff = np.where(room > 0, (bets.values - bets.low) / room, np.inf)
        growth = np.log1p(SHARES * (np.maximum(payoff, 0.0)[:, None] - 1))
    paths = np.cumsum(growth, axis=0)
    best = np.max(paths, axis=1)
    with np.errstate(invalid="ignore"):
        mixed = best + np.log(np.exp(paths - best[:, None]).mean(axis=1))
    return np.where(np.isfinite(best), mixed, best)


def interval(
    bets: Bets, level: float = 0.95, limits: tuple[float, float] = (-math.inf, math.inf)
) -> tuple[float, float]:
    """The means that no player excluded up to now, within what is possible at all (`limits`).

    Holds with at least the stated level at all times at once, so that one may look after every decision and stop when
    one likes. Intervals only shrink: what was excluded once stays excluded.
    """
    if not len(bets.values):
        return limits
    first, last = max(limits[0], float(bets.low.max())), min(limits[1], float(bets.high.min()))
    low = _excluded_up_to(bets, first, last, level)
    high = -_excluded_up_to(bets.mirrored, -last, -first, level)
    return (low, high) if low <= high else ((low + high) / 2, (low + high) / 2)


def anytime_p(bets: Bets, mean: float = 0.0) -> float:
    """The least level at which `mean` is excluded, two-sided: 2 / (the most that a player ever had), at most 1."""
    if not len(bets.values):
        return 1.0
    most = max(float(log_wealth(bets, mean).max()), float(log_wealth(bets.mirrored, -mean).max()))
    return min(1.0, 2 * math.exp(-min(most, 700.0)))


def _excluded_up_to(bets: Bets, first: float, last: float, level: float) -> float:
    """The largest mean from `first` on that the player made 2 / α against."""
    rich = math.log(2 / (1 - level))

    def excluded(mean: float) -> bool:
        return bool(log_wealth(bets, mean).max() >= rich)

    if last <= first or not excluded(first):
        return first
    if excluded(last):
        return last
    inside, outside = last, first
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if excluded(middle) else (middle, outside)
    return outside
