"""The interval and the p value of a mean from one inversion: which means can a sign-flip test not exclude?

Were θ the true mean, each unit's sum of deviations S_g - θ N_g could as well have the other sign. The test flips signs
at random (a wild cluster bootstrap with Rademacher weights, restricted to θ) and asks how often the flipped total is at
least as far from zero as the one seen. That happens exactly when θ lies between the mean of the flipped units and the
mean of the others, so

    p(θ) = the share of random splits of the units into two parts whose means enclose θ,

and the interval holds every θ with p(θ) ≥ 1 - level: its ends are two ranks among the means of the parts. It is exact
for units of any sizes when deviations are as likely up as down, and it can't contradict p(0).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sightline.metrics.statistics.intervals import Floats, Interval, Units, drawn_totals, halves

FLIPS = 10_000
# Up to 2^15 splits are enumerated: a split and its mirror image are the same.
ENUMERATED = 16
# Sums closer to zero than this, relative to all values, are zero in another order of summation.
_ROUNDING = 1e-10


class Significance(NamedTuple):
    """A two-sided p, and how it came about: enumerated (`exact`), sampled (`monte-carlo`) or from a `bootstrap`."""

    p: float
    method: str


class Splits(NamedTuple):
    """The means of the two parts of every split, the lower one and the higher one.

    A part without units has no mean: it then encloses everything. `exact`: p(0) is enumerated, not sampled.
    """

    mean: float
    lower: Floats
    higher: Floats
    exact: bool

    def interval(self, level: float) -> Interval | None:
        """All means with p ≥ 1 - level; None where there are too few units to exclude any."""
        rank = self._fewest(1 - level)
        if rank < 1:
            return None
        low = float(np.partition(self.lower, rank - 1)[rank - 1])
        high = float(np.partition(self.higher, -rank)[-rank])
        return Interval(min(self.mean, low), max(self.mean, high)) if math.isfinite(high - low) else None

    def significance(self) -> Significance:
        """p of a mean of zero, two-sided: an exact share, or (b + 1)/(m + 1) over m random splits, never zero."""
        if self.mean > 0:
            enclosing = int(np.count_nonzero(self.lower <= 0))
        elif self.mean < 0:
            enclosing = int(np.count_nonzero(self.higher >= 0))
        else:
            enclosing = len(self.lower)
        return Significance(self._share(enclosing), "exact" if self.exact else "monte-carlo")

    def _share(self, enclosing: int) -> float:
        extra = 0 if self.exact else 1
        return (enclosing + extra) / (len(self.lower) + extra)

    def _fewest(self, alpha: float) -> int:
        """The fewest enclosing splits that make p ≥ alpha; in the same arithmetic as p, so that both agree."""
        fewest = math.ceil(alpha * len(self.lower))
        while fewest > 0 and self._share(fewest - 1) >= alpha:
            fewest -= 1
        while self._share(fewest) < alpha:
            fewest += 1
        return fewest


def split_means(units: Units, resamples: int, seed: int) -> list[Splits]:
    """The splits of each column: all of them for up to 16 units, else `resamples` random ones, shared by the columns.

    Where only up to 16 units differ from zero, theirs are enumerated and the others' drawn, so that p is exact.
    """
    columns = units.sums.shape[1]
    if len(units.sizes) <= ENUMERATED:
        patterns = sign_patterns(len(units.sizes))
        return [_parted(patterns @ _table(units, column), units, column, True) for column in range(columns)]
    moved = np.abs(units.sums) > _ROUNDING * np.abs(units.sums).max(axis=0, initial=0.0)
    few = {column for column in range(columns) if moved[:, column].sum() <= ENUMERATED}
    rest = [column for column in range(columns) if column not in few]
    shared = drawn_totals(Units(units.sums[:, rest], units.sizes), resamples, seed, halves)
    found = {column: _parted(totals, units, column, False) for column, totals in zip(rest, shared, strict=True)}
    for column in few:
        totals = _few_moved(_table(units, column), moved[:, column], resamples, seed)
        found[column] = _parted(totals, units, column, True)
    return [found[column] for column in range(columns)]


def _table(units: Units, column: int) -> Floats:
    return np.column_stack([units.sums[:, column], units.sizes])


def sign_patterns(count: int) -> Floats:
    """Every split of so many units once, as 0 and 1; the last unit stays in one part."""
    numbers = np.arange(1 << max(0, count - 1))[:, None]
    return (numbers >> np.arange(count) & 1).astype(np.float64)


def _few_moved(table: Floats, moved: np.typing.NDArray[np.bool_], resamples: int, seed: int) -> Floats:
    """Totals of one part: every pattern of the units that differ from zero, equally often, with random others."""
    some = table[moved]
    known = sign_patterns(len(some)) @ some[np.lexsort(some.T)]
    repeats = -(-resamples // len(known))
    sizes = table[~moved, 1]
    others = drawn_totals(Units(np.zeros((len(sizes), 1)), sizes), repeats * len(known), seed, halves)[0]
    return np.tile(known, (repeats, 1)) + others


def _parted(totals: Floats, units: Units, column: int, exact: bool) -> Splits:
    """Sums and sizes of one part of each split, brought to the means of both parts."""
    sums, count = units.sums[:, column], float(units.sizes.sum())
    whole, slack = float(sums.sum()), _ROUNDING * float(np.abs(sums).sum())
    one, other = (_means(part, size, slack) for part, size in (totals.T, (whole - totals[:, 0], count - totals[:, 1])))
    lower, higher = np.minimum(one, other), np.maximum(one, other)
    empty = ~np.isfinite(one + other)
    lower[empty], higher[empty] = -np.inf, np.inf
    mean = 0.0 if abs(whole) <= slack else whole / count
    return Splits(mean, lower, higher, exact)


def _means(sums: Floats, sizes: Floats, slack: float) -> Floats:
    """NaN for a part without units."""
    exact = np.where(np.abs(sums) <= slack, 0.0, sums)
    means: Floats = np.divide(exact, sizes, out=np.full(len(sums), np.nan), where=sizes > 0)
    return means
