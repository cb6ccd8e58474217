"""Python boolean expressions over time and address, as agents write them, translated into the tree of a filter.

The text is parsed and walked, node by node; nothing of it is ever run.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from datetime import date, datetime
from itertools import pairwise
from threading import Lock

from sightline.retrieval.filters.literals import MONTHS, WEEKDAYS
from sightline.retrieval.filters.python_terms import ALLOWED, FORMS, Constant, Count, FieldTerm, Reader, Term, TimeText
from sightline.retrieval.filters.tree import (
    And,
    Bare,
    Compare,
    FieldName,
    FilterError,
    HasValue,
    Node,
    Not,
    Operator,
    Or,
    Value,
)

# Python keeps one list of warning filters for all threads.
_QUIET = Lock()
MAX_DEPTH = 50
MAX_TESTS = 5000
_SIGNS: Mapping[type[ast.cmpop], Operator] = {
    ast.Eq: "=",
    ast.NotEq: "=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_FLIPPED: Mapping[Operator, Operator] = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_DATE_FORMS = frozenset((*FORMS, "iso", "%Y/%m", "%F", "%Y-%m-%dT%H:%M"))
_PART_FORMS: Mapping[str, str] = {
    "%m": "month",
    "%d": "day",
    "%H": "hour",
    "%M": "minute",
    "%u": "weekday",
    "%w": "weekday",
    "%A": "weekday",
    "%a": "weekday",
    "%B": "month",
    "%b": "month",
}


def parse_python(text: str) -> Node:
    """The tree of a Python expression; anything that is not allowed raises `FilterError`."""
    # Line breaks become spaces, so that an expression over several lines needs no brackets and columns stay right.
    line = text.replace("\r", " ").replace("\n", " ").rstrip()
    shifted = len(line) - len(line.lstrip())
    line = line.lstrip()
    try:
        with _QUIET, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = ast.parse(line, mode="eval")
        encoded = line.encode()
    except SyntaxError as error:
        at = shifted + max(0, (error.offset or 1) - 1)
        raise FilterError(f"not a Python expression ({error.msg})", min(at, len(text)), ALLOWED) from None
    except (ValueError, RecursionError, MemoryError):
        raise FilterError("not a Python expression", shifted, ALLOWED) from None
    reader = Reader(encoded, shifted)
    _check_depth(parsed.body, reader)
    return _Translator(reader).condition(parsed.body)


def _check_depth(body: ast.expr, reader: Reader) -> None:
    """Refuse what is nested so deep that walking it by recursion could fail."""
    level: list[ast.AST] = [body]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise reader.refused(body, f"an expression nested more than {MAX_DEPTH} deep")


class _Translator:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._tests = 0

    def condition(self, node: ast.expr) -> Node:
        self._tests += 1
        if self._tests > MAX_TESTS:
            raise self._reader.refused(node, f"an expression of more than {MAX_TESTS} tests")
        match node:
            case ast.BoolOp(op=op, values=values):
                parts = tuple(self.condition(value) for value in values)
                return And(parts) if isinstance(op, ast.And) else Or(parts)
            case ast.BinOp(op=ast.BitAnd(), left=left, right=right):
                return And((self.condition(left), self.condition(right)))
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return Or((self.condition(left), self.condition(right)))
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=inner):
                return Not(self.condition(inner))
            case ast.Constant(value=bool() as value):
                return And(()) if value else Or(())
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._comparison(left, ops, others)
            case ast.Call():
                return self._call(node)
            case ast.Name():
                term = self._reader.term(node)
                if isinstance(term, FieldTerm):
                    return Bare(term.field)
        raise self._reader.refused(node, "this as a condition")

    def _comparison(self, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]) -> Node:
        sides = pairwise((left, *others))
        return _joined(And, [self._pair(one, op, other) for (one, other), op in zip(sides, ops, strict=True)])

    def _pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Node:
        if isinstance(op, ast.In | ast.NotIn):
            inside = self._contained(left, right)
            return Not(inside) if isinstance(op, ast.NotIn) else inside
        term, other, is_flipped = self._reader.term(left), right, False
        if term is None:
            term, other, is_flipped = self._reader.term(right), left, True
        if term is None:
            raise self._reader.refused(left, "a comparison without a field")
        value = self._reader.constant(other)
        if isinstance(op, ast.Is | ast.IsNot):
            if value is not None:
                raise self._reader.refused(other, "`is` with anything but None")
            operator: Operator = "="
        else:
            operator = _SIGNS[type(op)]
        test = self._related(term, _FLIPPED[operator] if is_flipped else operator, value, other)
        return Not(test) if isinstance(op, ast.NotEq | ast.IsNot) else test

    def _contained(self, left: ast.expr, right: ast.expr) -> Node:
        holder = self._reader.term(right)
        if holder is not None:
            wanted = Value(self._reader.string(left), self._reader.at(left))
            if isinstance(holder, FieldTerm):
                return _starts_in_time(wanted) if holder.field.name == "time" else Compare(holder.field, "~", (wanted,))
            if isinstance(holder, TimeText) and holder.form == "iso":
                return _starts_in_time(wanted)
            raise self._reader.refused(right, "`in` with this")
        term, values = self._reader.term(left), self._reader.constant(right)
        if term is None or not isinstance(values, list):
            raise self._reader.refused(left, "`in` without a field and a list")
        if isinstance(term, FieldTerm):
            return Compare(term.field, "in", tuple(self._value(term, value, right) for value in values), term.field.at)
        return _joined(Or, [self._related(term, "=", value, right) for value in values])

    def _related(self, term: Term, operator: Operator, value: Constant, node: ast.expr) -> Node:
        """`operator` is one of = < <= > >=."""
        match term:
            case Count():
                return self._counted(term, operator, value, node)
            case TimeText():
                if not isinstance(value, str):
                    raise self._reader.refused(node, "anything but text here")
                return self._time_text(term, operator, Value(value, self._reader.at(node)))
            case FieldTerm():
                if operator == "=" and (value is None or value == ""):
                    return Not(HasValue(term.field))
                return Compare(term.field, operator, (self._value(term, value, node),), term.field.at)

    def _value(self, term: FieldTerm, value: Constant, node: ast.expr) -> Value:
        at = self._reader.at(node)
        match value:
            case datetime():
                return Value(value.isoformat(timespec="microseconds" if value.microsecond else "seconds"), at)
            case date():
                return Value(value.isoformat(), at)
            case bool():
                return Value(str(value).lower(), at)
            case int() | float():
                return Value(str(value + term.shift), at)
            case str():
                return Value(value, at)
            case _:
                raise self._reader.refused(node, "this as a value")

    def _counted(self, count: Count, operator: Operator, value: Constant, node: ast.expr) -> Node:
        """`find` is -1 where there is nothing, `count` and `len` are 0."""
        there = HasValue(count.field) if count.method == "len" else Compare(count.field, "~", (count.value,))
        nothing = -1 if count.method == "find" else 0
        if (operator, value) in (("=", nothing), ("<=", nothing), ("<", nothing + 1)):
            return Not(there)
        if (operator, value) in ((">", nothing), (">=", nothing + 1)):
            return there
        raise self._reader.refused(node, f"{count.method} compared with this")

    def _time_text(self, term: TimeText, operator: Operator, value: Value) -> Node:
        if term.form in _DATE_FORMS:
            return Compare(FieldName("time", term.at), operator, (value,), term.at)
        form = term.form.replace("%-", "%")
        if form in _PART_FORMS:
            return _part(form, operator, value, term.at)
        for separator in "-:/":
            first, found, second = form.partition(separator)
            if found and first in _PART_FORMS and second in _PART_FORMS:
                return self._two_parts((first, second), separator, operator, value, term.at)
        raise FilterError(
            f'the form "{term.form}" can\'t be used', term.at, f"use one of {', '.join(sorted(_DATE_FORMS - {'iso'}))}"
        )

    def _two_parts(self, forms: tuple[str, str], separator: str, operator: Operator, value: Value, at: int) -> Node:
        """`%m-%d` or `%H:%M`: by the first part, then by the second."""
        first, found, second = value.text.partition(separator)
        if not found:
            raise FilterError(f'"{value.text}" does not have the form {separator.join(forms)}', value.at)
        values = Value(first, value.at), Value(second, value.at)
        same = _part(forms[0], "=", values[0], at)
        both = And((same, _part(forms[1], operator, values[1], at)))
        if operator == "=":
            return both
        strict: Operator = "<" if operator in ("<", "<=") else ">"
        return Or((_part(forms[0], strict, values[0], at), both))

    def _call(self, node: ast.Call) -> Node:
        match node:
            case ast.Call(func=ast.Name(id="match_address"), args=[subject, wanted], keywords=[]):
                term = self._reader.term(subject)
                if isinstance(term, FieldTerm):
                    value = Value(self._reader.string(wanted), self._reader.at(wanted))
                    return Compare(term.field, "~", (value,), self._reader.at(node))
            case ast.Call(func=ast.Name(id="bool"), args=[inner], keywords=[]):
                return self.condition(inner)
            case ast.Call(func=ast.Name(id="any" | "all" as name), args=[inner], keywords=[]):
                parts = self._each(inner)
                return _joined(Or if name == "any" else And, parts)
            case ast.Call(
                func=ast.Attribute(value=subject, attr="startswith" | "endswith" as end), args=[wanted], keywords=[]
            ):
                return self._edge(subject, end, wanted)
        raise self._reader.refused(node, "this call")

    def _each(self, node: ast.expr) -> list[Node]:
        """The conditions of a list, or of a generator over a list of constants."""
        if isinstance(node, ast.List | ast.Tuple):
            return [self.condition(item) for item in node.elts]
        match node:
            case ast.GeneratorExp(elt=body, generators=[loop]) | ast.ListComp(elt=body, generators=[loop]):
                pass
            case _:
                raise self._reader.refused(node, "this in any() or all()")
        values = self._reader.constant(loop.iter)
        if loop.ifs or loop.is_async or not isinstance(loop.target, ast.Name) or not isinstance(values, list):
            raise self._reader.refused(node, "a loop over anything but a list")
        name, outer = loop.target.id, dict(self._reader.names)
        parts = []
        for value in values:
            self._reader.names[name] = value
            parts.append(self.condition(body))
        self._reader.names = outer
        return parts

    def _edge(self, subject: ast.expr, end: str, wanted: ast.expr) -> Node:
        term, constant, at = self._reader.term(subject), self._reader.constant(wanted), self._reader.at(wanted)
        given = constant if isinstance(constant, list) else [constant]
        texts = [text for text in given if isinstance(text, str)]
        if len(texts) != len(given) or not texts or term is None or isinstance(term, Count):
            raise self._reader.refused(subject, f".{end}() of this")
        if isinstance(term, TimeText) or term.field.name == "time":
            if end == "endswith":
                raise self._reader.refused(subject, ".endswith() of the time")
            return _joined(Or, [_starts_in_time(Value(text, at)) for text in texts])
        globs = (f"{text}*" if end == "startswith" else f"*{text}" for text in texts)
        return Compare(term.field, "in", tuple(Value(glob, at) for glob in globs), at)


def _joined(by: type[And] | type[Or], parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else by(tuple(parts))


def _starts_in_time(value: Value) -> Node:
    """`"2019-06" in str(time)`: the span of that date."""
    return Compare(FieldName("time", value.at), "=", (Value(value.text.strip().rstrip("-T:"), value.at),), value.at)


def _part(form: str, operator: Operator, value: Value, at: int) -> Node:
    text = value.text
    if form == "%w" and text == "0":
        text = "7"
    if form in ("%A", "%a", "%B", "%b") and not _is_name(text, _PART_FORMS[form]):
        raise FilterError(f'"{text}" is not the name of a {_PART_FORMS[form]}', value.at)
    return Compare(FieldName(_PART_FORMS[form], at), operator, (Value(text, value.at),), at)


def _is_name(text: str, field: str) -> bool:
    names = MONTHS if field == "month" else WEEKDAYS
    return len(text) >= 3 and any(name.startswith(text.lower()) for name in names)
