"""Columns from pictures, what was said of them, and their groups."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from sightline.retrieval.columns.kinds import (
    Column,
    FlagColumn,
    LabelColumn,
    NumberColumn,
    PictureColumns,
    TextColumn,
    TimeColumn,
    Vocabulary,
)
from sightline.types import Annotation, Group, GroupKind, Json, Picture

Record: TypeAlias = tuple[Picture, Annotation | None, Sequence[Group]]
PlaceNamer: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], Sequence[str | None]]
"""From latitudes and longitudes to the names of places."""

NUMBERS = ("lat", "lon", "altitude", "width", "height")
TEXTS = ("id", "file", "address", "place", "device", "owner", "mime", "licence", "source", "summary")
# An owner is one text; the other kinds of group are labels.
KINDS = tuple(kind for kind in get_args(GroupKind) if kind != "owner")
LABELS = ("tag", "facet", "flag", "group", *KINDS)
CLOCK = ("year", "month", "day", "weekday", "hour", "minute")
"""Fields that are computed from the time."""
CORE = frozenset(("time", *CLOCK, *NUMBERS, *TEXTS, *LABELS))
# Larger numbers are not exact as floats; they are names made of digits.
_EXACT = 1 << 53
HOMES = ("facet", "flag", "extra")
_Value = TypeVar("_Value")


@dataclass(slots=True)
class _Cells(Generic[_Value]):
    """The cells of a column that have a value."""

    rows: list[int] = field(default_factory=list)
    values: list[_Value] = field(default_factory=list)

    def add(self, row: int, value: _Value) -> None:
        self.rows.append(row)
        self.values.append(value)

    def add_all(self, row: int, values: Sequence[_Value]) -> None:
        self.rows.extend([row] * len(values))
        self.values.extend(values)


class _Facts(NamedTuple):
    """What a picture has at most one of."""

    time: datetime | None = None
    lat: float | None = None
    lon: float | None = None
    altitude: float | None = None
    width: float | None = None
    height: float | None = None
    id: str | None = None
    file: str | None = None
    address: str | None = None
    place: str | None = None
    device: str | None = None
    owner: str | None = None
    mime: str | None = None
    licence: str | None = None
    source: str | None = None
    summary: str | None = None


_NOTHING = _Facts()


class _Table:
    """What is known of the pictures, as they come."""

    def __init__(self) -> None:
        self.facts: list[_Facts] = []
        self.labels: dict[str, _Cells[str]] = {name: _Cells() for name in LABELS}
        self.facets: defaultdict[str, _Cells[Json]] = defaultdict(_Cells)
        self.flags: defaultdict[str, _Cells[Json]] = defaultdict(_Cells)
        self.extra: defaultdict[str, _Cells[Json]] = defaultdict(_Cells)

    def add(self, picture: Picture, said: Annotation | None, groups: Sequence[Group]) -> None:
        row = len(self.facts)
        self.facts.append(_facts(picture, said, groups))
        for name, value in picture.extra.items():
            if name != "owner":
                self._add_extra(row, name, value)
            # What people and their programs wrote into the file are tags too.
            if name == "keywords" and isinstance(value, list):
                self.labels["tag"].add_all(row, [_as_text(keyword) for keyword in value])
        if said is not None:
            self._add_annotation(row, said)
        for group in groups:
            if not group.hidden:
                self.labels["group"].add(row, group.id)
                if group.kind != "owner":
                    self.labels[group.kind].add(row, group.id.removeprefix(f"{group.kind}/"))

    def _add_annotation(self, row: int, said: Annotation) -> None:
        self.labels["tag"].add_all(row, said.tags)
        for name, value in said.facets.items():
            self.labels["facet"].add(row, value)
            self.facets[_name(name)].add(row, value)
        for name, is_so in said.flags.items():
            self.flags[_name(name)].add(row, is_so)
            if is_so:
                self.labels["flag"].add(row, name)

    def _add_extra(self, row: int, name: str, value: Json) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                self._add_extra(row, f"{name}.{key}", inner)
        elif value is not None:
            self.extra[_name(name)].add(row, value)

    def columns(self) -> dict[str, Column]:
        length = len(self.facts)
        # Without a single row there are no columns to turn them into.
        facts: dict[str, Sequence[Any]] = dict(zip(_Facts._fields, zip(*self.facts, strict=True), strict=False))
        by_name: dict[str, Column] = {"time": _times(facts.get("time", ()))}
        by_name |= {name: NumberColumn(np.array(facts.get(name, ()), np.float64)) for name in NUMBERS}
        by_name |= {name: _texts(facts.get(name, ())) for name in TEXTS}
        by_name |= {name: _labels(cells, length) for name, cells in self.labels.items()}
        for home, found in zip(HOMES, (self.facets, self.flags, self.extra), strict=True):
            for name in sorted(found):
                # A name that is taken stays reachable with its home in front.
                is_taken = name in by_name or name in CORE
                by_name[f"{home}.{name}" if is_taken else name] = _guessed(found[name], length)
        return by_name


def build_columns(records: Iterable[Record | None], place_namer: PlaceNamer | None = None) -> PictureColumns:
    """One row for each record, in order; None stands for a picture that was removed.

    With a `place_namer` (`gazetteer.name_places`), pictures that have coordinates and no address get a derived `place`.
    """
    table = _Table()
    for record in records:
        if record is None:
            table.facts.append(_NOTHING)
        else:
            table.add(*record)
    by_name = table.columns()
    columns = PictureColumns(np.array([facts is not _NOTHING for facts in table.facts], np.bool_), by_name)
    if place_namer is not None:
        by_name["place"] = _derived_places(columns, place_namer)
    return columns


def _derived_places(columns: PictureColumns, place_namer: PlaceNamer) -> TextColumn:
    lat, lon = columns.numbers("lat").values, columns.numbers("lon").values
    rows = np.flatnonzero(~np.isnan(lat) & ~np.isnan(lon) & ~columns.texts("address").known())
    places: list[str | None] = [None] * len(columns)
    for row, name in zip(rows.tolist(), place_namer(lat[rows], lon[rows]), strict=True):
        places[row] = name
    return _texts(places)


def _facts(picture: Picture, said: Annotation | None, groups: Sequence[Group]) -> _Facts:
    return _Facts(
        picture.taken_at,
        picture.lat,
        picture.lon,
        picture.altitude,
        picture.width,
        picture.height,
        picture.id,
        picture.id.rpartition("/")[2],
        picture.address,
        None,
        picture.device,
        _owner(picture, groups),
        picture.mime,
        picture.rights.license,
        picture.rights.source,
        None if said is None else said.summary,
    )


def _owner(picture: Picture, groups: Sequence[Group]) -> str | None:
    """As the picture says, else by its group; a hidden one too, because a scope names it."""
    owner = picture.extra.get("owner")
    if isinstance(owner, str):
        return owner
    return next((group.id.removeprefix("owner/") for group in groups if group.kind == "owner"), None)


@cache
def _name(name: str) -> str:
    return name.strip().lower() or "(no name)"


def _times(values: Sequence[datetime | None]) -> TimeColumn:
    wall = [math.nan if value is None else value.replace(tzinfo=UTC).timestamp() for value in values]
    utc = [math.nan if value is None or value.tzinfo is None else value.timestamp() for value in values]
    return TimeColumn(np.array(wall, np.float64), np.array(utc, np.float64))


def _texts(values: Sequence[str | None]) -> TextColumn:
    """Empty text is not text."""
    codes, vocabulary = _factorise(values)
    return TextColumn(codes, vocabulary)


def _labels(cells: _Cells[str], length: int) -> LabelColumn:
    codes, vocabulary = _factorise(cells.values)
    known = codes >= 0
    return LabelColumn(length, np.array(cells.rows, np.int32)[known], codes[known], vocabulary)


def _factorise(values: Sequence[str | None]) -> tuple[NDArray[np.int32], Vocabulary]:
    """Places in a sorted vocabulary, so that columns do not depend on the order of rows; -1 for no text."""
    vocabulary = sorted(value for value in set(values) if value)
    codes: dict[str | None, int] = {value: code for code, value in enumerate(vocabulary)}
    codes |= {None: -1, "": -1}
    return np.fromiter(map(codes.__getitem__, values), np.int32, len(values)), Vocabulary(vocabulary)


def _guessed(cells: _Cells[Json], length: int) -> Column:
    """The narrowest kind that holds all values: yes or no, numbers, one text, several."""
    kinds = set(map(type, cells.values))
    if kinds == {bool}:
        flags = np.full(length, -1, np.int8)
        flags[cells.rows] = np.array(cells.values, np.int8)
        return FlagColumn(flags)
    if kinds <= {int, float} and not any(abs(value) > _EXACT for value in cells.values):  # type: ignore[arg-type]
        numbers = np.full(length, np.nan)
        numbers[cells.rows] = np.array(cells.values, np.float64)
        return NumberColumn(numbers)
    if list in kinds:
        spread: _Cells[str] = _Cells()
        for row, value in zip(cells.rows, cells.values, strict=True):
            spread.add_all(row, [_as_text(item) for item in (value if isinstance(value, list) else [value])])
        return _labels(spread, length)
    texts: list[str | None] = [None] * length
    for row, value in zip(cells.rows, cells.values, strict=True):
        texts[row] = _as_text(value)
    return _texts(texts)


def _as_text(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
