"""A benchmark as a folder: `read` it, `write` it, but not over another one nor over what people said of it."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from sightline.benchmark.files import (
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
)
from sightline.benchmark.grade import grade_of
from sightline.benchmark.problems import Problem, ProblemsError, Report, explain, stop
from sightline.benchmark.record_fields import StrictRecord, ordered
from sightline.benchmark.records import BenchmarkRecord
from sightline.benchmark.table import CURRENT, OpenFolder, RecordTable, TableSource, read_header
from sightline.benchmark.truth import TaskTruth
from sightline.english import counted, listed
from sightline.errors import UserError, explained
from sightline.io.files import PathLike, whole_folder, write_whole
from sightline.io.jsonl import parse_line, read_json, read_jsonl, write_json
from sightline.types import Benchmark, Corpus, Picture, Review, Task, Truth

_log = logging.getLogger(__name__)

SAME_TASKS = "same_tasks"
"""Of the card: checksums of versions with the same tasks and pictures, whose runs can be scored on this one."""
_ELSEWHERE = "choose a new or an empty folder"
CHECKSUMS_WAY = 'whatever writes a benchmark writes them: see "Your own questions" in docs/data-model.md'
R = TypeVar("R", bound=StrictRecord)
V = TypeVar("V")


def check_place(
    folder: PathLike,
    name: str,
    kept: Collection[Review] = (),
    tasks: Mapping[str, Task] | None = None,
    pictures: Mapping[str, Picture] | None = None,
) -> None:
    """Refuse a folder whose content would be lost; for verbs, before anything is asked or paid.

    A benchmark of the same name is replaced by its next version. `kept` are the reviews that are not lost by that.
    Whoever knows the `tasks` that a version before can have gives them: one that has others, or the same ids with other
    words throughout, is another benchmark. Whoever can come to other tasks of the same pictures gives these `pictures`
    too: then only one that has none of them is another.
    """
    place = Path(folder)
    if not place.exists():
        _try(place)
        return
    if not (place / HEADER).is_file():
        if place.is_file() or any(place.iterdir()):
            raise UserError(f"{place} holds other things; it is left as it is.", _ELSEWHERE)
        return
    found = read_json(place / HEADER)
    there = found.get("name") if isinstance(found, dict) else None
    if there != name:
        raise UserError(f'{place} holds the benchmark "{there}", not "{name}"; it is left as it is.', _ELSEWHERE)
    if tasks is not None and not (pictures and _has_some(place, pictures)):
        _refuse_other_tasks(place, name, tasks)
    lost = _lost_reviews(place, kept)
    if lost:
        raise UserError(f"people have reviewed {place}: {counted(lost, 'decision')} would be lost.", _ELSEWHERE)


def _has_some(place: Path, pictures: Mapping[str, Picture]) -> bool:
    """Does the benchmark that is there have one of these? Cameras and worlds use names again: bytes decide."""
    return any(
        (one := pictures.get(str(row.get("id")))) is not None
        and (row.get("sha256") or one.sha256) == (one.sha256 or row.get("sha256"))
        for row in _rows(place / PICTURES.name)
    )


def _refuse_other_tasks(place: Path, name: str, tasks: Mapping[str, Task]) -> None:
    there = {str(row.get("id")): row for row in _rows(place / TASKS.name)}
    others, which = [id_ for id_ in there if id_ not in tasks], ""
    if not others and not any(_same_words(row, tasks[id_]) for id_, row in there.items()):
        others, which = list(there), " with other words"
    if others:
        raise UserError(
            f'{place} holds another benchmark "{name}": {counted(len(others), "task")} of it, such as "{others[0]}"'
            f"{which}, would be lost; it is left as it is.",
            _ELSEWHERE,
        )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.is_file():
        yield from (row for _, row in read_jsonl(path) if isinstance(row, dict))


def _same_words(row: Mapping[str, Any], task: Task) -> bool:
    return bool(row.get("prompt") == parse_line(TASKS.name, 1, TASKS.line(task))["prompt"])


def _lost_reviews(place: Path, kept: Collection[Review]) -> int:
    """How many decisions of people are not among those that are kept; a line that can't be read is one, too."""
    unreadable: list[Problem] = []
    rows = TableSource(place, unreadable.extend, growing=True).rows(REVIEWS)
    lost = Counter(_decision(review) for _, review in rows) - Counter(map(_decision, kept))
    return lost.total() + len({problem.line for problem in unreadable})


def _decision(review: Review) -> tuple[object, ...]:
    """Who decided what when; the words of a decision may be others in a version that was made of it."""
    return review.task, review.picture, review.person, review.when


def _try(place: Path) -> None:
    """Make the folder, and take it away again: whether that can be done is known only then."""
    missing = [folder for folder in (place, *place.parents) if not folder.exists()]
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"{place} can't be written: {error.strerror or error}.", _ELSEWHERE) from None
    finally:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()


def open_benchmark(folder: PathLike, report: Report) -> OpenFolder[BenchmarkRecord]:
    """Read `benchmark.json`; what is wrong with the tables later goes to `report`."""
    try:
        header = read_header(folder, HEADER, "benchmark", BenchmarkRecord)
    except ProblemsError as error:
        raise ProblemsError(map(_with_way, error.problems), error.fix) from error
    return OpenFolder(header, TableSource(Path(folder), report))


