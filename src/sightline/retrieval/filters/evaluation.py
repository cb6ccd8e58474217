"""Which rows a filter selects: one vectorised test for each leaf of the tree.

Fields are columns, their other names, and what is computed from the time; places are circles and boxes on Earth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.errors import did_you_mean
from sightline.retrieval.columns.builder import CLOCK, CORE, HOMES, KINDS
from sightline.retrieval.columns.kinds import (
    Column,
    FlagColumn,
    LabelColumn,
    Mask,
    NumberColumn,
    PictureColumns,
    TextColumn,
    TimeColumn,
)
from sightline.retrieval.filters import text_matcher
from sightline.retrieval.filters.literals import flag_of, number_of, time_of
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
    Or,
    Value,
)

_OTHER_NAMES: Mapping[str, str] = {
    "taken_at": "time",
    "date": "time",
    "latitude": "lat",
    "longitude": "lon",
    "camera": "device",
    "tags": "tag",
    "facets": "facet",
    "flags": "flag",
    "groups": "group",
    "user": "owner",
    "name": "file",
    "filename": "file",
    "license": "licence",
}
NUMBER_FIELDS = frozenset(("lat", "lon", "altitude", "width", "height", *CLOCK))
_SHOWN = (
    "time, year, month, day, weekday, hour, lat, lon, altitude, address, place, device, tag, facet, flag, owner, "
    "event, group, id, file, mime, width, height, licence"
)
EARTH_KM = 6371.0
_KM_PER_DEGREE = 111.0
_GROUPS = frozenset(("owner", *KINDS))
_Floats = NDArray[np.float64]
_BETWEEN: Mapping[str, Callable[[_Floats, float, float], Mask]] = {
    "=": lambda x, start, end: (x >= start) & (x < end),
    "<": lambda x, start, end: x < start,
    "<=": lambda x, start, end: x < end,
    ">": lambda x, start, end: x >= end,
    ">=": lambda x, start, end: x >= start,
}


def usual_name(name: str) -> str:
    """The name of a field without regard to case, other names and Python's `time.year`."""
    name = name.strip().lower()
    name = _OTHER_NAMES.get(name, name)
    return name.removeprefix("time.") if name.removeprefix("time.") in CLOCK else name


def column_of(field: FieldName, columns: PictureColumns) -> Column:
    """The column that a field names; if there is none, an error with the nearest name."""
    name = field.name.strip().lower()
    home, _, rest = name.partition(".")
    # A facet, flag or extra column keeps its plain name unless that was taken (columns/builder.py).
    plain = rest if home in HOMES and rest not in CORE else name
    for known in (name, plain, usual_name(name)):
        if known in CLOCK:
            return NumberColumn(_clock(columns.times.wall, known))
        if known in columns.by_name:
            return columns.by_name[known]
    raise _unknown(field, columns)


def _unknown(field: FieldName, columns: PictureColumns) -> FilterError:
    extra = sorted(name for name in columns.by_name if name not in _SHOWN.split(", "))
    names = [*_SHOWN.split(", "), *extra]
    also = f", {', '.join(extra[:20])}" + (" …" if len(extra) > 20 else "") if extra else ""
    hint = did_you_mean(field.name.lower(), [*names, *_OTHER_NAMES], f"Fields: {_SHOWN}{also}")
    return FilterError(f'unknown field "{field.name}"', field.at, hint)


