"""JSON schemas that models are asked with: their strict form, the check of a value, and the JSON in a reply.

JSON is found alone, inside a Markdown fence, or after some prose. It is read, never evaluated.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias

import orjson

from sightline.types import Json

# Told to no model: they say nothing that it must keep to, or strict decoding refuses them. Types still check them.
_DROPPED = frozenset({"title", "default", "examples", "discriminator", "uniqueItems", "deprecated", "readOnly"})
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_NAMED = ("properties", "$defs")
_LISTED = ("anyOf", "prefixItems")
_DEEPEST = 100
_MOST_COMPLAINTS = 8
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
    ),
}
# Keyword, the values it speaks of, what it measures, and when that is wrong.
_BOUNDS: tuple[tuple[str, str, Callable[[Any], Any], Callable[[Any, Any], bool], str], ...] = (
    ("minimum", "number", lambda v: v, lambda v, bound: v < bound, "must be at least"),
    ("maximum", "number", lambda v: v, lambda v, bound: v > bound, "must be at most"),
    ("exclusiveMinimum", "number", lambda v: v, lambda v, bound: v <= bound, "must be more than"),
    ("exclusiveMaximum", "number", lambda v: v, lambda v, bound: v >= bound, "must be less than"),
    ("minLength", "string", len, lambda v, bound: v < bound, "its length must be at least"),
    ("maxLength", "string", len, lambda v, bound: v > bound, "its length must be at most"),
    ("minItems", "array", len, lambda v, bound: v < bound, "its number of items must be at least"),
    ("maxItems", "array", len, lambda v, bound: v > bound, "its number of items must be at most"),
)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_MOST_STARTS = 64
"""So many brackets are tried as the start of JSON; prose with more of them is no answer."""


def strict_object(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object: every field required, no other allowed."""
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


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


Schema: TypeAlias = "Mapping[str, Any] | bool"


def schema_errors(value: Any, schema: Schema) -> list[str]:
    """What is wrong with the value, field by field (the first few); empty when it fits."""
    found: list[str] = []
    for complaint in _check(value, schema, schema, "", 0):
        found.append(complaint)
        if len(found) == _MOST_COMPLAINTS:
            break
    return found


def _check(value: Any, schema: Schema, root: Schema, at: str, depth: int) -> Iterator[str]:
    if isinstance(schema, bool):
        if not schema:
            yield _say(at, "must not be there")
        return
    if depth > _DEEPEST:
        yield _say(at, "is nested too deeply")
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield from _check(value, _resolve(reference, root), root, at, depth + 1)
    wrong = _wrong_kind(value, schema, at)
    if wrong is not None:
        yield wrong
        return
    yield from _out_of_bounds(value, schema, at)
    if isinstance(value, dict):
        yield from _check_object(value, schema, root, at, depth)
    if isinstance(value, list):
        yield from _check_array(value, schema, root, at, depth)
    yield from _check_choices(value, schema, root, at, depth)


def _wrong_kind(value: Any, schema: Mapping[str, Any], at: str) -> str | None:
    kinds = schema.get("type")
    wanted = [kinds] if isinstance(kinds, str) else list(kinds or ())
    if wanted and not any(_TYPES.get(kind, lambda _: True)(value) for kind in wanted):
        return _say(at, f"must be {' or '.join(wanted)}, not {_kind(value)}")
    if "const" in schema and not _same(value, schema["const"]):
        return _say(at, f"must be {schema['const']!r}")
    if "enum" in schema and not any(_same(value, option) for option in schema["enum"]):
        options = ", ".join(map(repr, schema["enum"][:12]))
        return _say(at, f"must be one of {options}{', …' if len(schema['enum']) > 12 else ''}, not {_short(value)}")
    return None


