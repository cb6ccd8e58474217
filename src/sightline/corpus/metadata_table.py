"""Metadata that people keep in a table of their own (JSONL, CSV, Parquet): rows for pictures, read as a stream."""

from __future__ import annotations

import base64
import csv
import math
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np

from sightline.errors import READ_AGAIN, UserError, explained, needs_extra
from sightline.io.jsonl import LineError, read_jsonl
from sightline.io.unpacked import parquet_batches
from sightline.types import Json

KEYS = ("image_id", "id", "file_name", "photo_id")
"""The columns that may hold a picture's id; the first of them that a file has is used."""

Row: TypeAlias = tuple[str, Mapping[str, Json]]
_JSON_INTEGERS = range(-(2**63), 2**64)


def read_metadata_rows(path: Path) -> Iterator[Row]:
    """Picture ids and their values from `.jsonl`, `.csv` or `.parquet`, one at a time; the id's column is left out.

    The id stands in `image_id`, `id`, `file_name` or `photo_id`. Values are what JSON can hold; an empty cell of a
    CSV file is None and the others are text.
    """
    readers = {".jsonl": _jsonl, ".ndjson": _jsonl, ".csv": _csv, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UserError(
            f'metadata file {path}: its ending "{path.suffix}" is not known.',
            "use .jsonl, .csv or .parquet (scan also reads .lrcat)",
        )
    if not path.is_file():
        raise UserError(f"there is no metadata file {path}.", "check the path after --metadata")
    return reader(path)


def json_safe(value: object) -> Json:
    """The nearest thing that JSON can hold: ISO 8601 times, lists, text; NaN and infinity are None, bytes base64."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.generic):
        value = _plain(value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value) if value in _JSON_INTEGERS else str(value)
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {str(key): json_safe(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [json_safe(item) for item in value]
    return str(value)


def _plain(value: np.generic) -> object:
    """Python's own value for numpy's; a time keeps its nanoseconds as text."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return None if np.isnat(value) else str(value)
    if isinstance(value, np.inexact):
        return float(value) if isinstance(value, np.floating) else str(value)
    plain: object = value.item()
    return plain


def _jsonl(path: Path) -> Iterator[Row]:
    key = None
    for line, record in read_jsonl(path):
        if not isinstance(record, dict):
            raise LineError(path, line, "expected one JSON object", 'such as {"image_id": "a.jpg", "camera": 3}')
        key = key or _key(record, f"{path}, line {line}")
        yield _row(record, key, f"{path}, line {line}")


def _csv(path: Path) -> Iterator[Row]:
    with _open_text(path) as file:
        rows = _csv_rows(path, file)
        _, header = next(rows, (1, []))
        key = _key(header, f"{path}, line 1")
        if len(set(header)) < len(header):
            twice = next(name for name in header if header.count(name) > 1)
            raise LineError(path, 1, f'the column "{twice}" is there twice', "rename one of them")
        for line, cells in rows:
            if len(cells) != len(header):
                raise LineError(path, line, f"{len(cells)} cells, but the header has {len(header)}")
            yield _row(
                {name: cell or None for name, cell in zip(header, cells, strict=True)}, key, f"{path}, line {line}"
            )


def _open_text(path: Path) -> IO[str]:
    with explained(f"{path} can't be read", READ_AGAIN):
        return path.open(encoding="utf-8-sig", newline="")


def _csv_rows(path: Path, file: IO[str]) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, with the line that each begins on."""
    reader = csv.reader(file, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise LineError(path, line, f"not CSV: {error}") from error
        except UnicodeDecodeError as error:
            raise LineError(
                path, line, "at or after this line there is text that is not UTF-8", "save it as UTF-8"
            ) from error
        if cells is None:
            return
        if any(cells):
            yield line, cells


def _parquet(path: Path) -> Iterator[Row]:
    with needs_extra("Reading Parquet", "parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    try:
        with pq.ParquetFile(path) as file:
            key = _key(file.schema_arrow.names, str(path))
            number = 0
            for batch in parquet_batches(path, file, 1024):
                for record in _whole_microseconds(batch).to_pylist():
                    number += 1
                    yield _row(record, key, f"{path}, row {number}")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"{path} can't be read as Parquet: {error}.", "make the file again") from error


def _whole_microseconds(batch: Any) -> Any:
    """Python's times end at microseconds; what is finer is cut off instead of refused."""
    import pyarrow as pa

    columns = [
        column.cast(pa.timestamp("us", column.type.tz), safe=False)
        if pa.types.is_timestamp(column.type) and column.type.unit == "ns"
        else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _key(columns: Collection[str], where: str) -> str:
    for key in KEYS:
        if key in columns:
            return key
    found = ", ".join(columns) or "none"
    raise UserError(f"{where}: no column holds the picture's id (found: {found}).", f"name it {KEYS[0]}")


def _row(record: Mapping[str, object], key: str, where: str) -> Row:
    id_ = record.get(key)
    if isinstance(id_, bool) or not isinstance(id_, str | int) or id_ == "":
        raise UserError(
            f"{where}: {key} is {'missing' if id_ is None else repr(id_)}; expected a picture's id.",
            "give every row its picture's id",
        )
    values = {name: json_safe(value) for name, value in record.items() if name != key}
    return unicodedata.normalize("NFC", str(id_)).removeprefix("./"), values
