"""What a text metric is: which part of a trace it looks at, and how several references become one number.

How one is declared is in `metrics.text.similarity`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sightline.class_names import name_of
from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.types import Failure, Prediction, Text, Trace, Traces, Truth

if TYPE_CHECKING:
    from sightline.metrics.text.document import TextDocument

# prediction, references, context and the metric's own options → one score for each reference
Each: TypeAlias = Callable[..., list[float]]
# fills what is cheaper to work out for many documents at once
Prefetch: TypeAlias = Callable[["Sequence[TextDocument]", Context], None]


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
        from sightline.metrics.text.document import document  # Here: scores of rankings do without it.

        references = [document(text) for text in references_with(truth, self.part)]
        return self.score(document(part_of(prediction, self.part)), references, context) if references else None

    def score(self, prediction: TextDocument, references: Sequence[TextDocument], context: Context) -> float:
        """Mean or max of the scores against each reference."""
        return combine(self.each(prediction, references, context), self.over)

    def label(self, context: Context) -> str:
        """What was computed, with the embedder or the corpus that was used, for a table's caption."""
        chosen = "".join(f", {key} {value}" for key, value in self.options.items())
        used = f", by {self.uses(context)}" if self.uses else ""
        return f"{self.base} of the {self.part}, {self.over} over references{chosen}{used}"


def combine(scores: Sequence[float], over: str) -> float:
    """One number from the scores against each reference."""
    return max(scores) if over == "max" else sum(scores) / len(scores)


def part_of(said: Trace | Text, part: str) -> str:
    """The half of a trace that a text metric looks at; plain text is all answer."""
    if isinstance(said, Text):
        return said.text if part == "answer" else ""
    return said.answer if part == "answer" else said.thinking


def references_with(truth: Traces, part: str) -> list[str]:
    """The references of a task that have that part."""
    texts = [part_of(trace, part) for trace in truth.references]
    return [text for text in texts if text.strip()]
