"""JSON schemas that models are asked with: the strict form of a type's schema, and whether a schema is strict."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

# Told to no model: they say nothing that it must keep to, or strict decoding refuses them. Types still check them.
_DROPPED = frozenset({"title", "default", "examples", "discriminator", "uniqueItems", "deprecated", "readOnly"})
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_NAMED = ("properties", "$defs")
_LISTED = ("anyOf", "prefixItems")


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with every field required and no other allowed, in the words that strict decoding knows."""
    return _strict(schema, schema)


def _strict(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    schema = _plain(schema, root)
    out: dict[str, Any] = {key: value for key, value in schema.items() if key not in _DROPPED}
    if out.get("format") not in _FORMATS:
        out.pop("format", None)
    for key in _NAMED:
        if key in out:
            out[key] = {name: _strict(part, root) for name, part in out[key].items()}
    for key in _LISTED:
        if key in out:
            out[key] = [_strict(part, root) for part in out[key]]
    if isinstance(out.get("items"), Mapping):
        out["items"] = _strict(out["items"], root)
    if isinstance(out.get("additionalProperties"), Mapping):
        out["additionalProperties"] = _strict(out["additionalProperties"], root)
    elif out.get("type") == "object" and ("properties" in out or out.get("additionalProperties") is False):
        out["additionalProperties"] = False
        out["required"] = list(out.setdefault("properties", {}))
    return out


def _plain(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Unwrap what strict decoding has no word for: `oneOf`, an `allOf` of one, a reference with words beside it."""
    plain = dict(schema)
    if "oneOf" in plain:
        plain["anyOf"] = plain.pop("oneOf")
    if len(plain.get("allOf", ())) == 1:
        plain |= plain.pop("allOf")[0]
    beside = {key: value for key, value in plain.items() if key not in _DROPPED and key != "$ref"}
    if "$ref" in plain and beside:
        target = root.get("$defs", {}).get(plain.pop("$ref").removeprefix("#/$defs/"), {})
        plain = {**target, **beside}
    return plain


def with_names(schema: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The same schema as it would be if its definitions were called by other names."""
    if not names or "$defs" not in schema:
        return dict(schema)
    renamed: dict[str, Any] = _referring(schema, {f"#/$defs/{old}": f"#/$defs/{new}" for old, new in names.items()})
    definitions = {names.get(old, old): part for old, part in renamed["$defs"].items()}
    return {**renamed, "$defs": {name: definitions[name] for name in sorted(definitions)}}  # As pydantic sorts them.


def _referring(part: Any, references: Mapping[str, str]) -> Any:
    if isinstance(part, Mapping):
        return {
            key: references.get(value, value)
            if key == "$ref" and isinstance(value, str)
            else _referring(value, references)
            for key, value in part.items()
        }
    return [_referring(each, references) for each in part] if isinstance(part, list) else part


@lru_cache(maxsize=256)
def is_strict_cached(schema: bytes) -> bool:
    """`is_strict` of a schema as JSON: one schema goes out with thousands of requests."""
    return is_strict(orjson.loads(schema))


def is_strict(schema: Any) -> bool:
    """Does every object in the schema require all of its fields and allow no other?"""
    if isinstance(schema, list | tuple):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        fields = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(fields):
            return False
    if "oneOf" in schema or "allOf" in schema:
        return False
    # Field names are no keywords, so step over them.
    named = [part for key in _NAMED for part in (schema.get(key) or {}).values()]
    rest = [part for key, part in schema.items() if key not in (*_NAMED, "enum", "const", "required", "type")]
    return all(map(is_strict, (*named, *rest)))
