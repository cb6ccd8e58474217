"""A line of `truth.jsonl`: the task, the form of its truth, and the fields of that form."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import Field, Tag

from sightline.benchmark.record_fields import (
    Id,
    StepRecord,
    StrictRecord,
    TraceRecord,
    form,
    from_steps,
    ordered,
    to_steps,
)
from sightline.types import Answer, Choice, PictureSet, Relevance, Trace, Traces, Truth

_NAMES = ("relevance", "pictures", "answer", "choice", "traces")


class TaskTruth(NamedTuple):
    """What is true of one task."""

    task: str
    truth: Truth


class RelevanceRecord(StrictRecord):
    """`relevance`: the grade of each judged picture."""

    task: Id
    form: Literal["relevance"]
    grades: dict[Id, Annotated[int, Field(ge=0)]]

    def to_truth(self) -> Relevance:
        return Relevance(self.grades)


class PictureSetRecord(StrictRecord):
    """`pictures`: exactly these."""

    task: Id
    form: Literal["pictures"]
    pictures: tuple[Id, ...]

    def to_truth(self) -> PictureSet:
        return PictureSet(self.pictures)


class AnswerRecord(StrictRecord):
    """`answer`: the text, other right forms of it, and how exact a number must be."""

    task: Id
    form: Literal["answer"]
    text: str
    aliases: tuple[str, ...] = ()
    translations: dict[str, str] = Field({})
    unit: str | None = None
    tolerance: Annotated[float, Field(ge=0)] | None = None
    steps: tuple[StepRecord, ...] = ()

    def to_truth(self) -> Answer:
        return Answer(self.text, self.aliases, self.translations, self.unit, self.tolerance, to_steps(self.steps))


class ChoiceRecord(StrictRecord):
    """`choice`: the key of the right option, and the steps that lead to it."""

    task: Id
    form: Literal["choice"]
    option: str | None
    status: str = "given"
    steps: tuple[StepRecord, ...] = ()

    def to_truth(self) -> Choice:
        return Choice(self.option, self.status, to_steps(self.steps))


class TracesRecord(StrictRecord):
    """`traces`: one or more references."""

    task: Id
    form: Literal["traces"]
    references: tuple[TraceRecord, ...]

    def to_truth(self) -> Traces:
        return Traces(tuple(trace.to(Trace) for trace in self.references))


AnyForm: TypeAlias = RelevanceRecord | PictureSetRecord | AnswerRecord | ChoiceRecord | TracesRecord

FORMS = (RelevanceRecord, PictureSetRecord, AnswerRecord, ChoiceRecord, TracesRecord)


def _form_of(value: Any) -> str | None:
    name = value.get("form") if isinstance(value, dict) else getattr(value, "form", None)
    return f"<{name}>" if name in _NAMES else None


TruthRecord: TypeAlias = Annotated[
    Annotated[RelevanceRecord, Tag("<relevance>")]
    | Annotated[PictureSetRecord, Tag("<pictures>")]
    | Annotated[AnswerRecord, Tag("<answer>")]
    | Annotated[ChoiceRecord, Tag("<choice>")]
    | Annotated[TracesRecord, Tag("<traces>")],
    form(_form_of, f'an object whose "form" is one of {", ".join(_NAMES)}'),
]


def to_task_truth(record: AnyForm) -> TaskTruth:
    """A line of the file, as it is in memory."""
    return TaskTruth(record.task, record.to_truth())


def from_task_truth(row: TaskTruth) -> AnyForm:
    """The truth of one task, as it is in the file."""
    match row.truth:
        case Relevance(grades):
            return RelevanceRecord(task=row.task, form="relevance", grades=ordered(grades))
        case PictureSet(pictures):
            return PictureSetRecord(task=row.task, form="pictures", pictures=pictures)
        case Answer() as answer:
            translations, steps = ordered(answer.translations), from_steps(answer.steps)
            return AnswerRecord.of(answer, task=row.task, form="answer", translations=translations, steps=steps)
        case Choice(option, status, steps):
            return ChoiceRecord(task=row.task, form="choice", option=option, status=status, steps=from_steps(steps))
        case Traces(references):
            return TracesRecord(task=row.task, form="traces", references=tuple(map(TraceRecord.of, references)))
