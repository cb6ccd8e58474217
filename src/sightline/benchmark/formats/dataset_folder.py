"""What the folders of public data sets share: data files, tasks of one kind, labels, pictures that are copied.

Then the tables of a benchmark beside its pictures, in folders whose own format has no place for them.
"""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import TypeVar

from sightline.benchmark.files import ANNOTATIONS, CANDIDATES, GROUPS, JUDGMENTS, REVIEWS, TASKS, TRUTH
from sightline.benchmark.folder import contents
from sightline.benchmark.formats.base import Complaints, FormatOptions
from sightline.benchmark.formats.retrieval import local_file
from sightline.benchmark.problems import Problem
from sightline.benchmark.record_fields import StrictRecord
from sightline.benchmark.table import RecordTable, TableSource
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import whole_folder
from sightline.types import Benchmark, Corpus, Json, Picture, Task, TaskKind, Truth

log = logging.getLogger(__name__)

UNLABELLED = "unlabelled"
"""The slice of what has no label."""
MAKING = frozenset(("mined", "review", "reviewed"))
"""What `Task.extra` tells of how a task was made and what people said of it: no part of a layout that is handed out."""
R = TypeVar("R", bound=StrictRecord)
V = TypeVar("V")
NAMES = tuple(table.name for table in (GROUPS, TASKS, TRUTH, ANNOTATIONS, CANDIDATES, JUDGMENTS, REVIEWS))
"""The files that may lie beside the pictures; each is as in a BENCH folder."""


def tasks_of(benchmark: Benchmark, kind: TaskKind, options: FormatOptions) -> list[Task]:
    """The tasks of a kind that have a truth; others are left out, which is said."""
    found: list[Task] = []
    others: Counter[str] = Counter()
    for task in benchmark.tasks.values():
        if task.kind == kind and task.id in benchmark.truth:
            found.append(task)
        else:
            others[f"{task.kind} task without truth" if task.kind == kind else f"{task.kind} task"] += 1
    if not found:
        raise UserError(f'"{benchmark.name}" has no {kind} task.', f"this format holds {kind} tasks only")
    if others:
        log.warning("left out: %s", ", ".join(counted(number, what) for what, number in others.items()))
    return found[: options.limit]


def labelled(value: str | None) -> tuple[str, ...]:
    """The values of a label that has one value or none."""
    return (value or UNLABELLED,)


def label(task: Task, name: str) -> str | None:
    """The first value of a task's label, if it has one."""
    values = [value for value in task.labels.get(name, ()) if value != UNLABELLED]
    return values[0] if values else None


def one_picture(task: Task) -> str:
    """The id of the only picture of a prompt."""
    shown = [ref.id for ref in task.pictures]
    if len(shown) != 1:
        said = counted(len(shown), "picture")
        raise UserError(f'task "{task.id}" shows {said}; this format holds tasks about one picture.')
    return shown[0]


def chosen(options: FormatOptions, name: str, values: Sequence[str]) -> str:
    """An `--option` with a fixed set of values, the first of them the default."""
    given = options.extra.get(name, values[0])
    if given not in values:
        raise UserError(f'--option {name}="{given}" is unknown.', f"choose from {', '.join(values)}")
    return given


def number_or_text(name: str) -> int | str:
    """An id as its source had it: a whole number where it reads as one."""
    return int(name) if name.isascii() and name.isdecimal() and str(int(name)) == name else name


def data_file(path: Path, name: str) -> Path:
    """The file itself, or the one of that name in a folder, also gzipped."""
    if path.is_file():
        return path
    for candidate in (path / name, path / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    raise UserError(f"{path} has no {name}.", f"give the folder that holds {name}, or the file itself")


def data_files(path: Path, name: str, options: FormatOptions) -> list[Path]:
    """The file of that name, else all Parquet parts in the folder (so the hub keeps them), else all JSON lines.

    Where a split is asked for, of parts only those whose names begin with it.
    """
    if path.is_file() or (path / name).is_file() or (path / f"{name}.gz").is_file():
        return [data_file(path, name)]
    parts = sorted(path.rglob("*.parquet")) or sorted(path.rglob("*.jsonl"))
    wanted = [part for part in parts if options.split is None or part.name.startswith(options.split)]
    if not wanted:
        split = "" if options.split is None else f' of split "{options.split}"'
        raise UserError(f"{path} has no {name} and no Parquet file{split}.", "give the folder that holds them")
    return wanted


def came_from(path: Path, whose: str, options: FormatOptions) -> str:
    """For the card: a data set only where it was fetched itself; of other files their name, and whose format they have.

    Anyone's own questions can be in the format of a public benchmark.
    """
    called = path.name if path.name.strip(".") else path.resolve().name
    return options.hub or f"{called}, in {whose}'s format"


def public_benchmark(
    path: Path,
    whose: str,
    options: FormatOptions,
    corpus: Corpus,
    tasks: Mapping[str, Task],
    truth: Mapping[str, Truth],
    *,
    metrics: tuple[str, ...],
    description: str,
    languages: Sequence[str] = ("en",),
) -> Benchmark:
    """What was read of a public data set, or of files in its format; `whose` is its name unless another is given."""
    name = options.name or whose
    card: dict[str, Json] = {
        "description": description,
        "languages": [*languages],
        "source": came_from(path, whose, options),
    }
    return Benchmark(name, replace(corpus, name=name), tasks, truth, metrics=metrics, card=card)


@contextmanager
def new_folder(path: Path, marker: str) -> Iterator[Path]:
    """A folder to write into, which appears whole or not at all; nothing that is there already is replaced.

    A data set's own folder may hold gigabytes of pictures: it must not be lost to an export in its place.
    """
    if path.is_dir() and any(path.iterdir()):
        raise UserError(f"{path} is not empty; it is left as it is.", "choose a new or an empty folder")
    with whole_folder(path, marker=marker) as fresh:
        yield fresh


def copy_picture(picture: Picture | None, target: Path, options: FormatOptions) -> None:
    """Copy a picture that is on this machine; one that is not is skipped."""
    source = None if picture is None else local_file(picture, options)
    if source is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def inside(folder: Path, name: str) -> Path:
    """The path of a name in a folder; one that would lead out of it is refused."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or parts[0] == "/":
        raise UserError(f'a picture called "{name}" can\'t be written into {folder}.', "export without pictures")
    return folder.joinpath(*parts)


def write_beside(benchmark: Benchmark, folder: Path) -> None:
    """Write the tables that hold something, but not the pictures."""
    for table, values in contents(benchmark):
        if values and table.name in NAMES:
            table.write(values, folder)


def has_tasks(folder: Path) -> bool:
    """Do tasks lie beside the pictures?"""
    return (folder / TASKS.name).is_file()


def read_beside(benchmark: Benchmark, folder: Path, complaints: Complaints) -> Benchmark:
    """The benchmark of these pictures with what lies beside them."""

    def report(problems: Sequence[Problem]) -> None:
        for problem in problems:
            complaints.add(folder / problem.file, problem.line, problem.field, problem.message)

    def rows(table: RecordTable[R, V], field: str | None = None) -> tuple[V, ...]:
        if not (folder / table.name).is_file():
            return ()
        found = source.rows(table) if field is None else source.unique(table, attrgetter(field), field)
        return tuple(value for _, value in found)

    source = TableSource(folder, report)
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


def limited(benchmark: Benchmark, options: FormatOptions) -> Benchmark:
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
