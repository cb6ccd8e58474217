"""The tables of `docs/configuration.md`, made from the settings themselves so that the page can't drift."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from sightline.config.benchmaker import COUNTERPARTS, NO_COUNTERPART
from sightline.config.schema import SettingField, leaves, members
from sightline.config.section import Hidden
from sightline.config.settings import Config

_BLOCK = re.compile(r"(<!-- (\w+): begin -->\n).*?(<!-- \2: end -->)", re.DOTALL)
_TYPES = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path", Hidden: "secret"}
_COLUMNS = ("key", "type", "default", "what it is")


def fill(page: str) -> str:
    """The page with its generated blocks made again."""
    blocks = {"settings": settings_tables, "variables": variables_table, "benchmaker": benchmaker_tables}
    return _BLOCK.sub(lambda found: f"{found[1]}\n{blocks[found[2]]()}\n\n{found[3]}", page)


def settings_tables() -> str:
    """One table for each section: key, type, default, description."""
    parts = []
    for name, field in Config.model_fields.items():
        title, _, about = (field.annotation.__doc__ or "").partition(": ")
        rows = [_row(leaf) for leaf in leaves().values() if leaf.path[0] == name]
        parts.append(f"### {title}\n\n{about[:1].upper()}{about[1:]}\n\n{_table(_COLUMNS, rows)}")
    return "\n\n".join(parts)


def variables_table() -> str:
    """The settings that well-known environment variables set too."""
    known = [leaf for leaf in leaves().values() if leaf.well_known_variables]
    rows = [(_code(leaf.dotted), _codes(leaf.well_known_variables), leaf.field.description or "") for leaf in known]
    return _table(("setting", "variables", "what it is"), rows)


def benchmaker_tables() -> str:
    """Every benchmaker key with its counterpart, then those that have none."""
    same = [(_code(key), _codes(ours)) for key, ours in COUNTERPARTS.items()]
    none = [(_code(key), reason) for key, reason in NO_COUNTERPART.items()]
    return f"{_table(('benchmaker', 'here'), same)}\n\n{_table(('benchmaker', 'why it has no counterpart'), none)}"


def _row(leaf: SettingField) -> tuple[str, ...]:
    default = leaf.field.get_default(call_default_factory=True)
    shown = "" if default is None else _code(json.dumps(default))
    return _code(".".join(leaf.path[1:])), _type(leaf.field.annotation), shown, leaf.field.description or ""


def _type(annotation: Any) -> str:
    return " or ".join(_type_name(kind) for kind in members(annotation) if kind is not NoneType)


def _type_name(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return ", ".join(_code(json.dumps(word)) for word in arguments)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return "table of lists" if get_origin(members(arguments[1])[0]) is tuple else "table of tables"
    return _TYPES[kind]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows))


def _code(text: str) -> str:
    return f"`{text}`"


def _codes(texts: Sequence[str]) -> str:
    return ", ".join(map(_code, texts))
