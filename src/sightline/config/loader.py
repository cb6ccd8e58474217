"""File, environment and command line become one checked configuration that knows where each value came from.

What is wrong with a value is explained in the words of the place that it was given in; a secret is never shown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sightline.config.schema import KeyPath, dotted, leaves, nested
from sightline.config.settings import Config, Price
from sightline.config.sources import (
    GivenValue,
    SettingsLayer,
    Unmapped,
    find_config_file,
    flatten,
    from_environment,
    from_overrides,
    join_errors,
    read_config_file,
)
from sightline.errors import UserError, did_you_mean

_EXPECTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "path_type": "a path",
    "tuple_type": 'a list, such as ["a", "b"]',
    "dict_type": "a table",
    "model_type": "a table",
}
_LONGEST = 60


def explain(error: ValidationError, given: Mapping[KeyPath, GivenValue]) -> list[UserError]:
    """One error for each value that can't be used."""
    return [_explain(detail, given) for detail in error.errors(include_url=False)]


def _explain(detail: ErrorDetails, given: Mapping[KeyPath, GivenValue]) -> UserError:
    location = tuple(str(part) for part in detail["loc"])
    path = next((location[:end] for end in range(len(location), 0, -1) if location[:end] in given), None)
    if path is None:  # A rule about several keys of one table.
        return _broken_rule(detail, location, given)
    item, leaf = given[path], leaves()[path]
    name = item.name + "".join(f"[{part}]" for part in location[len(path) :])
    if detail["type"] == "extra_forbidden":
        return _unknown(detail, name, item)
    shown = "***" if leaf.secret else _show(detail["input"])
    about = f"{leaf.dotted}: {leaf.field.description}"
    return UserError(f'{item.place}: "{name}" is {shown}; expected {_expected(detail)}.', about)


def _expected(detail: ErrorDetails) -> str:
    return _EXPECTED.get(detail["type"], detail["msg"].removeprefix("Input should be ").removeprefix("Value error, "))


def _broken_rule(detail: ErrorDetails, table: KeyPath, given: Mapping[KeyPath, GivenValue]) -> UserError:
    places = dict.fromkeys(item.place for path, item in given.items() if path[: len(table)] == table)
    return UserError(f"{', '.join(places)}: [{dotted(table)}] {detail['msg'].removeprefix('Value error, ')}.")


def _unknown(detail: ErrorDetails, name: str, item: GivenValue) -> UserError:
    """A key that only pydantic could find: those of `[prices.models.NAME]`, where any name may stand."""
    fix = did_you_mean(str(detail["loc"][-1]), Price.model_fields)
    return UserError(f'{item.place}: unknown key "{name}".', fix or f"Known: {', '.join(Price.model_fields)}.")


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The effective configuration and the file behind it; `mapped` and `unmapped` are a benchmaker file's keys."""

    config: Config
    sources: Mapping[str, str]
    unmapped: tuple[Unmapped, ...] = ()
    warnings: tuple[str, ...] = ()
    mapped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    path: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values, with secrets as `***`."""
        return {
            "config": self.config.model_dump(mode="json"),
            "sources": dict(self.sources),
            "mapped": {key: list(ours) for key, ours in self.mapped.items()},
            "unmapped": [{"key": item.key, "reason": item.reason} for item in self.unmapped],
            "warnings": list(self.warnings),
        }


def load(
    path: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Loaded:
    """Settings in rising priority: file (`path`, `$SIGHTLINE_CONFIG`, `./sightline.toml`), environment, overrides."""
    environment = os.environ if environment is None else environment
    found = find_config_file(path, environment)
    file = SettingsLayer() if found is None else from_file(found)
    variables = from_environment(environment)
    given = {**file.values, **variables.values, **from_overrides(overrides or {}).values}
    return Loaded(
        config=build(given),
        sources={
            leaf.dotted: given[leaf.path].source if leaf.path in given else "default" for leaf in leaves().values()
        },
        unmapped=file.unmapped,
        warnings=(*file.warnings, *variables.warnings),
        mapped=file.mapped,
        path=found,
    )


def build(given: Mapping[KeyPath, GivenValue]) -> Config:
    """The checked configuration; all wrong values are named in one error."""
    values = nested({path: item.value for path, item in given.items()})
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        problems = explain(error, given)
    # Not raised in the handler: pydantic's error holds the values, secrets too, and must not be chained to ours.
    raise join_errors(problems)


def from_file(path: Path) -> SettingsLayer:
    """Our own keys, benchmaker's, or both in one file; then ours win."""
    from sightline.config import benchmaker  # Here: most commands are used without a file.

    document = read_config_file(path)
    source = f"file {path}"
    theirs = {key: value for key, value in document.data.items() if key in benchmaker.shape()[""]}
    ours = {key: value for key, value in document.data.items() if key not in theirs}
    values, problems = flatten(ours, source, document.place, tops=benchmaker.shape()[""])
    flat, more_problems = benchmaker.flatten(theirs, document.place)
    if problems or more_problems:
        raise join_errors([*problems, *more_problems])
    translated = benchmaker.translate(flat, source, document.place, values)
    return replace(translated, warnings=(*translated.warnings, *_secrets_on_disk(translated.values)))


def _secrets_on_disk(values: Mapping[KeyPath, GivenValue]) -> list[str]:
    warnings = []
    for path, item in values.items():
        leaf = leaves()[path]
        if leaf.secret:
            variable = (*leaf.well_known_variables, leaf.variable)[0]
            warnings.append(
                f"{item.place}: {item.name} is a secret; it is used, but better moved to the environment: "
                f"remove it from the file and set {variable}"
            )
    return warnings
