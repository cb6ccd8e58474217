"""A benchmark as a folder: `read` it, `write` it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from sightline.bench.fields import Record, ordered
from sightline.bench.files import (
    ANNOTATIONS,
    CANDIDATES,
    GROUPS,
    HEADER,
    JUDGMENTS,
    PICTURES,
    REVIEWS,
    TABLES,
    TASKS,
    TRUTH,
    checksum,
    checksums,
    former_checksums,
)
from sightline.bench.place import check_place
from sightline.bench.problems import Problem, ProblemsError, Report, explain, stop
from sightline.bench.records import BenchmarkRecord
from sightline.bench.schema import CURRENT, upgrade_of, version_of
from sightline.bench.table import Source, Table
from sightline.bench.truth import TaskTruth
from sightline.errors import UserError
from sightline.io import PathLike, dump, read_json, whole_folder, write_json, write_whole
from sightline.types import Benchmark, Corpus, Picture, Task

CHECKSUMS_WAY = 'whatever writes a benchmark writes them: see "Your own questions" in docs/data-model.md'
R = TypeVar("R", bound=Record)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class OpenBenchmark:
    """A BENCH folder whose `benchmark.json` has been read, and the tables beside it."""

    header: BenchmarkRecord
    source: Source


def open_benchmark(folder: PathLike, report: Report) -> OpenBenchmark:
    """Read `benchmark.json`; what is wrong with the tables later goes to `report`."""
    path = Path(folder) / HEADER
    if not path.is_file():
        raise UserError(f"{folder} is not a benchmark: it has no {HEADER}.", "give the folder that holds it")
    raw = read_json(path)
    version = version_of(raw, path)
    upgrade = upgrade_of(HEADER, version)
    try:
        header = BenchmarkRecord.model_validate_json(dump(raw if upgrade is None else upgrade(raw)))
    except ValidationError as error:
        raise ProblemsError(map(_with_way, explain(error, HEADER, None, BenchmarkRecord.model_fields))) from error
    return OpenBenchmark(header, Source(path.parent, version, report))


def _with_way(problem: Problem) -> Problem:
    """Nobody writes checksums by hand: where they are missing, say who does."""
    if problem.field != "checksums":
        return problem
    return replace(problem, message=f"{problem.message}; {CHECKSUMS_WAY}")


def read(folder: PathLike, *, keep_going: bool = False, reviews: bool = True) -> Benchmark:
    """The benchmark in a folder, with its reviews or without; pictures themselves are not needed.

    The first wrong line is refused; with `keep_going` all of them are, in one `ProblemsError`. Reviews are appended
    while people decide, so a half last line of theirs counts as not written.
    """
    problems: list[Problem] = []
    opened = open_benchmark(folder, problems.extend if keep_going else stop)
    header, source = opened.header, opened.source
    pictures = {row.id: row for _, row in source.unique(PICTURES, lambda row: row.id, "id")}
    parts = checksums(source.folder)
    groups = tuple(row for _, row in source.unique(GROUPS, lambda row: (row.kind, row.id), "id"))
    benchmark = Benchmark(
        name=header.name,
        corpus=Corpus(header.corpus, pictures, groups),
        tasks={row.id: row for _, row in source.unique(TASKS, lambda row: row.id, "id")},
        truth={row.task: row.truth for _, row in source.unique(TRUTH, lambda row: row.task, "task")},
        version=header.version,
        metrics=header.metrics,
        card=header.card,
        annotations=_values(source, ANNOTATIONS),
        candidates=_values(source, CANDIDATES),
        judgments=_values(source, JUDGMENTS),
        reviews=_values(replace(source, growing=True), REVIEWS) if reviews else (),
        checksum=checksum(parts),
        former_checksums=former_checksums(source.folder, parts),
    )
    if problems:
        raise ProblemsError(problems, "nothing was read; correct these lines first")
    return benchmark


def write(
    benchmark: Benchmark,
    folder: PathLike,
    *,
    beside: Mapping[str, Any] | None = None,
    copied: Mapping[str, Path] | None = None,
    force: bool = False,
) -> Benchmark:
    """Write a benchmark, whole or not at all, and give it back with its checksum.

    A benchmark of that name that is there already is replaced; what else its folder holds (pictures, a README) stays.
    Another one, a folder of another kind, and one with reviews that this does not have are only replaced with `force`.
    `beside` are JSON documents by file name, `copied` other files by their path in the folder; both appear together
    with the benchmark.
    """
    if not force:
        check_place(folder, benchmark.name, benchmark.reviews)
    _refuse_wrong_keys(benchmark.corpus.pictures, "picture")
    _refuse_wrong_keys(benchmark.tasks, "task")
    owned = {HEADER, *(table.name for table in TABLES)}
    with whole_folder(folder, marker=HEADER, owned=owned, force=force) as fresh:
        for table, values in _contents(benchmark):
            if values or table.required:
                table.write(values, fresh)
        for name, document in (beside or {}).items():
            write_json(fresh / name, document)
        for name, source in (copied or {}).items():
            _copy(source, fresh / name)
        parts = checksums(fresh)
        write_json(fresh / HEADER, _header(benchmark, parts).model_dump(mode="json", by_alias=True))
    return replace(benchmark, checksum=checksum(parts), former_checksums=frozenset())


def write_elsewhere(
    benchmark: Benchmark, source: Path, out: Path, *, beside: Mapping[str, Any] | None = None, force: bool = False
) -> Benchmark:
    """Write a benchmark that was read from `source` to `out`; its pictures stay where they are, and are found there."""
    if out.resolve() != source.resolve():
        pictures = {name: _moved(picture, source, out) for name, picture in benchmark.corpus.pictures.items()}
        benchmark = replace(benchmark, corpus=replace(benchmark.corpus, pictures=pictures))
    return write(benchmark, out, beside=beside, force=force)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = source.open("rb")
    except OSError as error:
        raise UserError(f"{source} can't be read: {error.strerror}.", "see that it is there") from error
    with file:
        write_whole(target, file)


def _moved(picture: Picture, source: Path, out: Path) -> Picture:
    if "://" in picture.uri or picture.uri.startswith(("data:", "/")):
        return picture
    path = os.path.relpath(source.resolve() / picture.uri, out.resolve())
    return replace(picture, uri=path.replace(os.sep, "/"))


def _values(source: Source, table: Table[R, V]) -> tuple[V, ...]:
    return tuple(value for _, value in source.rows(table))


def _contents(benchmark: Benchmark) -> tuple[tuple[Table[Any, Any], Collection[Any]], ...]:
    return (
        (PICTURES, benchmark.corpus.pictures.values()),
        (GROUPS, benchmark.corpus.groups),
        (TASKS, benchmark.tasks.values()),
        (TRUTH, _truth_in_task_order(benchmark)),
        (ANNOTATIONS, benchmark.annotations),
        (CANDIDATES, benchmark.candidates),
        (JUDGMENTS, benchmark.judgments),
        (REVIEWS, benchmark.reviews),
    )


def _truth_in_task_order(benchmark: Benchmark) -> list[TaskTruth]:
    place = {task: number for number, task in enumerate(benchmark.tasks)}
    known = sorted(benchmark.truth, key=lambda task: (place.get(task, len(place)), task))
    return [TaskTruth(task, benchmark.truth[task]) for task in known]


def _header(benchmark: Benchmark, parts: dict[str, str]) -> BenchmarkRecord:
    try:
        return BenchmarkRecord(
            schema_version=CURRENT,
            name=benchmark.name,
            version=benchmark.version,
            corpus=benchmark.corpus.name,
            metrics=benchmark.metrics,
            card=ordered(benchmark.card),
            checksums=parts,
        )
    except ValidationError as error:
        raise ProblemsError(explain(error, HEADER)) from error


def _refuse_wrong_keys(values: Mapping[str, Picture] | Mapping[str, Task], what: str) -> None:
    for key, value in values.items():
        if key != value.id:
            raise UserError(f'{what} "{value.id}" is filed under "{key}".', "use its id as the key")
