"""How a ranked metric is declared: one formula over a batch, used for many queries and for a single task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.ranked_batch import Floats, RankedBatch, batch_of
from sightline.metrics.registry import Metric, MetricSpec, metric, register
from sightline.types import Prediction, Truth

Formula: TypeAlias = Callable[[RankedBatch], Floats]
"""One value for each query of a batch; NaN where the metric is not defined."""

Builder: TypeAlias = Callable[[MetricSpec], Formula]


@dataclass(frozen=True, slots=True)
class TaskMetric:
    """A formula applied to one task; `least` is the grade from which on a picture is to be found, None: it asks not."""

    formula: Formula
    least: int | None = 1

    def __call__(self, truth: Truth, prediction: Prediction, context: Context) -> float | None:
        value = float(self.formula(batch_of([(truth, prediction)]))[0])
        return None if value != value else value


def ranked_metric(
    *names: str, options: tuple[str, ...] = ("rel", "unjudged"), cutoff: bool = True, finds: bool = True
) -> Callable[[Builder], Builder]:
    """Make the decorated builder known under `names`; the options and the cut-off are checked before it is called.

    `finds` False is for a metric that says something also where there is nothing to find.
    """

    def keep(build: Builder) -> Builder:
        def for_task(spec: MetricSpec) -> Metric:
            check(spec, options, cutoff)
            return TaskMetric(_unjudged(spec, build(spec)), level(spec) if finds else None)

        for name in names:
            register(name, kinds=("rank", "select"))(for_task)
        return build

    return keep


def formula(name: str) -> Formula:
    """The formula of that name (`ndcg@10`), for a whole batch."""
    found = metric(name)
    if not isinstance(found, TaskMetric):
        raise UserError(
            f'metric "{name}" is not computed from rankings and grades alone.', "use one of docs/metrics-ranked.md"
        )
    return found.formula


def check(spec: MetricSpec, options: tuple[str, ...], cutoff: bool) -> None:
    """Refuse an option or a cut-off that the metric doesn't have."""
    for option in spec.options:
        if option not in options:
            has = f"its options are {', '.join(options)}" if options else "it has no options"
            raise UserError(f'metric "{spec.base}" has no option "{option}".', has)
    if spec.cutoff is not None and not cutoff:
        raise UserError(f'metric "{spec.base}" has no cut-off.', f'write "{spec.base}" without "@{spec.cutoff}"')


def level(spec: MetricSpec) -> int:
    """Option `rel`: the lowest grade that counts as relevant (1)."""
    given = spec.options.get("rel", "1")
    if not given.isdecimal() or int(given) < 1:
        raise UserError(f'metric "{spec.base}": rel={given} is not a grade.', "give a whole number from 1")
    return int(given)


def choice(spec: MetricSpec, option: str, values: tuple[str, ...]) -> str:
    """An option with a fixed set of values, the first of them the default."""
    given = spec.options.get(option, values[0])
    if given not in values:
        raise UserError(f'metric "{spec.base}": {option}={given} is unknown.', f"choose from {', '.join(values)}")
    return given


def _unjudged(spec: MetricSpec, standard: Formula) -> Formula:
    if choice(spec, "unjudged", ("standard", "condensed")) == "standard":
        return standard
    return lambda batch: standard(batch.condensed())
