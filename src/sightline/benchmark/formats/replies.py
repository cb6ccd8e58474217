"""What a system said, as the text that other tools keep of it, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from sightline.benchmark.formats.base import Complaints, FormatOptions, Imported
from sightline.benchmark.formats.retrieval import some
from sightline.english import counted
from sightline.plain_text import cut
from sightline.types import (
    Answer,
    Attempt,
    Choice,
    Failure,
    Json,
    LedgerEntry,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Run,
    Task,
    Text,
    Trace,
    Traces,
    Truth,
)
from sightline.types.truth import relevant_pictures

_FORMS: Mapping[str, type[Prediction]] = {
    "ranking": Ranking,
    "pictures": PictureSet,
    "text": Text,
    "choice": Choice,
    "trace": Trace,
    "failure": Failure,
}
_NAMES = {form: name for name, form in _FORMS.items()}
_THINKING = re.compile(r"\s*<think(?:ing)?>(?P<thinking>.*?)</think(?:ing)?>(?P<answer>.*)", re.DOTALL)
_SHOWN = 60


def reply_text(prediction: Prediction) -> str:
    """A prediction as a model would have written it; a failure wrote nothing."""
    match prediction:
        case Text(text):
            return text
        case Choice(option):
            return option or ""
        case Trace(thinking, answer):
            return f"<think>\n{thinking}\n</think>\n\n{answer}" if thinking else answer
        case Ranking(pictures) | PictureSet(pictures):
            return orjson.dumps(list(pictures)).decode()
        case Failure():
            return ""


def read_reply(text: str, task: Task | None) -> Prediction:
    """What a reply says to a task: the option, answer, trace or pictures; plain text if the task is not known."""
    match task.kind if task is not None else None:
        case "choose":
            from sightline.metrics.choices.parse import parse_choice  # Here: trajectories are read without it.

            assert task is not None

            return parse_choice(text, task.options)
        case "describe":
            return _trace(text)
        case "rank" | "select" as kind:
            return _pictures(text, kind)
        case _:
            return Text(text)


def _trace(text: str) -> Trace:
    found = _THINKING.fullmatch(text)
    return Trace(found["thinking"].strip(), found["answer"].strip()) if found else Trace("", text)


def _pictures(text: str, kind: str) -> Ranking | PictureSet | Failure:
    try:
        ids = orjson.loads(text)
    except orjson.JSONDecodeError:
        ids = None
    if not isinstance(ids, list) or not all(isinstance(name, str) and name for name in ids):
        return Failure("unreadable", f"expected a JSON list of picture ids, got {cut(text, _SHOWN)!r}")
    return Ranking(tuple(ids)) if kind == "rank" else PictureSet(tuple(ids))


def right_replies(truth: Truth | None) -> list[str]:
    """What would be right to say: the option, the answer in all its forms, the references, or the pictures."""
    match truth:
        case Choice(option):
            return [] if option is None else [option]
        case Answer(text, aliases, translations):
            return list(dict.fromkeys((text, *aliases, *translations.values())))
        case Traces(references):
            return [trace.answer for trace in references]
        case Relevance() | PictureSet():
            return list(relevant_pictures(truth))
        case None:
            return []


def to_exact(prediction: Prediction) -> dict[str, Any]:
    """All of a prediction as JSON, for a place that other tools pass over."""
    form = type(prediction)
    return {_NAMES[form]: TypeAdapter(form).dump_python(prediction, mode="json")}


def from_exact(value: object) -> Prediction | None:
    """The inverse of `to_exact`; None for anything else."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    ((name, fields),) = value.items()
    if name not in _FORMS:
        return None
    try:
        prediction: Prediction = TypeAdapter(_FORMS[name]).validate_python(fields)
    except ValidationError:
        return None
    return prediction


class AttemptReader:
    """The attempts of a run as they are read; a second one of the same task and number is refused."""

    def __init__(self, options: FormatOptions, complaints: Complaints) -> None:
        self._options = options
        self._complaints = complaints
        self._known: dict[tuple[str, int], Attempt] = {}
        self._tasks: dict[str, None] = {}

    def task(self, name: str) -> Task | None:
        """The task of the benchmark that the run was made on, if both are known."""
        benchmark = self._options.benchmark
        return None if benchmark is None else benchmark.tasks.get(name)

    def add(self, attempt: Attempt, file: object, line: int | None, field: str) -> bool:
        """Take in an attempt; False if it is beyond the limit, or there already."""
        key = attempt.task_id, attempt.number
        if key in self._known:
            again = f'task "{attempt.task_id}" has attempt {attempt.number} already'
            self._complaints.add(str(file), line, field, again)
            return False
        limit = self._options.limit
        if limit is not None and attempt.task_id not in self._tasks and len(self._tasks) >= limit:
            return False
        self._tasks[attempt.task_id] = None
        self._known[key] = attempt
        return True

    def imported(
        self,
        *,
        system: str,
        benchmark: str,
        ledger: Iterable[LedgerEntry] = (),
        parameters: Mapping[str, Json] | None = None,
        versions: Mapping[str, str] | None = None,
        warnings: Sequence[str] = (),
    ) -> Imported:
        """The run, named after the benchmark that was given, else after the one that the file names."""
        made_on = self._options.benchmark
        strange = [] if made_on is None else [name for name in self._tasks if name not in made_on.tasks]
        said = [f"{counted(len(strange), 'task is', 'tasks are')} not in the benchmark: {some(strange)}"]
        run = Run(
            benchmark=benchmark if made_on is None else made_on.name,
            system=self._options.name or system,
            attempts=tuple(self._known.values()),
            benchmark_checksum=None if made_on is None else made_on.checksum,
            parameters=parameters or {},
            versions=versions or {},
            ledger=tuple(ledger),
        )
        return Imported(run, tuple(self._complaints.problems), (*warnings, *(said if strange else ())))
