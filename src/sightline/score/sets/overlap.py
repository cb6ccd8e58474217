"""Two sets of pictures beside each other: what every set metric is computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sightline.class_names import name_of
from sightline.errors import UserError
from sightline.score.context import Context
from sightline.score.ranked.batch import order_of
from sightline.score.registry import Metric, MetricSpec, register
from sightline.types import PictureSet, Prediction, Ranking, Relevance, Truth


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many pictures are right (in both), were predicted, and are true."""

    right: int
    predicted: int
    true: int


Formula: TypeAlias = Callable[[Overlap], float]


@dataclass(frozen=True, slots=True)
class SetReport:
    """What was irregular about a predicted set: ids given again, and ids outside the scope (counted as wrong)."""

    size: int
    duplicates: int
    outside: tuple[str, ...]


def check(prediction: PictureSet, scope: frozenset[str] | None) -> SetReport:
    """Look a predicted set over; with no scope every id is inside it."""
    distinct = tuple(dict.fromkeys(prediction.pictures))
    outside = () if scope is None else tuple(picture for picture in distinct if picture not in scope)
    return SetReport(len(distinct), len(prediction.pictures) - len(distinct), outside)


def set_metric(name: str) -> Callable[[Formula], Formula]:
    """Make a formula over an `Overlap` known as a metric of select tasks, and with a cut-off of rank tasks too."""

    def keep(formula: Formula) -> Formula:
        def build(spec: MetricSpec) -> Metric:
            if spec.options:
                raise UserError(f'metric "{name}" has no options.', f'write it like "{name}" or "{name}@10"')

            def metric(truth: Truth, prediction: Prediction, context: Context) -> float:
                return formula(overlap(truth, prediction, context.scope, spec.cutoff))

            return metric

        register(name, kinds=("select", "rank"))(build)
        return formula

    return keep


def overlap(
    truth: Truth, prediction: Prediction, scope: frozenset[str] | None = None, cutoff: int | None = None
) -> Overlap:
    """Compare as sets: duplicates count once, and what lies outside the scope is wrong even if the truth has it.

    A `Ranking` counts as the set of its first `cutoff` pictures (all of them with no cut-off), a `Relevance` as the
    set of its pictures with grade 1 and above. A `Failure` is not an answer: callers count it.
    """
    predicted = _predicted(prediction, cutoff)
    true = _true(truth)
    right = predicted & true if scope is None else predicted & true & scope
    return Overlap(len(right), len(predicted), len(true))


def _true(truth: Truth) -> set[str]:
    if isinstance(truth, PictureSet):
        return set(truth.pictures)
    if isinstance(truth, Relevance):
        return {picture for picture, grade in truth.grades.items() if grade >= 1}
    raise UserError(
        f"a set metric can't use a truth of the form {name_of(type(truth))}.", "ask it of select and rank tasks only"
    )


def _predicted(prediction: Prediction, cutoff: int | None) -> set[str]:
    if not isinstance(prediction, PictureSet | Ranking):
        raise UserError(
            f"a set metric can't score a prediction of the form {name_of(type(prediction))}.",
            "count failures before scoring, and ask set metrics of select and rank tasks only",
        )
    return set(list(dict.fromkeys(order_of(prediction)))[:cutoff])
