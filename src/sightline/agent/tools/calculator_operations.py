"""What a calculation does with values: adding, multiplying, comparing, converting."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType

from sightline.agent.tools.calculator_functions import as_number
from sightline.agent.tools.calculator_units import PLAIN, TIME, UNITS, YEAR, Dimension, Unit, base_name
from sightline.agent.tools.calculator_values import (
    CalculationError,
    Months,
    Number,
    Quantity,
    Value,
    between,
    checked,
    divided,
    moved,
    quantity,
)

_HIGHEST_POWER = 8
_WORDS_OF_DATES = ("%d %B %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%b %d, %Y", "%Y/%m/%d")
COMPARISONS: Mapping[str, Callable[[Number, Number], bool]] = MappingProxyType(
    {
        "=": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
    }
)


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


def with_unit(number: Number, unit: Unit) -> Value:
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


def converted(value: Value, unit: Unit) -> Value:
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
