"""A slow filter: one row at a time, over pictures, with Python's own dates; to compare with."""

from __future__ import annotations

import calendar
import math
import unicodedata
from datetime import datetime, timedelta

from sightline.retrieval.filters.tree import And, Bare, Compare, GeoBox, HasValue, Near, Node, Not, Or
from sightline.types import Annotation, Group, Picture

Record = tuple[Picture, Annotation, list[Group]]
_COUNTRIES = {
    "us": ["us", "usa", "united states"],
    "japan": ["japan", "日本"],
    "mexico": ["mexico"],
}


def selects(node: Node, record: Record) -> bool:
    match node:
        case And(parts):
            return all(selects(part, record) for part in parts)
        case Or(parts):
            return any(selects(part, record) for part in parts)
        case Not(part):
            return not selects(part, record)
        case HasValue(field):
            return bool(values_of(field.name, record))
        case Bare(field):
            found = values_of(field.name, record)
            return found == [True] if field.name == "blurry" else bool(found)
        case Near(lat, lon, km):
            picture = record[0]
            return picture.lat is not None and picture.lon is not None and _km(picture.lat, picture.lon, lat, lon) <= km
        case GeoBox(south, west, north, east):
            y, x = record[0].lat, record[0].lon
            if y is None or x is None or not south <= y <= north:
                return False
            return west <= x <= east if west <= east else x >= west or x <= east
        case Compare(field, operator, values):
            texts = [value.text for value in values]
            return any(_test(field.name, value, operator, texts) for value in values_of(field.name, record))
    raise AssertionError(node)


def values_of(name: str, record: Record) -> list[object]:
    """The values of a field; an empty list if there is none."""
    picture, said, groups = record
    taken = picture.taken_at
    shown = [group for group in groups if not group.hidden]
    one: object
    match name:
        case "time":
            one = taken
        case "weekday":
            one = taken and taken.isoweekday()
        case "year" | "month" | "day" | "hour" | "minute":
            one = taken and getattr(taken, name)
        case "tag":
            return list(said.tags)
        case "event":
            return [group.id.removeprefix("event/") for group in shown]
        case "group":
            return [group.id for group in shown]
        case "setting":
            one = said.facets.get("setting")
        case "blurry":
            one = said.flags.get("blurry")
        case "iso":
            one = picture.extra.get("iso")
        case "file":
            one = picture.id.split("/")[-1]
        case "place":
            one = None
        case _:
            one = getattr(picture, name)
    return [] if one is None else [one]


def _test(name: str, value: object, operator: str, texts: list[str]) -> bool:
    if operator == "in":
        return any(_test(name, value, "=", [text]) for text in texts)
    if operator == "between":
        return _test(name, value, ">=", texts[:1]) and _test(name, value, "<=", texts[1:])
    text = texts[0]
    if isinstance(value, datetime):
        return _time_test(value, operator, text)
    if isinstance(value, bool):
        return value == (text in ("true", "yes", "1"))
    if isinstance(value, str):
        text = text.removeprefix("event/") if name == "event" else text
        return _glob(_plain(value), _plain(text)) if operator == "=" else _words(name, value, text)
    assert isinstance(value, int | float)
    return _order(value, operator, float(text), float(text))


def _order(value: float, operator: str, first: float, last: float) -> bool:
    return {
        "=": first <= value <= last,
        "<": value < first,
        "<=": value <= last,
        ">": value > last,
        ">=": value >= first,
    }[operator]


def _time_test(value: datetime, operator: str, text: str) -> bool:
    first, last = _ends(text)
    if first.tzinfo is None:
        value = value.replace(tzinfo=None)
    elif value.tzinfo is None:
        value = value.replace(tzinfo=first.tzinfo)
    return {
        "=": first <= value <= last,
        "<": value < first,
        "<=": value <= last,
        ">": value > last,
        ">=": value >= first,
    }[operator]


def _ends(text: str) -> tuple[datetime, datetime]:
    """The first and the last microsecond of a date or time as it was written."""
    smallest = timedelta(microseconds=1)
    if len(text) == 4:
        return datetime(int(text), 1, 1), datetime(int(text) + 1, 1, 1) - smallest
    if len(text) == 7:
        first = datetime.fromisoformat(f"{text}-01")
        return first, first + timedelta(days=calendar.monthrange(first.year, first.month)[1]) - smallest
    first = datetime.fromisoformat(text)
    clock = text[10:].replace("Z", "").split("+")[0].split("-")[0]
    length = [timedelta(days=1), timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)][
        0 if not clock else clock.count(":") + 1
    ]
    return first, first + length - smallest


def _plain(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))


def _glob(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(_glob(text[at:], pattern[1:]) for at in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and _glob(text[1:], pattern[1:])


def _words(name: str, value: str, wanted: str) -> bool:
    return all(_part(name, _plain(value), _plain(part).strip()) for part in wanted.split(",") if part.strip())


def _part(name: str, text: str, part: str) -> bool:
    pieces = [piece.strip() for piece in text.split(",")]
    if name == "address":
        for names in _COUNTRIES.values():
            if part in names:
                return any(piece in names for piece in pieces) or ("日本" in names and "日本" in text)
    words = _split(part)
    if not words:
        return part in text
    there = _split(text)
    for at in range(len(there) - len(words) + 1):
        found = there[at : at + len(words)]
        if found[1:-1] == words[1:-1] and _edges(found, words, part):
            return True
    return any("\u3040" <= c <= "\u9fff" for c in part) and part in text


def _edges(found: list[str], words: list[str], part: str) -> bool:
    opens, closes = part.startswith("*"), part.endswith("*")
    if len(words) == 1:
        if opens and closes:
            return words[0] in found[0]
        if opens:
            return found[0].endswith(words[0])
        return found[0].startswith(words[0]) if closes else found[0] == words[0]
    first = found[0].endswith(words[0]) if opens else found[0] == words[0]
    last = found[-1].startswith(words[-1]) if closes else found[-1] == words[-1]
    return first and last


def _split(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text).split()


def _km(lat: float, lon: float, lat0: float, lon0: float) -> float:
    a, b, c, d = map(math.radians, (lat, lon, lat0, lon0))
    half = math.sin((a - c) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((b - d) / 2) ** 2
    return 2 * 6371.0 * math.asin(math.sqrt(min(1.0, half)))
