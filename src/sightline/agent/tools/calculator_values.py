"""The values of a calculation: numbers, quantities with units, dates, spans of the calendar, texts; and size limits.

A unit is a product of powers of a few base units.
"""

from __future__ import annotations

import calendar
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import TypeAlias

Dimension: TypeAlias = tuple[int, int, int, int]
"""Powers of metre, kilogram, second and byte."""
PLAIN: Dimension = (0, 0, 0, 0)
LENGTH: Dimension = (1, 0, 0, 0)
MASS: Dimension = (0, 1, 0, 0)
TIME: Dimension = (0, 0, 1, 0)
DATA: Dimension = (0, 0, 0, 1)
DAY = 86_400
YEAR = 365.2425 * DAY
"""The mean year of the Gregorian calendar."""


@dataclass(frozen=True, slots=True)
class CalculatorUnit:
    """How many base units it is, of what dimension; `months` of the calendar, where it is one of its spans."""

    name: str
    factor: float
    dimension: Dimension
    months: int = 0


def _units(dimension: Dimension, *given: tuple[str, float]) -> Iterable[tuple[str, CalculatorUnit]]:
    for names, factor in given:
        first, *others = names.split()
        unit = CalculatorUnit(first, factor, dimension)
        yield from ((name, unit) for name in (first, *others))


UNITS: Mapping[str, CalculatorUnit] = MappingProxyType(
    dict(
        (
            *_units(
                LENGTH,
                ("m metre metres meter meters", 1),
                ("mm millimetre millimetres millimeter millimeters", 0.001),
                ("cm centimetre centimetres centimeter centimeters", 0.01),
                ("km kilometre kilometres kilometer kilometers", 1000),
                ("inch inches", 0.0254),
                ("ft foot feet", 0.3048),
                ("yd yard yards", 0.9144),
                ("mi mile miles", 1609.344),
                ("nmi", 1852),
            ),
            *_units(
                MASS,
                ("kg kilogram kilograms", 1),
                ("g gram grams", 0.001),
                ("mg", 1e-6),
                ("t tonne tonnes", 1000),
                ("lb lbs pound pounds", 0.45359237),
                ("oz ounce ounces", 0.028349523125),
            ),
            *_units(
                TIME,
                ("s sec second seconds", 1),
                ("ms", 0.001),
                ("min minute minutes", 60),
                ("h hr hour hours", 3600),
                ("days day d", DAY),
                ("weeks week", 7 * DAY),
            ),
            *_units((2, 0, 0, 0), ("ha hectare hectares", 10_000), ("acre acres", 4046.8564224)),
            *_units(
                (3, 0, 0, 0),
                ("l litre litres liter liters", 0.001),
                ("ml", 1e-6),
                ("gal gallon gallons", 0.003785411784),
            ),
            *_units((1, 0, -1, 0), ("kmh kph", 1 / 3.6), ("mph", 0.44704), ("knot knots", 1852 / 3600)),
            *_units(
                DATA,
                ("B byte bytes", 1),
                ("kB", 1e3),
                ("MB", 1e6),
                ("GB", 1e9),
                ("TB", 1e12),
                ("KiB", 1 << 10),
                ("MiB", 1 << 20),
                ("GiB", 1 << 30),
            ),
            *((name, CalculatorUnit("months", YEAR / 12, TIME, 1)) for name in ("month", "months")),
            *((name, CalculatorUnit("years", YEAR, TIME, 12)) for name in ("year", "years", "yr", "yrs")),
        )
    )
)
_BASE = ("m", "kg", "s", "B")


def base_name(dimension: Dimension) -> str:
    """`m/s`, `m^2`; nothing for a plain number."""
    above = [_power(name, power) for name, power in zip(_BASE, dimension, strict=True) if power > 0]
    below = [_power(name, -power) for name, power in zip(_BASE, dimension, strict=True) if power < 0]
    return "/".join((" ".join(above) or ("1" if below else ""), *below))


