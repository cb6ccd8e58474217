"""The tools that a request offers, known by what they do, and calls that fit their schemas."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import orjson

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
