"""Queries from life: lists, tables and logs of what people searched for, read one line at a time.

| file | read as |
|---|---|
| `.txt` | a query a line |
| `.csv`, `.tsv` | a column `query`; optional `id`, `count`, `picture`, `clicked`, `position`, `shown`, `session`, … |
| `.jsonl` | objects with the same fields, also under `_source`; or a slow log of OpenSearch or Elasticsearch in JSON |
| any other | a slow log (`source[{…}]`); with a pattern, a line of any log, such as a web server's |

All may be gzipped. Lines that are not UTF-8 are read as Windows-1252; lines that can't be read are counted.
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from gzip import BadGzipFile
from io import TextIOWrapper
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from sightline.errors import UserError
from sightline.io.jsonl import json_object, open_maybe_gzipped

_NAMES: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "query_text", "text", "q", "search", "search_term", "search_query", "keyword", "keywords"),
    "id": ("id", "query_id", "_id", "qid"),
    "count": ("count", "frequency", "freq", "searches", "volume", "n"),
    "picture": ("picture", "picture_id", "image", "image_id"),
    "clicked": ("clicked", "clicks", "click", "clicked_id"),
    "position": ("position", "positions", "rank", "click_position"),
    "shown": ("shown", "results", "impressions"),
    "session": ("session", "session_id", "user", "user_id"),
    "time": ("time", "timestamp", "@timestamp", "date", "when"),
}
_SLOW_SOURCES = ("elasticsearch.slowlog.source", "opensearch.slowlog.source", "source")
_SLOW_LINE = re.compile(r"\bsource\[(?=\{)")
_SLOW_TIME = re.compile(r"\[(\d{4}-\d\d-\d\d[T ][\d:,.]+)")
_REQUEST = re.compile(r'"(?:GET|POST|HEAD) \S+ HTTP/')
_TEXT_QUERIES = {
    "match", "match_phrase", "match_phrase_prefix", "match_bool_prefix", "multi_match", "query_string",
    "simple_query_string", "combined_fields", "neural", "sparse_vector", "semantic", "text_embedding",
}  # fmt: skip
_TEXT_KEYS = ("query", "query_text", "model_text")
_MIXED, _UNREADABLE = "lines that are not UTF-8, read as Windows-1252", "lines that can't be read"
_CUT = "lines with more cells than columns, whose rest was left out (quote a query that has a comma)"
WITHOUT_QUERY = "lines without a query"
_NEITHER = "is neither a list of queries nor a slow log of OpenSearch or Elasticsearch."


@dataclass(slots=True)
class LogRow:
    """One search, or one query with how often it was asked; `line` counts lines, or rows of a table, from 1."""

    line: int
    query: str
    count: float = 1.0
    id: str | None = None
    picture: str | None = None
    clicked: tuple[str, ...] = ()
    positions: tuple[int, ...] = ()
    "Of the clicks, from 1 on; empty where the log does not say."
    shown: tuple[str, ...] = ()
    session: str | None = None
    time: str | None = None


def read_log(path: Path, pattern: str | None, problems: Counter[str]) -> Iterator[LogRow]:
    """The searches of a file, one at a time; what could not be used is counted in `problems`."""
    if not path.is_file():
        raise UserError(f"There is no file of queries {path}.", "Give a .txt, .csv or .jsonl file, or a log.")
    kind = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    lines = _lines(path, problems)
    if pattern is not None:
        return _by_pattern(lines, _compiled(pattern), problems)
    if kind in ("csv", "tsv"):
        return _table(path, lines, problems)
    if kind in ("jsonl", "ndjson", "json"):
        return _objects(lines, problems)
    if kind == "txt":
        return (LogRow(number, line) for number, line in enumerate(lines, 1) if line.strip())
    return _slow_log(path, lines, problems)


def _lines(path: Path, problems: Counter[str]) -> Iterator[str]:
    """Lines of text in UTF-8 or UTF-16, with or without a byte order mark; single lines may be Windows-1252."""
    try:
        with open_maybe_gzipped(path) as file:
            start = file.peek(1024)[:1024]
            if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
                yield from TextIOWrapper(file, encoding="utf-16", errors="replace")
                return
            if b"\0" in start:
                raise UserError(f"{path} is not a text file.", "Give a .txt, .csv or .jsonl file, or a log.")
            for number, raw in enumerate(file):
                line = raw.removeprefix(BOM_UTF8) if not number else raw
                try:
                    yield line.decode()
                except UnicodeDecodeError:
                    problems[_MIXED] += 1
                    yield line.decode("cp1252", errors="replace")
    except (EOFError, BadGzipFile, zlib.error):
        problems["ends in damaged compressed data"] += 1
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.") from error


def _row(number: int, fields: Mapping[str, Any], problems: Counter[str]) -> LogRow | None:
    """A row of a table or an object; None where it has neither words nor a picture, or its count is not a number."""
    query, picture = fields.get("query"), fields.get("picture")
    if not (isinstance(query, str) and query.strip()) and not picture:
        problems[WITHOUT_QUERY] += 1
        return None
    try:
        given = fields.get("count")
        count = 1.0 if given in (None, "") else float(str(given).replace(",", ""))
        clicked, positions = _clicks(fields.get("clicked"), fields.get("position"))
    except (ValueError, TypeError):
        count = -1.0
    if not 0 < count < float("inf"):
        problems["lines with a wrong count or position"] += 1
        return None
    id_, session, time = (str(value) if (value := fields.get(name)) else None for name in ("id", "session", "time"))
    shown = tuple(_listed(fields.get("shown")))
    text = query if isinstance(query, str) else ""
    return LogRow(number, text, count, id_, str(picture) if picture else None, clicked, positions, shown, session, time)


def _clicks(clicked: Any, position: Any) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Clicked pictures and their positions: ids, or objects with `picture` and `position`; `a|b` in a table."""
    items = _listed(clicked)
    if items and isinstance(items[0], dict):
        pairs = [(str(one["picture"]), int(one["position"])) for one in items if one.get("picture")]
        return tuple(picture for picture, _ in pairs), tuple(place for _, place in pairs)
    places = tuple(int(place) for place in _listed(position))
    return tuple(map(str, items)), places if len(places) == len(items) and all(place > 0 for place in places) else ()


