"""One source of settings, as values by path; later sources win over earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sightline.config.schema import KeyPath, dotted, leaves, shape, subsection
from sightline.config.section import Section
from sightline.config.settings import Config
from sightline.config.suggest import unknown_key
from sightline.errors import UserError

Place: TypeAlias = Callable[[KeyPath], str]
"""Where a key stands, for an error message: `sightline.toml, line 3`."""


@dataclass(frozen=True, slots=True)
class Given:
    """A value, where it came from, how its key is spelt there, and the place to name in an error."""

    value: Any = field(repr=False)
    source: str
    name: str
    place: str


@dataclass(frozen=True, slots=True)
class Unmapped:
    """A benchmaker key with no counterpart here, and why."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Layer:
    """The values of one source, and what there is to say about them."""

    values: Mapping[KeyPath, Given] = field(default_factory=dict)
    mapped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unmapped: tuple[Unmapped, ...] = ()
    warnings: tuple[str, ...] = ()


def flatten(
    data: Mapping[str, Any], source: str, place: Place, tops: Sequence[str] = ()
) -> tuple[dict[KeyPath, Given], list[UserError]]:
    """Tables inside tables → values by path, and what is wrong with the keys; `tops` are more words for the top."""
    known = {**shape(), "": (*shape()[""], *tops)}
    values: dict[KeyPath, Given] = {}
    problems: list[UserError] = []

    def visit(table: Mapping[str, Any], model: type[Section], prefix: KeyPath) -> None:
        for key, value in table.items():
            path = (*prefix, key)
            found = model.model_fields.get(key)
            inner = None if found is None else subsection(found)
            if found is None:
                problems.append(unknown_key(key, dotted(prefix), known, place(path)))
            elif inner is None:
                if leaves()[path].given(value):
                    values[path] = Given(value, source, dotted(path), place(path))
            elif isinstance(value, Mapping):
                visit(value, inner, path)
            elif value is not None:
                problems.append(not_a_table(dotted(path), place(path)))

    visit(data, Config, ())
    return values, problems


def not_a_table(name: str, place: str) -> UserError:
    """The error for a single value where a table must be; the value is not shown, it may be a secret."""
    return UserError(f'{place}: "{name}" must be a table.', f"write [{name}] and its keys below it")


def together(problems: Sequence[UserError]) -> UserError:
    """All that is wrong, in one error."""
    distinct = list({problem.message: problem for problem in reversed(problems)}.values())[::-1]
    return distinct[0] if len(distinct) == 1 else UserError("\n".join(map(str, distinct)))


def from_overrides(overrides: Mapping[str, Any]) -> Layer:
    """What the command line says; keys are nested or dotted, and None means that nothing was said."""
    tree: dict[str, Any] = {}
    for key, value in overrides.items():
        _put(tree, key.split("."), value)
    values, problems = flatten(tree, "command line", lambda _: "command line")
    if problems:
        raise together(problems)
    return Layer(values)


def _put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    head, *rest = path
    if rest:
        _put(tree.setdefault(head, {}), rest, value)
    elif isinstance(value, Mapping):
        table = tree.setdefault(head, {})
        for key, inner in value.items():
            _put(table, [key], inner)
    else:
        tree[head] = value