def _power(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"


MOST_BITS = 4096
_DIGITS = 12
_SPANS = ("days", "weeks", "months", "years")


class CalculationError(Exception):
    """A calculation that has no result, and why."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A size in base units; `unit` is what it is shown in."""

    size: float
    dimension: Dimension
    unit: CalculatorUnit | None = None


@dataclass(frozen=True, slots=True)
class Months:
    """A span of the calendar, whose length in days depends on where it begins."""

    count: int


Number: TypeAlias = int | float
Value: TypeAlias = "bool | int | float | str | datetime | Quantity | Months"
"""A date is a `datetime` at midnight."""


def checked(value: Number) -> Number:
    """The number itself, if it is of a size that can be worked with."""
    if isinstance(value, int):
        if value.bit_length() > MOST_BITS:
            raise CalculationError(f"a number has more than {MOST_BITS} bits")
    elif not math.isfinite(value):
        raise CalculationError("a number is too large, or is none")
    return value


def power(base: Number, exponent: Number) -> Number:
    """`base ** exponent`, refused before it is computed where it would be huge."""
    if base == 0 and exponent < 0:
        raise CalculationError("division by zero")
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if abs(base) > 1 and base.bit_length() * exponent > MOST_BITS + base.bit_length():
            raise CalculationError(f"{_short(base)} to the power of {_short(exponent)} is too large")
        return checked(base**exponent)
    try:
        result = float(base) ** float(exponent)
    except OverflowError:
        raise CalculationError(f"{_short(base)} to the power of {_short(exponent)} is too large") from None
    if isinstance(result, complex):
        raise CalculationError("a root of a negative number")
    return checked(result)


def divided(above: Number, below: Number) -> Number:
    """Exact where both are whole and it divides evenly."""
    if below == 0:
        raise CalculationError("division by zero")
    if isinstance(above, int) and isinstance(below, int) and above % below == 0:
        return above // below
    try:
        return checked(above / below)
    except OverflowError:
        raise CalculationError("a number is too large") from None


def quantity(size: float, dimension: Dimension, unit: CalculatorUnit | None = None) -> Quantity | Number:
    """A quantity, or a plain number where all units cancel out."""
    checked(size)
    return Quantity(size, dimension, unit) if dimension != PLAIN else size


def moved(when: datetime, by: Quantity | Months, sign: int) -> datetime:
    """A date and a span after (or before) it; the 31st plus a month is the last day of that month."""
    try:
        if isinstance(by, Months):
            months = when.year * 12 + when.month - 1 + sign * by.count
            year, month = divmod(months, 12)
            last = calendar.monthrange(year, month + 1)[1] if 1 <= year <= 9999 else 0
            return when.replace(year=year, month=month + 1, day=min(when.day, last))
        if by.dimension != TIME:
            raise CalculationError(f"a date and a quantity in {base_name(by.dimension)} can't be added")
        return when + timedelta(seconds=sign * by.size)
    except (OverflowError, ValueError, calendar.IllegalMonthError):
        raise CalculationError("a date beyond the years 1 to 9999") from None


def between(later: datetime, earlier: datetime) -> Quantity:
    """The time between two dates; where one has an offset from UTC and the other none, by the clocks on the wall."""
    if (later.tzinfo is None) != (earlier.tzinfo is None):
        later, earlier = later.replace(tzinfo=None), earlier.replace(tzinfo=None)
    seconds = (later - earlier).total_seconds()
    unit = UNITS["day"] if seconds % DAY == 0 else UNITS["h"] if abs(seconds) >= 3600 else UNITS["min"]
    return Quantity(seconds, TIME, unit)


def full_years(born: date, on: date) -> int:
    """Birthdays that have passed; who was born on a 29 February has one on 1 March in other years."""
    return on.year - born.year - ((on.month, on.day) < (born.month, born.day))


def shown_value(value: Value) -> str:
    """A result as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, datetime):
        return value.isoformat() if value.time() != datetime.min.time() or value.tzinfo else value.date().isoformat()
    if isinstance(value, Months):
        years, months = divmod(abs(value.count), 12)
        parts = [f"{n} {name}{'' if n == 1 else 's'}" for n, name in ((years, "year"), (months, "month")) if n]
        return ("-" if value.count < 0 else "") + (" ".join(parts) or "0 months")
    if isinstance(value, Quantity):
        if value.unit is None:
            return f"{_number(value.size)} {base_name(value.dimension)}"
        size = value.size / value.unit.factor
        name = value.unit.name.removesuffix("s") if size == 1 and value.unit.name in _SPANS else value.unit.name
        return f"{_number(size)} {name}"
    return value


def _number(value: Number) -> str:
    if isinstance(value, int):
        return str(value)
    whole = round(value)
    return str(whole) if value == whole and abs(value) < 1e15 else f"{value:.{_DIGITS}g}"


def _short(value: Number) -> str:
    return f"{value:.6g}" if isinstance(value, float) or value.bit_length() < 64 else "a large number"
