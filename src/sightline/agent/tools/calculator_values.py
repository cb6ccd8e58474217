"""Values of a calculation and what can be done with them: numbers, quantities, dates, spans of the calendar, texts.

A unit is a product of powers of a few base units. Sizes are limited before anything large is computed.
"""

from __future__ import annotations

import calendar
import math
import operator
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

Dimension: TypeAlias = tuple[int, int, int, int]
"""Powers of metre, kilogram, second and byte."""
PLAIN: Dimension = (0, 0, 0, 0)
LENGTH: Dimension = (1, 0, 0, 0)
TIME: Dimension = (0, 0, 1, 0)
DAY = 86_400
YEAR = 365.2425 * DAY
"""The mean year of the Gregorian calendar."""
_BASE = ("m", "kg", "s", "B")
MOST_BITS = 4096
_HIGHEST_POWER = 8
_WORDS_OF_DATES = ("%d %B %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%b %d, %Y", "%Y/%m/%d")
_DIGITS = 12
_SPANS = ("days", "weeks", "months", "years")
Number: TypeAlias = int | float
COMPARISONS: Mapping[str, Callable[[Number, Number], bool]] = MappingProxyType(
    {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)


@dataclass(frozen=True, slots=True)
class CalculatorUnit:
    """How many base units it is, of what dimension; `months` of the calendar, where it is one of its spans."""

    name: str
    factor: float
    dimension: Dimension
    months: int = 0


def _read_units() -> dict[str, CalculatorUnit]:
    """Units by each of their names; the first is the one that a result is shown with."""
    found: dict[str, CalculatorUnit] = {}
    for kind in tomllib.loads(Path(__file__).with_name("units.toml").read_text("utf-8")).values():
        a, b, c, d = kind["dimension"]
        for names, factor in kind["units"].items():
            first, *_ = every = names.split()
            found |= dict.fromkeys(every, CalculatorUnit(first, factor, (a, b, c, d)))
    found |= dict.fromkeys(("month", "months"), CalculatorUnit("months", YEAR / 12, TIME, 1))
    return found | dict.fromkeys(("year", "years", "yr", "yrs"), CalculatorUnit("years", YEAR, TIME, 12))


UNITS: Mapping[str, CalculatorUnit] = MappingProxyType(_read_units())


def base_name(dimension: Dimension) -> str:
    """`m/s`, `m^2`; nothing for a plain number."""
    above = [_power(name, power) for name, power in zip(_BASE, dimension, strict=True) if power > 0]
    below = [_power(name, -power) for name, power in zip(_BASE, dimension, strict=True) if power < 0]
    return "/".join((" ".join(above) or ("1" if below else ""), *below))


def _power(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"


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


def as_number(value: Value) -> Number:
    """A plain number, or the mistake."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CalculationError("a plain number is needed there")
    return value


def as_date(value: Value) -> datetime:
    """A date, or the mistake."""
    if not isinstance(value, datetime):
        raise CalculationError("a date is needed there, such as 2019-06-01")
    return value


def read_number(text: str) -> Number:
    if re.fullmatch(r"\d+", text):
        return checked(int(text))
    return checked(float(text))


def read_date(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    for form in _WORDS_OF_DATES:
        try:
            return datetime.strptime(text.strip(), form)
        except ValueError:
            continue
    raise CalculationError(f'"{text[:30]}" is no date; write it as 2019-06-01')


def with_unit(number: Number, unit: CalculatorUnit) -> Value:
    if unit.months and isinstance(number, int):
        return Months(int(checked(number * unit.months)))
    return quantity(float(number) * unit.factor, unit.dimension, unit)


def _as_quantity(value: Value) -> Value:
    return Quantity(value.count * YEAR / 12, TIME, UNITS["months"]) if isinstance(value, Months) else value


def added(first: Value, second: Value, sign: int) -> Value:
    if isinstance(first, datetime):
        if isinstance(second, datetime) and sign < 0:
            return between(first, second)
        if isinstance(second, Quantity | Months):
            return moved(first, second, sign)
        raise CalculationError("a date takes a time such as 3 days or 2 months, or another date to subtract")
    if isinstance(second, datetime) and isinstance(first, Quantity | Months) and sign > 0:
        return moved(second, first, 1)
    if isinstance(first, Months) and isinstance(second, Months):
        return Months(int(checked(first.count + sign * second.count)))
    first, second = _as_quantity(first), _as_quantity(second)
    if isinstance(first, Quantity) and isinstance(second, Quantity) and first.dimension == second.dimension:
        return quantity(first.size + sign * second.size, first.dimension, first.unit)
    if isinstance(first, Quantity) or isinstance(second, Quantity):
        raise CalculationError("quantities of different kinds can't be added")
    return _arithmetic(lambda: as_number(first) + sign * as_number(second))


def multiplied(first: Value, second: Value, sign: int) -> Value:
    if isinstance(first, Months) and isinstance(second, int) and sign > 0:
        return Months(int(checked(first.count * second)))
    if isinstance(second, Months) and isinstance(first, int) and sign > 0:
        return Months(int(checked(second.count * first)))
    first, second = _as_quantity(first), _as_quantity(second)
    if not isinstance(first, Quantity) and not isinstance(second, Quantity):
        above, below = as_number(first), as_number(second)
        return divided(above, below) if sign < 0 else _arithmetic(lambda: above * below)
    return _scaled(first, second, sign)


def _scaled(first: Value, second: Value, sign: int) -> Value:
    """A product or quotient with a quantity in it; the unit stays where the other is a plain number."""
    left, right = ((v.size, v.dimension) if isinstance(v, Quantity) else (as_number(v), PLAIN) for v in (first, second))
    size = divided(float(left[0]), float(right[0])) if sign < 0 else float(left[0]) * float(right[0])
    unit = None
    if right[1] == PLAIN and isinstance(first, Quantity):
        unit = first.unit
    elif left[1] == PLAIN and isinstance(second, Quantity) and sign > 0:
        unit = second.unit
    return quantity(float(size), plus(left[1], times(right[1], sign)), unit)


def _arithmetic(compute: Callable[[], Number]) -> Number:
    try:
        return checked(compute())
    except OverflowError:
        raise CalculationError("a number is too large") from None


def remainder(above: Number, below: Number) -> Number:
    if below == 0:
        raise CalculationError("division by zero")
    return _arithmetic(lambda: above % below)


def compared(sign: str, first: Value, second: Value) -> bool:
    first, second = _as_quantity(first), _as_quantity(second)
    if isinstance(first, datetime) and isinstance(second, datetime):
        return COMPARISONS[sign](between(first, second).size, 0)
    if isinstance(first, Quantity) and isinstance(second, Quantity) and first.dimension == second.dimension:
        return COMPARISONS[sign](first.size, second.size)
    if isinstance(first, str) and isinstance(second, str) and sign in ("=", "!="):
        return (first == second) == (sign == "=")
    return COMPARISONS[sign](as_number(first), as_number(second))


def converted(value: Value, unit: CalculatorUnit) -> Value:
    value = _as_quantity(value)
    if not isinstance(value, Quantity) or value.dimension != unit.dimension:
        kind = base_name(value.dimension) if isinstance(value, Quantity) else "no unit"
        raise CalculationError(f"what has {kind} can't be told in {unit.name}")
    return Quantity(value.size, value.dimension, unit)


def small_power(exponent: Number) -> int:
    if exponent != int(exponent) or abs(exponent) > _HIGHEST_POWER:
        raise CalculationError(f"units take whole powers up to {_HIGHEST_POWER}")
    return int(exponent)


def times(dimension: Dimension, by: int) -> Dimension:
    a, b, c, d = (power * by for power in dimension)
    if max(map(abs, (a, b, c, d))) > _HIGHEST_POWER:
        raise CalculationError(f"units take powers up to {_HIGHEST_POWER}")
    return a, b, c, d


def plus(first: Dimension, second: Dimension) -> Dimension:
    a, b, c, d = (x + y for x, y in zip(first, second, strict=True))
    return times((a, b, c, d), 1)


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
