"""JSON in what a model wrote: alone, inside a Markdown fence, or after some prose. Read, never evaluated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import orjson

from sightline.models.schema_check import complaints
from sightline.types import Json

_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_MOST_STARTS = 64
"""So many brackets are tried as the start of JSON; prose with more of them is no answer."""


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
        wrong = complaints(value, schema)
        if not wrong:
            return value, []
        first = first or wrong
    return None, first or ["there is no JSON in the reply"]
