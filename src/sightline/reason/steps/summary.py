"""What came of annotating questions with steps, and of checking the steps that a benchmark has.

First the file of what no reply got right: written for people, who mend it in place, and read back from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sightline.calls.ledger import LedgerRow
from sightline.display import Shown, html_table
from sightline.english import counted
from sightline.errors import FoundError
from sightline.io.jsonl import LineError, dump, read_jsonl, write_jsonl
from sightline.models.json_schema import json_values
from sightline.reason.questions import TaskQuestion
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
            raise LineError(path, number, f"{place}: {wrong['msg']}", "correct it, or leave the line out") from error
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
    task, numbers = question.task, {ref: place for place, ref in enumerate(question.task.shown, 1)}

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
        return "correct the question itself in the benchmark, and run steps on it again: nobody was asked"
    if one.reply is not None:
        return 'mend "reply"'  # As in the files of the first versions, which tests compare.
    if one.said:
        return 'correct what is in "said" until it fits the schema (docs/steps.md), and move it to "reply"'
    return 'run steps again, or write a "reply" (docs/steps.md)'


def _kept(said: str) -> Json:
    """The JSON object that a reply has, whatever is wrong with it; else its words, cut where they get long."""
    if len(said) > LONGEST:
        return f"{said[:LONGEST]}…"
    known = {one.name for one in fields(Reasoning)}  # An object within a broken one is not the reply.
    return next((value for value in json_values(said) if isinstance(value, dict) and known & {*value}), said)


_SHOWN = 5


@dataclass(frozen=True, slots=True, repr=False)
class StepsSummary(Shown):
    """What became of the questions: `annotated` now, `reviewed` by people, `kept` as they were, `left` to review.

    Of the annotated, `repaired` took more than one reply, and for `told` ones the model knew the answer. Of the left,
    `unasked` ones are wrong themselves. `faults` counts the questions that are left by what is wrong with them;
    `kept_faults` the faults of those that were kept.
    """

    folder: Path
    tasks: int
    annotated: int
    repaired: int
    told: int
    reviewed: int
    kept: int
    left: int
    unasked: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    kept_faults: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0
    usd: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints; `usd` is null where a price is not known, and `usd_at_least` what is."""
        usd = None if self.unpriced else self.usd
        return {**asdict(self), "folder": str(self.folder), "usd": usd, "usd_at_least": self.usd}

    def _line(self) -> str:
        return f"{self.annotated:,} of {counted(self.tasks, 'question')} annotated, {self.left:,} left"

    def __str__(self) -> str:
        """What has steps now, what is left, and what it cost."""
        lines = []
        if self.calls or not self.reviewed:
            lines.append(
                f"  {self.annotated:,} of {counted(self.tasks, 'question')} annotated: {self.repaired:,} after repair, "
                f"{self.told:,} knowing the answer"
            )
        if self.reviewed:
            lines.append(f"  {self.reviewed:,} taken from the review")
        if self.kept:
            wrong = f", with faults: {listed(self.kept_faults)}" if self.kept_faults else ""
            lines.append(f"  {self.kept:,} kept as they were{wrong}")
        if self.left:
            why = listed({**self.faults, **self.failures})
            lines.append(f"  {self.left:,} left to people" + (f": {why}" if why else ""))
        if self.calls:
            cost = LedgerRow(usd=self.usd, unpriced=self.unpriced).money
            lines.append(f"  {counted(self.calls, 'call')} · cost {cost} · {self.seconds:.1f} s")
        return "\n".join([*lines, f"  → {self.folder}", *self._next()])

    def _next(self) -> Iterator[str]:
        """What people do about the questions that are left: some are wrong themselves, of others the reply is."""
        review = self.folder / REVIEW
        if self.unasked:
            many = counted(self.unasked, "question")
            yield f"  next: correct {many} in the benchmark (not asked; {review} says what is wrong), and run it again"
        if self.left > self.unasked:
            again = f"sightline steps {self.folder} --reviewed {review} --out {self.folder}"
            yield f"  next: correct the replies in {review}; then {again}"


@dataclass(frozen=True, slots=True, repr=False)
class CheckedSteps(Shown):
    """The steps that a benchmark has: how many tasks have all five, and what is wrong with them."""

    tasks: int
    complete: int
    faults: Mapping[str, tuple[str, ...]]
    "Task → faults in words."
    kinds: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """What `--check --json` prints."""
        return {"tasks": self.tasks, "complete": self.complete, "kinds": self.kinds, "faults": self.faults}

    def _line(self) -> str:
        return f"{self.complete:,} of {counted(self.tasks, 'question')} complete, {len(self.faults):,} with faults"

    def _blocks(self) -> Iterable[str]:
        if self.faults:
            yield html_table(("task", "faults"), [(task, "; ".join(words)) for task, words in self.faults.items()])

    def __str__(self) -> str:
        """How many questions have all steps, and how many of those are in order."""
        return (
            f"  {self.complete:,} of {self.tasks:,} questions have all five steps; "
            f"{self.complete - len(self.faults):,} of these are in order"
        )

    def raise_if_faulty(self) -> None:
        """Raise `FoundError` with the first faults where steps have any."""
        if self.faults:
            shown = [f"{task}: {faults[0]}" for task, faults in list(self.faults.items())[:_SHOWN]]
            lines = "\n  ".join(shown)
            more = f"\n  … and {len(self.faults) - _SHOWN:,} more" if len(self.faults) > _SHOWN else ""
            raise FoundError(f"steps with faults ({listed(self.kinds)}):\n  {lines}{more}")


def listed(counts: Mapping[str, int]) -> str:
    """Counts by name, in words."""
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
