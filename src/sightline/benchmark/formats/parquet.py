"""Parquet and Arrow files, with the `parquet` extra: rows in, finished parts out, pictures as `datasets` holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from sightline.errors import UserError, needs_extra
from sightline.io.files import write_whole
from sightline.io.jsonl import dump
from sightline.io.unpacked import limited_batches, parquet_batches

IMAGE = "image"
"""The column type of embedded pictures: bytes and path, which `datasets` decodes when they are asked for."""
JSON_TEXT = "json"
"""The column type of values that have no type in common: each as JSON text (see `as_json`)."""

# Pictures may be inside: few rows at a time.
_BATCH = 32
_GROUP_ROWS = 16_384
_ROW_GROUP_BYTES = 32 << 20
_PART_BYTES = 480 << 20


def read_table(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, or of an Arrow file as `save_to_disk` writes it, a few at a time."""
    pa, pq = _pyarrow("reading Parquet")
    try:
        if path.suffix == ".arrow":
            with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as batches:
                for batch in limited_batches(path, batches):
                    yield from batch.to_pylist()
        else:
            with pq.ParquetFile(path) as file:
                for batch in parquet_batches(path, file, _BATCH):
                    yield from batch.to_pylist()
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"{path} can't be read as {path.suffix[1:]}: {error}.", "copy or make it again") from error


def write_parts(folder: Path, prefix: str, columns: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> list[Path]:
    """Write rows as finished parts `prefix-00000.parquet`, …; memory does not grow with their number.

    `columns` gives the type of each column: an Arrow type's name, a list or mapping of types, or `IMAGE`.
    """
    pa, pq = _pyarrow("writing Parquet")
    schema = _schema(pa, columns)
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[Path] = []
    pending = iter(_groups(rows))
    group = next(pending, [])
    while group or not parts:
        path = folder / f"{prefix}-{len(parts):05d}.parquet"
        written = 0
        with pq.ParquetWriter(path, schema) as writer:
            while group and written < _PART_BYTES:
                writer.write_table(pa.Table.from_pylist(group, schema=schema))
                written += sum(map(_weight, group))
                group = next(pending, [])
        parts.append(path)
    return parts


def write_file(path: Path, columns: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as one Parquet file, whole or not at all."""
    pa, pq = _pyarrow("writing Parquet")
    schema = _schema(pa, columns)
    with TemporaryFile() as file:
        with pq.ParquetWriter(file, schema) as writer:
            for group in _groups(rows):
                writer.write_table(pa.Table.from_pylist(group, schema=schema))
        file.seek(0)
        write_whole(path, iter(lambda: file.read(1 << 20), b""))


def column_type(values: Iterable[Any]) -> Any:
    """A type that holds all of these values."""
    kinds = {_kind(value) for value in values if value is not None}
    if kinds <= {"int64", "float64"} and kinds:
        return "float64" if "float64" in kinds else "int64"
    if len(kinds) == 1:
        kind = kinds.pop()
        return ["string"] if kind == "strings" else kind
    return JSON_TEXT if kinds else "string"


def as_json(value: Any) -> str | None:
    """A value as JSON text, for a column whose values have no common type."""
    return None if value is None else dump(value).decode().rstrip("\n")


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int64" if -(2**63) <= value < 2**63 else JSON_TEXT
        case float():
            return "float64"
        case str():
            return "string"
        case [*items] if items and all(isinstance(item, str) for item in items):
            return "strings"
        case _:
            return JSON_TEXT


def _groups(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Rows in lots of a bounded size in memory."""
    group: list[Mapping[str, Any]] = []
    size = 0
    for row in rows:
        group.append(row)
        size += _weight(row)
        if size >= _ROW_GROUP_BYTES or len(group) >= _GROUP_ROWS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _weight(row: Mapping[str, Any]) -> int:
    """Bytes of a row, roughly: its pictures and long lists."""
    total = 0
    for value in row.values():
        if isinstance(value, dict):
            total += len(value.get("bytes") or b"")
        elif isinstance(value, list | str):
            total += 16 * len(value) if isinstance(value, list) else len(value)
    return total


def _schema(pa: Any, columns: Mapping[str, Any]) -> Any:
    """The Arrow schema, with the note by which `datasets` knows which columns are pictures."""
    fields = [pa.field(name, _arrow(pa, kind)) for name, kind in columns.items()]
    if IMAGE not in columns.values():
        return pa.schema(fields)
    features = {name: _feature(kind) for name, kind in columns.items()}
    return pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})


def _arrow(pa: Any, kind: Any) -> Any:
    match kind:
        case "image":
            return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        case "json":
            return pa.string()
        case [inner]:
            return pa.list_(_arrow(pa, inner))
        case dict():
            return pa.struct([(name, _arrow(pa, inner)) for name, inner in kind.items()])
        case _:
            return getattr(pa, "bool_" if kind == "bool" else kind)()


def _feature(kind: Any) -> Any:
    match kind:
        case "image":
            return {"_type": "Image"}
        case [inner]:
            return {"feature": _feature(inner), "_type": "Sequence"}
        case dict():
            return {name: _feature(inner) for name, inner in kind.items()}
        case _:
            return {"dtype": "string" if kind == JSON_TEXT else kind, "_type": "Value"}


def _pyarrow(feature: str) -> tuple[Any, Any]:
    with needs_extra(feature, "parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    return pa, pq
