"""Step metrics by name; truth `Choice` or `Answer` with steps, prediction `Choice` with steps, `Text` or `Trace`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.metrics.answers.metrics import check_name
from sightline.metrics.context import Context
from sightline.metrics.registry import Metric, MetricSpec, register
from sightline.types import Answer, Choice, Failure, Prediction, Truth

if TYPE_CHECKING:
    from sightline.metrics.steps.alignment import ComparedSteps


def _metric(spec: MetricSpec, score: Callable[[ComparedSteps], float | None]) -> Metric:
    """0 for a failure; None where the truth has no steps."""
    from sightline.metrics.steps.alignment import compare_steps, predicted_steps

    check_name(spec)

    def value(truth: Truth, prediction: Prediction, context: Context) -> float | None:
        reference = truth.steps if isinstance(truth, Choice | Answer) else ()
        if not reference:
            return None
        if isinstance(prediction, Failure):
            return 0.0
        return score(compare_steps(reference, predicted_steps(prediction)))

    return value


@register("step_coverage", kinds=("choose", "answer"))
def step_coverage(spec: MetricSpec) -> Metric:
    """Reference steps with a predicted partner / reference steps. No predicted steps: 0."""
    return _metric(spec, lambda compared: compared.alignment.coverage)


@register("step_order", kinds=("choose", "answer"))
def step_order(spec: MetricSpec) -> Metric:
    """Pairs of aligned steps in the order of the reference / such pairs. None for fewer than two aligned steps."""
    return _metric(spec, lambda compared: compared.alignment.order)


@register("step_contradictions", kinds=("choose", "answer"))
def step_contradictions(spec: MetricSpec) -> Metric:
    """How many contradictions there are between aligned steps: fewer is better. None if no steps are aligned."""
    return _metric(spec, lambda compared: float(sum(compared.conflicts)) if compared.conflicts else None)


@register("step_consistency", kinds=("choose", "answer"))
def step_consistency(spec: MetricSpec) -> Metric:
    """Aligned steps without a contradiction / reference steps, so that silence is no consistency."""
    return _metric(spec, lambda compared: compared.conflicts.count(0) / compared.alignment.references)


@register("step_score", kinds=("choose", "answer"))
def step_score(spec: MetricSpec) -> Metric:
    """2 · Σ similarity of aligned steps without contradiction / (reference steps + predicted steps): a soft F1."""

    def score(compared: ComparedSteps) -> float:
        pairs = zip(compared.alignment.pairs, compared.conflicts, strict=True)
        total = sum(pair.similarity for pair, conflicts in pairs if not conflicts)
        return 2 * total / (compared.alignment.references + compared.alignment.predictions)

    return _metric(spec, score)
