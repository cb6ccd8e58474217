"""Answer metrics by name; truth `Answer`, prediction `Text` (or the answer of a `Trace`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.registry import Metric, MetricSpec, register
from sightline.types import Answer, Prediction, Text, Trace, Truth

if TYPE_CHECKING:
    from sightline.metrics.answers.match import Form


def check_name(spec: MetricSpec) -> None:
    """Refuse a cut-off and options, which metrics of answers, choices and steps do not have."""
    if spec.cutoff is not None:
        raise UserError(f'metric "{spec.base}" has no cut-off.', f'write "{spec.base}" without "@{spec.cutoff}"')
    for option in sorted(spec.options):
        raise UserError(f'metric "{spec.base}" has no option "{option}".', f'write "{spec.base}" without options')


def said(prediction: Prediction) -> str:
    """The text that a prediction puts forward; empty, and so never right, for a failure or another form."""
    if isinstance(prediction, Text):
        return prediction.text
    return prediction.answer if isinstance(prediction, Trace) else ""


def _metric(spec: MetricSpec, score: Callable[[Answer, str], float | None]) -> Metric:
    """0 for a failure; None where the truth is no answer."""
    check_name(spec)

    def value(truth: Truth, prediction: Prediction, context: Context) -> float | None:
        return score(truth, said(prediction)) if isinstance(truth, Answer) else None

    return value


def _of_form(spec: MetricSpec, form: Form) -> Metric:
    """By one rule alone; None where the truth is not of its form."""
    from sightline.metrics.answers.match import has_form, match_form

    def score(truth: Answer, text: str) -> float | None:
        return float(match_form(truth, text, form).matched) if has_form(truth, form) else None

    return _metric(spec, score)


@register("answer", kinds=("answer",))
def answer(spec: MetricSpec) -> Metric:
    """1 if any rule finds the reply right: exact, normalised, yes/no, numeric, date, all parts; else 0."""
    from sightline.metrics.answers.match import match_answer

    return _metric(spec, lambda truth, text: float(match_answer(truth, text).matched))


@register("answer_exact", kinds=("answer",))
def answer_exact(spec: MetricSpec) -> Metric:
    """1 if the reply is, but for outer space, the answer, an alias or a translation, sign by sign; else 0."""
    return _of_form(spec, "exact")


@register("answer_normalised", kinds=("answer",))
def answer_normalised(spec: MetricSpec) -> Metric:
    """1 if what the reply asserts has the same normal form as an accepted text; else 0."""
    return _of_form(spec, "normalised")


@register("answer_numeric", kinds=("answer",))
def answer_numeric(spec: MetricSpec) -> Metric:
    """1 if the only quantity asserted is the true one; else 0. None where the truth is no quantity."""
    return _of_form(spec, "numeric")


@register("answer_date", kinds=("answer",))
def answer_date(spec: MetricSpec) -> Metric:
    """1 if the only date asserted agrees with the truth at its precision; else 0. None where the truth is no date."""
    return _of_form(spec, "date")


@register("answer_yesno", kinds=("answer",))
def answer_yesno(spec: MetricSpec) -> Metric:
    """1 if the reply begins with the right yes or no; else 0. None where the truth is neither."""
    return _of_form(spec, "yes/no")


@register("answer_parts", kinds=("answer",))
def answer_parts(spec: MetricSpec) -> Metric:
    """Right parts / max(parts of the truth, parts of the reply); 1 where `answer` is 1, also for a single part."""
    from sightline.metrics.answers.match import share_of_parts

    return _metric(spec, share_of_parts)


@register("answer_judged", kinds=("answer",))
def answer_judged(spec: MetricSpec) -> Metric:
    """1 if rules or the judge find the reply right, 0 if not and for a failure. None where the judge failed."""
    check_name(spec)

    def value(truth: Truth, prediction: Prediction, context: Context) -> float | None:
        if not isinstance(truth, Answer) or context.task is None:
            return None
        if context.verdicts is None:
            raise UserError("answer_judged needs a judge.", "Name a chat model: --judge MODEL (judge=MODEL).")
        reply = said(prediction)
        known = True if reply == truth.text else None  # Needs no judge: it is how failures ask whether a task counts.
        verdict = context.verdicts.get((context.task.id, reply), known) if reply.strip() else False
        return None if verdict is None else float(verdict)

    return value
