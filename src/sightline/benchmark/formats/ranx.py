"""ranx: qrels and runs as JSON (`{query: {picture: score}}`) or Parquet (`q_id`, `doc_id`, `score`).

| ranx | here |
|---|---|
| qrels: query → picture → grade | a `rank` task, the grade in its `Relevance` |
| run: query → picture → score | `Ranking` by score |

A Parquet file is known by its name (`.parquet`, `.parq`); its columns may be mapped. A run has no name in these files:
the file's name, or `--name`, is the system's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.parquet import write_file
from sightline.benchmark.formats.retrieval import (
    JudgedTask,
    Judgments,
    RetrievalResults,
    bare_pictures,
    check_options,
    finite_number,
    judged,
    rank_benchmark,
    rankings,
    whole_number,
)
from sightline.benchmark.formats.rows import checked, read_rows
from sightline.errors import UserError
from sightline.io.jsonl import read_json, write_json
from sightline.types import Benchmark, Run, Task

_PARQUET = (".parquet", ".parq")


class _Entry(NamedTuple):
    """One judgment or result, and where it stands."""

    line: int | None
    field: str
    query: str
    picture: str
    value: Any


def read_qrels(path: Path, options: FormatOptions) -> Imported:
    """A benchmark of rank tasks; the id of a query stands for its words."""
    check_options(options)
    complaints = Complaints(options)
    found = Judgments(path, complaints)
    for entry in _entries(path, options, complaints):
        grade = None if isinstance(entry.value, str) else whole_number(entry.value)
        if grade is None:
            complaints.add(path, entry.line, entry.field, f"expected a whole number, got {entry.value!r}")
        else:
            found.add(entry.line, entry.query, entry.picture, grade)
    benchmark = rank_benchmark(
        path.stem,
        bare_pictures(found.pictures, options, path.parent),
        (JudgedTask(Task(name, "rank", (name,)), grades) for name, grades in found.grades.items()),
        options,
    )
    return Imported(benchmark, tuple(complaints.problems), found.warnings())


def read_run(path: Path, options: FormatOptions) -> Imported:
    """A run; its rankings are ordered by score."""
    check_options(options)
    complaints = Complaints(options)
    results = RetrievalResults()
    for entry in _entries(path, options, complaints):
        score = None if isinstance(entry.value, str) else finite_number(entry.value)
        if score is None:
            complaints.add(path, entry.line, entry.field, f"expected a number, got {entry.value!r}")
        else:
            results.add(entry.query, entry.picture, score)
    return Imported(results.to_run(path.stem, options), tuple(complaints.problems), results.warnings(options))


def _entries(path: Path, options: FormatOptions, complaints: Complaints) -> Iterator[_Entry]:
    if path.suffix not in _PARQUET:
        yield from _json_entries(path, complaints)
        return
    query, picture, value = (options.column(name) for name in ("q_id", "doc_id", "score"))
    for row in read_rows(path, complaints):
        with checked(row, complaints):
            yield _Entry(row.line, value, row.id(query), row.id(picture), row.values.get(value))


def _json_entries(path: Path, complaints: Complaints) -> Iterator[_Entry]:
    content = read_json(path)
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected {{query: {{picture: score}}}}.", "give a file that ranx saved")
    for query, pictures in content.items():
        if not isinstance(pictures, dict):
            complaints.add(path, None, query, "expected an object of pictures with their scores")
            continue
        for picture, value in pictures.items():
            yield _Entry(None, f"{query}.{picture}", query, picture, value)


def write_qrels(content: Content, path: Path, options: FormatOptions) -> None:
    """Write the judgments of rank and select tasks."""
    check_options(options)
    assert isinstance(content, Benchmark)
    _write(path, "int64", ((task.id, grades) for task, grades in judged(content, options)))


def write_run(content: Content, path: Path, options: FormatOptions) -> None:
    """Write the rankings of a run; a failed task is left out, and so counts as zero wherever it is scored."""
    check_options(options, "attempt")
    assert isinstance(content, Run)
    _write(path, "float64", ((query, dict(scored)) for query, scored in rankings(content, options).items()))


def _write(path: Path, number: str, queries: Iterable[tuple[str, Mapping[str, float]]]) -> None:
    # ranx can't take in a query without any picture.
    found = {query: dict(pictures) for query, pictures in queries if pictures}
    if path.suffix not in _PARQUET:
        write_json(path, found)
        return
    rows = (
        {"q_id": query, "doc_id": picture, "score": score}
        for query, pictures in found.items()
        for picture, score in pictures.items()
    )
    write_file(path, {"q_id": "string", "doc_id": "string", "score": number}, rows)


FORMATS = {
    "ranx-qrels": Format("ranx-qrels", "ranx judgments, JSON or Parquet", read_qrels, write_qrels, writes=(Benchmark,)),
    "ranx-run": Format("ranx-run", "ranx results, JSON or Parquet", read_run, write_run, writes=(Run,)),
}
