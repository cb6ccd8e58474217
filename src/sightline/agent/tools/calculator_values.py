"""What a calculation works on: numbers, quantities, dates, spans of the calendar, texts; and limits on their size."""

from __future__ import annotations

import calendar
import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeAlias

from sightline.agent.tools.calculator_units import DAY, PLAIN, TIME, UNITS, Dimension, Unit, base_name

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
    unit: Unit | None = None


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


def quantity(size: float, dimension: Dimension, unit: Unit | None = None) -> Quantity | Number:
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
