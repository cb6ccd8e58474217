"""Confidence sequences by betting: intervals that hold at every moment, however often one looks.

Observations X_1, X_2, … have the same mean m given everything before them, and X_t lies in [low_t, high_t], bounds that
were known before X_t. If the mean is m, the capital Π (1 + λ_t · (X_t − m)) of a player who chooses λ_t ≥ 0 before X_t
is a fair game, which reaches 2 / α at any time with a chance of at most α / 2 (Ville), as long as it can't go below
zero: λ_t ≤ 0.9 / (m − low_t). Means at which the player got that rich are excluded from below; the mirrored game
excludes from above. This is the hedged capital of Waudby-Smith & Ramdas (2024). The best λ is (mean − m) / variance;
here the capital is split over players who each believe in a difference of so many standard deviations (`EFFECTS`), the
deviation being estimated from what came before. Capital falls as m grows, so what is left is an interval: bisection
finds its ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EFFECTS: Floats = np.array([0.1, 0.2, 0.4])
_MOST = 0.9
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
    """Logarithm of the capital, after each observation, of those who bet that the mean is above `mean`."""
    with np.errstate(divide="ignore"):
        stake = np.minimum(EFFECTS / _deviations(bets)[:, None], (_MOST / np.maximum(mean - bets.low, 0.0))[:, None])
    paths = np.cumsum(np.log1p(stake * (bets.values - mean)[:, None]), axis=0)
    best = paths.max(axis=1)
    wealth: Floats = best + np.log(np.exp(paths - best[:, None]).mean(axis=1))
    return wealth


def _deviations(bets: Bets) -> Floats:
    """The standard deviation as estimated before each observation: a share of the range, at first half of it."""
    n, half = np.arange(len(bets.values)), np.maximum((bets.high - bets.low) / 2, 1e-300)
    center = np.where(n > 0, (np.cumsum(bets.values) - bets.values) / np.maximum(n, 1), bets.low + half)
    squares = ((bets.values - center) / half) ** 2
    found: Floats = half * np.sqrt((1 + np.cumsum(squares) - squares) / (n + 1))
    return found


def interval(bets: Bets, level: float, limits: tuple[float, float]) -> tuple[float, float]:
    """The means that no player excluded up to now, within what is possible at all (`limits`).

    Holds with at least the stated level at all times at once, so that one may look after every decision and stop when
    one likes. What was excluded once stays excluded.
    """
    first, last = max(limits[0], float(bets.low.max())), min(limits[1], float(bets.high.min()))
    low = _excluded_up_to(bets, first, last, level)
    high = -_excluded_up_to(bets.mirrored, -last, -first, level)
    return (low, high) if low <= high else ((low + high) / 2, (low + high) / 2)


def anytime_p(bets: Bets, low: float = 0.0, high: float = 0.0) -> float:
    """The least level at which all means from `low` to `high` are excluded: 2 / (the most that a player had)."""
    most = max(float(log_wealth(bets, high).max()), float(log_wealth(bets.mirrored, -low).max()))
    return min(1.0, 2 * math.exp(-min(most, 700.0)))


def _excluded_up_to(bets: Bets, first: float, last: float, level: float) -> float:
    """The largest mean from `first` on against which the players made 2 / α."""
    rich = math.log(2 / (1 - level))
    inside, outside = last, first
    if last <= first or log_wealth(bets, first).max() < rich:
        return first
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if log_wealth(bets, middle).max() >= rich else (middle, outside)
    return outside
