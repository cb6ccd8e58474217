"""One record per line of a RUN folder, and the ways between records and the nouns of `sightline.types`."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias, cast

from pydantic import ConfigDict, Field, Tag

from sightline.benchmark.record_fields import (
    Extra,
    Id,
    StepRecord,
    StrictRecord,
    TraceRecord,
    form,
    from_steps,
    ordered,
    to_steps,
)
from sightline.benchmark.records import Sha256
from sightline.benchmark.table import CURRENT
from sightline.types import Attempt, Choice, Failure, LedgerEntry, PictureSet, Ranking, Run, Text, Trace

Count: TypeAlias = Annotated[int, Field(ge=0)]


class FileSum(StrictRecord):
    """The checksum of a file of that size; of a folder, over the checksums and names of so many files."""

    size: Count
    sha256: Sha256


class RunRecord(StrictRecord):
    """`run.json`: on what was run, which system, and how."""

    model_config = ConfigDict(populate_by_name=True)

    schema_version: int = Field(alias="schema", ge=CURRENT, le=CURRENT)
    benchmark: Id
    benchmark_checksum: Sha256 | None = None
    system: Id
    parameters: Extra = Field({})
    versions: dict[str, str] = Field({})
    seed: int | None = None
    limits: Extra = Field({})
    growing: bool = False  # It was begun again and not finished: files may be longer than their checksums say.
    checksums: dict[str, FileSum] = Field({})

    def to_run(self, attempts: tuple[Attempt, ...] = (), ledger: tuple[LedgerEntry, ...] = ()) -> Run:
        fields = {**vars(self)}
        for name in ("schema_version", "growing", "checksums"):
            del fields[name]
        return Run(attempts=attempts, ledger=ledger, **fields)

    @classmethod
    def from_run(cls, run: Run) -> RunRecord:
        return cls.of(
            run,
            schema_version=CURRENT,
            parameters=ordered(run.parameters),
            versions=ordered(run.versions),
            limits=ordered(run.limits),
            growing=False,
            checksums={},
        )


class AttemptRecord(StrictRecord):
    """A line of `predictions.jsonl`: which task, which attempt, and one form of prediction."""

    task_id: Id
    attempt: Count | None = None  # Left out it means 0; we always write it, which a default of 0 would not.


def _ranking_form(value: object) -> str | None:
    if not isinstance(value, list | tuple):
        return None
    return "<pairs>" if value and isinstance(value[0], list | tuple) else "<ids>"


class RankingRecord(AttemptRecord):
    """`ranking`: picture ids, best first; `[id, score]` pairs where the system gave scores."""

    ranking: Annotated[
        Annotated[tuple[Id, ...], Tag("<ids>")] | Annotated[tuple[tuple[Id, float], ...], Tag("<pairs>")],
        form(_ranking_form, "a list of picture ids or of [id, score] pairs"),
    ]

    def to_prediction(self) -> Ranking:
        if not self.ranking or isinstance(self.ranking[0], str):
            return Ranking(cast("tuple[str, ...]", self.ranking))
        ids, scores = zip(*self.ranking, strict=True)  # In C: a run may hold millions of pairs.
        return Ranking(ids, scores)


class SelectionRecord(AttemptRecord):
    """`pictures`: exactly these."""

    pictures: tuple[Id, ...]

    def to_prediction(self) -> PictureSet:
        return PictureSet(self.pictures)


class TextRecord(AttemptRecord):
    """`text`: a free answer."""

    text: str

    def to_prediction(self) -> Text:
        return Text(self.text)


class OptionChoiceRecord(AttemptRecord):
    """`option`: the key of the chosen option (null when none could be read), how it was read, and the steps."""

    option: str | None
    status: str = "given"
    steps: tuple[StepRecord, ...] = ()

    def to_prediction(self) -> Choice:
        return Choice(self.option, self.status, to_steps(self.steps))


class TraceAttemptRecord(AttemptRecord):
    """`trace`: thinking and answer."""

    trace: TraceRecord

    def to_prediction(self) -> Trace:
        return self.trace.to(Trace)


class FailureRecord(StrictRecord):
    """Why there is no answer."""

    kind: Id
    message: str
    retryable: bool = False


class FailedRecord(AttemptRecord):
    """`failure`: no answer, and why."""

    failure: FailureRecord

    def to_prediction(self) -> Failure:
        return self.failure.to(Failure)


AnyForm: TypeAlias = (
    RankingRecord | SelectionRecord | TextRecord | OptionChoiceRecord | TraceAttemptRecord | FailedRecord
)

FORMS = (RankingRecord, SelectionRecord, TextRecord, OptionChoiceRecord, TraceAttemptRecord, FailedRecord)
_NAMES = ("ranking", "pictures", "text", "option", "trace", "failure")


def _form_of(value: Any) -> str | None:
    """The one form that is there; none, or more than one, is an error."""
    fields = value if isinstance(value, dict) else getattr(type(value), "model_fields", ())
    found = [name for name in _NAMES if name in fields]
    return f"<{found[0]}>" if len(found) == 1 else None


PredictionRecord: TypeAlias = Annotated[
    Annotated[RankingRecord, Tag("<ranking>")]
    | Annotated[SelectionRecord, Tag("<pictures>")]
    | Annotated[TextRecord, Tag("<text>")]
    | Annotated[OptionChoiceRecord, Tag("<option>")]
    | Annotated[TraceAttemptRecord, Tag("<trace>")]
    | Annotated[FailedRecord, Tag("<failure>")],
    form(_form_of, f"an object with exactly one of {', '.join(_NAMES)}"),
]


def to_attempt(record: AnyForm) -> Attempt:
    """A line of the file, as it is in memory."""
    return Attempt(record.task_id, record.to_prediction(), record.attempt or 0)


def from_attempt(attempt: Attempt) -> AnyForm:
    """One attempt, as it is in the file."""
    task, number = attempt.task_id, attempt.number
    match attempt.prediction:
        case Ranking(pictures, scores):
            ranking = pictures if scores is None else tuple(zip(pictures, scores, strict=True))
            return RankingRecord(task_id=task, attempt=number, ranking=ranking)
        case PictureSet(pictures):
            return SelectionRecord(task_id=task, attempt=number, pictures=pictures)
        case Text(text):
            return TextRecord(task_id=task, attempt=number, text=text)
        case Choice(option, status, steps):
            return OptionChoiceRecord(
                task_id=task, attempt=number, option=option, status=status, steps=from_steps(steps)
            )
        case Trace() as trace:
            return TraceAttemptRecord(task_id=task, attempt=number, trace=TraceRecord.of(trace))
        case Failure() as failure:
            return FailedRecord(task_id=task, attempt=number, failure=FailureRecord.of(failure))


class LedgerRecord(StrictRecord):
    """A line of `ledger.jsonl`: one paid or timed call."""

    stage: Id
    model: Id
    task_id: Id | None = None
    tokens_in: Count = 0
    tokens_cached: Count = 0
    tokens_out: Count = 0
    tokens_reasoning: Count = 0
    tokens_image: Count = 0
    usd: Annotated[float, Field(ge=0)] | None = None
    seconds: Annotated[float, Field(ge=0)] | None = None
    ok: bool = True
    from_journal: bool = False
    key: Sha256 | None = None
