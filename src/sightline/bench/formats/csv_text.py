"""CSV and TSV files with a header, read as pandas writes them: long fields, line breaks in quotes, empty is absent."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from sightline.bench.formats.base import Complaints
from sightline.bench.formats.rows import Row
from sightline.english import counted
from sightline.errors import UserError

_LONGEST_FIELD = 1 << 29  # Several pictures in base64 fit.


def csv_rows(path: Path, complaints: Complaints, *, delimiter: str = ",") -> Iterator[Row]:
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
                    yield Row(path, line, {name: cell or None for name, cell in zip_longest(header, cells)})
                line = reader.line_num + 1
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: {error.reason}.", "save it as UTF-8") from error
    except csv.Error as error:
        raise UserError(f"{path}, line {line}: {error}.", "is it a table with a header line?") from error
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.") from error


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
