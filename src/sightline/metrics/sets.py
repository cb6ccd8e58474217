"""Set metrics: exact match, precision, recall, F1 and IoU of two sets of pictures; right and wrong abstentions.

To add one, write its formula over an `Overlap` and decorate it with `set_metric`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from sightline.class_names import name_of
from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.ranked_batch import order_of
from sightline.metrics.registry import Metric, MetricSpec, register
from sightline.metrics.scores import Abstention
from sightline.types import Failure, PictureSet, Prediction, Ranking, Relevance, Truth
from sightline.types.truth import relevant_pictures


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many pictures are right (in both), were predicted, and are true."""

    right: int
    predicted: int
    true: int


SetFormula: TypeAlias = Callable[[Overlap], float]


def set_metric(name: str) -> Callable[[SetFormula], SetFormula]:
    """Make a formula over an `Overlap` known as a metric of select tasks, and with a cut-off of rank tasks too."""

    def keep(formula: SetFormula) -> SetFormula:
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
    if isinstance(truth, PictureSet | Relevance):
        return set(relevant_pictures(truth))
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


@set_metric("em")
def exact_match(sets: Overlap) -> float:
    """EM = 1 when both sets are the same, else 0. Empty against empty: 1."""
    return float(sets.right == sets.predicted == sets.true)


@set_metric("set_precision")
def set_precision(sets: Overlap) -> float:
    """Precision = right / predicted.

    Empty against empty: 1. Nothing predicted where there is something to find: 0.
    """
    if sets.predicted == 0:
        return float(sets.true == 0)
    return sets.right / sets.predicted


@set_metric("set_recall")
def set_recall(sets: Overlap) -> float:
    """Recall = right / true.

    Empty against empty: 1. Something predicted where there is nothing to find: 0.
    """
    if sets.true == 0:
        return float(sets.predicted == 0)
    return sets.right / sets.true


@set_metric("f1")
def f1(sets: Overlap) -> float:
    """F1 = 2 · right / (predicted + true), the harmonic mean of precision and recall.

    Empty against empty: 1. Empty against non-empty: 0.
    """
    size = sets.predicted + sets.true
    return 2 * sets.right / size if size else 1.0


@set_metric("iou")
def iou(sets: Overlap) -> float:
    """IoU = right / (predicted + true − right). Empty against empty: 1. Empty against non-empty: 0."""
    union = sets.predicted + sets.true - sets.right
    return sets.right / union if union else 1.0


def abstention(pairs: Iterable[tuple[Truth, Prediction]]) -> Abstention:
    """Count abstentions over many tasks, from each one's truth and prediction."""
    tasks = empty = abstained = right = false_answers = failures = 0
    for truth, prediction in pairs:
        failed = isinstance(prediction, Failure)
        sets = overlap(truth, PictureSet(()) if failed else prediction)
        tasks += 1
        failures += failed
        empty += sets.true == 0
        if not failed:
            abstained += sets.predicted == 0
            right += sets.predicted == 0 and sets.true == 0
            false_answers += sets.predicted > 0 and sets.true == 0
    return Abstention(tasks, empty, abstained, right, false_answers, failures)
