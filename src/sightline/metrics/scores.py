"""The result of scoring a run: a row for each attempt at each task, estimates over all and over every slice.

At the end: which failures and notes concern the metrics that a reader asked for; others were computed beside them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from sightline.display import Rows, Table, html_table
from sightline.english import counted
from sightline.errors import UserError, did_you_mean
from sightline.io.files import PathLike, csv_bytes, write_whole
from sightline.io.jsonl import read_json, write_json
from sightline.metrics.blind_rows import BaselineScore
from sightline.metrics.labels.corrected import Corrected, Worth
from sightline.metrics.statistics.repeats import Repeated
from sightline.plain_text import text_table
from sightline.types import Estimate, ScoreWarning, TaskKind

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCORES_FILE = "scores.json"
PER_TASK_FILE = "per_task.csv"
SCHEMA = 1
UNLABELLED = "unlabelled"

Status: TypeAlias = Literal["answered", "failed", "missing"]
_MISSING = "no prediction, counted as zero: "
_GRADES = ("rehearsal", "draft", "given", "checked", "warranted")
"""From low to high."""


@dataclass(frozen=True, slots=True)
class TaskScore:
    """One attempt at one task; a metric that is not defined for the task is None, one of another kind is absent.

    `outside_scope` counts returned pictures that were not to be searched; `unjudged` is the share without a judgment;
    `weight` is how much traffic the task stands for.
    """

    task_id: str
    attempt: int
    kind: TaskKind
    status: Status
    values: Mapping[str, float | None]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cluster: str | None = None
    failure: str | None = None
    outside_scope: int = 0
    unjudged: float | None = None
    weight: float = 1.0


class TaskScores(Rows[TaskScore]):
    """The rows of scores: iterate over them, or take some, such as `scores.tasks[:5]`."""

    __slots__ = ()

    def records(self) -> list[dict[str, Any]]:
        """The rows as flat records; a column for each label and each metric of any of them."""
        return _records(self, dict.fromkeys(name for row in self for name in row.values))

    def __str__(self) -> str:
        return text_table(*self._cells(), right=self._numeric())

    def _line(self) -> str:
        return f"scores of {counted(len(self), 'attempt')}"

    def _numeric(self) -> set[int]:
        metrics = {name for row in self for name in row.values}
        return {at for at, name in enumerate(self._cells()[0]) if name in metrics}

    def _cells(self) -> tuple[tuple[str, ...], list[list[str]]]:
        """The columns that say something: labels and metrics, what failed, and which attempt where there are more."""
        dull = {"outside_scope", "unjudged", *(() if any(row.attempt for row in self) else ("attempt",))}
        records = [{name: value for name, value in row.items() if name not in dull} for row in self.records()]
        head = [name for name in (records[0] if records else ()) if any(row[name] is not None for row in records)]
        return tuple(name.removeprefix("label:") for name in head), [[_cell(row[n]) for n in head] for row in records]

    def _blocks(self) -> Iterable[str]:
        return (html_table(*self._cells(), numeric=self._numeric()),) if self else ()


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:z.3f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class RecallAt:
    """Mean recall among the first `k` results."""

    k: int
    found: Estimate


@dataclass(frozen=True, slots=True)
class Abstention:
    """How often a system rightly returned nothing. A failure is neither an answer nor an abstention.

    `tasks`: all of them; `empty`: those with nothing to find; `abstained`: those answered with nothing; `right`: both;
    `false_answers`: something returned where there is nothing; `failures`: no prediction at all.
    Each measure is None when nothing is under its fraction line.
    """

    tasks: int
    empty: int
    abstained: int
    right: int
    false_answers: int
    failures: int

    @property
    def precision(self) -> float | None:
        """right / abstained."""
        return self.right / self.abstained if self.abstained else None

    @property
    def recall(self) -> float | None:
        """right / empty."""
        return self.right / self.empty if self.empty else None

    @property
    def f1(self) -> float | None:
        """2 · right / (abstained + empty)."""
        size = self.abstained + self.empty
        return 2 * self.right / size if size else None

    @property
    def false_answer_rate(self) -> float | None:
        """false_answers / empty."""
        return self.false_answers / self.empty if self.empty else None


@dataclass(frozen=True, slots=True)
class CheckedTasks:
    """What each task is worth by people's decisions on a draw of labels, by metric; tasks in the order of their ids.

    Two runs can be compared by it where `decisions`, a checksum of what was decided, is the same.
    """

    decisions: str
    metrics: Mapping[str, Worth]


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Table[TaskScore]):
    """A scored run: `scores["ndcg@10"]` is an estimate; `print(scores)` is the table of `sightline score`.

    It has a row for each attempt at each task: iterate over it, or over a part of `scores.tasks`, such as
    `scores.tasks[:5]`.

    `failures` counts attempts by kind of failure, a missing prediction among them; `undefined` counts the tasks that a
    metric leaves out; `unjudged` is the mean share of unjudged pictures among the first `unjudged_depth`, `condensed`
    the first metric of rankings without them, where there are any; `chance` is what a text metric gives to texts of
    unrelated tasks; `best_of` is the mean best@1, best@2, … of repeated runs; `recall` is, by kind of task, the recall
    of rankings at growing cut-offs; `of_tasks` is how many tasks the benchmark has, which is more than were scored
    where the run was limited. `grade` is that of the labels, `baselines` are systems that see no pixel on the same
    tasks, `warnings` say why the score deserves less trust than it looks, and `corrected` are scores freed of errors
    of generated labels by what people decided on a drawn sample; `checked` is what corrects differences. Files of
    older versions have none of them. `asked` are the metrics that tables show, all where it is empty; `attribution`
    says why an agent missed pictures. Neither of the two is in `scores.json`. `benchmark_folder` is where the
    benchmark was; `scores.json` has it relative to the run, so that others can look whether people have decided since.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    benchmark: str
    system: str
    metrics: tuple[str, ...]
    level: float
    seed: int
    tasks: tuple[TaskScore, ...]
    overall: Mapping[str, Estimate]
    by_label: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    checksum: str | None = None
    clustered_by: str | None = None
    repeated: Mapping[str, Repeated] = field(default_factory=dict)
    best_of: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    recall: Mapping[TaskKind, tuple[RecallAt, ...]] = field(default_factory=dict)
    chance: Mapping[str, float] = field(default_factory=dict)
    abstention: Abstention | None = None
    failures: Mapping[str, int] = field(default_factory=dict)
    undefined: Mapping[str, int] = field(default_factory=dict)
    unjudged: float | None = None
    unjudged_depth: int | None = None
    condensed: Mapping[str, Estimate] = field(default_factory=dict)
    outside_scope: int = 0
    unknown_tasks: tuple[str, ...] = ()
    of_tasks: int | None = None
    notes: tuple[str, ...] = ()
    grade: str | None = None
    warnings: tuple[ScoreWarning, ...] = ()
    baselines: tuple[BaselineScore, ...] = ()
    corrected: Mapping[str, Corrected] = field(default_factory=dict)
    checked: CheckedTasks | None = None

    asked: tuple[str, ...] = field(default=(), compare=False)
    attribution: Mapping[str, Any] | None = field(default=None, compare=False)
    benchmark_folder: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", TaskScores(self.tasks))

    def __getitem__(self, metric: str) -> Estimate:
        """The estimate of a metric over all tasks."""
        if metric not in self.overall:
            known = ", ".join(self.overall)
            raise UserError(
                f"{metric!r} is not among these scores.", did_you_mean(str(metric), self.overall, f"They hold {known}.")
            )
        return self.overall[metric]

    @property
    def shown(self) -> tuple[str, ...]:
        """The metrics that tables show: those that were asked for and have a value."""
        return tuple(name for name in self.asked or self.metrics if name in self.overall)

    def slices(self, label: str) -> Mapping[str, Mapping[str, Estimate]]:
        """The estimates by the values of a label of the tasks, and by metric."""
        if label not in self.by_label:
            raise UserError(f'no task has a label "{label}".', f"labels: {', '.join(self.by_label) or 'none'}")
        return self.by_label[label]

    @property
    def few_clusters(self) -> str | None:
        """Why no estimate over all tasks has an interval, where clusters are too few; None where they are enough."""
        return next((found.reason for found in self.overall.values() if found.reason is not None), None)

    def to_dict(self, *, tasks: bool = True) -> dict[str, Any]:
        """The content of `scores.json`; without the rows where only the estimates are wanted."""
        found = {"schema": SCHEMA, **without_empty_reasons(asdict(replace(self, tasks=(), attribution=None)))}
        for name in ("tasks", "asked", "attribution", "benchmark_folder"):
            del found[name]
        return found | {"tasks": [_plain(row) for row in self.tasks]} if tasks else found

    def to_json(self) -> dict[str, Any]:
        """What `score --json` prints: everything but the rows, and what an agent missed."""
        found = self.to_dict(tasks=False)
        del found["checked"]  # As long as the rows.
        return found | ({} if self.attribution is None else {"attribution": self.attribution})

    def records(self) -> list[dict[str, Any]]:
        """The rows as flat records: the columns of `per_task.csv`."""
        return _records(self.tasks, self.metrics, grade=self.grade)

    def table(self, by: str | None = None) -> str:
        """The table that `sightline score` prints; with the slices `by` a label."""
        from sightline.metrics.tables import scores_text

        return scores_text(self, failures_of(self, self.shown), by)

    def __str__(self) -> str:
        return self.table()

    def _rows(self) -> Sequence[TaskScore]:
        return self.tasks

    def _line(self) -> str:
        tasks = len({row.task_id for row in self.tasks})
        first = f", {self.shown[0]} {self.overall[self.shown[0]]}" if self.shown else ""
        clustered = f", clustered by {self.clustered_by}" if self.clustered_by else ""
        return f"{self.system} on {self.benchmark}{first}, {counted(tasks, 'task')}{clustered}"

    def _blocks(self) -> Iterable[str]:
        from sightline.metrics.tables import scores_blocks

        return scores_blocks(self, failures_of(self, self.shown), notes_of(self, self.shown))


