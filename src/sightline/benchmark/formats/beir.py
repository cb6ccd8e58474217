"""BEIR: a folder of `corpus.jsonl`, `queries.jsonl` and `qrels/{split}.tsv`.

| BEIR | here |
|---|---|
| corpus `_id`, `image` | `Picture.id`, `uri` (a path from the folder, or an address) |
| corpus `sha256`, `width`, `taken_at`, `lat`, `license`, … | the field of that name in `Picture` or its `rights` |
| corpus `title`, `text`, other keys | `Picture.extra`; where there is no `text`, an annotation's summary is written |
| queries `_id`, `text`, `image` | `Task.id`, `prompt`; `image` may be a list |
| queries `labels`, `scope` (ids), other keys | `Task.labels`, `scope`, `extra` |
| qrels `query-id`, `corpus-id`, `score` | `Relevance` |

A query's picture that is not in the corpus is kept apart: no task can be answered with it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.pictures import QueryPictures, from_fields, to_fields
from sightline.benchmark.formats.retrieval import (
    JudgedTask,
    Judgments,
    bare_pictures,
    check_options,
    judged,
    picture_uri,
    rank_benchmark,
    some,
    whole_number,
)
from sightline.benchmark.formats.rows import checked, read_rows
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import picture_path, whole_folder
from sightline.io.jsonl import read_lines, write_jsonl, write_lines
from sightline.metrics.scope import Scopes
from sightline.types import Benchmark, Picture, PictureRef, Scope, Task

_CORPUS, _QUERIES, _QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
_HEADER = ("query-id", "corpus-id", "score")


class _Query(NamedTuple):
    """A query as its line has it."""

    text: str
    images: tuple[str, ...]
    scope: tuple[str, ...]
    rest: dict[str, Any]


def read(path: Path, options: FormatOptions) -> Imported:
    """A benchmark of rank tasks from the judgments of one split."""
    check_options(options)
    complaints = Complaints(options)
    qrels = _qrels_file(path, options)
    pictures = _read_corpus(_file(path, _CORPUS), options, complaints)
    queries = _read_queries(_file(path, _QUERIES), options, complaints)
    found = _read_qrels(qrels, complaints)
    warnings = [*found.warnings(), *_strangers(found, pictures, options, path)]
    unasked = len(queries.keys() - found.grades.keys())
    if unasked:
        warnings.append(f"{counted(unasked, 'query has', 'queries have')} no judgment in {qrels.name}; left out")
    shown = QueryPictures(pictures)
    tasks = []
    for name, grades in found.grades.items():
        if name in queries:
            tasks.append(JudgedTask(_task(name, queries[name], shown, options.pictures or path), grades))
        else:
            complaints.add(qrels, None, "query-id", f'"{name}" is not in {_QUERIES}')
    benchmark = shown.keep_apart(rank_benchmark(path.absolute().name, pictures, tasks, options))
    return Imported(benchmark, tuple(complaints.problems), tuple(warnings))


def _file(folder: Path, name: str) -> Path:
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    raise UserError(f"{folder} has no {name}.", "a BEIR folder holds corpus.jsonl, queries.jsonl and qrels/{split}.tsv")


def _qrels_file(folder: Path, options: FormatOptions) -> Path:
    splits = {path.stem: path for path in sorted((folder / _QRELS).glob("*.tsv"))}
    if not splits:
        raise UserError(f"{folder} has no {_QRELS}/{{split}}.tsv.", "give the folder that holds corpus.jsonl too")
    wanted = options.split or ("test" if "test" in splits else next(iter(splits)) if len(splits) == 1 else None)
    if wanted not in splits:
        said = "has several splits" if wanted is None else f'has no split "{wanted}"'
        raise UserError(f"{folder} {said}.", f"choose with --split: {', '.join(splits)}")
    return splits[wanted]


def _strangers(found: Judgments, pictures: dict[str, Picture], options: FormatOptions, folder: Path) -> Iterator[str]:
    """BEIR has data sets that judge what the corpus lacks: such pictures are taken in by their ids."""
    strange = [picture for picture in found.pictures if picture not in pictures]
    if strange:
        pictures |= bare_pictures(strange, options, folder)
        said = counted(len(strange), "judged picture is", "judged pictures are")
        yield f"{said} not in {_CORPUS}: {some(strange)}; taken in by id"


def _read_corpus(path: Path, options: FormatOptions, complaints: Complaints) -> dict[str, Picture]:
    id_, image = options.column("_id"), options.column("image")
    root = options.pictures or path.parent
    pictures: dict[str, Picture] = {}
    for row in read_rows(path, complaints):
        with checked(row, complaints):
            name = row.new_id(id_, pictures)
            fields = {key: value for key, value in row.rest(id_, image).items() if value != ""}
            pictures[name] = from_fields(name, picture_uri(row.maybe_text(image) or name, root), fields)
    return pictures


def _read_queries(path: Path, options: FormatOptions, complaints: Complaints) -> dict[str, _Query]:
    id_, text, image = options.column("_id"), options.column("text"), options.column("image")
    queries: dict[str, _Query] = {}
    for row in read_rows(path, complaints):
        with checked(row, complaints):
            name = row.new_id(id_, queries)
            given = row.values.get(image)
            images = (given,) if isinstance(given, str) else row.ids(image) if image in row else ()
            words = row.text(text) if text in row or not images else ""
            scope = row.ids("scope") if isinstance(row.values.get("scope"), list) else ()
            queries[name] = _Query(words, images, scope, row.rest(id_, text, image, *(["scope"] if scope else [])))
    return queries


def _task(name: str, query: _Query, shown: QueryPictures, root: Path) -> Task:
    refs = [shown.ref(Picture(image, picture_uri(image, root))) for image in query.images]
    prompt: list[str | PictureRef] = [*([query.text] if query.text else []), *refs]
    labels = query.rest.get("labels")
    named = _labels(labels) if isinstance(labels, dict) else None
    extra = {key: value for key, value in query.rest.items() if key != "labels" or named is None}
    return Task(name, "rank", tuple(prompt), scope=Scope(pictures=query.scope), labels=named or {}, extra=extra)


def _labels(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]] | None:
    """Labels as we write them; None for something else of that name."""
    labels = {name: (values,) if isinstance(values, str) else values for name, values in given.items()}
    for values in labels.values():
        if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
            return None
    return {name: tuple(values) for name, values in labels.items()}


def _read_qrels(path: Path, complaints: Complaints) -> Judgments:
    found = Judgments(path, complaints)
    for line, fields in _tsv(path, complaints):
        if len(fields) != 3:
            expected = "expected query-id, corpus-id and score with tabs between them"
            complaints.add(path, line, None, f"{expected}, got {counted(len(fields), 'field')}")
        elif (grade := whole_number(fields[2])) is not None:
            found.add(line, fields[0], fields[1], grade)
        elif line > 1:  # The first line is a header.
            complaints.add(path, line, "score", f'expected a whole number, got "{fields[2]}"')
    return found


def _tsv(path: Path, complaints: Complaints) -> Iterator[tuple[int, list[str]]]:
    line = 0

    def texts() -> Iterator[str]:
        nonlocal line
        for line, raw in read_lines(path):
            try:
                yield raw.decode()
            except UnicodeDecodeError:
                complaints.add(path, line, None, "expected UTF-8 text")

    # BEIR's own loader reads quotes as csv does.
    for fields in csv.reader(texts(), delimiter="\t"):
        yield line, fields


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write the rank and select tasks, and all pictures."""
    check_options(options)
    assert isinstance(content, Benchmark)
    tasks = judged(content, options)
    images = _Images(content, path.absolute(), options)
    scopes = Scopes(content.corpus)
    with whole_folder(path, marker=_CORPUS, owned=(_CORPUS, _QUERIES, _QRELS)) as folder:
        write_jsonl(folder / _CORPUS, _corpus_rows(content, images))
        write_jsonl(folder / _QUERIES, (_query_row(task, scopes, images) for task, _ in tasks))
        (folder / _QRELS).mkdir()
        write_lines(folder / _QRELS / f"{options.split or 'test'}.tsv", _qrels_lines(tasks))


