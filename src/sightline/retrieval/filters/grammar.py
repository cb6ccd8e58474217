"""The grammar of Sightline's own filter language: its words and signs, read by recursive descent.

expression  = conjunction (("or" | "||") conjunction)*
conjunction = negation (("and" | "&&") negation)*
negation    = ("not" | "!") negation | "(" expression ")" | "true" | "false" | function | test
function    = "has" "(" field ")" | "near" "(" … ")" | "box" "(" … ")"
test        = field [operator value | ["not"] "in" "[" values "]" | ["not"] "between" value "and" value]
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias, get_args

from sightline.retrieval.filters.literals import number_of, radius_of
from sightline.retrieval.filters.tree import (
    And,
    Bare,
    Compare,
    FieldName,
    FilterError,
    GeoBox,
    HasValue,
    Near,
    NearPlace,
    Node,
    Not,
    Operator,
    Or,
    TooDeepError,
    Value,
)

TokenKind: TypeAlias = Literal["word", "string", "name", "sign", "end"]
_CLOCK = r"\d{1,4}[-/]\d{1,2}[-/]\d{1,2}[Tt]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[-+]\d\d:?\d\d)?"
_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |(?P<sign>&&|\|\||==|!=|!~|<=|>=|[()\[\],:=<>~!])
    |(?P<quote>["'`])
    |(?P<word>{_CLOCK}(?![\w:])|[^\s()\[\],:=<>~!&|"'`]+)""",
    re.VERBOSE,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
MAX_DEPTH = 60
MAX_LIST = 1000
_OPERATORS: dict[str, Operator] = {sign: sign for sign in get_args(Operator)} | {":": "=", "==": "="}
_NEGATED: dict[str, Operator] = {"!=": "=", "!~": "~"}
_SIGNS = "= != < <= > >= ~ !~ : in between"


class FilterToken(NamedTuple):
    """A word, a quoted string, a field name in backticks, or a sign; `at` is where it begins, from 0."""

    kind: TokenKind
    text: str
    at: int

    @property
    def keyword(self) -> str:
        """The word in lower case; nothing for what is quoted."""
        return self.text.lower() if self.kind == "word" else ""


def tokens_of(text: str) -> list[FilterToken]:
    """The tokens of a filter, with an end after the last."""
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FilterError(f'"{text[at]}" can\'t stand', at, 'write "&&" or "and", "||" or "or"; quote other text')
        if match["quote"]:
            token, at = _quoted(text, at)
            found.append(token)
            continue
        if match["sign"]:
            found.append(FilterToken("sign", match["sign"], at))
        elif match["word"]:
            found.append(FilterToken("word", match["word"], at))
        at = match.end()
    return [*found, FilterToken("end", "", len(text))]


def _quoted(text: str, at: int) -> tuple[FilterToken, int]:
    quote = text[at]
    end = at + 1
    while end < len(text) and text[end] != quote:
        end += 2 if text[end] == "\\" else 1
    if end >= len(text):
        raise FilterError(f"a string that begins with {quote} does not end; it begins", at, f"put {quote} after it")
    inside = _ESCAPED.sub(r"\1", text[at + 1 : end])
    return FilterToken("name" if quote == "`" else "string", inside, at), end + 1


def parse_own(text: str) -> Node:
    """The tree of a filter in Sightline's own language."""
    parser = _Parser(tokens_of(text))
    tree = parser.expression(0)
    parser.end()
    return tree


class _Parser:
    def __init__(self, tokens: list[FilterToken]) -> None:
        self._tokens = tokens
        self._next = 0

    @property
    def token(self) -> FilterToken:
        return self._tokens[self._next]

    def take(self) -> FilterToken:
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
                node: Node = HasValue(self._field())
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
        return GeoBox(south, west, north, east)

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

    def _values(self, name: FieldName, operator: FilterToken) -> Node:
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

    def _field(self) -> FieldName:
        token = self.token
        if token.kind == "name" or (token.kind == "word" and token.keyword not in ("and", "or", "in", "between")):
            self.take()
            return FieldName(token.text, token.at)
        fix = 'put the field first, as in: address ~ "Kyoto"' if token.kind == "string" else None
        raise FilterError(f"expected a field, found {self.found()}", token.at, fix)

    def _value(self) -> Value:
        token = self.token
        if token.kind in ("word", "string"):
            self.take()
            return Value(token.text, token.at)
        raise FilterError(f"expected a value, found {self.found()}", token.at, f"operators are {_SIGNS}")
