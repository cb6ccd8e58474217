"""What every text metric shares: options, which part is scored, how several references become one number, and F1.

To add a text metric, write a function from documents to one score for each reference and decorate it with `similarity`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.registry import Metric, MetricSpec, metric, register
from sightline.metrics.text.document import TextDocument
from sightline.metrics.text_metric import Each, Prefetch, TextMetric

_SHARED = {"part": ("answer", "thinking"), "over": ("mean", "max")}


def f1(precision: float, recall: float) -> float:
    """2PR / (P + R); 0 where P + R is not positive."""
    both = precision + recall
    return 2 * precision * recall / both if both > 0 else 0.0


def similarity(
    name: str,
    *,
    choices: Mapping[str, tuple[str, ...]] | None = None,
    prefetch: Prefetch | None = None,
    uses: Callable[[Context], str] | None = None,
) -> Callable[[Each], Each]:
    """Register the decorated function as a text metric; the first of an option's `choices` is its default."""

    def keep(each: Each) -> Each:
        def build(spec: MetricSpec) -> Metric:
            shared = _chosen(spec, _SHARED, choices or {})
            own = {option: shared.pop(option) for option in choices or {}}
            return TextMetric(name, partial(each, **own), **shared, options=own, prefetch=prefetch, uses=uses)

        register(name, kinds=("describe",))(build)
        return each

    return keep


def _chosen(spec: MetricSpec, *tables: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Each option's value: the one in the name, else the default."""
    known = {option: values for table in tables for option, values in table.items()}
    fix = "options: " + ", ".join(f"{option}={'|'.join(values)}" for option, values in known.items())
    if spec.cutoff is not None:
        raise UserError(f'metric "{spec.base}" has no cut-off (@{spec.cutoff}).', fix)
    for option, value in spec.options.items():
        if value not in known.get(option, ()):
            raise UserError(f'metric "{spec.base}" has no option {option}={value}.', fix)
    return {option: spec.options.get(option, values[0]) for option, values in known.items()}


def bounded(cosine: float) -> float:
    """In 0…1: a failure counts as 0, so no answer may score less, and rounding must not give more than 1."""
    return min(1.0, max(0.0, cosine))


def score_texts(name: str, prediction: str, references: Sequence[str], context: Context | None = None) -> float:
    """The score of plain strings by the metric of that name; there must be at least one reference."""
    others = [TextDocument(text) for text in checked(references)]
    return text_metric(name).score(TextDocument(prediction), others, context or Context())


def checked(references: Sequence[str]) -> Sequence[str]:
    """The references, refused where there is none or where one text was given for a list of texts."""
    if isinstance(references, str):
        raise UserError("the references are a list of texts, not one text.", "write [reference]")
    if not references:
        raise UserError("there is no reference to compare with.", "give at least one reference text")
    return references


def text_metric(name: str) -> TextMetric:
    """The text metric of that name, with its options: `rouge-l(over=max)`."""
    found = metric(name)
    if not isinstance(found, TextMetric):
        raise UserError(f'"{name}" is not a text metric.', "see docs/metrics-text.md for the list")
    return found
