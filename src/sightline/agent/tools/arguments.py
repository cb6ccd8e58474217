"""Arguments of tools, read with care as a model wrote them, and their schemas.

What is wrong with an argument is said, never guessed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sightline.errors import nearest
from sightline.types import Box, Json, ToolSpec

LONGEST_TEXT = 4000
_SHOWN = 80
BOX_FIELD: dict[str, Any] = {
    "type": "array",
    "items": {"type": "number"},
    "minItems": 4,
    "maxItems": 4,
    "description": "left, top, right, bottom as fractions of the picture's width and height, from 0 to 1",
}
PHOTO_FIELD: dict[str, Any] = {
    "type": "string",
    "description": "a photo's id, id#left,top,right,bottom for a region of it, or the name of a picture shown before",
}
SAVE_FIELD: dict[str, Any] = {"type": "string", "description": "keep the result as a subset of this name"}


class MistakeError(Exception):
    """A call that can't be done as it was written; the text says why and what to do."""


class ToolArguments:
    """The arguments of one call, checked against the tool's schema as they are read."""

    def __init__(self, arguments: Mapping[str, Json], spec: ToolSpec) -> None:
        self._fields = _properties(spec)
        self._values = {name: value for name, value in arguments.items() if value is not None}
        self._refuse_unknown()

    def has(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str) -> str:
        """A text that must be there, and not be blank."""
        value = self.maybe_text(name)
        if value is None:
            raise MistakeError(f"{name} is missing: {self._meaning(name)}.")
        return value

    def maybe_text(self, name: str) -> str | None:
        """A text; None where it was left out or is blank."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise MistakeError(f"{name} must be a text, not {shown(value)}.")
        if len(value) > LONGEST_TEXT:
            raise MistakeError(f"{name} has {len(value):,} characters; at most {LONGEST_TEXT:,} are read.")
        return self._chosen(name, _whole(value).strip()) or None

    def texts(self, name: str) -> tuple[str, ...]:
        """Several texts, each once; one alone is taken as a list of one, and nothing where it was left out."""
        value = self._values.get(name, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            raise MistakeError(f"{name} must be a list of texts, not {shown(value)}.")
        if any(len(str(each)) > LONGEST_TEXT for each in listed):
            raise MistakeError(f"an entry of {name} has more than {LONGEST_TEXT:,} characters.")
        most = self._fields[name].get("maxItems", 100)
        if len(listed) > most:
            raise MistakeError(f"{name} has {len(listed):,} entries; at most {most} are taken at once.")
        return tuple(dict.fromkeys(_whole(str(each)) for each in listed))

    def whole(self, name: str, otherwise: int) -> int:
        """A whole number within the schema's limits."""
        value = self.number(name, otherwise)
        if value != math.floor(value):
            raise MistakeError(f"{name} must be a whole number, not {value}.")
        return int(value)

    def number(self, name: str, otherwise: float) -> float:
        """A number within the schema's limits; digits in quotes are taken for one."""
        number = finite(self._values.get(name, otherwise), name)
        least, most = self._fields[name].get("minimum", -math.inf), self._fields[name].get("maximum", math.inf)
        if not least <= number <= most:
            raise MistakeError(f"{name} is {number:g}; it must be from {least:g} to {most:g}.")
        return number

    def box(self, name: str = "box") -> Box:
        """A region that must be there."""
        if name not in self._values:
            raise MistakeError(f"{name} is missing: {self._meaning(name)}.")
        return read_box(self._values[name], name)

    def value(self, name: str) -> Json:
        """The argument as it was written."""
        return self._values.get(name)

    def _chosen(self, name: str, value: str) -> str:
        choices = self._fields[name].get("enum")
        if choices and value and value not in choices:
            folded = {each.lower(): each for each in choices}
            if value.lower() not in folded:
                raise MistakeError(f"{name} is {shown(value)}; it must be one of: {', '.join(choices)}.")
            return str(folded[value.lower()])
        return value

    def _meaning(self, name: str) -> str:
        return str(self._fields[name].get("description", "it is needed"))

    def _refuse_unknown(self) -> None:
        for name in self._values:
            if name not in self._fields:
                near = nearest(name, self._fields)
                meant = f"Did you mean {near}? " if near else ""
                raise MistakeError(
                    f"there is no argument {shown(name)}. {meant}Arguments: {', '.join(self._fields) or 'none'}."
                )


def finite(value: Any, name: str) -> float:
    """A number that is no NaN and not infinite."""
    if isinstance(value, str):
        try:
            value = float(value) if len(value) <= _SHOWN else None
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MistakeError(f"{name} must be a number.")
    # An integer of a thousand digits is no float, and no size of anything here.
    if (isinstance(value, int) and value.bit_length() > _SHOWN) or not math.isfinite(value):
        raise MistakeError(f"{name} is too large a number.")
    return float(value)


def read_box(value: Json, name: str = "box") -> Box:
    """A region of a picture, in fractions; what lies outside, or has no area, is refused."""
    how = f"{name} must be [left, top, right, bottom] in fractions from 0 to 1, such as [0.25, 0.1, 0.75, 0.6]"
    if not isinstance(value, list) or len(value) != 4:
        raise MistakeError(f"{how}; it is {shown(value)}.")
    left, top, right, bottom = (finite(each, f"an edge of {name}") for each in value)
    if max(left, top, right, bottom) > 1:
        raise MistakeError(
            f"{how}; it is {shown(value)}: divide pixels by the picture's width and height, thousandths by 1000."
        )
    if min(left, top, right, bottom) < 0:
        raise MistakeError(f"{how}; {shown(value)} begins outside the picture.")
    if left >= right or top >= bottom:
        raise MistakeError(f"{how}; {shown(value)} has no area: left must be less than right, top less than bottom.")
    return Box(left, top, right, bottom)


def shown(value: object) -> str:
    """A value as it can stand in a message: short, on one line."""
    text = repr(value) if not isinstance(value, str) else f'"{value}"'
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _whole(text: str) -> str:
    """Text without halves of surrogate pairs, which no file and no database takes."""
    return text.encode("utf-8", "replace").decode()


def _properties(spec: ToolSpec) -> Mapping[str, Mapping[str, Any]]:
    found = spec.parameters.get("properties")
    assert isinstance(found, Mapping)
    return found  # type: ignore[return-value]


def text_field(description: str, *, choices: tuple[str, ...] = ()) -> dict[str, Any]:
    field: dict[str, Any] = {"type": "string", "description": description}
    return {**field, "enum": list(choices)} if choices else field


def whole_field(description: str, least: int, most: int, default: int | None = None) -> dict[str, Any]:
    field: dict[str, Any] = {"type": "integer", "minimum": least, "maximum": most, "description": description}
    return field if default is None else {**field, "default": default}


def number_field(description: str, least: float, most: float) -> dict[str, Any]:
    return {"type": "number", "minimum": least, "maximum": most, "description": description}


def texts_field(description: str, most: int, *, choices: tuple[str, ...] = ()) -> dict[str, Any]:
    items: dict[str, Any] = {"type": "string", "enum": list(choices)} if choices else {"type": "string"}
    return {"type": "array", "items": items, "maxItems": most, "description": description}


def spec(name: str, description: str, fields: dict[str, Any], *required: str) -> ToolSpec:
    """A tool's spec; no argument beside `fields` is allowed."""
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name, description, parameters)
