"""Arithmetic with units and dates: a small parser that computes as it reads; nothing is ever evaluated as code."""

from __future__ import annotations

import re
from typing import NamedTuple

from sightline.agent.tools.calculator_functions import (
    COMPARISONS,
    CONSTANTS,
    FUNCTIONS,
    added,
    as_number,
    compared,
    converted,
    multiplied,
    plus,
    read_date,
    read_number,
    remainder,
    small_power,
    times,
    with_unit,
)
from sightline.agent.tools.calculator_values import (
    UNITS,
    CalculationError,
    CalculatorUnit,
    Quantity,
    Value,
    divided,
    power,
    quantity,
)

LONGEST = 1000
DEEPEST = 40
_TOKEN = re.compile(
    r"\s*(?:(?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})?)?(?![\d-]))"
    r"|(?P<number>(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,6})?)"
    r"|(?P<text>\"[^\"]{0,100}\"|'[^']{0,100}')|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^%(),<>=×÷−·²³]))"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?")
_ALIKE = {"×": "*", "·": "*", "÷": "/", "−": "-", "**": "^", "==": "="}


class _Token(NamedTuple):
    kind: str
    text: str


_END = _Token("end", "")


def calculate(expression: str) -> Value:
    """The value of an expression; `CalculationError` says why there is none."""
    if len(expression) > LONGEST:
        raise CalculationError(f"an expression has {len(expression):,} characters; at most {LONGEST} are read")
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
