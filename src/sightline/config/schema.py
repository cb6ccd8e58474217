"""The settings as a flat list: path, type, environment variables, description of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from sightline.config.section import Hidden, StrictModel
from sightline.config.settings import Config

KeyPath: TypeAlias = tuple[str, ...]
PREFIX = "SIGHTLINE_"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting."""

    path: KeyPath
    field: FieldInfo

    @property
    def dotted(self) -> str:
        return dotted(self.path)

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + "__".join(self.path).upper()

    @property
    def well_known_variables(self) -> tuple[str, ...]:
        """Variables that other tools read too, such as OPENAI_API_KEY."""
        extra = self.field.json_schema_extra
        return tuple(map(str, extra["environment"])) if isinstance(extra, dict) else ()  # type: ignore[arg-type]

    @property
    def secret(self) -> bool:
        return Hidden in members(self.field.annotation)

    @property
    def is_text(self) -> bool:
        """Its value is a string, a path or a word from a list: never a number, a list or a table."""
        kinds = members(self.field.annotation)
        return any(kind in (str, Path, Hidden) or get_origin(kind) is Literal for kind in kinds)

    def given(self, value: object) -> bool:
        """Whether a value says anything: an empty path or secret, like null in JSON, does not."""
        kinds = members(self.field.annotation)
        return value is not None and not (value == "" and (Path in kinds or Hidden in kinds))


def members(annotation: Any) -> tuple[Any, ...]:
    """The types that a union allows, without their annotations."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return members(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return tuple(kind for member in get_args(annotation) for kind in members(member))
    return (annotation,)


def subsection(field: FieldInfo) -> type[StrictModel] | None:
    """The table that a field stands for, if it is one."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, StrictModel) else None


@cache
def leaves() -> Mapping[KeyPath, SettingField]:
    """Every setting, in the order of the flow."""
    return {leaf.path: leaf for leaf in _leaves(Config, ())}


def _leaves(model: type[StrictModel], prefix: KeyPath) -> Iterator[SettingField]:
    for name, field in model.model_fields.items():
        inner = subsection(field)
        if inner is None:
            yield SettingField((*prefix, name), field)
        else:
            yield from _leaves(inner, (*prefix, name))


@cache
def shape() -> Mapping[str, tuple[str, ...]]:
    """The keys of each table by its dotted name; "" is the top of the file."""
    return dict(_shape(Config, ()))


def _shape(model: type[StrictModel], prefix: KeyPath) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield dotted(prefix), tuple(model.model_fields)
    for name, field in model.model_fields.items():
        inner = subsection(field)
        if inner is not None:
            yield from _shape(inner, (*prefix, name))


def dotted(path: KeyPath) -> str:
    """`("scan", "max_pixels")` → `scan.max_pixels`, quoted as TOML does where a part has other characters."""
    return ".".join(part if _BARE_KEY.fullmatch(part) else f'"{part}"' for part in path)


def nested(flat: Mapping[KeyPath, Any]) -> dict[str, Any]:
    """Paths and values → tables inside tables."""
    tree: dict[str, Any] = {}
    for path, value in flat.items():
        table = tree
        for part in path[:-1]:
            table = table.setdefault(part, {})
        table[path[-1]] = value
    return tree
