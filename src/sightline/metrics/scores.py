"""The result of scoring a run: a row for each attempt at each task, estimates over all and over every slice.

At the end: which failures and notes concern the metrics that a reader asked for; others were computed beside them.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from sightline.errors import MissingExtraError, UserError
from sightline.io.files import PathLike, write_whole
from sightline.io.jsonl import read_json, write_json
from sightline.metrics.sets import Abstention
from sightline.metrics.statistics import Repeated
from sightline.types import Estimate, TaskKind

if TYPE_CHECKING:
    import pandas

SCORES_FILE = "scores.json"
PER_TASK_FILE = "per_task.csv"
SCHEMA = 1
UNLABELLED = "unlabelled"

Status: TypeAlias = Literal["answered", "failed", "missing"]


@dataclass(frozen=True, slots=True)
class TaskScore:
    """One attempt at one task; a metric that is not defined for the task is None, one of another kind is absent.

    `outside_scope` counts returned pictures that were not to be searched; `unjudged` is the share without a judgment.
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


@dataclass(frozen=True, slots=True)
class RecallAt:
    """Mean recall among the first `k` results."""

    k: int
    found: Estimate


@dataclass(frozen=True, slots=True)
class Scores:
    """A scored run.

    `failures` counts attempts by kind of failure, a missing prediction among them; `undefined` counts the tasks that
    a metric leaves out; `unjudged` is the mean share of unjudged pictures among the first `unjudged_depth`; `chance`
    is what a text metric gives to texts of unrelated tasks; `best_of` is the mean best@1, best@2, … of repeated runs;
    `recall` is, by kind of task, the recall of rankings at growing cut-offs; `of_tasks` is how many tasks the benchmark
    has, which is more than were scored where the run was limited.
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
    outside_scope: int = 0
    unknown_tasks: tuple[str, ...] = ()
    of_tasks: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def few_clusters(self) -> str | None:
        """Why no estimate over all tasks has an interval, where clusters are too few; None where they are enough."""
        return next((found.reason for found in self.overall.values() if found.reason is not None), None)

    def to_dict(self, *, tasks: bool = True) -> dict[str, Any]:
        """The content of `scores.json`; without the rows where only the estimates are wanted."""
        found = {"schema": SCHEMA, **without_empty_reasons(asdict(replace(self, tasks=())))}
        del found["tasks"]
        return found | {"tasks": [_plain(row) for row in self.tasks]} if tasks else found

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each attempt at each task."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError("Scores.to_pandas", "pandas") from error
        return pandas.DataFrame(self.records())

    def records(self) -> list[dict[str, Any]]:
        """The rows as flat records: the columns of `per_task.csv`."""
        labels = sorted({label for row in self.tasks for label in row.labels})
        return [_record(row, labels, self.metrics) for row in self.tasks]


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
    return plain | {"values": dict(row.values), "labels": {label: list(of) for label, of in row.labels.items()}}


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
    folder = Path(run_folder)
    write_whole(folder / PER_TASK_FILE, _csv(scores))
    write_json(folder / SCORES_FILE, scores.to_dict())


def read_scores(run_folder: PathLike) -> Scores:
    """The scores that an earlier `write_scores` left with the run."""
    path = Path(run_folder) / SCORES_FILE
    if not path.is_file():
        raise UserError(f"{run_folder} has no {SCORES_FILE}.", f"score it first: sightline score BENCH {run_folder}")
    return scores_from(read_json(path), where=str(path))


def scores_from(content: Any, where: str = "scores") -> Scores:
    """The inverse of `Scores.to_dict`; `where` names the source in an error."""
    from pydantic import TypeAdapter, ValidationError

    again = "score the run again: sightline score BENCH RUN"
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise UserError(f"{where} is not in this version's form (schema {SCHEMA}).", again)
    given = {name: value for name, value in content.items() if name != "schema"}
    try:
        return TypeAdapter(Scores).validate_python(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{where}, field {place}: {first['msg']}.", again) from error


def _csv(scores: Scores) -> bytes:
    records = scores.records()
    text = io.StringIO()
    names = records[0].keys() if records else ("task", "attempt", "kind", "status", *scores.metrics)
    writer = csv.DictWriter(text, fieldnames=list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


_MISSING = "no prediction, counted as zero: "


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
