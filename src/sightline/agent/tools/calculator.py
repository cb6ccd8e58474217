"""Arithmetic with units and dates: a small parser that computes as it reads; nothing is ever evaluated as code.

The functions and constants are those of the tables below; there are no others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from sightline.agent.tools.calculator_values import (
    COMPARISONS,
    LENGTH,
    PLAIN,
    UNITS,
    CalculationError,
    CalculatorUnit,
    Number,
    Quantity,
    Value,
    added,
    as_date,
    as_number,
    between,
    checked,
    compared,
    converted,
    divided,
    full_years,
    multiplied,
    plus,
    power,
    quantity,
    read_date,
    read_number,
    remainder,
    small_power,
    times,
    with_unit,
)

DEEPEST = 40
_TOKEN = re.compile(
    r"\s*(?:(?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})?)?(?![\d-]))"
    r"|(?P<number>(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,6})?)"
    r"|(?P<text>\"[^\"]{0,100}\"|'[^']{0,100}')|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^%(),<>=×÷−·²³]))"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?")
_ALIKE = {"×": "*", "·": "*", "÷": "/", "−": "-", "**": "^", "==": "="}
_EARTH_M = 6_371_000.0
_MOST_DIGITS = 15
CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "e": math.e})


@dataclass(frozen=True, slots=True)
class Function:
    """How many arguments it takes, and what it does with them."""

    least: int
    most: int
    apply: Callable[[Sequence[Value]], Value]


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


class _Token(NamedTuple):
    kind: str
    text: str


_END = _Token("end", "")


def calculate(expression: str, longest: int = 1000) -> Value:
    """The value of an expression of at most so many characters; `CalculationError` says why there is none."""
    if len(expression) > longest:
        raise CalculationError(f"an expression has {len(expression):,} characters; at most {longest} are read")
    parser = _Parser(_tokens(expression))
    try:
        value = parser.expression()
    except OverflowError:  # A whole number that no float can hold, where a float is needed.
        raise CalculationError("a number is too large") from None
    if parser.now is not _END:
        raise CalculationError(f'"{parser.now.text}" is not expected there')
    return value


def _tokens(text: str) -> list[_Token]:
    found, at, brackets = [], 0, 0
    while text[at:].strip():
        blanks = len(text[at:]) - len(text[at:].lstrip())
        # Between brackets a comma separates arguments; elsewhere it can only be one of 1,234.
        thousands = _THOUSANDS.match(text, at + blanks) if brackets == 0 else None
        if thousands is not None:
            found.append(_Token("number", thousands[0].replace(",", "")))
            at = thousands.end()
            continue
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise CalculationError(f'"{text[at:].strip()[:10]}" is nothing that can be calculated with')
        word = match[match.lastgroup]
        if match.lastgroup == "number" and re.match(r"0\d", word):
            raise CalculationError(f'"{word}" begins with a zero; a date is written in full, such as 2019-06-01')
        brackets += (word == "(") - (word == ")")
        found.append(_Token(match.lastgroup, _ALIKE.get(word, word)))
        at = match.end()
    return found


class _Parser:
    """One pass over the tokens; `depth` bounds how far brackets and signs nest."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._at, self._depth = tokens, 0, 0

    @property
    def now(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def _take(self, *texts: str) -> str | None:
        if self.now.kind in ("sign", "name") and self.now.text in texts:
            self._at += 1
            return self._tokens[self._at - 1].text
        return None

    def _need(self, text: str) -> None:
        if self._take(text) is None:
            raise CalculationError(f'"{text}" is missing before "{self.now.text or "the end"}"')

    def expression(self) -> Value:
        self._depth += 1
        if self._depth > DEEPEST:
            raise CalculationError(f"brackets nest more than {DEEPEST} deep")
        value = self._sum()
        sign = self._take(*COMPARISONS)
        if sign is not None:
            value = compared(sign, value, self._sum())
        while self._take("to", "in", "as"):
            value = converted(value, self._target())
        self._depth -= 1
        return value

    def _sum(self) -> Value:
        value = self._product()
        while (sign := self._take("+", "-")) is not None:
            value = added(value, self._product(), 1 if sign == "+" else -1)
        return value

    def _product(self) -> Value:
        value = self._signed()
        while (sign := self._take("*", "/", "of", "mod")) is not None:
            other = self._signed()
            if sign == "mod":
                value = remainder(as_number(value), as_number(other))
            else:
                value = multiplied(value, other, -1 if sign == "/" else 1)
        return value

    def _signed(self) -> Value:
        negative = False
        while (sign := self._take("-", "+")) is not None:
            negative ^= sign == "-"
        value = self._power()
        return multiplied(value, -1, 1) if negative else value

    def _power(self) -> Value:
        value = self._measured()
        if self._take("^") is None:
            return value
        self._depth += 1
        if self._depth > DEEPEST:
            raise CalculationError(f"powers nest more than {DEEPEST} deep")
        exponent = as_number(self._signed())
        self._depth -= 1
        if isinstance(value, Quantity):
            whole = small_power(exponent)
            return quantity(float(power(value.size, whole)), times(value.dimension, whole))
        return power(as_number(value), exponent)

    def _measured(self) -> Value:
        """Something, with a percent sign or a unit after it: `15 %`, `5 km`, `3 m^2`."""
        value = self._single()
        while self._take("%"):
            value = divided(as_number(value), 100)
        if self.now.kind == "name" and self.now.text in UNITS and not self._calls():
            value = with_unit(as_number(value), self._unit())
        return value

    def _single(self) -> Value:
        token = self.now
        self._at += 1
        if token.kind == "number":
            return read_number(token.text)
        if token.kind in ("date", "text"):
            return read_date(token.text.strip("\"'"))
        if token.text == "(":
            value = self.expression()
            self._need(")")
            return value
        if token.kind == "name":
            return self._named(token.text)
        raise CalculationError(f'a number is missing before "{token.text or "the end"}"')

    def _named(self, name: str) -> Value:
        if self.now.text == "(" and name in FUNCTIONS:
            return self._called(name)
        if name in UNITS:
            self._at -= 1
            return with_unit(1, self._unit())
        if name in CONSTANTS:
            return CONSTANTS[name]
        known = ", ".join((*FUNCTIONS, *CONSTANTS))
        raise CalculationError(f'"{name[:30]}" is not known. Functions: {known}; units such as km, days, kg')

    def _called(self, name: str) -> Value:
        self._need("(")
        values: list[Value] = []
        if self.now.text != ")":
            values.append(self.expression())
            while self._take(","):
                values.append(self.expression())
        self._need(")")
        function = FUNCTIONS[name]
        if not function.least <= len(values) <= function.most:
            takes = function.least if function.least == function.most else f"{function.least} to {function.most}"
            raise CalculationError(f"{name} takes {takes} arguments, not {len(values)}")
        return function.apply(values)

    # --- units ------------------------------------------------------------------------------------------------

    def _calls(self) -> bool:
        following = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else _END
        return following.text == "(" and self.now.text in FUNCTIONS

    def _unit(self) -> CalculatorUnit:
        """A unit, to a power where one follows: `m^2`, `m²`."""
        name = self.now.text
        if self.now.kind != "name" or name not in UNITS:
            raise CalculationError(f'"{name or "the end"}" is no unit that is known')
        self._at += 1
        unit = UNITS[name]
        raised = {"²": 2, "³": 3}.get(self.now.text)
        if raised is not None:
            self._at += 1
        elif self.now.text == "^":
            self._at += 1
            raised = small_power(as_number(self._signed()))
        if raised is None:
            return unit
        return CalculatorUnit(f"{unit.name}^{raised}", float(power(unit.factor, raised)), times(unit.dimension, raised))

    def _target(self) -> CalculatorUnit:
        """What to convert to: `mi`, `km/h`."""
        unit = self._unit()
        while (sign := self._take("/", "*")) is not None:
            other = self._unit()
            step = 1 if sign == "*" else -1
            dimension = plus(unit.dimension, times(other.dimension, step))
            unit = CalculatorUnit(f"{unit.name}{sign}{other.name}", unit.factor * other.factor**step, dimension)
        return unit
