"""The functions, constants and operations of a calculation; there are no others."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from sightline.agent.tools.calculator_values import (
    LENGTH,
    PLAIN,
    TIME,
    UNITS,
    YEAR,
    CalculationError,
    CalculatorUnit,
    Dimension,
    Months,
    Number,
    Quantity,
    Value,
    base_name,
    between,
    checked,
    divided,
    full_years,
    moved,
    power,
    quantity,
)

_EARTH_M = 6_371_000.0
_MOST_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Function:
    """How many arguments it takes, and what it does with them."""

    least: int
    most: int
    apply: Callable[[Sequence[Value]], Value]


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


def _real(compute: Callable[[float], float]) -> Function:
    def apply(values: Sequence[Value]) -> Value:
        try:
            return checked(compute(float(as_number(values[0]))))
        except (ValueError, OverflowError):
            raise CalculationError("a function has no value there") from None

    return Function(1, 1, apply)


def _sizes(values: Sequence[Value]) -> list[float | int]:
    """Numbers, or quantities of one dimension in base units."""
    dimensions = {value.dimension if isinstance(value, Quantity) else PLAIN for value in values}
    if len(dimensions) > 1:
        raise CalculationError("quantities of different kinds can't be compared or added")
    return [value.size if isinstance(value, Quantity) else as_number(value) for value in values]


def _like(first: Value, size: Number) -> Value:
    return Quantity(float(size), first.dimension, first.unit) if isinstance(first, Quantity) else checked(size)


def _extreme(choose: Callable[[list[Number]], Number]) -> Function:
    def apply(values: Sequence[Value]) -> Value:
        if all(isinstance(value, datetime) for value in values):
            stamps = [as_date(value).replace(tzinfo=None) for value in values]
            return min(stamps) if choose([0, 1]) == 0 else max(stamps)
        sizes = _sizes(values)
        return values[sizes.index(choose(sizes))]

    return Function(1, 100, apply)


def _total(values: Sequence[Value]) -> Value:
    return _like(values[0], sum(_sizes(values)))


def _mean(values: Sequence[Value]) -> Value:
    return _like(values[0], sum(_sizes(values)) / len(values))


def _rounded(compute: Callable[[float], int]) -> Function:
    def apply(values: Sequence[Value]) -> Value:
        first = values[0]
        if isinstance(first, Quantity) and first.unit is not None:
            return Quantity(compute(first.size / first.unit.factor) * first.unit.factor, first.dimension, first.unit)
        return compute(as_number(first))

    return Function(1, 1, apply)


def _round(values: Sequence[Value]) -> Value:
    digits = as_number(values[1]) if len(values) > 1 else 0
    if not isinstance(digits, int) or abs(digits) > _MOST_DIGITS:
        raise CalculationError(f"round takes a whole number of digits up to {_MOST_DIGITS}")
    first = values[0]
    if isinstance(first, Quantity):
        factor = first.unit.factor if first.unit is not None else 1.0
        return Quantity(round(first.size / factor, digits) * factor, first.dimension, first.unit)
    return round(as_number(first), digits) if digits else round(as_number(first))


def _absolute(values: Sequence[Value]) -> Value:
    first = values[0]
    return _like(first, abs(_sizes([first])[0]))


def _log(values: Sequence[Value]) -> Value:
    try:
        numbers = [float(as_number(value)) for value in values]
        return checked(math.log(*numbers))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise CalculationError("a logarithm has no value there") from None


def _distance(values: Sequence[Value]) -> Value:
    """Great-circle distance between two points in degrees."""
    lat1, lon1, lat2, lon2 = (float(as_number(value)) for value in values)
    if max(abs(lat1), abs(lat2)) > 90 or max(abs(lon1), abs(lon2)) > 360:
        raise CalculationError("distance takes latitude, longitude, latitude, longitude in degrees")
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    half = math.sin((phi1 - phi2) / 2) ** 2
    half += math.cos(phi1) * math.cos(phi2) * math.sin(math.radians(lon1 - lon2) / 2) ** 2
    return Quantity(2 * _EARTH_M * math.asin(math.sqrt(min(1.0, half))), LENGTH, UNITS["km"])


def _of_date(read: Callable[[datetime], int | str]) -> Function:
    return Function(1, 1, lambda values: read(as_date(values[0])))


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "sqrt": Function(1, 1, lambda values: power(as_number(values[0]), 0.5)),
        "exp": _real(math.exp),
        "ln": _real(math.log),
        "log": Function(1, 2, _log),
        "log10": _real(math.log10),
        "sin": _real(math.sin),
        "cos": _real(math.cos),
        "tan": _real(math.tan),
        "asin": _real(math.asin),
        "acos": _real(math.acos),
        "atan": _real(math.atan),
        "radians": _real(math.radians),
        "degrees": _real(math.degrees),
        "f_to_c": _real(lambda degrees: (degrees - 32) / 1.8),
        "c_to_f": _real(lambda degrees: degrees * 1.8 + 32),
        "abs": Function(1, 1, _absolute),
        "round": Function(1, 2, _round),
        "floor": _rounded(math.floor),
        "ceil": _rounded(math.ceil),
        "min": _extreme(min),
        "max": _extreme(max),
        "sum": Function(1, 100, _total),
        "mean": Function(1, 100, _mean),
        "date": Function(1, 1, lambda values: as_date(values[0])),
        "days": Function(2, 2, lambda values: between(as_date(values[1]), as_date(values[0]))),
        "age": Function(2, 2, lambda values: full_years(as_date(values[0]), as_date(values[1]))),
        "weekday": _of_date(lambda when: when.strftime("%A")),
        "year": _of_date(lambda when: when.year),
        "month": _of_date(lambda when: when.month),
        "day": _of_date(lambda when: when.day),
        "hour": _of_date(lambda when: when.hour),
        "distance": Function(4, 4, _distance),
    }
)
CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "e": math.e})


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