def without_empty_reasons(content: Any) -> Any:
    """Plain content in which an estimate has a `reason` only where it has one."""
    if isinstance(content, dict):
        return {
            key: without_empty_reasons(value) for key, value in content.items() if key != "reason" or value is not None
        }
    return [without_empty_reasons(value) for value in content] if isinstance(content, list | tuple) else content


def _plain(row: TaskScore) -> dict[str, Any]:
    """A row as JSON holds it; `asdict` takes ten times as long."""
    plain: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(row)}
    if row.weight == 1:
        del plain["weight"]
    return plain | {"values": dict(row.values), "labels": {label: list(of) for label, of in row.labels.items()}}


def _records(rows: Sequence[TaskScore], metrics: Iterable[str], **same: str | None) -> list[dict[str, Any]]:
    """Flat records with the same columns for all; weights only where some differ."""
    labels, names = sorted({label for row in rows for label in row.labels}), tuple(metrics)
    weighted = any(row.weight != 1 for row in rows)
    return [_record(row, labels, names) | same | ({"weight": row.weight} if weighted else {}) for row in rows]


def _record(row: TaskScore, labels: Iterable[str], metrics: Iterable[str]) -> dict[str, Any]:
    return {
        "task": row.task_id,
        "attempt": row.attempt,
        "kind": row.kind,
        "status": row.status,
        "failure": row.failure,
        "cluster": row.cluster,
        "outside_scope": row.outside_scope,
        "unjudged": row.unjudged,
        **{f"label:{label}": "|".join(row.labels.get(label, ())) for label in labels},
        **{metric: row.values.get(metric) for metric in metrics},
    }