def _listed(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [part.strip() for part in value.split("|") if part.strip()]
    return value if isinstance(value, list) else [] if value is None or value is False else [value]


def _fields(names: Iterable[str]) -> dict[str, str]:
    """By column the field that it holds, under one of its usual names."""
    there = {name.strip().casefold(): name for name in names}
    found = ((next((there[one] for one in usual if one in there), None), field) for field, usual in _NAMES.items())
    return {column: field for column, field in found if column is not None}


def _table(path: Path, lines: Iterator[str], problems: Counter[str]) -> Iterator[LogRow]:
    head = next(lines, "")
    if not head.strip():
        return
    delimiter = max(",\t;", key=head.count)
    columns = next(csv.reader([head], delimiter=delimiter))
    known = _fields(columns)
    if not {"query", "picture"} & set(known.values()):
        raise UserError(
            f"{path} has no column for the query; its columns are {', '.join(columns)[:200]}.",
            'Call the column "query"; other columns that are read are id, count, picture and clicked.',
        )
    reader, number = csv.reader(lines, delimiter=delimiter), 0
    while True:
        number += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            problems[_UNREADABLE] += 1
            continue
        if len(cells) > len(columns):
            problems[_CUT] += 1
        fields = {known[name]: cell for name, cell in zip(columns, cells, strict=False) if name in known}
        if cells and (row := _row(number, fields, problems)) is not None:
            yield row


def _objects(lines: Iterator[str], problems: Counter[str]) -> Iterator[LogRow]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        given = json_object(line)
        if given is None:
            problems[_UNREADABLE] += 1
            continue
        inner = given.get("_source")
        row = _row(number, _of_object(inner if isinstance(inner, dict) else given), problems)
        if row is not None:
            yield row


def _of_object(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an object; where it is a line of a slow log, the words that were searched for."""
    fields = {field: given[name] for name, field in _fields(given).items()}
    source = next((given[name] for name in _SLOW_SOURCES if isinstance(given.get(name), str | dict)), None)
    if "query" not in fields and source is not None:
        fields["query"] = _searched(source)
    return fields


def _searched(source: Any) -> str | None:
    """The words in the query of a search engine; None for one that has none, such as a search by vector."""
    if isinstance(source, str):
        try:  # More may follow it on its line.
            source, _ = json.JSONDecoder().raw_decode(source)
        except ValueError:
            return None
    return _words(source, False)


def _words(node: Any, inside: bool) -> str | None:
    if isinstance(node, str):
        return node if inside else None
    if isinstance(node, dict):
        said = next((node[key] for key in _TEXT_KEYS if isinstance(node.get(key), str)), None)
        parts = ((value, inside or key in _TEXT_QUERIES) for key, value in node.items())
        return said or next(filter(None, (_words(value, within) for value, within in parts)), None)
    return next(filter(None, (_words(value, inside) for value in node)), None) if isinstance(node, list) else None


def _slow_log(path: Path, lines: Iterator[str], problems: Counter[str]) -> Iterator[LogRow]:
    known = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("{"):
            yield from (replace(row, line=number) for row in _objects(iter((line,)), problems))
            known = True
        elif (found := _SLOW_LINE.search(line)) is not None:
            time, known = _SLOW_TIME.search(line), True
            words = _searched(line[found.end() :])
            row = _row(number, {"query": words, "time": time and time[1]}, problems)
            yield from () if row is None else (row,)
        elif not known and (_REQUEST.search(line) or number > 100):
            raise UserError(f"{path} {_NEITHER}", "Say where a line has its query, such as --query-pattern q for ?q=….")
        else:
            problems[WITHOUT_QUERY] += bool(line.strip())


def _compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression with a group `query` (or one group); a bare word is a parameter in the address."""
    if re.fullmatch(r"[\w.-]+", pattern):
        pattern = rf"(?P<session>^\S+)?.*?[?&;]{re.escape(pattern)}=(?P<query>[^&;\s\"#]*)"
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise UserError(
            f"--query-pattern is not a regular expression: {error}.", "For example q, or 'q=([^& ]+)'."
        ) from None
    if not found.groups:
        raise UserError("--query-pattern has no group.", "Put the query in parentheses: 'q=([^& ]+)'.")
    return found


def _by_pattern(lines: Iterator[str], pattern: re.Pattern[str], problems: Counter[str]) -> Iterator[LogRow]:
    """Whatever the pattern finds, with %20 and + turned into the signs that they stand for."""
    for number, line in enumerate(lines, 1):
        found = pattern.search(line)
        if found is None:
            problems[WITHOUT_QUERY] += bool(line.strip())
            continue
        fields = {name: value for name, value in found.groupdict().items() if name in _NAMES}
        row = _row(number, {**fields, "query": unquote_plus(fields.get("query") or found[1] or "")}, problems)
        yield from () if row is None else (row,)