def _clock(wall: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """A part of the time on the wall clock."""
    values = np.full(len(wall), np.nan)
    rows = np.flatnonzero(~np.isnan(wall))
    seconds = np.floor(wall[rows]).astype(np.int64)
    values[rows] = _PARTS[name](seconds)
    return values


def _months(seconds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole months since 1970."""
    return seconds.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)


def _day_of_month(seconds: NDArray[np.int64]) -> NDArray[np.int64]:
    days = seconds.astype("datetime64[s]").astype("datetime64[D]")
    before: NDArray[np.int64] = (days - days.astype("datetime64[M]")).astype(np.int64)
    return before + 1


_PARTS: Mapping[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
    "year": lambda seconds: _months(seconds) // 12 + 1970,
    "month": lambda seconds: _months(seconds) % 12 + 1,
    "day": _day_of_month,
    # The first of January 1970 was a Thursday, the fourth day.
    "weekday": lambda seconds: (seconds // 86_400 + 3) % 7 + 1,
    "hour": lambda seconds: seconds // 3600 % 24,
    "minute": lambda seconds: seconds // 60 % 60,
}


def kilometres(lat: NDArray[np.float64], lon: NDArray[np.float64], lat0: float, lon0: float) -> NDArray[np.float64]:
    """Great-circle distances to one point."""
    phi, phi0 = np.radians(lat), np.radians(lat0)
    half = np.sin((phi - phi0) / 2) ** 2 + np.cos(phi) * np.cos(phi0) * np.sin(np.radians(lon - lon0) / 2) ** 2
    distances: NDArray[np.float64] = 2 * EARTH_KM * np.arcsin(np.sqrt(np.minimum(1.0, half)))
    return distances


def circle(columns: PictureColumns, lat0: float, lon0: float, km: float) -> Mask:
    """Rows at most so far away."""
    lat, lon = columns.numbers("lat").values, columns.numbers("lon").values
    # A degree of latitude is a little more than 111 km, so nothing near is left out.
    rows = np.flatnonzero(np.abs(lat - lat0) <= km / _KM_PER_DEGREE)
    mask = np.zeros(len(columns), np.bool_)
    mask[rows] = kilometres(lat[rows], lon[rows], lat0, lon0) <= km
    return mask


def box(columns: PictureColumns, edges: GeoBox) -> Mask:
    """Rows inside, edges included."""
    lat, lon = columns.numbers("lat").values, columns.numbers("lon").values
    if edges.west <= edges.east:
        inside = (lon >= edges.west) & (lon <= edges.east)
    else:
        inside = (lon >= edges.west) | (lon <= edges.east)
    mask: Mask = (lat >= edges.south) & (lat <= edges.north) & inside
    return mask


def mask_of(node: Node, columns: PictureColumns) -> Mask:
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


def _leaf(node: Compare | HasValue | Bare | Near | NearPlace | GeoBox, columns: PictureColumns) -> Mask:
    match node:
        case HasValue(field):
            return column_of(field, columns).known()
        case Bare(field):
            column = column_of(field, columns)
            return column.values == 1 if isinstance(column, FlagColumn) else column.known()
        case Near(lat, lon, km):
            return circle(columns, lat, lon, km)
        case NearPlace(place, km):
            found = _place(place)
            return circle(columns, *found, km)
        case GeoBox():
            return box(columns, node)
        case Compare():
            return _compare(node, columns)


def _place(value: Value) -> tuple[float, float]:
    from sightline.retrieval.gazetteer import find_place

    place = find_place(value.text)
    return place.lat, place.lon


def _compare(node: Compare, columns: PictureColumns) -> Mask:
    column = column_of(node.field, columns)
    match column:
        case TimeColumn():
            return _times(node, column)
        case NumberColumn():
            return _numbers(node, column)
        case FlagColumn():
            return _flags(node, column)
        case TextColumn() | LabelColumn():
            return _texts(node, column, columns)


def _times(node: Compare, times: TimeColumn) -> Mask:
    _refuse(node, ("~",), "a time is compared by = < <= > >= in between")

    def test(operator: str, value: Value) -> Mask:
        start, end, offset = time_of(value)
        if offset is None:
            return _BETWEEN[operator](times.wall, start, end)
        # A camera that noted no offset is taken to have been in the zone that was asked for.
        seconds = np.where(np.isnan(times.utc), times.wall - offset, times.utc)
        return _BETWEEN[operator](seconds, start, end)

    return _by_operator(node, test, len(times.wall))


def _numbers(node: Compare, column: NumberColumn) -> Mask:
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


def _flags(node: Compare, column: FlagColumn) -> Mask:
    _refuse(node, ("~", "<", "<=", ">", ">=", "between"), "a flag is compared by =, or stands by itself")
    wanted = [flag_of(value, node.field.name) for value in node.values]
    return np.isin(column.values, np.array(wanted, np.int8))


def _texts(node: Compare, column: TextColumn | LabelColumn, columns: PictureColumns) -> Mask:
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


def _text_test(node: Compare, values: Sequence[Value], name: str) -> text_matcher.Test:
    """Passes the (folded) values of the column that at least one of the given values asks for."""
    if node.operator != "~":
        return text_matcher.any_whole_value(values)
    return text_matcher.address(values[0]) if name in ("address", "place") else text_matcher.words(values[0])


def _refuse(node: Compare, operators: Sequence[str], fix: str) -> None:
    if node.operator in operators:
        raise FilterError(f'{node.field.name} can\'t be compared by "{node.operator}"', node.at, fix)
