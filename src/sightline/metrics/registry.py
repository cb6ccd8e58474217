"""Metrics by name: `ndcg@10`, `f1`, `rbp(p=0.8)`. To add one of ours, name it in `plugins.py` too.

A metric is built from its name's parts and is then a plain function of truth, prediction and context:

    @register("rr", kinds=("rank",))
    def reciprocal_rank(spec: MetricSpec) -> Metric: ...

A package adds one by an entry point of the group `sightline.metrics`: such a builder, or the plain function itself,
which is then a metric of every kind of task, without options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Protocol, get_args

from sightline import plugins
from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.types import Prediction, TaskKind, Truth

_NAME = re.compile(r"(?P<base>[a-z0-9][a-z0-9_-]*)(?:\((?P<options>[^()]*)\))?(?:@(?P<cutoff>[0-9]+))?")
_TREC_NAME = re.compile(r"(p|recall|success|ndcg_cut|map_cut|iprec_at_recall)_([0-9.]+)")
_TREC_NAMES = {
    "recip_rank": "rr", "set_p": "p", "ndcg_cut": "ndcg", "map_cut": "map",
}  # fmt: skip
"""What trec_eval calls metrics that have another name here."""
_REGISTRY: dict[str, Entry] = {}
_COMMA = re.compile(r",(?![^()]*\))")


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


def register(
    name: str, *, kinds: tuple[TaskKind, ...]
) -> Callable[[Callable[[MetricSpec], Metric]], Callable[[MetricSpec], Metric]]:
    """Make the decorated builder known under `name`."""

    def keep(build: Callable[[MetricSpec], Metric]) -> Callable[[MetricSpec], Metric]:
        _REGISTRY[name] = Entry(kinds, build)
        return build

    return keep


def split_names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Names of metrics from a list of them, or from one string: `"a, b(p=1,q=2)"` → ("a", "b(p=1,q=2)")."""
    if isinstance(given, str):
        return tuple(name.strip() for name in _COMMA.split(given) if name.strip())
    return tuple(given)


def parse_name(name: str) -> MetricSpec:
    """`rbp(p=0.8)@20` → base, options, cut-off; an unknown or malformed name is refused with the nearest one."""
    found = _NAME.fullmatch(_from_trec_eval(name.strip().lower()))
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
    base = found["base"]
    if base not in _REGISTRY and plugins.find("metrics", base) is None:
        raise plugins.unknown("metrics", base, f'unknown metric "{name}".', metric_names())
    return MetricSpec(base, cutoff, options)


def _from_trec_eval(name: str) -> str:
    """`ndcg_cut_10` → `ndcg@10`, `iprec_at_recall_0.10` → `iprec(recall=0.10)`; other names stay as they are."""
    cut = _TREC_NAME.fullmatch(name)
    if cut is None:
        return _TREC_NAMES.get(name, name)
    base, at = cut.groups()
    return f"iprec(recall={at})" if base == "iprec_at_recall" else f"{_TREC_NAMES.get(base, base)}@{at}"


def metric_names() -> list[str]:
    """Every known metric; none of them is loaded."""
    return sorted({*plugins.names("metrics"), *_REGISTRY})


def metric(name: str) -> Metric:
    """The metric of that name, ready to be called."""
    spec = parse_name(name)
    return entry_of(spec.base).build(spec)


def kinds_of(name: str) -> tuple[TaskKind, ...]:
    """The kinds of task that the metric is defined for."""
    return entry_of(parse_name(name).base).kinds


def entry_of(base: str) -> Entry:
    """What is known of a metric, whose module is imported now."""
    if base not in _REGISTRY:
        loaded = plugins.load("metrics", base)
        if base not in _REGISTRY:  # Its module did not register it: it is the metric itself.
            _REGISTRY[base] = Entry(get_args(TaskKind), lambda spec: _without_options(spec, loaded))
    return _REGISTRY[base]


def _without_options(spec: MetricSpec, loaded: Metric) -> Metric:
    if spec.cutoff is not None or spec.options:
        raise UserError(f'metric "{spec.base}" has no options and no cut-off.', f'write "{spec.base}"')
    return _checked(spec.base, loaded)


def _checked(name: str, function: Metric) -> Metric:
    """A metric of another package: what is wrong with it is told with its name."""

    def call(truth: Truth, prediction: Prediction, context: Context) -> float | None:
        try:
            value = function(truth, prediction, context)
            if value is None:
                return None
            found = float(value)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise UserError(
                f'metric "{name}" failed: {type(error).__name__}: {error}.',
                "It comes from another package (`sightline doctor`): correct it, or leave it out of --metrics.",
            ) from error
        if not isfinite(found):
            raise UserError(f'metric "{name}" gave {found}.', "Return None where it is not defined.")
        return found

    return call
