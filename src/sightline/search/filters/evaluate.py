"""Which rows a filter selects: one vectorised test for each leaf of the tree."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.search.columns import Columns, Flags, Labels, Numbers, Texts, Times
from sightline.search.columns.build import CLOCK, KINDS
from sightline.search.columns.kinds import Mask
from sightline.search.filters import geo, matching
from sightline.search.filters.fields import NUMBER_FIELDS, column_of, usual_name
from sightline.search.filters.literals import flag_of, number_of, time_of
from sightline.search.filters.problems import FilterError
from sightline.search.filters.tree import And, Bare, Box, Compare, Known, Near, NearPlace, Node, Not, Or, Value

_GROUPS = frozenset(("owner", *KINDS))
_Floats = NDArray[np.float64]
_BETWEEN: Mapping[str, Callable[[_Floats, float, float], Mask]] = {
    "=": lambda x, start, end: (x >= start) & (x < end),
    "<": lambda x, start, end: x < start,
    "<=": lambda x, start, end: x < end,
    ">": lambda x, start, end: x >= end,
    ">=": lambda x, start, end: x >= start,
}


def mask_of(node: Node, columns: Columns) -> Mask:
    """True for each row that the tree selects; rows of removed pictures are not looked at."""
    match node:
        case And(parts):
            mask = np.ones(len(columns), np.bool_)
            for part in parts:
                mask &= mask_of(part, columns)
            return mask
        case Or(parts):
            mask = np.zeros(len(columns), np.bool_)
            for part in parts:
                mask |= mask_of(part, columns)
            return mask
        case Not(part):
            return ~mask_of(part, columns)
        case _:
            return _leaf(node, columns)


def check_values(node: Compare) -> None:
    """Refuse values that a field of every corpus can't have, before there is a corpus."""
    name = node.field.name.strip().lower()
    if name == "time":
        _refuse(node, ("~",), "a time is compared by = < <= > >= in between")
        _check_span(node, [time_of(value) for value in node.values])
    elif usual_name(name) in NUMBER_FIELDS and name in (usual_name(name), f"time.{usual_name(name)}"):
        _refuse(node, ("~",), "a number is compared by = < <= > >= in between")
        numbers = [number_of(value, usual_name(name), in_range=node.operator == "=") for value in node.values]
        _check_span(node, [(number, math.nextafter(number, math.inf), None) for number in numbers])
        for value, number in zip(node.values, numbers, strict=True):
            if node.operator in ("=", "in") and usual_name(name) in CLOCK and not number.is_integer():
                raise FilterError(f"{usual_name(name)} is a whole number, {value.text} is not", value.at)


def _check_span(node: Compare, spans: Sequence[tuple[float, float, float | None]]) -> None:
    """Refuse a `between` whose end comes before its beginning: nothing could lie there."""
    if node.operator != "between":
        return
    (start, _, offset), (_, end, other) = spans
    if offset == other and start >= end:
        low, high = (value.text for value in node.values)
        raise FilterError(
            f"nothing lies between {low} and {high}", node.at, f"write the lower one first: between {high} and {low}"
        )


def _leaf(node: Compare | Known | Bare | Near | NearPlace | Box, columns: Columns) -> Mask:
    match node:
        case Known(field):
            return column_of(field, columns).known()
        case Bare(field):
            column = column_of(field, columns)
            return column.values == 1 if isinstance(column, Flags) else column.known()
        case Near(lat, lon, km):
            return geo.circle(columns, lat, lon, km)
        case NearPlace(place, km):
            found = _place(place)
            return geo.circle(columns, *found, km)
        case Box():
            return geo.box(columns, node)
        case Compare():
            return _compare(node, columns)


def _place(value: Value) -> tuple[float, float]:
    from sightline.search.gazetteer import find_place

    place = find_place(value.text)
    return place.lat, place.lon


def _compare(node: Compare, columns: Columns) -> Mask:
    column = column_of(node.field, columns)
    match column:
        case Times():
            return _times(node, column)
        case Numbers():
            return _numbers(node, column)
        case Flags():
            return _flags(node, column)
        case Texts() | Labels():
            return _texts(node, column, columns)


def _times(node: Compare, times: Times) -> Mask:
    _refuse(node, ("~",), "a time is compared by = < <= > >= in between")

    def test(operator: str, value: Value) -> Mask:
        start, end, offset = time_of(value)
        if offset is None:
            return _BETWEEN[operator](times.wall, start, end)
        # A camera that noted no offset is taken to have been in the zone that was asked for.
        seconds = np.where(np.isnan(times.utc), times.wall - offset, times.utc)
        return _BETWEEN[operator](seconds, start, end)

    return _by_operator(node, test, len(times.wall))


def _numbers(node: Compare, column: Numbers) -> Mask:
    _refuse(node, ("~",), "a number is compared by = < <= > >= in between")
    field = usual_name(node.field.name)

    def test(operator: str, value: Value) -> Mask:
        # `hour < 24` is true of every hour, and no mistake.
        number = number_of(value, field, in_range=node.operator == "=")
        return _BETWEEN[operator](column.values, number, np.nextafter(number, np.inf))

    return _by_operator(node, test, len(column.values))


def _by_operator(node: Compare, test: Callable[[str, Value], Mask], length: int) -> Mask:
    match node.operator:
        case "in":
            mask = np.zeros(length, np.bool_)
            for value in node.values:
                mask |= test("=", value)
            return mask
        case "between":
            low, high = node.values
            return test(">=", low) & test("<=", high)
        case operator:
            return test(operator, node.values[0])


def _flags(node: Compare, column: Flags) -> Mask:
    _refuse(node, ("~", "<", "<=", ">", ">=", "between"), "a flag is compared by =, or stands by itself")
    wanted = [flag_of(value, node.field.name) for value in node.values]
    return np.isin(column.values, np.array(wanted, np.int8))


def _texts(node: Compare, column: Texts | Labels, columns: Columns) -> Mask:
    _refuse(
        node, ("<", "<=", ">", ">=", "between"), "text is compared by = (whole value, * and ? as wildcards), ~ or in"
    )
    name = usual_name(node.field.name)
    values = [
        Value(value.text.removeprefix(f"{name}/"), value.at) if name in _GROUPS else value for value in node.values
    ]
    test = _text_test(node, values, name)
    mask = column.where(column.vocabulary.test(test))
    if name == "address":
        derived = columns.texts("place")
        mask |= derived.where(derived.vocabulary.test(test))
    return mask


def _text_test(node: Compare, values: Sequence[Value], name: str) -> matching.Test:
    """Passes the (folded) values of the column that at least one of the given values asks for."""
    if node.operator != "~":
        return matching.any_whole_value(values)
    return matching.address(values[0]) if name in ("address", "place") else matching.words(values[0])


def _refuse(node: Compare, operators: Sequence[str], fix: str) -> None:
    if node.operator in operators:
        raise FilterError(f'{node.field.name} can\'t be compared by "{node.operator}"', node.at, fix)
