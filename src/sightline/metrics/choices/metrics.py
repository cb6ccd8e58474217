"""Choice metrics by name; truth `Choice`, prediction `Choice` or a `Text` that is still to be parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.metrics.answers.metrics import check_name
from sightline.metrics.choices.options import right_option
from sightline.metrics.context import Context
from sightline.metrics.registry import Metric, MetricSpec, register
from sightline.types import Choice, Failure, Prediction, Text, Trace, Truth

if TYPE_CHECKING:
    from sightline.metrics.choices.options import Options

_LETTERS: Options = tuple("ABCDEFGH")


def chosen(prediction: Prediction, context: Context) -> Choice | None:
    """The choice that a prediction makes, parsed with the task's options if it is text; None for other forms."""
    if isinstance(prediction, Choice):
        return prediction
    if not isinstance(prediction, Text | Trace):
        return None
    text = prediction.text if isinstance(prediction, Text) else prediction.answer
    return _parse(text, _options(context))


def _parse(text: str, options: Options) -> Choice:
    from sightline.metrics.choices.parse import parse_choice

    return parse_choice(text, options)


def _options(context: Context) -> Options:
    return (context.task.options if context.task is not None else ()) or _LETTERS


def _right_key(truth: Choice, context: Context) -> str | None:
    """The truth's key; without options to look it up in, what it says."""
    if context.task is None or not context.task.options:
        return truth.option
    return right_option(context.task, truth)


def _same(first: str | None, second: str | None) -> bool:
    return first is not None and second is not None and first.strip().casefold() == second.strip().casefold()


@register("accuracy", kinds=("choose",))
def accuracy(spec: MetricSpec) -> Metric:
    """1 if the key is the right one; 0 if not, if no option could be read, and for a failure. None without a truth."""
    check_name(spec)

    def value(truth: Truth, prediction: Prediction, context: Context) -> float | None:
        right = _right_key(truth, context) if isinstance(truth, Choice) else None
        if right is None:
            return None
        choice = chosen(prediction, context)
        return float(choice is not None and _same(choice.option, right))

    return value


@register("accuracy_parsed", kinds=("choose",))
def accuracy_parsed(spec: MetricSpec) -> Metric:
    """`accuracy`, but None where a reply was given and no option could be read from it; 0 for a failure."""
    over_all = accuracy(spec)

    def value(truth: Truth, prediction: Prediction, context: Context) -> float | None:
        choice = None if isinstance(prediction, Failure) else chosen(prediction, context)
        if choice is not None and choice.option is None:
            return None
        return over_all(truth, prediction, context)

    return value


@register("choice_parsed", kinds=("choose",))
def choice_parsed(spec: MetricSpec) -> Metric:
    """1 if an option could be read, right or wrong; else 0. None without a truth."""
    check_name(spec)

    def value(truth: Truth, prediction: Prediction, context: Context) -> float | None:
        if not isinstance(truth, Choice):
            return None
        choice = chosen(prediction, context)
        return float(choice is not None and choice.option is not None)

    return value
