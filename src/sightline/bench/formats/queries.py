"""The words of queries from a file beside the judgments: TSV (`id` tab `text`) or JSONL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sightline.bench.formats.base import Complaints, Options
from sightline.io import LineError, parse_line, read_lines, write_jsonl, write_lines
from sightline.types import Json, Task

_IDS = ("_id", "id", "query_id", "query-id", "qid")
_TEXTS = ("text", "query", "query_text", "title")


@dataclass(frozen=True, slots=True)
class QueryText:
    """What a query says, and what else its line holds."""

    text: str
    extra: Mapping[str, Json] = field(default_factory=dict)


def read_queries(path: Path, options: Options, complaints: Complaints) -> dict[str, QueryText]:
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


def _from_tsv(path: Path, number: int, line: bytes, _: Options, complaints: Complaints) -> tuple[str, QueryText] | None:
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
    path: Path, number: int, line: bytes, options: Options, complaints: Complaints
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


def _key(row: Mapping[str, Json], field_: str, usual: Sequence[str], options: Options) -> str:
    if field_ in options.columns:
        return options.columns[field_]
    return next((key for key in usual if key in row), usual[0])
