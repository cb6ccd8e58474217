"""Which pairs of query and picture people are asked about: draws with known probabilities.

The design is randomized systematic sampling with unequal rates: queries in random order, the pairs of a query in random
order, and one random start. Every pair is drawn with exactly its rate, the number drawn is fixed (± 1 where the rates
don't add up to a whole number), and decisions spread over the queries. Poisson sampling (a coin for each pair) has
simpler joint probabilities, but its random size made intervals wider and hold less often in `benchmarks/trust.py`.
The price: joint probabilities of two pairs can be zero, so that variances are taken between queries, never from a
formula with joint probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import UserError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.intp]

FLOOR = 0.3
"""The least size of a pair in a draw, as a share of the mean size: no decision gets a giant weight."""
_TRUSTED = 0.8
"""How far a judge's confidence is believed before anyone checked it: 0.99 counts as 0.89."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One draw: the rate of each pair (zero for those drawn before) and which were drawn."""

    rates: Floats
    drawn: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """Pairs drawn for people in one or more stages."""

    stages: tuple[Stage, ...]

    @property
    def drawn(self) -> Bools:
        """Pairs of any stage."""
        found: Bools = np.any([stage.drawn for stage in self.stages], axis=0)
        return found

    @property
    def weights(self) -> Floats:
        """What each drawn pair stands for, zero for the others: E Σ weight · r = Σ r for any r that is fixed before.

        One stage: 1 / rate. Several, with shares a_t in proportion to their sizes: a pair drawn in stage s at rate p
        gets a_s / p + Σ_{t>s} a_t. Each stage alone is an unbiased estimate given the stages before (what was drawn
        before counts as itself), so that rates may follow from earlier decisions; sizes must not.
        """
        sizes = np.array([stage.rates.sum() for stage in self.stages])
        shares = sizes / sizes.sum()
        weights = np.zeros(len(self.stages[0].rates))
        for number, stage in enumerate(self.stages):
            here = stage.drawn
            weights[here] = shares[number] / stage.rates[here] + shares[number + 1 :].sum()
        return weights

    def order(self, seed: int = 0) -> Codes:
        """Pairs of the last stage in the order in which to show them: at random, so that any beginning is a sample."""
        found = np.flatnonzero(self.stages[-1].drawn)
        return np.random.default_rng((seed, len(self.stages), 1)).permutation(found)


def informative_rates(
    rank_weight: ArrayLike, probability: ArrayLike, size: int, *, floor: float = FLOOR, without: Bools | None = None
) -> Floats:
    """Rates in proportion to |rank weight| · √(p(1−p)), at least `floor` of the mean where the rank weight is not zero.

    `probability` is what the judge believes; it is pulled a fifth of the way to ½, because nobody checked it yet.
    Pairs with rank weight zero can't change the estimate and get rate zero. `without` marks pairs drawn before.
    """
    weight = np.abs(np.asarray(rank_weight, dtype=np.float64))
    believed = 0.5 + _TRUSTED * (np.asarray(probability, dtype=np.float64) - 0.5)
    useful = weight > 0 if without is None else (weight > 0) & ~without
    sizes = np.where(useful, weight * np.sqrt(believed * (1 - believed)), 0.0)
    if useful.any():
        sizes[useful] = np.maximum(sizes[useful], floor * sizes[useful].mean())
    return proportional_rates(sizes, size)


def proportional_rates(sizes: ArrayLike, size: int) -> Floats:
    """Rates in proportion to `sizes` that add up to `size`; none is above 1 (what is over goes to the others)."""
    measure = np.asarray(sizes, dtype=np.float64)
    if size < 1 or measure.ndim != 1 or not np.all(np.isfinite(measure)) or np.any(measure < 0):
        raise UserError("A draw needs a size of at least 1 and one number from 0 on for each pair.", "check both")
    certain = np.zeros(len(measure), dtype=np.bool_)
    while True:
        rest = np.where(certain, 0.0, measure)
        left = size - int(certain.sum())
        if left <= 0 or rest.sum() == 0:
            return certain.astype(np.float64)
        rates = np.where(certain, 1.0, left * rest / rest.sum())
        over = (rates >= 1) & ~certain
        if not over.any():
            return rates
        certain |= over


def stratified_rates(strata: ArrayLike, sizes: ArrayLike) -> Floats:
    """Equal rates within each stratum 0, 1, …; `sizes[h]` pairs of stratum h, all of them where it has fewer.

    Drawn with `draw_pairs(rates, strata)`, each stratum gives exactly its number.
    """
    codes = np.asarray(strata, dtype=np.intp)
    wanted = np.asarray(sizes, dtype=np.float64)
    count = np.bincount(codes, minlength=len(wanted))
    if len(count) > len(wanted):
        raise UserError(f"There are {len(count)} strata but {len(wanted)} sizes.", "give one size for each stratum")
    rates: Floats = np.minimum(1.0, wanted / np.maximum(count, 1))[codes]
    return rates


def draw_pairs(rates: ArrayLike, groups: ArrayLike, seed: int = 0) -> Draw:
    """Draw each pair with its rate; `groups` (the query of each pair, or its stratum) are spread over evenly."""
    given = _checked(rates)
    return Draw((_stage(given, np.asarray(groups, dtype=np.intp), np.random.default_rng((seed, 0, 0))),))


def extend_draw(draw: Draw, rates: ArrayLike, groups: ArrayLike, seed: int = 0) -> Draw:
    """A further stage. Rates of pairs that were drawn before are ignored; those of others may follow from decisions.

    Every pair that matters and was not drawn yet needs a rate above zero, or the estimate leaves it out.
    """
    given = np.where(draw.drawn, 0.0, _checked(rates))
    if len(given) != len(draw.drawn) or not given.any():
        raise UserError("There is nothing left to draw.", "give a rate above zero to a pair that was not drawn yet")
    rng = np.random.default_rng((seed, len(draw.stages), 0))
    return Draw((*draw.stages, _stage(given, np.asarray(groups, dtype=np.intp), rng)))


def _stage(rates: Floats, groups: Codes, rng: np.random.Generator) -> Stage:
    """One walk along the cumulated rates, in random order, with steps of one and a random start."""
    shuffled = rng.permutation(int(groups.max()) + 1 if len(groups) else 0)[groups]
    order = np.lexsort((rng.random(len(rates)), shuffled))
    # Rounding makes stretches that should be whole numbers a hair shorter or longer.
    along = np.round(np.cumsum(rates[order]), 9)
    marks = np.floor(along + rng.random())
    drawn = np.zeros(len(rates), dtype=np.bool_)
    drawn[order] = np.diff(marks, prepend=0.0) > 0
    return Stage(rates, drawn)


def _checked(rates: ArrayLike) -> Floats:
    given = np.asarray(rates, dtype=np.float64)
    if given.ndim != 1 or not np.all((given >= 0) & (given <= 1)):
        raise UserError("Rates of a draw must be numbers from 0 to 1, one for each pair.", "check the rates")
    return given
