"""Does a JSON value fit a JSON schema? The part of JSON Schema that models are asked with, complaint by complaint."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = "Mapping[str, Any] | bool"
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


def complaints(value: Any, schema: Schema) -> list[str]:
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
