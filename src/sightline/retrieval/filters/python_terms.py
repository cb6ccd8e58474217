"""The two sides of a comparison in a Python expression: what is known of a picture, and constants."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal, TypeAlias

from sightline.retrieval.filters.tree import FieldName, FilterError, Value

ALLOWED = (
    "allowed: and, or, not, comparisons and `in`; time, time.year, .month, .day, .hour, .minute, .weekday(), "
    ".date(), .strftime(…); datetime(…), date(…), timedelta(…), dates as text; address with .lower(), .startswith(…), "
    '.find(…); match_address(address, "…"); any(… for x in […]), all(…)'
)
MAX_LIST = 1000
MAX_NUMBER = 10**15
_PARTS = ("year", "month", "day", "hour", "minute")
_TEXT_METHODS: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "casefold": str.casefold,
    "strip": str.strip,
    "title": str.title,
}
_SLICES: Mapping[tuple[int, int], str] = {
    (0, 4): "%Y",
    (0, 7): "%Y-%m",
    (0, 10): "%Y-%m-%d",
    (5, 7): "%m",
    (8, 10): "%d",
    (11, 13): "%H",
    (14, 16): "%M",
}
FORMS = frozenset(("%Y", "%Y-%m", "%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"))
_UTC = frozenset(("UTC", "timezone.utc", "datetime.UTC", "datetime.timezone.utc", "dt.UTC", "dt.timezone.utc"))


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """A field; `shift` is added to what it is compared with (Python counts weekdays from 0, we from 1)."""

    field: FieldName
    shift: int = 0


@dataclass(frozen=True, slots=True)
class TimeText:
    """The time as text in the form of `strftime`."""

    form: str
    at: int


@dataclass(frozen=True, slots=True)
class Count:
    """`address.find("x")`, `address.count("x")` or `len(address)`: a number that tells whether something is there."""

    method: Literal["find", "count", "len"]
    field: FieldName
    value: Value


Term: TypeAlias = FieldTerm | TimeText | Count
Constant: TypeAlias = "str | int | float | bool | datetime | date | timedelta | tzinfo | list[Constant] | None"


def _parsed_time(text: str, form: str) -> datetime:
    if form not in FORMS:
        raise ValueError(f'the form "{form}" is not known')
    return datetime.strptime(text, form)


def _range(*ends: int) -> list[Constant]:
    span = range(*ends)
    if len(span) > MAX_LIST:
        raise ValueError(f"more than {MAX_LIST} values")
    return list(span)


_MAKERS: Mapping[str, Callable[..., Constant]] = {
    "datetime": datetime,
    "date": date,
    "timedelta": timedelta,
    "range": _range,
    "datetime.fromisoformat": datetime.fromisoformat,
    "date.fromisoformat": date.fromisoformat,
    "datetime.strptime": _parsed_time,
}
"""All that may be called to make a constant."""


@dataclass(slots=True)
class Reader:
    """Reads terms and constants; `names` are the loop variables of any() and all(), with their value."""

    text: bytes
    shifted: int = 0
    names: dict[str, Constant] = field(default_factory=dict)

    def at(self, node: ast.expr) -> int:
        """Where a node begins, in characters; Python counts bytes."""
        return self.shifted + len(self.text[: node.col_offset].decode(errors="ignore"))

    def refused(self, node: ast.expr, what: str) -> FilterError:
        return FilterError(f"{what} can't be used in a filter,", self.at(node), ALLOWED)

    def term(self, node: ast.expr) -> Term | None:
        """What a node says of a picture; None if it is something else."""
        match node:
            case ast.Name(id=name) if name not in self.names and not name.startswith("_"):
                return FieldTerm(FieldName(name, self.at(node)))
            case ast.Attribute(value=inner, attr=part) if part in _PARTS and self._is_time(inner):
                return FieldTerm(FieldName(part, self.at(node)))
            case ast.Subscript(value=inner, slice=ast.Slice(lower=low, upper=high, step=None)) if self._is_time(inner):
                return self._slice(node, low, high)
            case ast.Call(func=ast.Name(id="str"), args=[inner], keywords=[]) if self._is_time(inner):
                return TimeText("iso", self.at(node))
            case ast.Call(func=ast.Name(id="len"), args=[inner], keywords=[]):
                term = self.term(inner)
                return Count("len", term.field, Value("")) if isinstance(term, FieldTerm) else None
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=args, keywords=[]):
                return self._method(node, self.term(inner), method, args)
            case _:
                return None

    def _is_time(self, node: ast.expr) -> bool:
        return _is_time(self.term(node))

    def _slice(self, node: ast.expr, low: ast.expr | None, high: ast.expr | None) -> TimeText:
        first = 0 if low is None else self.constant(low)
        last = None if high is None else self.constant(high)
        form = _SLICES.get((first, last)) if isinstance(first, int) and isinstance(last, int) else None
        if form is None:
            raise self.refused(node, "this slice of the time")
        return TimeText(form, self.at(node))

    def _method(self, node: ast.expr, term: Term | None, method: str, args: list[ast.expr]) -> Term | None:
        if _is_time(term):
            return self._time_method(node, method, args)
        if not isinstance(term, FieldTerm):
            return None
        if method in _TEXT_METHODS and not args:
            return term
        if method in ("find", "count") and len(args) == 1:
            wanted = Value(self.string(args[0]), self.at(args[0]))
            return Count("find" if method == "find" else "count", term.field, wanted)
        return None

    def _time_method(self, node: ast.expr, method: str, args: list[ast.expr]) -> Term | None:
        at = self.at(node)
        match method, args:
            case "weekday", []:
                return FieldTerm(FieldName("weekday", at), shift=1)
            case "isoweekday", []:
                return FieldTerm(FieldName("weekday", at))
            case "date", []:
                return FieldTerm(FieldName("time", at))
            case "isoformat", []:
                return TimeText("iso", at)
            case "strftime", [form]:
                return TimeText(self.string(form), at)
            case _:
                return None

    def string(self, node: ast.expr) -> str:
        value = self.constant(node)
        if not isinstance(value, str):
            raise self.refused(node, "anything but text here")
        return value

    def constant(self, node: ast.expr) -> Constant:
        """The value of a node that does not depend on a picture."""
        match node:
            case ast.Constant(value=int() as value) if abs(value) > MAX_NUMBER:
                raise self.refused(node, "a number so large")
            case ast.Constant(value=str() | int() | float() | bool() | None as value):
                return value
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                if len(items) > MAX_LIST:
                    raise self.refused(node, f"a list of more than {MAX_LIST} values")
                return [self.constant(item) for item in items]
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[], keywords=[]) if (
                method in _TEXT_METHODS
            ):
                return _TEXT_METHODS[method](self.string(inner))
            case ast.Call():
                return self._made(node)
            case ast.Name() | ast.Attribute() if _dotted(node) in _UTC:
                return UTC
            case ast.BinOp(op=ast.Add() | ast.Sub() as sign, left=left, right=right):
                return self._moved(node, self.constant(left), sign, self.constant(right))
            case _:
                raise self.refused(node, f"`{_kind(node)}`")

    def _moved(self, node: ast.expr, left: Constant, sign: ast.operator, right: Constant) -> Constant:
        if not isinstance(left, date) or not isinstance(right, timedelta):
            raise self.refused(node, "arithmetic other than a date and a timedelta")
        try:
            return left + right if isinstance(sign, ast.Add) else left - right
        except OverflowError:
            raise FilterError("a date outside the years 1 to 9999", self.at(node)) from None

    def _made(self, node: ast.Call) -> Constant:
        name = _dotted(node.func)
        named = {word.arg: word.value for word in node.keywords if word.arg is not None}
        if name not in _MAKERS or len(named) < len(node.keywords):
            raise self.refused(node, f"calling {name or 'this'}")
        given = [self.constant(each) for each in node.args]
        try:
            return _MAKERS[name](*given, **{word: self.constant(each) for word, each in named.items()})
        except (ValueError, TypeError, OverflowError) as error:
            raise FilterError(f"this {name.partition('.')[0]} does not exist ({error}),", self.at(node)) from None


def _is_time(term: Term | None) -> bool:
    return term == FieldTerm(FieldName("time")) or (isinstance(term, TimeText) and term.form == "iso")


def _dotted(node: ast.expr) -> str:
    """`datetime.datetime` as `datetime`, `dt.date` as `date`, `datetime.strptime` as it is."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="datetime" | "dt"), attr="datetime" | "date" | "timedelta" as name):
            return name
        case ast.Attribute(value=inner, attr=name) if isinstance(inner, ast.Name | ast.Attribute):
            return f"{_dotted(inner)}.{name}"
        case _:
            return ""


def _kind(node: ast.expr) -> str:
    return {"BinOp": "arithmetic", "JoinedStr": "an f-string", "NamedExpr": ":="}.get(
        type(node).__name__, type(node).__name__.lower()
    )
