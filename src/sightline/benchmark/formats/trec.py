"""TREC qrels and run files, plain or gzipped.

| line of a qrels file | here |
|---|---|
| `query 0 picture grade` (or `query picture grade`) | a `rank` task, the grade in its `Relevance` |
| a negative grade | not judged |

| line of a run file | here |
|---|---|
| `query Q0 picture rank score tag` (or `query picture score`) | `Ranking` by score; the tag is the system's name |

Ids are percent-encoded where they hold a space, a control character or `%`. The words of the queries are not in these
files: option `queries=FILE` (TSV, `id` tab `text`, or JSONL) gives them, and on the way out writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
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
    some,
    whole_number,
)
from sightline.english import counted
from sightline.io.jsonl import LineError, parse_line, read_lines, write_jsonl, write_lines
from sightline.types import Benchmark, Json, Run, Task

_IDS = ("_id", "id", "query_id", "query-id", "qid")
_TEXTS = ("text", "query", "query_text", "title")
_UNSAFE = re.compile(r"[%\s\x00-\x1f\x7f]")
_HEADER = ["query-id", "corpus-id", "score"]
_QRELS = "query 0 picture grade"
_RUN = "query Q0 picture rank score tag"


@dataclass(frozen=True, slots=True)
class QueryText:
    """What a query says, and what else its line holds."""

    text: str
    extra: Mapping[str, Json] = field(default_factory=dict)


def read_queries(path: Path, options: FormatOptions, complaints: Complaints) -> dict[str, QueryText]:
    """Queries by id; a JSONL line has its id in `_id` or `id` and its words in `text` or `query`, unless mapped."""
    found: dict[str, QueryText] = {}
    for number, line in read_lines(path):
        is_json = line.lstrip().startswith(b"{")
        entry = (_from_json if is_json else _from_tsv)(path, number, line, options, complaints)
        if entry is None:
            continue
        name, query = entry
        if found.setdefault(name, query) != query:
            complaints.add(path, number, "id", f'query "{name}" is there twice, with different words')
    return found


def write_queries(tasks: Sequence[Task], path: Path) -> None:
    """Write ids and words: JSONL when the name says so, else TSV, in which tabs and line breaks become spaces."""
    if path.name.removesuffix(".gz").endswith((".jsonl", ".json")):
        write_jsonl(path, ({**task.extra, "_id": task.id, "text": task.text} for task in tasks))
    else:
        write_lines(path, (f"{_flat(task.id)}\t{_flat(task.text)}\n".encode() for task in tasks))


def _flat(text: str) -> str:
    return " ".join(text.split("\t")).replace("\r", " ").replace("\n", " ")


def _from_tsv(
    path: Path, number: int, line: bytes, _: FormatOptions, complaints: Complaints
) -> tuple[str, QueryText] | None:
    try:
        name, tab, text = line.decode().rstrip("\r\n").partition("\t")
    except UnicodeDecodeError:
        complaints.add(path, number, None, "expected UTF-8 text")
        return None
    if not (name and tab):
        complaints.add(path, number, None, "expected the query's id, a tab and its words")
        return None
    return name, QueryText(text)


def _from_json(
    path: Path, number: int, line: bytes, options: FormatOptions, complaints: Complaints
) -> tuple[str, QueryText] | None:
    try:
        row = parse_line(path, number, line)
    except LineError as error:
        complaints.add(path, number, None, error.reason)
        return None
    id_key = _key(row, "id", _IDS, options)
    text_key = _key(row, "text", _TEXTS, options)
    name, text = row.get(id_key), row.get(text_key)
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        complaints.add(path, number, id_key, "expected the query's id")
        return None
    if not isinstance(text, str):
        complaints.add(path, number, text_key, "expected the query's words")
        return None
    return str(name), QueryText(text, {key: row[key] for key in row if key not in (id_key, text_key)})


def _key(row: Mapping[str, Json], field_: str, usual: Sequence[str], options: FormatOptions) -> str:
    if field_ in options.columns:
        return options.columns[field_]
    return next((key for key in usual if key in row), usual[0])


def encode_id(name: str) -> str:
    """An id without spaces: they, control characters and `%` are percent-encoded."""
    return _UNSAFE.sub(lambda found: quote(found[0], safe=""), name)


def decode_id(text: str) -> str:
    """The id that was percent-encoded; what does not decode to UTF-8 is taken as it is."""
    if "%" not in text:
        return text
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return text


def read_qrels(path: Path, options: FormatOptions) -> Imported:
    """A benchmark of rank tasks from judgments."""
    check_options(options, "queries")
    complaints = Complaints(options)
    found = Judgments(path, complaints)
    for line, fields in _lines(path, complaints, (4, 3), _QRELS):
        grade = whole_number(fields[-1])
        if grade is None:
            complaints.add(path, line, "grade", f'expected a whole number, got "{fields[-1]}"')
            continue
        found.add(line, decode_id(fields[0]), decode_id(fields[-2]), grade)
    queries = read_queries(Path(options.extra["queries"]), options, complaints) if "queries" in options.extra else {}
    wordless = [name for name in found.grades if name not in queries]
    benchmark = rank_benchmark(
        _stem(path),
        bare_pictures(found.pictures, options, path.parent),
        (JudgedTask(_task(name, queries), grades) for name, grades in found.grades.items()),
        options,
    )
    warnings = found.warnings()
    if queries and wordless:
        warnings += (
            f"{counted(len(wordless), 'query has', 'queries have')} no words in {options.extra['queries']}: "
            f"{some(wordless)}; the id stands for them",
        )
    return Imported(benchmark, tuple(complaints.problems), warnings)


def _task(name: str, queries: Mapping[str, QueryText]) -> Task:
    query = queries.get(name, QueryText(name))
    return Task(name, "rank", (query.text,), extra=query.extra)


def write_qrels(content: Content, path: Path, options: FormatOptions) -> None:
    """Write the judgments of rank and select tasks."""
    check_options(options, "queries")
    assert isinstance(content, Benchmark)
    tasks = judged(content, options)
    if "queries" in options.extra:
        write_queries([task for task, _ in tasks], Path(options.extra["queries"]))
    lines = (
        f"{encode_id(task.id)} 0 {encode_id(picture)} {grade}\n".encode()
        for task, grades in tasks
        for picture, grade in grades.items()
    )
    write_lines(path, lines)


def read_run(path: Path, options: FormatOptions) -> Imported:
    """A run from ranked results; ranks are not used, because trec_eval does not use them."""
    check_options(options)
    complaints = Complaints(options)
    results = RetrievalResults()
    tags: dict[str, None] = {}
    for line, fields in _lines(path, complaints, (6, 3), _RUN):
        picture, score = (fields[2], fields[4]) if len(fields) == 6 else (fields[1], fields[2])
        number = finite_number(score)
        if number is None:
            complaints.add(path, line, "score", f'expected a number, got "{score}"')
            continue
        if len(fields) == 6:
            tags[fields[5]] = None
        results.add(decode_id(fields[0]), decode_id(picture), number)
    systems = [decode_id(tag) for tag in tags] or [_stem(path)]
    warnings = results.warnings(options)
    if len(systems) > 1:
        warnings += (f"the file has {len(systems)} tags ({some(systems)}); the first is taken for the system's name",)
    return Imported(results.to_run(systems[0], options), tuple(complaints.problems), warnings)


def write_run(content: Content, path: Path, options: FormatOptions) -> None:
    """Write the rankings of a run; a failed task has no lines, and so counts as zero wherever it is scored."""
    check_options(options, "attempt")
    assert isinstance(content, Run)
    tag = encode_id(content.system)
    lines = (
        f"{encode_id(query)} Q0 {encode_id(picture)} {rank} {score!r} {tag}\n".encode()
        for query, scored in rankings(content, options).items()
        for rank, (picture, score) in enumerate(scored, 1)
    )
    write_lines(path, lines)


def _lines(
    path: Path, complaints: Complaints, widths: tuple[int, int], expected: str
) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line that has as many as it should, without extra ones at its end.

    Comments (#) and a header line of BEIR's are skipped, as trec_eval does.
    """
    for number, line in read_lines(path):
        if line.startswith(b"#"):
            continue
        try:
            fields = [field.decode() for field in line.split()]
        except UnicodeDecodeError:
            complaints.add(path, number, None, "expected UTF-8 text")
            continue
        del fields[max(widths) :]
        if len(fields) not in widths:
            complaints.add(path, number, None, f'expected "{expected}", got {counted(len(fields), "field")}')
        elif number > 1 or fields != _HEADER:
            yield number, fields


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rsplit(".", 1)[0] or path.name


FORMATS = {
    "trec-qrels": Format(
        "trec-qrels", "TREC judgments: query 0 picture grade", read_qrels, write_qrels, writes=(Benchmark,)
    ),
    "trec-run": Format("trec-run", "TREC results: query Q0 picture rank score tag", read_run, write_run, writes=(Run,)),
}
