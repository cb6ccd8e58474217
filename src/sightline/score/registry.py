"""Metrics by name: `ndcg@10`, `f1`, `rbp(p=0.8)`.

A metric is built from its name's parts and is then a plain function of truth, prediction and context:

    @register("rr", kinds=("rank",))
    def reciprocal_rank(spec: MetricSpec) -> Metric: ...
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sightline.errors import UserError
from sightline.score.context import Context
from sightline.types import Prediction, TaskKind, Truth

# Importing one of these registers its metrics.
_MODULES = ("ranked", "sets", "answers", "choices", "text", "steps")
_NAME = re.compile(r"(?P<base>[a-z][a-z0-9_-]*)(?:\((?P<options>[^()]*)\))?(?:@(?P<cutoff>[0-9]+))?")


class Metric(Protocol):
    """A number for one task; None where the metric is not defined for it (never for a failure)."""

    def __call__(self, truth: Truth, prediction: Prediction, context: Context) -> float | None: ...


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """A metric's name, taken apart."""

    base: str
    cutoff: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """What the registry knows of a metric: for which kinds of task, and how to build it."""

    kinds: tuple[TaskKind, ...]
    build: Callable[[MetricSpec], Metric]


_REGISTRY: dict[str, Entry] = {}


def register(
    name: str, *, kinds: tuple[TaskKind, ...]
) -> Callable[[Callable[[MetricSpec], Metric]], Callable[[MetricSpec], Metric]]:
    """Make the decorated builder known under `name`."""

    def keep(build: Callable[[MetricSpec], Metric]) -> Callable[[MetricSpec], Metric]:
        _REGISTRY[name] = Entry(kinds, build)
        return build

    return keep


def parse_name(name: str) -> MetricSpec:
    """`rbp(p=0.8)@20` → base, options, cut-off; an unknown or malformed name is refused with the nearest one."""
    found = _NAME.fullmatch(name.strip().lower())
    if found is None:
        raise UserError(f'"{name}" is not a metric name.', "write it like ndcg@10, map or rbp(p=0.8)")
    options = {}
    for pair in filter(None, (found["options"] or "").split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise UserError(f'option "{pair}" of metric "{name}" has no value.', "write it like rbp(p=0.8)")
        options[key.strip()] = value.strip()
    cutoff = None if found["cutoff"] is None else int(found["cutoff"])
    if cutoff == 0:
        raise UserError(f'metric "{name}": the cut-off must be at least 1.')
    known = registered()
    if found["base"] not in known:
        near = difflib.get_close_matches(found["base"], known, n=1)
        hint = f'Did you mean "{near[0]}"? ' if near else ""
        raise UserError(f'unknown metric "{name}".', f"{hint}Known: {', '.join(sorted(known))}")
    return MetricSpec(found["base"], cutoff, options)


def registered() -> Mapping[str, Entry]:
    """Every known metric."""
    for module in _MODULES:
        importlib.import_module(f"sightline.score.{module}")
    return _REGISTRY


def metric(name: str) -> Metric:
    """The metric of that name, ready to be called."""
    spec = parse_name(name)
    return _REGISTRY[spec.base].build(spec)


def kinds_of(name: str) -> tuple[TaskKind, ...]:
    """The kinds of task that the metric is defined for."""
    return _REGISTRY[parse_name(name).base].kinds