def _out_of_bounds(value: Any, schema: Mapping[str, Any], at: str) -> Iterator[str]:
    for keyword, kind, measure, wrong, words in _BOUNDS:
        bound = schema.get(keyword)
        if bound is not None and _TYPES[kind](value) and wrong(measure(value), bound):
            yield _say(at, f"{words} {bound}, not {measure(value)}")
    step = schema.get("multipleOf")
    if step and _TYPES["number"](value) and not math.isclose(value / step, round(value / step), abs_tol=1e-9):
        yield _say(at, f"must be a multiple of {step}")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and isinstance(value, str) and re.search(pattern, value) is None:
        yield _say(at, f"must match {pattern}")


def _check_object(value: dict[str, Any], schema: Mapping[str, Any], root: Schema, at: str, depth: int) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield _say(f"{at}.{name}", "is missing")
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in properties:
            yield from _check(item, properties[name], root, f"{at}.{name}", depth + 1)
        elif others is False:
            yield _say(f"{at}.{name}", "is not a known field")
        else:
            yield from _check(item, others, root, f"{at}.{name}", depth + 1)


def _check_array(value: list[Any], schema: Mapping[str, Any], root: Schema, at: str, depth: int) -> Iterator[str]:
    first = schema.get("prefixItems", ())
    rest = schema.get("items", True)
    for number, item in enumerate(value):
        wanted = first[number] if number < len(first) else rest
        yield from _check(item, wanted, root, f"{at}[{number}]", depth + 1)
    if schema.get("uniqueItems") and any(_same(a, b) for n, a in enumerate(value) for b in value[:n]):
        yield _say(at, "must not have the same item twice")


def _check_choices(value: Any, schema: Mapping[str, Any], root: Schema, at: str, depth: int) -> Iterator[str]:
    for part in schema.get("allOf", ()):
        yield from _check(value, part, root, at, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if not options:
            continue
        tries = [list(_check(value, option, root, at, depth + 1)) for option in options]
        fitting = sum(not wrong for wrong in tries)
        if fitting == 0:
            yield min(tries, key=len)[0]
        elif keyword == "oneOf" and fitting > 1:
            yield _say(at, "fits more than one of the alternatives")


def _resolve(reference: str, root: Schema) -> Schema:
    """The part of the schema that `#/…` points to; one that points nowhere allows anything."""
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = found.get(step.replace("~1", "/").replace("~0", "~"), True) if isinstance(found, Mapping) else True
    return found if isinstance(found, Mapping | bool) else True


def _same(left: Any, right: Any) -> bool:
    # In JSON true is not 1, in Python it is.
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _kind(value: Any) -> str:
    return next((kind for kind, fits in _TYPES.items() if fits(value)), type(value).__name__)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _say(at: str, what: str) -> str:
    return f"{at.removeprefix('.') or 'the reply'} {what}"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def json_values(text: str) -> Iterator[Json]:
    """What of the text is JSON, the likeliest first: all of it, a fenced block, then what starts at a bracket."""
    try:
        yield orjson.loads(text)
        return
    except orjson.JSONDecodeError:
        pass
    for block in _FENCE.findall(text):
        try:
            yield orjson.loads(block)
        except orjson.JSONDecodeError:
            continue
    yield from _embedded(text)


def _embedded(text: str) -> Iterator[Json]:
    at = 0
    for _ in range(_MOST_STARTS):
        found = _OPENING.search(text, at)
        if found is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            # A part of what was cut off is not the answer.
            if _is_cut_off(text[found.start() :]):
                return
            at = found.end()
            continue
        yield value


def _is_cut_off(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return bool(error.doc) and error.pos >= len(error.doc)
    return False


def fitting_json(text: str, schema: Mapping[str, Any]) -> tuple[Json, list[str]]:
    """The first JSON in the text that fits the schema, or what is wrong with the first that there is."""
    first: list[str] | None = None
    for value in json_values(text):
        wrong = schema_errors(value, schema)
        if not wrong:
            return value, []
        first = first or wrong
    return None, first or ["there is no JSON in the reply"]
