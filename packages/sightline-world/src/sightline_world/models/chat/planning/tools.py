"""The tools that a request offers, known by what they do: calls that fit their schemas, and what the tools answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

import orjson

from sightline.models.json_schema import json_values
from sightline.types import ToolCall, ToolSpec

Use: TypeAlias = Literal["search", "metadata", "filter", "view", "web", "open", "zoom", "read", "count", "finish"]
_NAMES: Mapping[Use, tuple[str, ...]] = {
    "search": ("imagesearch", "searchimages", "searchphotos", "photosearch", "picturesearch"),
    "metadata": ("getmetadata", "metadata", "photometadata"),
    "filter": ("filtermetadata", "filterbymetadata", "filter"),
    "view": ("viewphotos", "viewpictures", "viewimages", "lookatphotos", "view"),
    "web": ("websearch", "searchweb"),
    "open": ("openpage", "readpage", "fetchpage", "browse"),
    "zoom": ("zoom", "crop", "zoomin", "magnify", "cropimage", "imagecrop"),
    "read": ("readtext", "ocr"),
    "count": ("count", "countphotos", "countpictures", "countimages"),
    "finish": ("finish", "finalanswer", "submit", "submitanswer", "done", "answer"),
}
_SAME: Mapping[str, tuple[str, ...]] = {
    "text": ("query", "text_query", "words"),
    "query": ("text", "q", "search_query"),
    "photos": ("photo_ids", "pictures", "ids", "images", "image_ids", "picture_ids"),
    "photo": ("picture", "image", "id", "photo_id", "image_id", "picture_id", "source", "photos", "pictures"),
    "top_k": ("k", "limit", "n", "num_results"),
    "save_as": ("name", "subset"),
    "search_within": ("within", "filter_within", "scope"),
    "filter_within": ("within", "search_within", "scope"),
    "expression": ("where", "filter", "condition"),
    "fields": (),
    "box": ("bbox", "region", "bounding_box", "rectangle"),
    "url": ("address", "link", "page"),
    "answer": ("final_answer", "text", "result", "photos", "ids", "pictures"),
}
_CORNERS = (
    ("left", "x1", "x_min", "xmin"),
    ("top", "y1", "y_min", "ymin"),
    ("right", "x2", "x_max", "xmax"),
    ("bottom", "y2", "y_max", "ymax"),
)
VIEWED_AT_ONCE = 20
_ID_KEYS = ("photo_id", "image_id", "picture_id", "id", "photo", "picture", "image")
_LIST_KEYS = (
    "photos",
    "ids",
    "photo_ids",
    "pictures",
    "results",
    "images",
    "matches",
    "hits",
    "image_ids",
    "picture_ids",
)
_TIME_KEYS = ("time", "taken_at", "taken_time", "date", "datetime", "taken", "timestamp", "when")
_ADDRESS_KEYS = ("address", "place", "location", "where")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?")
_ERROR = re.compile(r"^\W*(?:tool )?(?:error|exception|failed|failure|unknown tool|invalid|traceback)\b", re.IGNORECASE)
_PIECES = re.compile(r"[^\s,;|()\[\]{}\"'=<>]+")
_FILE = re.compile(r"\.(?:jpe?g|png|webp|gif)$")
_DEEPEST = 6


class Toolbox:
    """Finds tools by their use; `broken` are those that have failed too often to be asked again."""

    def __init__(self, specs: Sequence[ToolSpec], broken: frozenset[str] = frozenset()) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self._broken = broken

    def without(self, broken: frozenset[str]) -> Toolbox:
        return Toolbox(tuple(self._specs.values()), broken)

    def spec(self, use: Use) -> ToolSpec | None:
        """The tool for this, if one is offered and works."""
        for name in _NAMES[use]:
            for spec in self._specs.values():
                if _plain(spec.name) == name and spec.name not in self._broken:
                    return spec
        return None

    def has(self, use: Use) -> bool:
        return self.spec(use) is not None

    def use_of(self, name: str) -> Use | None:
        """What a tool of that name is for."""
        plain = _plain(name)
        return next((use for use, names in _NAMES.items() if plain in names), None)

    def most(self, use: Use, field: str, otherwise: int) -> int:
        """How many items or how large a number a tool takes in a field."""
        spec = self.spec(use)
        part = _properties(spec).get(_field(spec, field) or "", {}) if spec is not None else {}
        for keyword in ("maxItems", "maximum"):
            bound = part.get(keyword) if isinstance(part, Mapping) else None
            if isinstance(bound, int) and bound > 0:
                return min(otherwise, bound)
        return otherwise

    def takes(self, use: Use, field: str) -> bool:
        spec = self.spec(use)
        return spec is not None and (not _properties(spec) or _field(spec, field) is not None)

    def is_text(self, use: Use, field: str) -> bool:
        """Does a tool take one text, and no list, in a field?"""
        spec = self.spec(use)
        part = _properties(spec).get(_field(spec, field) or "") if spec is not None else None
        return isinstance(part, Mapping) and part.get("type") == "string"

    def call(self, use: Use, number: int, **wanted: Any) -> ToolCall | None:
        """A call with the arguments that the tool has a field for; None where the tool is not offered."""
        spec = self.spec(use)
        if spec is None:
            return None
        arguments = _arguments(spec, wanted)
        return ToolCall(f"call_{number}", spec.name, orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode())


def argument(arguments: Mapping[str, Any], name: str) -> Any:
    """An argument by our name for it, whatever the tool calls it; None if it was not given."""
    return next((arguments[each] for each in (name, *_SAME.get(name, ())) if each in arguments), None)


def _arguments(spec: ToolSpec, wanted: Mapping[str, Any]) -> dict[str, Any]:
    fields = _properties(spec)
    if not fields:
        return {name: value for name, value in wanted.items() if value is not None}
    arguments: dict[str, Any] = {}
    for name, value in wanted.items():
        field = _field(spec, name)
        if value is None:
            continue
        if field is not None and field not in arguments:
            arguments[field] = _shaped(value, fields[field])
        elif name == "box":
            corners = (next((each for each in names if each in fields), None) for names in _CORNERS)
            arguments |= {corner: part for corner, part in zip(corners, value, strict=True) if corner is not None}
    return arguments


def _shaped(value: Any, field: Any) -> Any:
    """A list where the field takes a list, one thing where it takes one."""
    kind = field.get("type") if isinstance(field, Mapping) else None
    if kind == "array" and not isinstance(value, list):
        return [value]
    if kind == "string" and isinstance(value, list):
        return ", ".join(map(str, value))
    return value


def _field(spec: ToolSpec, name: str) -> str | None:
    fields = _properties(spec)
    return next((each for each in (name, *_SAME.get(name, ())) if each in fields), None)


def _properties(spec: ToolSpec) -> Mapping[str, Any]:
    found = spec.parameters.get("properties")
    return found if isinstance(found, Mapping) else {}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


@dataclass(frozen=True, slots=True)
class Facts:
    """When and where a picture was taken, as far as its metadata says."""

    time: datetime | None
    address: str = ""

    @property
    def town(self) -> str:
        """The part of the address before the country."""
        parts = [part.strip() for part in self.address.split(",") if part.strip()]
        return parts[-2] if len(parts) > 1 else self.address.strip()


def is_error(text: str) -> bool:
    """Did the tool say that it could not do it?"""
    first = next(json_values(text), None) if text.lstrip().startswith(("{", "[")) else None
    if isinstance(first, dict | list):
        return isinstance(first, dict) and bool(first.get("error"))
    return _ERROR.match(text) is not None


def ids_in(text: str) -> list[str]:
    """The pictures that an answer names, in its order."""
    for value in json_values(text):
        found = list(dict.fromkeys(_ids(value, 0)))
        if found or isinstance(value, dict | list):
            return found
    return list(dict.fromkeys(_loose_ids(text)))


def _ids(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        own = next((value[key] for key in _ID_KEYS if isinstance(value.get(key), str | int)), None)
        if own is not None:
            yield str(own)
        for key, part in value.items():
            if key in _LIST_KEYS and isinstance(part, list):
                yield from _listed(part, depth)
            elif key in _LIST_KEYS and isinstance(part, dict) and not set(part) & set(_ID_KEYS):
                yield from map(str, part)
            elif isinstance(part, dict | list) and key not in _ID_KEYS:
                yield from _ids(part, depth + 1)
    elif isinstance(value, list):
        yield from _listed(value, depth)


def _listed(values: list[Any], depth: int) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list) and value and isinstance(value[0], str):
            yield value[0]
        else:
            yield from _ids(value, depth + 1)


def _loose_ids(text: str) -> Iterator[str]:
    for piece in _PIECES.findall(text):
        word = piece.strip(".:*-`")
        if looks_like_id(word):
            yield word


def looks_like_id(word: str) -> bool:
    """Letters with digits, a file name, or a long number; no date, no score."""
    if _TIME.match(word) or (re.fullmatch(r"[\d.:%+-]+", word) and not re.fullmatch(r"\d{5,}", word)):
        return False
    return bool(_FILE.search(word.lower())) or (len(word) > 1 and any(letter.isdigit() for letter in word))


def facts_in(text: str) -> dict[str, Facts]:
    """Time and address of each picture that an answer tells them of."""
    for value in json_values(text):
        found = dict(_facts(value, 0))
        if found:
            return found
    return dict(_loose_facts(text))


def _facts(value: Any, depth: int) -> Iterator[tuple[str, Facts]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _facts(part, depth + 1)
    elif isinstance(value, dict):
        own = next((value[key] for key in _ID_KEYS if isinstance(value.get(key), str | int)), None)
        if own is not None and set(value) & {*_TIME_KEYS, *_ADDRESS_KEYS}:
            yield str(own), _fact(value)
            return
        for key, part in value.items():
            if isinstance(part, dict) and set(part) & {*_TIME_KEYS, *_ADDRESS_KEYS} and not set(part) & set(_ID_KEYS):
                yield str(key), _fact(part)
            else:
                yield from _facts(part, depth + 1)


def _fact(record: Mapping[str, Any]) -> Facts:
    time = next((record[key] for key in _TIME_KEYS if isinstance(record.get(key), str)), "")
    address = next((record[key] for key in _ADDRESS_KEYS if isinstance(record.get(key), str)), "")
    return Facts(read_time(time), address)


def _loose_facts(text: str) -> Iterator[tuple[str, Facts]]:
    for line in text.splitlines():
        found = _TIME.search(line)
        name = next(_loose_ids(line[: found.start()] if found else line), None)
        if found is not None and name is not None:
            yield name, Facts(read_time(found[0]), line[found.end() :].strip(" ,;|-\t"))


def read_time(text: str) -> datetime | None:
    """A time as its clock on the wall showed it; the zone is left out."""
    found = _TIME.search(text)
    try:
        return datetime.fromisoformat(found[0].replace("Z", "+00:00")).replace(tzinfo=None) if found else None
    except ValueError:
        return None
