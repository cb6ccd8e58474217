"""Columns on disk: one file, written whole or not at all, mapped into memory when it is read.

The file is a magic word, the length of a JSON header and its checksum, the header, and the arrays, each at a multiple
of 64 bytes. The header has a checksum of each array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from sightline.class_names import name_of
from sightline.errors import UserError
from sightline.io.checksums import checksum, chosen
from sightline.io.files import write_whole
from sightline.io.jsonl import dump
from sightline.retrieval.columns.kinds import (
    Column,
    FlagColumn,
    LabelColumn,
    NumberColumn,
    PictureColumns,
    TextColumn,
    TimeColumn,
    Vocabulary,
)

FILE_NAME = "columns.bin"
_MAGIC = b"SIGHTCOL"
_SCHEMA = 2
_START = len(_MAGIC) + 16
_ALIGNMENT = 64
_FIX = "build the index again: sightline index makes this file again"
_Arrays: TypeAlias = Sequence[NDArray[Any]]


def save_columns(columns: PictureColumns, folder: Path) -> None:
    """Write `columns.bin` into a folder."""
    entries, arrays = [], [np.ascontiguousarray(columns.present)]
    for name, column in columns.by_name.items():
        parts = _arrays_of(column)
        entries.append({"name": name, "kind": name_of(type(column)), "arrays": len(parts)})
        arrays.extend(np.ascontiguousarray(part) for part in parts)
    header = dump(
        {
            "schema": _SCHEMA,
            "rows": len(columns),
            "columns": entries,
            "arrays": [[array.dtype.str, len(array), checksum(array.data)] for array in arrays],
        }
    )
    write_whole(folder / FILE_NAME, _content(header, arrays))


def columns_are_whole(folder: Path) -> bool:
    """Is `columns.bin` there, of this version, and what was written?"""
    try:
        load_columns(folder, whole=True)
    except UserError:
        return False
    return True


def load_columns(folder: Path, *, whole: bool = False) -> PictureColumns:
    """The columns of a folder; their arrays stay on disk until they are used.

    Damage is looked for in all of them if they are small or `whole` is asked for, else in some.
    """
    path = folder / FILE_NAME
    try:
        data = np.memmap(path, np.uint8, "r")
        return _read(data, path, whole)
    except (OSError, ValueError, KeyError, TypeError, IndexError, StopIteration) as error:
        raise UserError(f"{path} can't be read: {error}.", _FIX) from error


def _read(data: NDArray[np.uint8], path: Path, whole: bool) -> PictureColumns:
    header, at = _header(data, path)
    found = list(_mapped(data, at, header["arrays"], path))
    for number in chosen([array.nbytes for array in found], whole=whole):
        if checksum(found[number].data) != header["arrays"][number][2]:
            raise UserError(f"{path} is damaged.", _FIX)
    arrays = iter(found)
    present = next(arrays)
    by_name = {
        entry["name"]: _column(entry["kind"], [next(arrays) for _ in range(entry["arrays"])], header["rows"])
        for entry in header["columns"]
    }
    return PictureColumns(present, by_name)


def _header(data: NDArray[np.uint8], path: Path) -> tuple[dict[str, Any], int]:
    """The header, and where the arrays begin."""
    if bytes(data[: len(_MAGIC)]) != _MAGIC:
        raise UserError(f"{path} is not a file of columns.", _FIX)
    length, wanted = np.frombuffer(data[len(_MAGIC) : _START].tobytes(), "<u8").tolist()
    end = _START + length
    if len(data) < end or not length:
        raise UserError(f"{path} is cut off.", _FIX)
    told = data[_START:end].tobytes()
    if checksum(told) != wanted:
        raise UserError(f"{path} is damaged, or of another version of Sightline.", _FIX)
    header: dict[str, Any] = orjson.loads(told)
    if header["schema"] != _SCHEMA:
        raise UserError(f"{path} was written by another version of Sightline.", _FIX)
    return header, end


def _content(header: bytes, arrays: _Arrays) -> Iterator[bytes]:
    yield _MAGIC + np.array([len(header), checksum(header)], "<u8").tobytes() + header
    at = _START + len(header)
    for array in arrays:
        padding = -at % _ALIGNMENT
        yield bytes(padding)
        yield array.tobytes()
        at += padding + array.nbytes


def _mapped(
    data: NDArray[np.uint8], at: int, shapes: Sequence[tuple[str, int, int]], path: Path
) -> Iterator[NDArray[Any]]:
    for dtype, length, _ in shapes:
        at += -at % _ALIGNMENT
        size = np.dtype(dtype).itemsize * length
        if at + size > len(data):
            raise UserError(f"{path} is cut off.", _FIX)
        yield np.frombuffer(data, dtype, length, at) if length else np.empty(0, dtype)
        at += size


def _arrays_of(column: Column) -> _Arrays:
    match column:
        case NumberColumn(values) | FlagColumn(values):
            return [values]
        case TimeColumn(wall, utc):
            return [wall, utc]
        case TextColumn(codes, vocabulary):
            return [codes, _json_bytes(vocabulary)]
        case LabelColumn(_, rows, codes, vocabulary):
            return [rows, codes, _json_bytes(vocabulary)]


def _column(kind: str, arrays: _Arrays, length: int) -> Column:
    match kind:
        case "Numbers":
            return NumberColumn(arrays[0])
        case "Flags":
            return FlagColumn(arrays[0])
        case "Times":
            return TimeColumn(*arrays)
        case "Texts":
            return TextColumn(arrays[0], Vocabulary(arrays[1]))
        case _:
            return LabelColumn(length, arrays[0], arrays[1], Vocabulary(arrays[2]))


def _json_bytes(vocabulary: Vocabulary) -> NDArray[np.uint8]:
    return np.frombuffer(dump(list(vocabulary)), np.uint8)
