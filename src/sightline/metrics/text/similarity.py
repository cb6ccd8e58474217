"""What every text metric shares: options, which part is scored, how several references become one number, and F1.

To add a text metric, write a function from documents to one score for each reference and decorate it with `similarity`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from sightline.class_names import name_of
from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.registry import Metric, MetricSpec, metric, register
from sightline.metrics.text.document import TextDocument, document
from sightline.types import Failure, Prediction, Text, Trace, Traces, Truth

Score: TypeAlias = Literal["f1", "precision", "recall"]
SCORES: tuple[Score, ...] = ("f1", "precision", "recall")


class Prf(NamedTuple):
    """Three views of one match."""

    precision: float
    recall: float
    f1: float

    def pick(self, score: Score) -> float:
        """The one asked for by name."""
        return float(getattr(self, score))


def prf(precision: float, recall: float) -> Prf:
    """With F1 = 2PR / (P + R); 0 where P + R is not positive."""
    both = precision + recall
    return Prf(precision, recall, 2 * precision * recall / both if both > 0 else 0.0)


def from_matches(matches: int, predicted: int, wanted: int) -> Prf:
    """From counts; all 0 where either side is empty."""
    if not predicted or not wanted:
        return Prf(0.0, 0.0, 0.0)
    return prf(matches / predicted, matches / wanted)


Over: TypeAlias = Literal["mean", "max"]

# prediction, references, context and the metric's own options → one score for each reference
Each: TypeAlias = Callable[..., list[float]]
# fills what is cheaper to work out for many documents at once
Prefetch: TypeAlias = Callable[[Sequence[TextDocument], Context], None]

_SHARED = {"part": ("answer", "thinking"), "over": ("mean", "max")}


@dataclass(frozen=True, slots=True)
class TextMetric:
    """A text metric with its options chosen; `part` says which half of a trace it looks at."""

    base: str
    each: Each
    part: str
    over: str
    options: Mapping[str, str]
    prefetch: Prefetch | None = None
    uses: Callable[[Context], str] | None = None

    def __call__(self, truth: Truth, prediction: Prediction, context: Context) -> float | None:
        """0 for a failure; None where no reference has the part."""
        if isinstance(prediction, Failure):
            return 0.0
        if not isinstance(truth, Traces) or not isinstance(prediction, Trace | Text):
            raise UserError(
                f'metric "{self.base}" compares a trace with reference traces, '
                f"not {name_of(type(prediction))} with {name_of(type(truth))}.",
                "use it for tasks of the kind describe",
            )
        given = [self._part_of(reference) for reference in truth.references]
        references = [document(text) for text in given if text.strip()]
        return self.score(document(self._part_of(prediction)), references, context) if references else None

    def score(self, prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> float:
        """Mean or max of the scores against each reference."""
        return combine(self.each(prediction, references, context), self.over)

    def label(self, context: Context) -> str:
        """What was computed, with the embedder or the corpus that was used, for a table's caption."""
        chosen = "".join(f", {key} {value}" for key, value in self.options.items())
        used = f", by {self.uses(context)}" if self.uses else ""
        return f"{self.base} of the {self.part}, {self.over} over references{chosen}{used}"

    def _part_of(self, trace: Trace | Text) -> str:
        if isinstance(trace, Text):
            return trace.text if self.part == "answer" else ""
        return trace.answer if self.part == "answer" else trace.thinking


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


def combine(scores: Sequence[float], over: str) -> float:
    """One number from the scores against each reference."""
    return max(scores) if over == "max" else sum(scores) / len(scores)


def bounded(cosine: float) -> float:
    """In 0…1: a failure counts as 0, so no answer may score less, and rounding must not give more than 1."""
    return min(1.0, max(0.0, cosine))


def compare(
    each: Each,
    prediction: str,
    references: Sequence[str],
    over: Over,
    context: Context | None = None,
    **options: str,
) -> float:
    """The score of plain strings; there must be at least one reference."""
    others = [TextDocument(text) for text in checked(references)]
    return combine(each(TextDocument(prediction), others, context or Context(), **options), over)


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


def describe(names: Iterable[str], context: Context) -> dict[str, str]:
    """What each metric computes and with which embedder, to be shown beside its score."""
    return {name: text_metric(name).label(context) for name in names}
