"""Rows of other tools' tables: JSON lines, Parquet, Arrow, CSV or TSV, with fields that are checked as they are read.

CSV is read as pandas writes it: a header, long fields, line breaks in quotes, empty is absent.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, time
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sightline.benchmark.formats.base import Complaints
from sightline.benchmark.formats.parquet import read_table
from sightline.benchmark.formats.retrieval import finite_number, whole_number
from sightline.english import counted
from sightline.errors import READ_AGAIN, UserError
from sightline.io.jsonl import LineError, parse_line, read_lines
from sightline.plain_text import cut
from sightline.types import Json

TABLES = (".parquet", ".parq", ".arrow")
_LONGEST_FIELD = 1 << 29  # Several pictures in base64 fit.


class WrongFieldError(Exception):
    """A field of a row does not hold what it should."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row and where it stands; a getter raises `WrongFieldError`, which `checked` turns into a complaint."""

    file: Path
    line: int
    values: Mapping[str, Any]

    def __contains__(self, field: str) -> bool:
        return self.values.get(field) is not None

    def id(self, field: str) -> str:
        """An id; a whole number is taken as text."""
        value = self.values.get(field)
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise WrongFieldError(field, f"expected an id, {_got(value)}")
        return str(value)

    def new_id(self, field: str, known: Container[str]) -> str:
        """An id that no row before had."""
        name = self.id(field)
        if name in known:
            raise WrongFieldError(field, f'"{name}" is there twice')
        return name

    def ids(self, field: str) -> tuple[str, ...]:
        """A list of ids, each of them once."""
        value = self.values.get(field)
        if not isinstance(value, list | tuple):
            raise WrongFieldError(field, f"expected a list of ids, {_got(value)}")
        for place, item in enumerate(value):
            if not isinstance(item, str) or not item:
                raise WrongFieldError(f"{field}.{place}", f"expected an id, {_got(item)}")
        return tuple(dict.fromkeys(value))

    def texts(self, field: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.values.get(field)
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise WrongFieldError(field, f"expected a list of texts, {_got(value)}")
        return tuple(value)

    def text(self, field: str) -> str:
        """Text, which must be there."""
        value = self.values.get(field)
        if not isinstance(value, str):
            raise WrongFieldError(field, f"expected text, {_got(value)}")
        return value

    def maybe_text(self, field: str) -> str | None:
        """Text, if it is there."""
        return self.text(field) if field in self else None

    def grade(self, field: str) -> int:
        """A whole number."""
        number = whole_number(self.values.get(field))
        if number is None:
            raise WrongFieldError(field, f"expected a whole number, {_got(self.values.get(field))}")
        return number

    def number(self, field: str) -> float:
        """A finite number."""
        number = finite_number(self.values.get(field))
        if number is None:
            raise WrongFieldError(field, f"expected a number, {_got(self.values.get(field))}")
        return number

    def rest(self, *known: str) -> dict[str, Json]:
        """What the row holds beside the known fields, as far as JSON can hold it; dates become text."""
        found: dict[str, Json] = {}
        for key, value in self.values.items():
            if key not in known:
                with suppress(TypeError):
                    found[key] = _plain(value)
        return found


@contextmanager
def checked(row: TableRow, complaints: Complaints) -> Iterator[None]:
    """Where fields of a row are read: if one is wrong it is complained of, and the row is left out."""
    try:
        yield
    except WrongFieldError as error:
        complaints.add(row.file, row.line, error.field, error.message)


def read_rows(path: Path, complaints: Complaints) -> Iterator[TableRow]:
    """The rows of a table, one at a time: Parquet and Arrow by their names, else JSON lines, also gzipped."""
    if path.suffix in TABLES:
        for number, values in enumerate(read_table(path), 1):
            yield TableRow(path, number, values)
        return
    for number, line in read_lines(path):
        try:
            values = parse_line(path, number, line)
        except LineError as error:
            complaints.add(path, number, None, error.reason)
            continue
        if isinstance(values, dict):
            yield TableRow(path, number, values)
        else:
            complaints.add(path, number, None, f"expected an object, {_got(values)}")


def _plain(value: Any) -> Json:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case date() | time():
            return value.isoformat()
        case list() | tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case _:
            raise TypeError(type(value))


def _got(value: object) -> str:
    return "but it is not there" if value is None else f"got {cut(repr(value), 60)}"


def csv_rows(path: Path, complaints: Complaints, *, delimiter: str = ",") -> Iterator[TableRow]:
    """The rows of a file, one at a time, each with the line on which it starts."""
    line = 1
    try:
        # A byte order mark is not part of the first name; line breaks inside quotes stay as they are.
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter)
            header = _header(path, _next(reader) or [])
            line = reader.line_num + 1
            while (cells := _next(reader)) is not None:
                if len(cells) > len(header):
                    wide = f"expected {counted(len(header), 'field')} as in the header, got {len(cells):,}"
                    complaints.add(path, line, None, wide)
                elif cells:
                    yield TableRow(path, line, {name: cell or None for name, cell in zip_longest(header, cells)})
                line = reader.line_num + 1
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: {error.reason}.", "save it as UTF-8") from error
    except csv.Error as error:
        raise UserError(f"{path}, line {line}: {error}.", "is it a table with a header line?") from error
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.", READ_AGAIN) from error


def _next(reader: Iterator[list[str]]) -> list[str] | None:
    """The next row; the limit on a field's length belongs to the whole process, so it is put back each time."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(before)


def _header(path: Path, names: list[str]) -> list[str]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not any(names):
        said = f'has the column "{twice[0]}" twice' if twice else "has no header line"
        raise UserError(f"{path} {said}.", "the first line names each column once")
    return names
