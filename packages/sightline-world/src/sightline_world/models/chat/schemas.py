"""JSON schemas taken apart: references, alternatives, bounds; and values bent until they fit their leaf."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from sightline.models.json_schema import schema_errors
from sightline.types import Json

Schema: TypeAlias = Mapping[str, Any]
DEEPEST = 12
_FORMATS = {
    "date-time": "1970-01-01T00:00:00Z",
    "date": "1970-01-01",
    "time": "00:00:00Z",
    "duration": "PT0S",
    "email": "unknown@example.org",
    "hostname": "example.org",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "uuid": "00000000-0000-0000-0000-000000000000",
    "uri": "about:blank",
}
_TRIES = (
    "unknown",
    "",
    "a",
    "A",
    "0",
    "1",
    "none",
    "n/a",
    "1970-01-01",
    "x1",
    "X1",
    "aa",
    "AA",
    "000",
    "0.0",
    "#000000",
)


def plain_schema(given: Any, root: Schema) -> Schema:
    """The schema itself, with its reference followed and its `allOf` joined."""
    schema: Schema = given if isinstance(given, Mapping) else {}
    for _ in range(DEEPEST):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            schema = {**_target(reference, root), **{key: part for key, part in schema.items() if key != "$ref"}}
        elif schema.get("allOf"):
            schema = _joined(schema, root)
        else:
            break
    return schema


def _joined(schema: Schema, root: Schema) -> Schema:
    merged: dict[str, Any] = {key: part for key, part in schema.items() if key != "allOf"}
    for part in schema["allOf"]:
        for key, value in plain_schema(part, root).items():
            if key == "properties":
                merged[key] = {**merged.get(key, {}), **value}
            elif key == "required":
                merged[key] = [*merged.get(key, []), *value]
            else:
                merged.setdefault(key, value)
    return merged


def _target(reference: str, root: Schema) -> Schema:
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def alternatives(schema: Schema) -> list[Schema]:
    """What the value may be: the parts of `anyOf` or `oneOf`, or one schema for each of its types."""
    rest = {key: part for key, part in schema.items() if key not in ("anyOf", "oneOf", "type")}
    for keyword in ("anyOf", "oneOf"):
        if schema.get(keyword):
            return [{**rest, **part} if isinstance(part, Mapping) else rest for part in schema[keyword]]
    types = schema.get("type")
    if isinstance(types, list) and len(types) > 1:
        return [{**rest, "type": each} for each in types]
    return []


def type_of(schema: Schema) -> str:
    """The type of the value, guessed from the other words where it is not said."""
    said = schema.get("type")
    if isinstance(said, list):
        said = said[0] if said else None
    if isinstance(said, str):
        return said
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else "string"


def fit_text(text: str, schema: Schema) -> str:
    """The text within its bounds; where it must have a form that it has not, some text of that form."""
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    longest, shortest = schema.get("maxLength"), schema.get("minLength", 0)
    fitted = text if longest is None or len(text) <= longest else _cut(text, int(longest))
    fitted = fitted.ljust(int(shortest), ".")
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return fitted
    own = {**schema, "type": "string"}
    return next((each for each in (fitted, *_TRIES, *_repeats(schema)) if not _wrong(each, own)), fitted)


def _wrong(text: str, schema: Schema) -> bool:
    try:
        return bool(schema_errors(text, schema))
    except re.error:
        return False


def _repeats(schema: Schema) -> list[str]:
    lengths = {int(schema.get("minLength", 1)), int(schema.get("maxLength", 1)), *range(1, 13)}
    return [letter * length for length in sorted(lengths) if length < 200 for letter in ("a", "A", "0")]


def _cut(text: str, longest: int) -> str:
    short = text[:longest]
    at = short.rfind(" ")
    return short[:at] if at > longest // 2 else short


def fit_number(value: float, schema: Schema, *, whole: bool) -> Json:
    """The nearest number that the bounds allow."""
    low, high = bounds(schema, whole=whole)
    value = min(max(value, low), high)
    step = schema.get("multipleOf")
    if step:
        value = round(value / step) * step
        value = value + step if value < low else value - step if value > high else value
    if whole:
        return min(max(round(value), math.ceil(low) if math.isfinite(low) else -(10**9)), _floor(high))
    return float(value)


def _floor(high: float) -> int:
    return math.floor(high) if math.isfinite(high) else 10**9


def bounds(schema: Schema, *, whole: bool) -> tuple[float, float]:
    """The least and the greatest value."""
    gap = 1 if whole else 1e-6
    low, high = float(schema.get("minimum", -math.inf)), float(schema.get("maximum", math.inf))
    if "exclusiveMinimum" in schema:
        low = max(low, float(schema["exclusiveMinimum"]) + gap)
    if "exclusiveMaximum" in schema:
        high = min(high, float(schema["exclusiveMaximum"]) - gap)
    return low, high
