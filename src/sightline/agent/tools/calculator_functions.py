"""The functions that a calculation may use, by name; there are no others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from sightline.agent.tools.calculator_units import LENGTH, PLAIN, UNITS
from sightline.agent.tools.calculator_values import (
    CalculationError,
    Number,
    Quantity,
    Value,
    between,
    checked,
    full_years,
    power,
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
