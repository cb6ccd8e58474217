"""Tables in memory as rows: data frames of pandas or polars, lists, dictionaries; and which column holds which field.

| field | in | columns that are known by themselves |
|---|---|---|
| `picture` | pictures, judgments, rankings | `picture`, `picture_id`, `image_id`, `doc_id`, `corpus-id`, … |
| `uri` | pictures | `uri`, `path`, `url`, `file`, `file_name`, `image` |
| `query` | queries, judgments, rankings | `query_id`, `query-id`, `qid`, `task`, `id`, …, `query` |
| `text` | queries | `text`, `query_text`, `question`, `caption`, `query` |
| `grade` | judgments | `grade`, `relevance`, `rel`, `label`, `score` |
| `score`, `rank` | rankings | `score`, `rank` |

Any other name is said as with `import --map`: `columns={"picture": "photo"}`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from sightline.benchmark.formats.base import Complaints, FormatOptions
from sightline.benchmark.formats.rows import TableRow
from sightline.class_names import name_of
from sightline.errors import UserError, did_you_mean
from sightline.types import Corpus, Picture

Table: TypeAlias = Any
"""A data frame, a list of dictionaries or of plain values, or a dictionary by id."""
IDS = ("id", "_id")
"""Also the id of a row, in a table of one kind of thing."""
_NAMES: Mapping[str, tuple[str, ...]] = {
    "picture": ("picture", "picture_id", "image_id", "photo_id", "doc_id", "docid", "docno", "corpus-id", "corpus_id"),
    "uri": ("uri", "path", "url", "file", "file_name", "filename", "image"),
    "query": ("query_id", "query-id", "qid", "q_id", "task", "task_id"),
    "text": ("text", "query_text", "question", "prompt", "caption", "query"),
    "grade": ("grade", "relevance", "rel", "label", "score"),
    "score": ("score",),
    "rank": ("rank",),
}
_FIX = "Correct that row; `columns={field: column}` names a column that is called otherwise."


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of a table, and which column holds which field."""

    table: str
    rows: Sequence[Mapping[str, Any]]
    columns: Mapping[str, str]

    def __iter__(self) -> Iterator[TableRow]:
        file = Path(self.table)
        for number, row in enumerate(self.rows):
            yield TableRow(file, number, row)

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, in their order."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row))

    def find(self, field: str, *more: str, but: str | None = None) -> str | None:
        """The column of a field: as the user mapped it, else by a name that it usually has."""
        there = self.names
        known = (self.columns.get(field), *_NAMES[field], *more)
        return next((name for name in known if name is not None and name in there and name != but), None)

    def need(self, field: str, *more: str) -> str:
        """The column of a field that must be there."""
        found = self.find(field, *more)
        if found is not None or not self.rows:
            return found or field
        there = self.names
        raise UserError(
            f"{self.table} has no column for {field}; its columns are {', '.join(there)}.",
            f'Say which one it is: columns={{"{field}": "{there[0] if there else "COLUMN"}"}}.',
        )


class Refusal(Complaints):
    """Ends the reading at the first wrong cell, and names its row and its column."""

    def __init__(self) -> None:
        super().__init__(FormatOptions())

    def add(self, file: str | Path, line: int | None, field_: str | None, message: str) -> NoReturn:
        raise UserError(f'Row {line} of {file} (counted from 0), column "{field_}": {message}.', _FIX)


REFUSAL = Refusal()


def check_columns(columns: Mapping[str, str], tables: Iterable[TableRows]) -> None:
    """Refuse a field that there is none of, and a column that no table has."""
    there = {name for rows in tables for name in rows.names}
    for field, column in columns.items():
        if field not in _NAMES:
            hint = did_you_mean(field, _NAMES, f"Fields: {', '.join(_NAMES)}.")
            raise UserError(f'columns names "{field}", which is not a field.', hint)
        if column not in there:
            hint = did_you_mean(column, there, f"Columns: {', '.join(sorted(there))}.")
            raise UserError(f'No table has the column "{column}", which columns names for {field}.', hint)


def keyed_records(table: Table | None, what: str, id_: str, value: str) -> list[Mapping[str, Any]]:
    """Rows of pictures or queries; a dictionary holds them by id, a list of plain values only the values."""
    if table is None:
        return []
    if isinstance(table, Corpus):
        table = table.pictures
    if isinstance(table, Mapping):
        return [_keyed(key, given, id_, value) for key, given in table.items()]
    return records(table, what, value)


def _keyed(key: object, given: Any, id_: str, value: str) -> Mapping[str, Any]:
    if isinstance(given, Picture):
        return {"picture": given}
    fields = given if isinstance(given, Mapping) else {} if given is None else {value: given}
    return {_NAMES[id_][0]: plain(key), **{str(name): plain(cell) for name, cell in fields.items()}}


def judgment_records(table: Table) -> list[Mapping[str, Any]]:
    """Rows of `{query: {picture: grade}}`, of `{query: [pictures]}`, of tuples, or of a table."""
    if (
        isinstance(table, list | tuple)
        and table
        and all(isinstance(row, tuple) and 2 <= len(row) <= 3 for row in table)
    ):
        return records([dict(zip(("query_id", "picture", "grade"), row, strict=False)) for row in table], "judgments")
    if not isinstance(table, Mapping):
        return records(table, "judgments")
    rows: list[Mapping[str, Any]] = []
    for query, given in table.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise UserError(
                f'The judgments of "{query}" must be a list of pictures or {{picture: grade}}.',
                'For example {"q1": {"a.jpg": 2, "b.jpg": 0}} or {"q1": ["a.jpg"]}.',
            )
        graded = given.items() if isinstance(given, Mapping) else ((picture, 1) for picture in given)
        rows += [{"query_id": plain(query), "picture": plain(one), "grade": plain(grade)} for one, grade in graded]
    return rows


def records(table: Table, what: str, value: str | None = None) -> list[Mapping[str, Any]]:
    """The rows of a data frame or of a list; a plain value is a row of the one field `value`, where that is given."""
    if callable(getattr(table, "to_dicts", None)):  # polars
        listed = table.to_dicts()
    elif callable(getattr(table, "reset_index", None)):  # pandas; a named index is a column
        named = any(name is not None for name in table.index.names)
        listed = (table.reset_index() if named else table).to_dict("records")
    elif isinstance(table, str | bytes | os.PathLike) or not isinstance(table, Iterable):
        raise UserError(
            f"{what} must be a data frame, a list or a dictionary, not {name_of(type(table))}.",
            f"Read it first, for example {what}=pandas.read_csv(…); `sightline import` reads files of other tools.",
        )
    else:
        listed = list(table)
    return [_record(row, number, what, value) for number, row in enumerate(listed)]


def _record(row: Any, number: int, what: str, value: str | None) -> Mapping[str, Any]:
    if isinstance(row, Picture):
        return {"picture": row}
    if isinstance(row, Mapping):
        return {str(name): plain(cell) for name, cell in row.items()}
    if value is None or not isinstance(plain(row), str | int):
        raise UserError(f"Row {number} of {what} is {name_of(type(row))}.", "Give one dictionary for each row.")
    return {value: plain(row)}


def plain(cell: Any) -> Any:
    """A cell as Python has it: scalars of numpy as their own, paths as text, what is missing (NaN, NA, NaT) as None."""
    if hasattr(cell, "item") and getattr(cell, "shape", None) == ():
        cell = cell.item()
    if isinstance(cell, os.PathLike):
        return Path(cell).as_posix()
    if type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return None
    return cell
