"""JSON schemas of tools' arguments, in a few words."""

from __future__ import annotations

from typing import Any

from sightline.types import ToolSpec

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