class _Images:
    """What `image` says of a picture: a path from the BEIR folder if it lies in it, else a full path or an address."""

    def __init__(self, benchmark: Benchmark, target: Path, options: FormatOptions) -> None:
        self._pictures = benchmark.corpus.pictures
        self._target = target
        self._root = options.pictures or Path()

    def __getitem__(self, name: str) -> str:
        uri = self._pictures[name].uri
        place = picture_path(uri, self._root)
        if place is None:
            return uri
        full = place.absolute()
        return str(full.relative_to(self._target) if full.is_relative_to(self._target) else full)


def _corpus_rows(benchmark: Benchmark, images: _Images) -> Iterator[dict[str, Any]]:
    summaries = {note.picture_id: note.summary for note in reversed(benchmark.annotations) if note.summary}
    for name, picture in benchmark.corpus.pictures.items():
        fields = to_fields(picture)
        text = fields.pop("text", None) or summaries.get(name, "")
        yield {"_id": name, "title": fields.pop("title", ""), "text": text, **fields, "image": images[name]}


def _query_row(task: Task, scopes: Scopes, images: _Images) -> dict[str, Any]:
    row: dict[str, Any] = {**task.extra, "_id": task.id, "text": task.text}
    paths = [images[ref.id] for ref in task.pictures]
    if paths:
        row["image"] = paths[0] if len(paths) == 1 else paths
    if task.labels:
        row["labels"] = {name: list(values) for name, values in task.labels.items()}
    pictures = scopes.pictures(task.scope)
    if pictures is not None:
        row["scope"] = sorted(pictures)
    return row


def _qrels_lines(tasks: Iterable[JudgedTask]) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="\t", lineterminator="\n")
    writer.writerow(_HEADER)
    for task, grades in tasks:
        _refuse_line_breaks((task.id, *grades))
        writer.writerows((task.id, picture, grade) for picture, grade in grades.items())
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()


def _refuse_line_breaks(names: Iterable[str]) -> None:
    for name in names:
        if "\n" in name or "\r" in name:
            raise UserError(f"the id {name!r} has a line break, which BEIR's TSV files can't hold.", "rename it first")


FORMATS = {
    "beir": Format("beir", "BEIR folder: corpus, queries and qrels", read, write, writes=(Benchmark,)),
}