def write_scores(scores: Scores, run_folder: PathLike) -> None:
    """Write `scores.json` and `per_task.csv` into the folder of the run, each whole or not at all."""
    folder, content = Path(run_folder), scores.to_dict()
    if scores.benchmark_folder is not None:
        with suppress(ValueError):  # On another drive.
            content["benchmark_folder"] = Path(os.path.relpath(scores.benchmark_folder, folder)).as_posix()
    records = scores.records()
    columns = () if records else ("task", "attempt", "kind", "status", *scores.metrics)
    write_whole(folder / PER_TASK_FILE, csv_bytes(records, columns))
    write_json(folder / SCORES_FILE, content)


def read_scores(run_folder: PathLike) -> Scores:
    """The scores that an earlier `write_scores` left with the run."""
    path = Path(run_folder) / SCORES_FILE
    if not path.parent.is_dir():
        raise UserError(f"There is no run {run_folder}.", "Check the path.")
    if not path.is_file():
        raise UserError(f"{run_folder} has no {SCORES_FILE}.", f"score it first: sightline score BENCH {run_folder}")
    found = scores_from(read_json(path), where=str(path))
    where = found.benchmark_folder
    return found if where is None else replace(found, benchmark_folder=str((path.parent / where).resolve()))


def lowest_grade(grades: Iterable[str | None]) -> str | None:
    """The lowest of some grades; None where one is missing. `warranted` depends on the system, so grades differ."""
    found = list(grades)
    return None if None in found else min(found, key=lambda grade: _GRADES.index(grade or ""), default=None)


def scores_from(content: Any, where: str = "scores") -> Scores:
    """The inverse of `Scores.to_dict`; `where` names the source in an error."""
    from pydantic import ValidationError

    again = "score the run again: sightline score BENCH RUN"
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise UserError(f"{where} is not in this version's form (schema {SCHEMA}).", again)
    given = {name: value for name, value in content.items() if name != "schema"}
    try:
        return _form().validate_python(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{where}, field {place}: {first['msg']}.", again) from error


@cache
def _form() -> TypeAdapter[Scores]:
    """Made once: that takes longer than to read scores by it."""
    from pydantic import TypeAdapter

    return TypeAdapter(Scores)


def missing_note(rows: Iterable[TaskScore], tasks: int) -> str | None:
    """How many tasks have no prediction; None where all have one."""
    missing = sum(row.status == "missing" for row in rows)
    return f"{_MISSING}{missing} of {tasks} tasks" if missing else None


def failures_of(scores: Scores, metrics: Collection[str]) -> dict[str, int]:
    """Failures by their kind, a missing prediction among them, of the tasks that the metrics score."""
    kinds = (row.failure for row in _rows(scores, metrics) if row.failure is not None)
    return dict(sorted(Counter(kinds).items()))


def notes_of(scores: Scores, metrics: Collection[str]) -> tuple[str, ...]:
    """The notes without those about other metrics, and about tasks that only others score."""
    rows = _rows(scores, metrics)
    others = tuple(f"{name} is " for name in scores.metrics if name not in metrics)
    kept = (
        missing_note(rows, len({row.task_id for row in rows})) if note.startswith(_MISSING) else note
        for note in scores.notes
        if not note.startswith(others)
    )
    return tuple(note for note in kept if note is not None)


def _rows(scores: Scores, metrics: Collection[str]) -> list[TaskScore]:
    return [row for row in scores.tasks if any(name in row.values for name in metrics)]
