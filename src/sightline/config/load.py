"""File, environment and command line → one checked configuration that knows where each value came from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sightline.config import benchmaker
from sightline.config.environment import from_environment
from sightline.config.explain import explain
from sightline.config.files import find, read
from sightline.config.layer import Given, Layer, Unmapped, flatten, from_overrides, together
from sightline.config.schema import KeyPath, leaves, nested
from sightline.config.settings import Config


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
    found = find(path, environment)
    file = Layer() if found is None else from_file(found)
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


def build(given: Mapping[KeyPath, Given]) -> Config:
    """The checked configuration; all wrong values are named in one error."""
    values = nested({path: item.value for path, item in given.items()})
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        problems = explain(error, given)
    # Not raised in the handler: pydantic's error holds the values, secrets too, and must not be chained to ours.
    raise together(problems)


def from_file(path: Path) -> Layer:
    """Our own keys, benchmaker's, or both in one file; then ours win."""
    document = read(path)
    source = f"file {path}"
    theirs = {key: value for key, value in document.data.items() if key in benchmaker.shape()[""]}
    ours = {key: value for key, value in document.data.items() if key not in theirs}
    values, problems = flatten(ours, source, document.place, tops=benchmaker.shape()[""])
    flat, more_problems = benchmaker.flatten(theirs, document.place)
    if problems or more_problems:
        raise together([*problems, *more_problems])
    translated = benchmaker.translate(flat, source, document.place, values)
    return Layer(
        translated.values,
        translated.mapped,
        translated.unmapped,
        (*translated.warnings, *_secrets_on_disk(translated.values)),
    )


def _secrets_on_disk(values: Mapping[KeyPath, Given]) -> list[str]:
    warnings = []
    for path, item in values.items():
        leaf = leaves()[path]
        if leaf.secret:
            variable = (*leaf.well_known_variables, leaf.variable)[0]
            warnings.append(
                f"{item.place}: {item.name} is a secret; it is used, but better moved to the environment: "
                f"take it out of the file and set {variable}"
            )
    return warnings
