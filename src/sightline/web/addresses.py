"""Addresses within the app, and messages without those of this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

_ABSOLUTE = re.compile(r"(?<![\w:/.])/(?:[^\s\"'/:,]+/)*[^\s\"'/:,]+")


def address(path: str, **query: object) -> str:
    """A path with its query; what is None or empty is left out."""
    given = {name: str(value) for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def at_offset(query: Mapping[str, str], offset: int) -> str:
    """The same query at another place of a long list."""
    return with_value(query, "offset", str(offset) if offset else "")


def with_value(query: Mapping[str, str], name: str, value: str) -> str:
    """The same query with one value set, from the start of the list; without it, where it is empty."""
    kept = {key: each for key, each in query.items() if key not in (name, "offset", "export")}
    return urlencode(kept | ({name: value} if value else {}))


def without(query: Mapping[str, str], name: str) -> str:
    """The same query less one name."""
    return with_value(query, name, "")


def harmless(text: str, roots: tuple[Path, ...] = ()) -> str:
    """A message without the paths of this machine: below the given folders by their names, others not at all."""
    for root in sorted(roots, key=lambda path: -len(str(path))):
        text = text.replace(str(root), root.name)
    return _ABSOLUTE.sub("…", text)