def _with_way(problem: Problem) -> Problem:
    """Nobody writes checksums by hand: where they are missing, say who does."""
    if problem.field != "checksums":
        return problem
    return replace(problem, message=f"{problem.message}; {CHECKSUMS_WAY}")


def read_benchmark(folder: PathLike, *, keep_going: bool = False, reviews: bool = True) -> Benchmark:
    """The benchmark in a folder, with its reviews or without; pictures themselves are not needed.

    The first wrong line is refused; with `keep_going` all of them are, in one `ProblemsError`. Reviews are appended
    while people decide, so a half last line of theirs counts as not written.
    """
    problems: list[Problem] = []
    opened = open_benchmark(folder, problems.extend if keep_going else stop)
    header, source = opened.header, opened.source
    pictures = {row.id: row for _, row in source.unique(PICTURES, lambda row: row.id, "id")}
    parts = checksums(source.folder)
    _tell_changed(header, parts, source.folder)
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
        former_checksums=same_tasks(header.card),
        folder=source.folder,
    )
    if problems:
        raise ProblemsError(problems, "nothing was read; correct these lines first")
    return benchmark


def _tell_changed(header: BenchmarkRecord, parts: Mapping[str, str], folder: Path) -> None:
    """Tables that are not what `benchmark.json` says; reviews grow while people decide."""
    stated = {name: digest for name, digest in header.checksums.items() if name != REVIEWS.name}
    changed = [name for name, digest in stated.items() if parts.get(name) != digest]
    if changed:
        _log.warning("%s of %s changed after it was written; sightline validate says more.", listed(changed), folder)


def same_tasks(card: Mapping[str, Any]) -> frozenset[str]:
    """The versions whose runs answer the tasks of this one, as its card says."""
    said = card.get(SAME_TASKS)
    return frozenset(one for one in said if isinstance(one, str)) if isinstance(said, list) else frozenset()


def write_benchmark(
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
        for table, values in contents(replace(benchmark, truth=_truth_in_task_order(benchmark))):
            if values or table.required:
                table.write(values, fresh)
        for name, document in (beside or {}).items():
            write_json(fresh / name, document)
        for name, source in (copied or {}).items():
            _copy(source, fresh / name)
        parts = checksums(fresh)
        write_json(fresh / HEADER, _header(benchmark, parts).model_dump(mode="json", by_alias=True))
    former = same_tasks(benchmark.card)
    return replace(benchmark, checksum=checksum(parts), former_checksums=former, folder=Path(folder))


def write_benchmark_elsewhere(
    benchmark: Benchmark, source: Path, out: Path, *, beside: Mapping[str, Any] | None = None, force: bool = False
) -> Benchmark:
    """Write a benchmark that was read from `source` to `out`; its pictures stay where they are, and are found there."""
    if out.resolve() != source.resolve():
        pictures = {name: _moved(picture, source, out) for name, picture in benchmark.corpus.pictures.items()}
        benchmark = replace(benchmark, corpus=replace(benchmark.corpus, pictures=pictures))
    return write_benchmark(benchmark, out, beside=beside, force=force)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with explained(f"{source} can't be read", "check that it exists"):
        file = source.open("rb")
    with file:
        write_whole(target, file)


def _moved(picture: Picture, source: Path, out: Path) -> Picture:
    if "://" in picture.uri or picture.uri.startswith(("data:", "/")):
        return picture
    path = os.path.relpath(source.resolve() / picture.uri, out.resolve())
    return replace(picture, uri=path.replace(os.sep, "/"))


def _values(source: TableSource, table: RecordTable[R, V]) -> tuple[V, ...]:
    return tuple(value for _, value in source.rows(table))


def contents(benchmark: Benchmark) -> tuple[tuple[RecordTable[Any, Any], Collection[Any]], ...]:
    """Each table of a benchmark and the values in it."""
    return (
        (PICTURES, benchmark.corpus.pictures.values()),
        (GROUPS, benchmark.corpus.groups),
        (TASKS, benchmark.tasks.values()),
        (TRUTH, [TaskTruth(task, truth) for task, truth in benchmark.truth.items()]),
        (ANNOTATIONS, benchmark.annotations),
        (CANDIDATES, benchmark.candidates),
        (JUDGMENTS, benchmark.judgments),
        (REVIEWS, benchmark.reviews),
    )


def _truth_in_task_order(benchmark: Benchmark) -> dict[str, Truth]:
    place = {task: number for number, task in enumerate(benchmark.tasks)}
    known = sorted(benchmark.truth, key=lambda task: (place.get(task, len(place)), task))
    return {task: benchmark.truth[task] for task in known}


def _header(benchmark: Benchmark, parts: dict[str, str]) -> BenchmarkRecord:
    grade = grade_of(benchmark).to_json()
    try:
        return BenchmarkRecord(
            schema_version=CURRENT,
            name=benchmark.name,
            version=benchmark.version,
            corpus=benchmark.corpus.name,
            metrics=benchmark.metrics,
            card=ordered(benchmark.card),
            grade=grade.pop("grade"),
            grade_basis=grade,
            checksums=parts,
        )
    except ValidationError as error:
        raise ProblemsError(explain(error, HEADER)) from error


def _refuse_wrong_keys(values: Mapping[str, Picture] | Mapping[str, Task], what: str) -> None:
    for key, value in values.items():
        if key != value.id:
            raise UserError(f'{what} "{value.id}" is filed under "{key}".', "use its id as the key")
