"""Pools from systems: what several systems find for each query is what people are asked about.

A system is a SPEC or an object that is run now, or a run that is there already: a RUN folder, a file (TREC, ranx JSON
or Parquet, CSV) or a folder of these. Each is kept as `runs/NAME` in the folder of the benchmark.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sightline.authoring.query_text import query_key
from sightline.benchmark.formats import Complaints, FormatOptions, find_format
from sightline.benchmark.formats.retrieval import RetrievalResults
from sightline.benchmark.formats.rows import checked, csv_rows
from sightline.benchmark.tables import IDS, TableRows
from sightline.calls.session import Session
from sightline.english import counted, some
from sightline.errors import UserError
from sightline.runs.folder import HEADER, read_run, write_run
from sightline.runs.runner import run as run_system
from sightline.runs.summary import failures_of
from sightline.runs.system_spec import parse_spec
from sightline.types import Attempt, Benchmark, Candidate, PictureSet, Ranking, Run

RUNS = "runs"
DEPTH = 10
_SUFFIXES = {"json": "ranx-run", "parquet": "ranx-run", "parq": "ranx-run", "csv": "csv", "tsv": "csv"}
_RESULTS = {*_SUFFIXES, "trec", "run", "txt", "res", "gz"}
_SHOWN = 5
_HOW = "Write --pool NAME=SPEC, such as --pool main=http:url=http://localhost:8000, or --pool NAME=RUN."


@dataclass(frozen=True, slots=True)
class PooledSystem:
    """One system in the pool: how many tasks it answered, why it failed on others, and ids that are not pictures.

    `empty` counts answers without a picture.
    """

    name: str
    answered: int
    failures: Mapping[str, int] = field(default_factory=dict)
    empty: int = 0
    unknown_pictures: Mapping[str, int] = field(default_factory=dict)
    "Ids that the corpus does not have, with how often each was returned."
    unknown_tasks: tuple[str, ...] = ()

    def warnings(self) -> Iterator[str]:
        """What a reader must know of it."""
        if self.empty:
            yield f"{self.name}: no picture was returned for {counted(self.empty, 'query', 'queries')}"
        if self.unknown_pictures:
            results = counted(sum(self.unknown_pictures.values()), "result is", "results are")
            ids = f"{counted(len(self.unknown_pictures), 'id')}): {some(self.unknown_pictures, _SHOWN)}"
            yield f"{self.name}: {results} not among the pictures and can't be judged ({ids}"
        if self.unknown_tasks:
            queries = counted(len(self.unknown_tasks), "query is", "queries are")
            yield f"{self.name}: {queries} not in the benchmark and left out: {some(self.unknown_tasks, _SHOWN)}"

    def to_json(self) -> dict[str, Any]:
        """For the card and `--json`."""
        return {
            "answered": self.answered,
            "failures": dict(self.failures),
            "empty": self.empty,
            "unknown_pictures": len(self.unknown_pictures),
            "unknown_results": sum(self.unknown_pictures.values()),
            "unknown_tasks": len(self.unknown_tasks),
        }


def parse_pool(given: list[str]) -> dict[str, str]:
    """`NAME=SPEC|RUN`, several times."""
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name.strip() or not value.strip() or set(name) & set(":/\\"):
            raise UserError(f'--pool "{one}" has no name for the system.', _HOW)
        if name.strip() in found:
            raise UserError(f'--pool names two systems "{name.strip()}".', "Give each a name of its own.")
        found[name.strip()] = value.strip()
    return found


class Pool:
    """The first `depth` results of every system for every task, each picture once."""

    def __init__(self, benchmark: Benchmark, depth: int = DEPTH) -> None:
        self._depth = depth
        self._tasks = {task: number for number, task in enumerate(benchmark.tasks)}
        self._pictures = {picture: number for number, picture in enumerate(benchmark.corpus.pictures)}
        self._found = [np.zeros(0, np.int64)]
        "By run: number of the task times number of pictures, plus number of the picture."

    def add(self, run: Run) -> Counter[str]:
        """Take in a run; gives back the ids that are not pictures of the benchmark."""
        codes, unknown, size = [], Counter[str](), len(self._pictures)
        for attempt in run.attempts:
            said, task = attempt.prediction, self._tasks.get(attempt.task_id)
            if task is None or not isinstance(said, Ranking | PictureSet):
                continue
            for picture in said.pictures[: self._depth]:
                number = self._pictures.get(picture)
                if number is None:
                    unknown[picture] += 1
                else:
                    codes.append(task * size + number)
        self._found.append(np.array(codes, np.int64))
        return unknown

    def __len__(self) -> int:
        self._found = [np.unique(np.concatenate(self._found))]
        return len(self._found[0])

    def candidates(self, but: Mapping[str, Collection[str]] | None = None) -> tuple[Candidate, ...]:
        """The pool, by task, each picture once; pictures in `but` are left out."""
        codes = np.unique(np.concatenate(self._found))
        tasks, pictures, left = list(self._tasks), list(self._pictures), but or {}
        pairs = zip(*(part.tolist() for part in np.divmod(codes, max(len(pictures), 1))), strict=True)
        named = ((tasks[task], pictures[picture]) for task, picture in pairs)
        return tuple(Candidate(task, name, "pooled") for task, name in named if name not in left.get(task, ()))


def add_systems(
    benchmark: Benchmark, systems: Mapping[str, Any], pool: Pool, *, session: Session, seed: int = 0
) -> Iterator[PooledSystem]:
    """Run or read each system, keep it as `runs/NAME` of the benchmark's folder, and add it to the pool."""
    for name, given in systems.items():
        for called, run, unknown in _runs(name, given, benchmark, session, seed):
            missing = len(benchmark.tasks) - len({attempt.task_id for attempt in run.attempts})
            failures = failures_of(run) | ({"missing": missing} if missing else {})
            answered, empty = len(benchmark.tasks) - sum(failures.values()), sum(map(_is_empty, run.attempts))
            yield PooledSystem(called, answered, failures, empty, pool.add(run), unknown)


