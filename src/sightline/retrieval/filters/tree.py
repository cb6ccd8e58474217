"""A filter as a tree, the text of it, and the error that says what is wrong with a filter, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Literal, TypeAlias

from sightline.errors import UserError

KEYWORDS = frozenset(("and", "or", "not", "in", "between", "true", "false", "has", "near", "box"))
_BARE = re.compile(r"[^\W\d][\w.]*|-?\d[\w.-]*|-?\.\d+")


class FilterError(UserError):
    """A filter that can't be used; `at` is the place of the character, from 0."""

    def __init__(self, what: str, at: int, fix: str | None = None) -> None:
        super().__init__(f"{what} at character {at + 1}.", fix)
        self.at = at


class TooDeepError(FilterError):
    """A filter of which it is clear how to read it, and that is nested too deep to be read."""


Operator: TypeAlias = Literal["=", "<", "<=", ">", ">=", "~", "in", "between"]


@dataclass(frozen=True, slots=True)
class Value:
    """What a field is compared with, as it was written; what it means depends on the field."""

    text: str
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FieldName:
    """The name of a field, as it was written."""

    name: str
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """A field against a value; `in` has any number of values, `between` two, the others one."""

    field: FieldName
    operator: Operator
    values: tuple[Value, ...]
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class HasValue:
    """The field has a value."""

    field: FieldName


@dataclass(frozen=True, slots=True)
class Bare:
    """A field by itself: yes for a flag, known for anything else."""

    field: FieldName


@dataclass(frozen=True, slots=True)
class Near:
    """At most so far from a point."""

    lat: float
    lon: float
    km: float


@dataclass(frozen=True, slots=True)
class NearPlace:
    """At most so far from the middle of a place with a name."""

    place: Value
    km: float


@dataclass(frozen=True, slots=True)
class GeoBox:
    """Between two parallels and two meridians, from west to east; over the date line where `west` exceeds `east`."""

    south: float
    west: float
    north: float
    east: float


@dataclass(frozen=True, slots=True)
class Not:
    """Whatever the part does not select, rows without a value included."""

    part: Node


@dataclass(frozen=True, slots=True)
class And:
    """All parts; none at all is `true`."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part; none at all is `false`."""

    parts: tuple[Node, ...]


Node: TypeAlias = Compare | HasValue | Bare | Near | NearPlace | GeoBox | Not | And | Or


def leaves(node: Node) -> Iterator[Compare | HasValue | Bare | Near | NearPlace | GeoBox]:
    """The tests of a tree, from left to right."""
    match node:
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case Not(part):
            yield from leaves(part)
        case _:
            yield node


def to_text(node: Node) -> str:
    """The tree in Sightline's own language."""
    match node:
        case And(()):
            return "true"
        case Or(()):
            return "false"
        case And(parts):
            return " and ".join(map(_inside, parts))
        case Or(parts):
            return " or ".join(map(_inside, parts))
        case Not(part):
            return f"not {_inside(part)}"
        case _:
            return _leaf_text(node)


def _leaf_text(node: Compare | HasValue | Bare | Near | NearPlace | GeoBox) -> str:
    match node:
        case HasValue(name):
            return f"has({_field(name)})"
        case Bare(name):
            return _field(name)
        case Near(lat, lon, km):
            return f"near({lat!r}, {lon!r}, {km!r}km)"
        case NearPlace(place, km):
            return f"near({_quoted(place.text)}, {km!r}km)"
        case GeoBox(south, west, north, east):
            return f"box({south!r}, {west!r}, {north!r}, {east!r})"
        case Compare():
            return _compare_text(node)


def _compare_text(node: Compare) -> str:
    name, values = _field(node.field), [_word(value.text) for value in node.values]
    match node.operator:
        case "in":
            return f"{name} in [{', '.join(values)}]"
        case "between":
            return f"{name} between {values[0]} and {values[1]}"
        case operator:
            return f"{name} {operator} {values[0]}"


def _inside(node: Node) -> str:
    match node:
        case And((_, *_)) | Or((_, *_)):
            return f"({to_text(node)})"
        case _:
            return to_text(node)


def _field(name: FieldName) -> str:
    return _escaped(name.name, "`") if not _is_bare(name.name) else name.name


def _word(text: str) -> str:
    return text if _is_bare(text) else _quoted(text)


def _quoted(text: str) -> str:
    return _escaped(text, '"')


def _is_bare(text: str) -> bool:
    return _BARE.fullmatch(text) is not None and text.lower() not in KEYWORDS


def _escaped(text: str, quote: str) -> str:
    return quote + text.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote
