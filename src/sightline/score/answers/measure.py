"""Whether two quantities are the same: across units, notations and precision."""

from __future__ import annotations

import math
from fractions import Fraction

from sightline.errors import UserError
from sightline.score.answers.quantities import Quantity, Reading

_ENOUGH_DIGITS = 3


def same_quantity(truth: Quantity, said: Quantity, tolerance: float | None = None) -> bool:
    """Whether what was said is the true quantity.

    A unit may be missing on either side; two units must measure the same and convert. With a tolerance t the values
    may differ by t × |truth| (by t where the truth is 0). Without one, whole numbers must be equal; what was said
    may have more decimals than the truth if it rounds to it; a converted value must be right in the digits given,
    and have as many of them as the truth, or three.
    """
    if truth.bound != said.bound or not _same_noun(truth.noun, said.noun):
        return False
    likeliest = [reading for reading in truth.readings if reading.value == truth.readings[0].value]
    return any(_same_reading(true, reading, tolerance) for true in likeliest for reading in said.readings)


def _same_reading(truth: Reading, said: Reading, tolerance: float | None) -> bool:
    if truth.unit is None or said.unit is None:
        return any(_equal(value, truth, said, tolerance) for value in _without_unit(truth, said))
    if truth.unit.dimension != said.unit.dimension:
        return False
    if truth.unit == said.unit:
        return _equal(said.value, truth, said, tolerance)
    base = truth.value * truth.unit.factor + truth.unit.offset
    return _converted((base - said.unit.offset) / said.unit.factor, truth, said, tolerance)


def _without_unit(truth: Reading, said: Reading) -> tuple[Fraction, ...]:
    """The values, in terms of the truth, that a pair can mean when only one side has a unit; 12 % may be 0.12."""
    if said.unit is not None and said.unit.dimension == "ratio":
        share = said.value * said.unit.factor
        return (share,) if abs(truth.value) < 1 else (share, said.value)
    if truth.unit is not None and truth.unit.dimension == "ratio":
        return said.value, said.value / truth.unit.factor
    return (said.value,)


def _equal(value: Fraction, truth: Reading, said: Reading, tolerance: float | None) -> bool:
    if tolerance is not None:
        return _within(truth.value, value, tolerance)
    if value == truth.value:
        return True
    return not truth.whole and said.step < truth.step and abs(value - truth.value) * 2 <= truth.step


def _converted(expected: Fraction, truth: Reading, said: Reading, tolerance: float | None) -> bool:
    """`expected` is the truth in the unit of what was said."""
    if tolerance is not None:
        return _within(expected, said.value, tolerance)
    if expected == said.value:
        return True
    enough = min(_digits(truth), _ENOUGH_DIGITS)
    return abs(expected - said.value) * 2 <= said.step and _digits(said) >= enough


def _within(truth: Fraction, value: Fraction, tolerance: float) -> bool:
    if not (tolerance >= 0 and math.isfinite(tolerance)):
        raise UserError(
            f"The tolerance {tolerance} of an answer can't be used.", "give a share of the value, such as 0.05"
        )
    # As it is written: 10 ± 0.3 includes 13, which the binary 0.3 does not.
    return abs(value - truth) <= Fraction(repr(tolerance)) * (abs(truth) or 1)


def _digits(reading: Reading) -> int:
    """How many digits of the number carry information: 5280 has three, 26.2 has three, 100 has one."""
    units = abs(reading.value / reading.step)
    text = str(round(units))
    return len(text.rstrip("0") if reading.whole else text)


def _same_noun(truth: str, said: str) -> bool:
    """Whether both count the same thing; one that is missing, or in the other language, does not contradict."""
    if not truth or not said or truth.isascii() != said.isascii():
        return True
    if not truth.isascii():
        return bool(set(truth) & set(said))
    return _singular(truth.split()[-1]) in {_singular(word) for word in said.split()}


def _singular(word: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    return word if word.endswith("ss") else word.removesuffix("s")
