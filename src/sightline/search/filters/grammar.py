"""Sightline's own filter language, read by recursive descent.

expression  = conjunction (("or" | "||") conjunction)*
conjunction = negation (("and" | "&&") negation)*
negation    = ("not" | "!") negation | "(" expression ")" | "true" | "false" | function | test
function    = "has" "(" field ")" | "near" "(" … ")" | "box" "(" … ")"
test        = field [operator value | ["not"] "in" "[" values "]" | ["not"] "between" value "and" value]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from sightline.search.filters.literals import number_of, radius_of
from sightline.search.filters.problems import FilterError, TooDeepError
from sightline.search.filters.tokens import Token, tokens_of
from sightline.search.filters.tree import (
    And,
    Bare,
    Box,
    Compare,
    Field,
    Known,
    Near,
    NearPlace,
    Node,
    Not,
    Operator,
    Or,
    Value,
)

MAX_DEPTH = 60
MAX_LIST = 1000
_OPERATORS: dict[str, Operator] = {sign: sign for sign in get_args(Operator)} | {":": "=", "==": "="}
_NEGATED: dict[str, Operator] = {"!=": "=", "!~": "~"}
_SIGNS = "= != < <= > >= ~ !~ : in between"


def parse_own(text: str) -> Node:
    """The tree of a filter in Sightline's own language."""
    parser = _Parser(tokens_of(text))
    tree = parser.expression(0)
    parser.end()
    return tree


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._next = 0

    @property
    def token(self) -> Token:
        return self._tokens[self._next]

    def take(self) -> Token:
        token = self.token
        if token.kind != "end":
            self._next += 1
        return token

    def accept(self, *texts: str) -> bool:
        """Go past the next token if it is one of these signs or keywords."""
        if (self.token.kind == "sign" and self.token.text in texts) or self.token.keyword in texts:
            self.take()
            return True
        return False

    def expect(self, sign: str, why: str) -> None:
        if not self.accept(sign):
            raise FilterError(f'expected "{sign}" {why}, found {self.found()}', self.token.at)

    def found(self) -> str:
        return "the end" if self.token.kind == "end" else f'"{self.token.text}"'

    def end(self) -> None:
        if self.token.kind == "end":
            return
        if self.token.text in (")", "]") and self.token.kind == "sign":
            raise FilterError(f'"{self.token.text}" closes nothing', self.token.at, "remove it, or open it before")
        raise FilterError(
            f'expected "and" or "or", found {self.found()}', self.token.at, "text of several words goes in quotes"
        )

    def expression(self, depth: int) -> Node:
        parts = self._chain(self._conjunction, ("or", "||"), depth)
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _conjunction(self, depth: int) -> Node:
        parts = self._chain(self._negation, ("and", "&&"), depth)
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _chain(self, part: Callable[[int], Node], joined_by: tuple[str, ...], depth: int) -> list[Node]:
        parts = [part(depth)]
        while self.accept(*joined_by):
            parts.append(part(depth))
        return parts

    def _negation(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise TooDeepError(f"a filter is nested more than {MAX_DEPTH} deep", self.token.at, "write it flatter")
        if self.accept("not", "!"):
            return Not(self._negation(depth + 1))
        opening = self.token
        if self.accept("("):
            inside = self.expression(depth + 1)
            if not self.accept(")"):
                raise FilterError(
                    f'expected ")" for the "(" at character {opening.at + 1}, found {self.found()}', self.token.at
                )
            return inside
        if self._is_function():
            return self._function()
        if self.accept("true"):
            return And(())
        if self.accept("false"):
            return Or(())
        return self._test()

    def _is_function(self) -> bool:
        after = self._tokens[self._next + 1] if self.token.keyword in ("has", "near", "box") else None
        return after is not None and after.kind == "sign" and after.text == "("

    def _function(self) -> Node:
        name = self.take()
        self.expect("(", f"after {name.text}")
        match name.keyword:
            case "has":
                node: Node = Known(self._field())
            case "near":
                node = self._near()
            case _:
                node = self._box()
        self.expect(")", f"after what {name.text} is given")
        return node

    def _near(self) -> Node:
        is_quoted = self.token.kind == "string"
        first = self._value()
        self.expect(",", 'in near(lat, lon, radius) or near("place", radius)')
        if not is_quoted and self._is_number(first):
            lon = self._value()
            self.expect(",", "and a radius")
            return Near(number_of(first, "lat"), number_of(lon, "lon"), radius_of(self._with_unit()))
        return NearPlace(first, radius_of(self._with_unit()))

    def _box(self) -> Node:
        edges = [self._value()]
        for _ in range(3):
            self.expect(",", "in box(south, west, north, east)")
            edges.append(self._value())
        south, west, north, east = (
            number_of(edge, field) for edge, field in zip(edges, ("lat", "lon", "lat", "lon"), strict=True)
        )
        if south > north:
            raise FilterError("the south of a box is north of its north", edges[0].at, "box(south, west, north, east)")
        return Box(south, west, north, east)

    def _with_unit(self) -> Value:
        """`5km`, or `5 km`."""
        value = self._value()
        if self.token.kind == "word":
            return Value(value.text + self.take().text, value.at)
        return value

    @staticmethod
    def _is_number(value: Value) -> bool:
        try:
            float(value.text)
        except ValueError:
            return False
        return True

    def _test(self) -> Node:
        name = self._field()
        operator = self.token
        if self.accept("not"):
            if self.token.keyword not in ("in", "between"):
                raise FilterError(f'expected "in" or "between" after "not", found {self.found()}', self.token.at)
            return Not(self._values(name, self.token))
        if operator.keyword in ("in", "between"):
            return self._values(name, operator)
        if operator.kind == "sign" and operator.text in _OPERATORS:
            self.take()
            return Compare(name, _OPERATORS[operator.text], (self._value(),), operator.at)
        if operator.kind == "sign" and operator.text in _NEGATED:
            self.take()
            return Not(Compare(name, _NEGATED[operator.text], (self._value(),), operator.at))
        return Bare(name)

    def _values(self, name: Field, operator: Token) -> Node:
        self.take()
        if operator.keyword == "between":
            low = self._value()
            self.expect("and", "between the two values")
            return Compare(name, "between", (low, self._value()), operator.at)
        closing = "]" if self.accept("[") else ")"
        if closing == ")":
            self.expect("(", 'or "[" after "in"')
        values: list[Value] = []
        while not self.accept(closing):
            if values:
                self.expect(",", f'or "{closing}" in a list')
            values.append(self._value())
            if len(values) > MAX_LIST:
                raise FilterError(f"a list has more than {MAX_LIST} values", values[-1].at)
        return Compare(name, "in", tuple(values), operator.at)

    def _field(self) -> Field:
        token = self.token
        if token.kind == "name" or (token.kind == "word" and token.keyword not in ("and", "or", "in", "between")):
            self.take()
            return Field(token.text, token.at)
        fix = 'put the field first, as in: address ~ "Kyoto"' if token.kind == "string" else None
        raise FilterError(f"expected a field, found {self.found()}", token.at, fix)

    def _value(self) -> Value:
        token = self.token
        if token.kind in ("word", "string"):
            self.take()
            return Value(token.text, token.at)
        raise FilterError(f"expected a value, found {self.found()}", token.at, f"operators are {_SIGNS}")
