"""The file of what no reply got right: written for people, who mend it in place, and read back from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sightline.io.jsonl import LineError, dump, read_jsonl, write_jsonl
from sightline.models.json_schema import json_values
from sightline.reason.questions import TaskQuestion, shown_in
from sightline.reason.steps.annotation import AnnotatedSteps, Reasoning, check_reply, wanted
from sightline.types import Json, Part

REVIEW = "steps-review.jsonl"
"""Beside the benchmark; mended lines come back by `--reviewed`."""
LONGEST = 20_000
"""Characters that are kept of a reply that does not fit: five steps of the longest."""


@dataclass(frozen=True, slots=True)
class StepReview:
    """What people made of replies: those that are in order by now, and those that still have faults.

    `rows` are the lines without a reply as they stand: where nobody is asked again, they stay so.
    """

    mended: Mapping[str, AnnotatedSteps] = field(default_factory=dict)
    waiting: Mapping[str, AnnotatedSteps] = field(default_factory=dict)
    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_reviewed(path: Path, questions: Sequence[TaskQuestion]) -> StepReview:
    """The replies of a review, checked as those of a model are."""
    known = {question.task.id: question for question in questions}
    adapter, found, rows = wanted().adapter, dict[str, AnnotatedSteps](), dict[str, Mapping[str, Any]]()
    for number, row in read_jsonl(path):
        task = row.get("task") if isinstance(row, dict) else None
        if task not in known:
            raise LineError(path, number, f"there is no task {task!r} to give steps to", "name one of the benchmark")
        if row.get("reply") is None:
            rows[task] = row
            continue
        try:
            said = adapter.validate_json(dump(row["reply"]))
        except ValidationError as error:
            wrong = error.errors()[0]
            place = ".".join(map(str, ("reply", *wrong["loc"])))
            raise LineError(path, number, f"{place}: {wrong['msg']}", "mend it, or leave the line out") from error
        found[task] = check_reply(known[task], said)
    return StepReview(
        {task: one for task, one in found.items() if not one.faults},
        {task: one for task, one in found.items() if one.faults},
        rows,
    )


def rows_of(path: Path) -> dict[str, Mapping[str, Any]]:
    """The lines of a review that was written before, by task; none where there is no such file."""
    rows = (row for _, row in read_jsonl(path)) if path.is_file() else ()
    return {row["task"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("task"), str)}


def write_review(
    path: Path,
    questions: Mapping[str, TaskQuestion],
    left: Mapping[str, AnnotatedSteps],
    as_it_was: Mapping[str, Mapping[str, Any]],
) -> None:
    """One line for each question that is left, `as_it_was` where nothing is known of it now; no file where none is."""
    if left:
        old = {name: row for name, row in as_it_was.items() if left.get(name) == AnnotatedSteps()}
        write_jsonl(path, (old.get(name) or _row(questions[name], one) for name, one in left.items()))
    else:
        path.unlink(missing_ok=True)


def _row(question: TaskQuestion, one: AnnotatedSteps) -> dict[str, Any]:
    """What was asked, what is wrong, what to do, and the last reply, to be mended in place."""
    task, numbers = question.task, {ref: place for place, ref in enumerate(shown_in(question.task), 1)}

    def words(parts: Iterable[Part]) -> str:
        return "".join(part if isinstance(part, str) else f"[picture {numbers[part]}]" for part in parts)

    return {
        "task": task.id,
        "faults": [asdict(fault) for fault in one.faults],
        "failure": None if one.failure is None else {"kind": one.failure.kind, "message": one.failure.message},
        "next": _next(one),
        "calls": one.calls,
        "question": words(task.prompt),
        "options": {option.key: words(option.content) for option in task.options},
        "pictures": [ref.id for ref in numbers],
        "reply": one.reply,
        **({"said": _kept(one.said)} if one.said and one.reply is None else {}),
    }


def _next(one: AnnotatedSteps) -> str:
    """What a person does about it."""
    if one.unasked:
        return "mend the question itself in the benchmark, and run steps on it again: nobody was asked"
    if one.reply is not None:
        return 'mend "reply"'
    if one.said:
        return 'mend what is in "said" until it fits the schema (docs/steps.md), and move it to "reply"'
    return 'run steps again, or write a "reply" (docs/steps.md)'


def _kept(said: str) -> Json:
    """The JSON object that a reply has, whatever is wrong with it; else its words, cut where they get long."""
    if len(said) > LONGEST:
        return f"{said[:LONGEST]}…"
    known = {one.name for one in fields(Reasoning)}  # An object within a broken one is not the reply.
    return next((value for value in json_values(said) if isinstance(value, dict) and known & {*value}), said)
