"""Two chains of reasoning held against each other: what belongs together, and what contradicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sightline.score.answers.reply import without_thinking
from sightline.score.steps.align import THRESHOLD, Alignment, Similarity, align_steps, token_f1
from sightline.score.steps.contradictions import find_contradictions
from sightline.score.steps.split import split_steps
from sightline.types import Choice, Prediction, Step, Text, Trace


@dataclass(frozen=True, slots=True)
class Compared:
    """Reference and predicted steps, which belong together, and how many conflicts each pair has."""

    alignment: Alignment
    conflicts: tuple[int, ...]


def predicted_steps(prediction: Prediction) -> tuple[Step, ...]:
    """The steps of a prediction: those of a choice, else read from the reply, or from its thinking if that has more."""
    if isinstance(prediction, Choice):
        return prediction.steps
    if isinstance(prediction, Trace):
        return (*split_steps(prediction.thinking), *split_steps(prediction.answer))
    if not isinstance(prediction, Text):
        return ()
    shown = split_steps(without_thinking(prediction.text).text)
    return shown if len(shown) > 1 else max(shown, split_steps(prediction.text), key=len)


def compare_steps(
    reference: Sequence[Step],
    predicted: Sequence[Step],
    similarity: Similarity = token_f1,
    threshold: float = THRESHOLD,
) -> Compared:
    """Align, then look for contradictions between the aligned."""
    alignment = align_steps(reference, predicted, similarity, threshold)
    conflicts = [
        len(find_contradictions(reference[pair.reference].text, predicted[pair.predicted].text))
        for pair in alignment.pairs
    ]
    return Compared(alignment, tuple(conflicts))
