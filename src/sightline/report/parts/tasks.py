"""Task by task: where the runs differ most."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from sightline.english import counted
from sightline.report.blocks import Block, Cell, FileLink, Fold, Part, Row, Table, numeric
from sightline.report.files import FileNames
from sightline.report.gather import Section
from sightline.report.runs import ScoredRun
from sightline.report.words import DASH, score, short
from sightline.score.scores import TaskScore

_PROMPT = 90

ByTask: TypeAlias = Mapping[str, list[TaskScore]]


def tasks(section: Section, files: FileNames, limit: int) -> Part:
    """The first `limit` tasks, those on which the runs differ most first; the file beside the page has all."""
    blocks: list[Block] = [FileLink("Every attempt at every task in every metric", files.per_task)]
    if limit:
        table = _table(section, limit)
        blocks.insert(0, Fold(table.caption, [table]))
    return Part("Task by task", blocks)


def _table(section: Section, limit: int) -> Table:
    runs = [_by_task(run) for run in section.runs]
    kinds = {task: rows[0].kind for run in runs for task, rows in run.items()}
    metrics = {task: section.headlines.get(kind, "") for task, kind in kinds.items()}
    order = sorted(kinds, key=lambda task: _rank([_value(run, task, metrics[task]) for run in runs]))
    prompts = ("prompt",) if section.facts.prompts else ()
    head = ("task", *prompts, "metric", *(run.name for run in section.runs))
    how = "those on which the systems differ most first" if len(runs) > 1 else "the lowest score first"
    return Table(
        caption=f"{min(limit, len(order)):,} of {counted(len(order), 'task')}, {how}",
        head=head,
        rows=[_row(section, runs, Cell(task, kinds[task]), metrics[task]) for task in order[:limit]],
        numeric=numeric(len(head) - len(runs), len(head)),
    )


def _by_task(run: ScoredRun) -> ByTask:
    found: dict[str, list[TaskScore]] = {}
    for row in run.scores.tasks:
        found.setdefault(row.task_id, []).append(row)
    return found


def _value(run: ByTask, task: str, metric: str) -> float | None:
    """The mean over the attempts at a task."""
    values = [value for row in run.get(task, ()) if (value := row.values.get(metric)) is not None]
    return sum(values) / len(values) if values else None


def _rank(values: list[float | None]) -> tuple[float, float]:
    known = [value for value in values if value is not None]
    return (min(known) - max(known), sum(known) / len(known)) if known else (math.inf, 0.0)


def _row(section: Section, runs: list[ByTask], task: Cell, metric: str) -> Row:
    prompts = section.facts.prompts
    said = (short(prompts.get(task.text, ""), _PROMPT),) if prompts else ()
    return task, *said, metric or DASH, *(_cell(run, task.text, metric) for run in runs)


def _cell(run: ByTask, task: str, metric: str) -> Cell:
    value = _value(run, task, metric)
    failed = ", ".join(dict.fromkeys(row.failure for row in run.get(task, ()) if row.failure))
    return Cell(DASH if value is None else score(value), failed, tone="bad" if failed else "")
