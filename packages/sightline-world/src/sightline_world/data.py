"""Data files of the package: word lists, wordings and palettes in TOML beside the code that uses them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_data(path: str) -> dict[str, Any]:
    """A TOML file of the package, such as `web/properties.toml`, read once; its arrays come as tuples."""
    text = files("sightline_world").joinpath(path).read_text(encoding="utf-8")
    found: dict[str, Any] = _frozen(tomllib.loads(text))
    return found


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return {name: _frozen(part) for name, part in value.items()}
    return value
