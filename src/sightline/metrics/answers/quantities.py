"""Quantities in a text: a number with its unit in every way that it can be read, and whether two are the same.

They are compared across units, notations and precision.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

from sightline.errors import UserError
from sightline.metrics.answers.normalization import fold
from sightline.metrics.answers.numerals import Number, find_numbers
from sightline.metrics.answers.units import COUNTERS, AnswerUnit, unit_after, unit_before, units_named

Bound: TypeAlias = Literal["", ">", "<"]

_FEET = re.compile(r"(\d)\s*'\s*(\d{1,2})\s*\"")
_DECADE = re.compile(r"'?s\b", re.IGNORECASE)
_NAME_GOES_ON = re.compile(r"[A-Za-z_]")
_WORD_FOLLOWS = re.compile(r"\s*[A-Za-z]")
_ABOVE = r"more than|over|above|at least|greater than|no fewer than|no less than|>=?|≥|超过|大于|至少|多于|不少于"
_BELOW = r"less than|fewer than|under|below|at most|up to|no more than|<=?|≤|不到|小于|至多|少于|不超过|最多"
_ABOUT = r"about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.|some|[~≈]|大约|大概|约为|约|近"
_BOUNDS: tuple[tuple[re.Pattern[str], Bound], ...] = (
    (re.compile(rf"(?:{_ABOVE})\s*$", re.IGNORECASE), ">"),
    (re.compile(rf"(?:{_BELOW})\s*$", re.IGNORECASE), "<"),
)
_OPEN_ENDS: tuple[tuple[re.Pattern[str], Bound], ...] = (
    (re.compile(r"\s*(?:\+(?!\d)|or more\b|以上|[多余](?=[^\u4e00-\u9fff]|$))", re.IGNORECASE), ">"),
    (re.compile(r"\s*(?:or (?:less|fewer)\b|以下|以内)", re.IGNORECASE), "<"),
)
_BEFORE = re.compile(
    rf"(?:(?:{_ABOUT}|{_ABOVE}|{_BELOW}|exactly|precisely|a total of|total|in|the|[=+]|第|共有|总共|一共|共)\s*)*",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\s*(?:in total|altogether|total|or so|左右|上下)?\s*[.。!！]?\s*", re.IGNORECASE)
_NOUN = re.compile(r"\s*(?P<noun>[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,3}|[\u4e00-\u9fff]{1,6})")
_NOT_COUNTED = (
    "in on at of and or are is were was visible shown total altogether from to the with by that which who there here so"
)
_NO_NOUNS = frozenset(_NOT_COUNTED.split())
_ORDINAL_WORDS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ORDINALS = {word: place for place, word in enumerate(_ORDINAL_WORDS.split(), start=1)}
_ENOUGH_DIGITS = 3


@dataclass(frozen=True, slots=True)
class QuantityReading:
    """A number as it is written, in a unit; `step` is the size of its last digit, `whole` says it had no decimals."""

    value: Fraction
    step: Fraction
    whole: bool
    unit: AnswerUnit | None = None


@dataclass(frozen=True, slots=True)
class AnswerQuantity:
    """A number in a text: its readings (the likeliest first), what it counts, its bound and its place."""

    readings: tuple[QuantityReading, ...]
    noun: str
    bound: Bound
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Suffix:
    """What follows a number: a unit, a scale ("k"), or both."""

    unit: AnswerUnit | None
    scale: Fraction
    end: int


def find_quantities(text: str) -> tuple[AnswerQuantity, ...]:
    """Every quantity of a text, in order; the parts of one measure (5 ft 10 in) are one quantity."""
    text = _folded(text)
    ordinal = _ORDINALS.get(re.sub(r"^the\s+|\W+$", "", text.lower()))
    if ordinal is not None:
        reading = QuantityReading(Fraction(ordinal), Fraction(1), True, units_named("th")[0])
        return (AnswerQuantity((reading,), "", "", 0, len(text)),)
    return tuple(_joined(_separate(text), text))


@lru_cache(maxsize=1024)
def parse_quantity(text: str, unit: str | None = None) -> AnswerQuantity | None:
    """The quantity that the whole text is, if it is one; `unit` is for a number that has none of its own."""
    found = find_quantities(text)
    if len(found) != 1:
        return None
    quantity, text = found[0], _folded(text)
    rest = text[quantity.end :].lstrip()
    if quantity.noun and len(quantity.noun.split()) <= 2:
        rest = rest.removeprefix(quantity.noun)
    if not _BEFORE.fullmatch(text, 0, quantity.start) or not _AFTER.fullmatch(rest):
        return None
    return quantity if unit is None else _in_unit(quantity, unit)


def _folded(text: str) -> str:
    return _FEET.sub(r"\1 ft \2 in", " ".join(fold(text).split()))


def _separate(text: str) -> Iterator[AnswerQuantity]:
    numbers = find_numbers(text)
    for place, number in enumerate(numbers):
        limit = numbers[place + 1].start if place + 1 < len(numbers) else len(text)
        quantity = None if len(numbers) > 1 and _is_article(text, number) else _quantity(text, number, limit)
        if quantity is not None:
            yield quantity


def _is_article(text: str, number: Number) -> bool:
    """The 一 of 一张照片 counts nothing."""
    return text[number.start : number.end] == "一" and text[number.end : number.end + 1] in COUNTERS


def _is_word(text: str, number: Number) -> bool:
    """The 一 of 一共 or the 三 of 三明治: one numeral before a sign that neither counts nor measures."""
    numeral, after = text[number.start : number.end], text[number.end : number.end + 1]
    return len(numeral) == 1 and not numeral.isascii() and "\u4e00" <= after <= "\u9fff" and after not in COUNTERS


def _quantity(text: str, number: Number, limit: int) -> AnswerQuantity | None:
    """The quantity that begins with this number; None where the digits are part of a name (3D, 1960s)."""
    if _DECADE.match(text, number.end) and number.value % 10 == 0 and 1000 <= number.value < 3000:
        return None
    suffixes = _suffixes(text, number.end)
    end = suffixes[0].end if suffixes else number.end
    if end == number.end and (_NAME_GOES_ON.match(text, end) or _is_word(text, number)):
        return None
    start, sign, units = _prefix(text, number)
    readings = [
        QuantityReading(sign * number.value * suffix.scale, number.step * suffix.scale, number.decimals == 0, unit)
        for suffix in suffixes or (_Suffix(None, Fraction(1), end),)
        for unit in ((suffix.unit,) if suffix.unit is not None else units)
    ]
    if not suffixes and text[end : end + 1] in COUNTERS:
        end += 1
    bound, end = _bound(text, start, end)
    return AnswerQuantity(tuple(readings), _noun(text[end:limit]), bound, start, end)


def _prefix(text: str, number: Number) -> tuple[int, int, tuple[AnswerUnit | None, ...]]:
    """Where the quantity starts, its sign, and the units that stand before the number or are part of it."""
    if number.percent:
        return number.start, 1, units_named("%")
    currency = unit_before(text, number.start)
    if currency is None:
        return number.start, 1, (None,)
    name, start = currency
    if text[start - 1 : start] == "-":
        return start - 1, -1, units_named(name)
    return start, 1, units_named(name)


def _suffixes(text: str, start: int) -> tuple[_Suffix, ...]:
    """What the unit or scale after a number may mean; of different lengths only the longest."""
    found = unit_after(text, start)
    if found is None:
        return ()
    name, end = found
    glued_letter = len(name) == 1 and name.isupper() and text[start] == name
    units = units_named(name, own_case=glued_letter)
    if not units or (name.lower() == "in" and _WORD_FOLLOWS.match(text, end)):
        return ()
    if glued_letter:  # "4K" is a scale before it is a temperature.
        units = tuple(sorted(units, key=lambda unit: unit.dimension != "scale"))
    options = [
        _scale(text, unit, end) if unit.dimension == "scale" else _Suffix(unit, Fraction(1), end) for unit in units
    ]
    longest = max(option.end for option in options)
    return tuple(option for option in options if option.end == longest)


def _scale(text: str, scale: AnswerUnit, end: int) -> _Suffix:
    found = unit_after(text, end)
    units = () if found is None else units_named(found[0])
    if found is None or not units or units[0].dimension == "scale":
        return _Suffix(None, scale.factor, end)
    return _Suffix(units[0], scale.factor, found[1])


def _bound(text: str, start: int, end: int) -> tuple[Bound, int]:
    for pattern, bound in _OPEN_ENDS:
        found = pattern.match(text, end)
        if found is not None:
            return bound, found.end()
    before = text[max(0, start - 20) : start]
    return next((bound for pattern, bound in _BOUNDS if pattern.search(before)), ""), end


def _noun(rest: str) -> str:
    found = _NOUN.match(rest)
    words = [] if found is None else found["noun"].split()
    stop = next((place for place, word in enumerate(words) if word in _NO_NOUNS), len(words))
    return " ".join(words[:stop])


def _joined(found: Iterable[AnswerQuantity], text: str) -> Iterator[AnswerQuantity]:
    """Neighbours of one dimension, each in a smaller unit than the one before, put together."""
    held: AnswerQuantity | None = None
    for quantity in found:
        joined = None if held is None else _sum(held, quantity, text)
        if held is not None and joined is None:
            yield held
        held = joined or quantity
    if held is not None:
        yield held


def _sum(first: AnswerQuantity, second: AnswerQuantity, text: str) -> AnswerQuantity | None:
    large, small = first.readings[0], second.readings[0]
    if large.unit is None or small.unit is None or large.unit.dimension != small.unit.dimension:
        return None
    if small.unit.factor >= large.unit.factor or small.unit.dimension == "temperature":
        return None
    if text[first.end : second.start].strip() not in ("", "and", ",", "零"):
        return None
    value = large.value * large.unit.factor / small.unit.factor + small.value
    return replace(second, readings=(replace(small, value=value),), start=first.start)


def _in_unit(quantity: AnswerQuantity, name: str) -> AnswerQuantity:
    """A bare number in the unit that is named apart: "km", "million USD", or what is counted."""
    reading = quantity.readings[0]
    if reading.unit is not None or quantity.noun:
        return quantity
    one = next(iter(find_quantities(f"1 {name}")), None)
    if one is None or (one.readings[0].unit is None and one.readings[0].value == 1):
        return replace(quantity, noun=name.strip().lower())
    scale, unit = one.readings[0].value, one.readings[0].unit
    scaled = replace(reading, value=reading.value * scale, step=reading.step * scale, unit=unit)
    return replace(quantity, readings=(scaled,))


def same_quantity(truth: AnswerQuantity, said: AnswerQuantity, tolerance: float | None = None) -> bool:
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


def _same_reading(truth: QuantityReading, said: QuantityReading, tolerance: float | None) -> bool:
    if truth.unit is None or said.unit is None:
        return any(_equal(value, truth, said, tolerance) for value in _without_unit(truth, said))
    if truth.unit.dimension != said.unit.dimension:
        return False
    if truth.unit == said.unit:
        return _equal(said.value, truth, said, tolerance)
    base = truth.value * truth.unit.factor + truth.unit.offset
    return _converted((base - said.unit.offset) / said.unit.factor, truth, said, tolerance)


def _without_unit(truth: QuantityReading, said: QuantityReading) -> tuple[Fraction, ...]:
    """The values, in terms of the truth, that a pair can mean when only one side has a unit; 12 % may be 0.12."""
    if said.unit is not None and said.unit.dimension == "ratio":
        share = said.value * said.unit.factor
        return (share,) if abs(truth.value) < 1 else (share, said.value)
    if truth.unit is not None and truth.unit.dimension == "ratio":
        return said.value, said.value / truth.unit.factor
    return (said.value,)


def _equal(value: Fraction, truth: QuantityReading, said: QuantityReading, tolerance: float | None) -> bool:
    if tolerance is not None:
        return _within(truth.value, value, tolerance)
    if value == truth.value:
        return True
    return not truth.whole and said.step < truth.step and abs(value - truth.value) * 2 <= truth.step


def _converted(expected: Fraction, truth: QuantityReading, said: QuantityReading, tolerance: float | None) -> bool:
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


def _digits(reading: QuantityReading) -> int:
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
