"""Options of an embedder, given as key and value: checked, with the nearest right key for a wrong one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import orjson
from pydantic import ValidationError

from sightline.config.section import Section
from sightline.errors import UserError, nearest

Chosen = TypeVar("Chosen", bound=Section)


def read_options(kind: type[Chosen], given: Mapping[str, Any], embedder: str) -> Chosen:
    """The options as one checked value; a wrong one is the user's mistake, told with what is right."""
    try:
        return kind.model_validate(dict(given))
    except ValidationError as error:
        found = error.errors()[0]
    key = str(found["loc"][0])
    if found["type"] == "extra_forbidden" and key == "base_url":
        raise UserError(f"{embedder} asks no server, so it has no address.", "leave --base-url out")
    if found["type"] != "extra_forbidden":
        raise UserError(f"option {key} of the embedder {embedder}: {found['msg'].lower()}.", _options_of(kind))
    near = nearest(key, kind.model_fields)
    hint = f'Did you mean "{near}"? ' if near else ""
    raise UserError(f'the embedder {embedder} has no option "{key}".', hint + _options_of(kind))


def options_in(rest: str) -> dict[str, Any]:
    """What follows a name and its colon: `head=false,threads=2`."""
    pairs = [part.partition("=") for part in rest.split(",") if part.strip()]
    return {key.strip(): parse_value(value.strip()) for key, _, value in pairs}


def parse_value(text: str) -> Any:
    """`256`, `true`, `{"a": 1}` as JSON has it; any other text is itself."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _options_of(kind: type[Section]) -> str:
    return f"Options: {', '.join(kind.model_fields)}" if kind.model_fields else "It takes no options."
