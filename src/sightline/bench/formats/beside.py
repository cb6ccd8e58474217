"""The tables of a benchmark beside its pictures, in folders whose own format has no place for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from sightline.bench.fields import Record
from sightline.bench.files import ANNOTATIONS, CANDIDATES, GROUPS, JUDGMENTS, REVIEWS, TASKS, TRUTH
from sightline.bench.formats.base import Complaints, Options
from sightline.bench.problems import Problem
from sightline.bench.schema import CURRENT
from sightline.bench.table import Source, Table
from sightline.bench.truth import TaskTruth
from sightline.types import Benchmark

R = TypeVar("R", bound=Record)
V = TypeVar("V")

NAMES = tuple(table.name for table in (GROUPS, TASKS, TRUTH, ANNOTATIONS, CANDIDATES, JUDGMENTS, REVIEWS))
"""The files that may lie beside the pictures; each is as in a BENCH folder."""


def write_beside(benchmark: Benchmark, folder: Path) -> None:
    """Write the tables that hold something, but not the pictures."""
    truth = [TaskTruth(task, value) for task, value in benchmark.truth.items()]
    contents: tuple[tuple[Table[Any, Any], Sequence[Any]], ...] = (
        (GROUPS, benchmark.corpus.groups),
        (TASKS, tuple(benchmark.tasks.values())),
        (TRUTH, truth),
        (ANNOTATIONS, benchmark.annotations),
        (CANDIDATES, benchmark.candidates),
        (JUDGMENTS, benchmark.judgments),
        (REVIEWS, benchmark.reviews),
    )
    for table, values in contents:
        if values:
            table.write(values, folder)


def has_tasks(folder: Path) -> bool:
    """Do tasks lie beside the pictures?"""
    return (folder / TASKS.name).is_file()


def read_beside(benchmark: Benchmark, folder: Path, complaints: Complaints) -> Benchmark:
    """The benchmark of these pictures with what lies beside them."""

    def report(problems: Sequence[Problem]) -> None:
        for problem in problems:
            complaints.add(folder / problem.file, problem.line, problem.field, problem.message)

    def rows(table: Table[R, V], field: str | None = None) -> tuple[V, ...]:
        if not (folder / table.name).is_file():
            return ()
        found = source.rows(table) if field is None else source.unique(table, attrgetter(field), field)
        return tuple(value for _, value in found)

    source = Source(folder, CURRENT, report)
    return replace(
        benchmark,
        corpus=replace(benchmark.corpus, groups=rows(GROUPS)),
        tasks={task.id: task for task in rows(TASKS, "id")},
        truth={row.task: row.truth for row in rows(TRUTH, "task")},
        annotations=rows(ANNOTATIONS),
        candidates=rows(CANDIDATES),
        judgments=rows(JUDGMENTS),
        reviews=rows(REVIEWS),
    )


def limited(benchmark: Benchmark, options: Options) -> Benchmark:
    """The first tasks of a benchmark, as many as `--limit` says, with all that belongs to them."""
    if options.limit is None or options.limit >= len(benchmark.tasks):
        return benchmark
    tasks = dict(islice(benchmark.tasks.items(), options.limit))
    return replace(
        benchmark,
        tasks=tasks,
        truth={task: truth for task, truth in benchmark.truth.items() if task in tasks},
        candidates=tuple(row for row in benchmark.candidates if row.task in tasks),
        judgments=tuple(row for row in benchmark.judgments if row.task in tasks),
        reviews=tuple(row for row in benchmark.reviews if row.task in tasks),
    )
