"""The truth as its own prediction: what the metrics give at best on this benchmark."""

from __future__ import annotations

from sightline.class_names import known_as
from sightline.runs.systems.base import ALL_KINDS, Kind, Options, Outcome, SystemSetting
from sightline.types import (
    Answer,
    Benchmark,
    Choice,
    Failure,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Task,
    Text,
    Trace,
    Traces,
    Truth,
)
from sightline.types.truth import relevant_pictures


class OracleOptions(Options):
    """None."""


@known_as("Oracle")
class Oracle:
    """Says what is true; no system can do better."""

    kinds = ALL_KINDS

    def __init__(self, options: OracleOptions, setting: SystemSetting) -> None:
        self._truth = setting.truth

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome:
        """The truth of the task, in the form of a prediction."""
        truth = self._truth.get(task.id)
        unknown = Failure("no-truth", "the benchmark does not say what is true of this task")
        return Outcome(unknown if truth is None else as_said(truth), usd=0.0)


def as_said(truth: Truth) -> Prediction:
    """A truth as a system would say it; of graded pictures the best first, those with grade 0 left out."""
    match truth:
        case Relevance():
            return Ranking(relevant_pictures(truth))
        case Answer(text):
            return Text(text)
        case Traces(references):
            return references[0] if references else Trace("", "")
        case PictureSet() | Choice():
            return truth


KINDS = {"oracle": Kind("oracle", "the truth itself: the best that the metrics can give", OracleOptions, Oracle)}