def _is_empty(attempt: Attempt) -> bool:
    said = attempt.prediction
    return isinstance(said, Ranking | PictureSet) and not said.pictures


def _runs(
    name: str, given: Any, benchmark: Benchmark, session: Session, seed: int
) -> Iterator[tuple[str, Run, tuple[str, ...]]]:
    """The runs that a system stands for, each kept; and the queries of each that the benchmark does not have."""
    assert benchmark.folder is not None
    folder = benchmark.folder / RUNS
    path = Path(given).expanduser() if isinstance(given, str | os.PathLike) else None
    if path is None or path.suffix == ".toml" or not path.exists():
        if path is not None and ":" not in str(given) and ("/" in str(given) or path.suffix[1:] in _RESULTS):
            raise UserError(f'There is no run {given} for the system "{name}".', _HOW)
        system = replace(parse_spec(given), given_name=name) if path is not None else given
        yield name, run_system(benchmark.folder, system, folder / name, seed=seed, session=session).run, ()
        return
    for called, run in read_runs(path, name):
        fitting, unknown = fitted(run, benchmark)
        kept = replace(fitting, system=called)
        write_run(kept, folder / called)
        yield called, kept, unknown


def read_runs(path: Path, name: str) -> Iterator[tuple[str, Run]]:
    """The run in a folder or a file; of a folder of runs each, called `NAME-ENTRY`."""
    if path.is_dir() and not (path / HEADER).is_file():
        entries = [one for one in sorted(path.iterdir()) if one.is_file() or (one / HEADER).is_file()]
        if not entries:
            raise UserError(f"{path} holds no run.", "Give a run, a file of results or a folder of these.")
        for entry in entries:
            stem = entry.name.removesuffix(".gz").rpartition(".")[0] if entry.is_file() else entry.name
            yield f"{name}-{stem or entry.name}", _read(entry)
        return
    yield name, _read(path)


def _read(path: Path) -> Run:
    if path.is_dir():
        return read_run(path)
    kind = _SUFFIXES.get(path.name.removesuffix(".gz").rpartition(".")[2].lower(), "trec-run")
    if kind == "csv":
        return _read_csv(path)
    reader = find_format(kind).read
    assert reader is not None
    content = reader(path, FormatOptions()).content
    assert isinstance(content, Run)
    return content


def _read_csv(path: Path) -> Run:
    """A table with a query's id, a picture and a score or a rank, in any order of rows."""
    complaints, results = Complaints(FormatOptions()), RetrievalResults()
    columns: tuple[str, str, str | None, bool] | None = None
    for row in csv_rows(path, complaints, delimiter="\t" if ".tsv" in path.name else ","):
        if columns is None:
            named = TableRows(str(path), [row.values], {})
            score, rank = named.find("score"), named.find("rank")
            columns = named.need("query", "query", *IDS), named.need("picture"), score or rank, score is not None
        query, picture, order, falls = columns
        with checked(row, complaints):
            value = -float(row.line) if order is None else row.number(order) * (1 if falls else -1)
            results.add(row.id(query), row.id(picture), value)
    return results.to_run(path.stem, FormatOptions())


def fitted(run: Run, benchmark: Benchmark) -> tuple[Run, tuple[str, ...]]:
    """The run with the attempts at tasks of the benchmark, which it may know by their words; and its other queries."""
    strange = any(attempt.task_id not in benchmark.tasks for attempt in run.attempts)
    by_words = {query_key(task.text): task.id for task in benchmark.tasks.values() if task.text} if strange else {}
    attempts: dict[tuple[str, int], Attempt] = {}
    unknown: list[str] = []
    for attempt in run.attempts:
        id_ = attempt.task_id
        task = id_ if id_ in benchmark.tasks else by_words.get(query_key(id_))
        if task is None:
            unknown.append(id_)
        elif (task, attempt.number) not in attempts or task == id_:
            attempts[task, attempt.number] = attempt if task == id_ else replace(attempt, task_id=task)
    if not run.attempts:
        raise UserError(f'The run "{run.system}" has no results.', "Give a run that answers the queries.")
    if not attempts:
        example = next(iter(benchmark.tasks), "")
        raise UserError(
            f'None of the queries of the run "{run.system}", such as "{unknown[0]}", is in the benchmark.',
            f'Use the ids of its queries, such as "{example}", or their words.',
        )
    fitting = replace(
        run, benchmark=benchmark.name, benchmark_checksum=benchmark.checksum, attempts=tuple(attempts.values())
    )
    return fitting, tuple(unknown)
