"""A corpus as files that other tools read: JSON lines, CSV, Parquet, or a Hugging Face image folder."""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any

import orjson

from sightline.corpus.names import path_of
from sightline.corpus.view import StoredGroups
from sightline.errors import UserError, needs_extra
from sightline.io.files import whole_folder, write_whole
from sightline.types import Corpus, Picture

COLUMNS = (
    "id", "uri", "sha256", "phash", "width", "height", "mime", "taken_at", "lat", "lon", "altitude",
    "address", "device", "license", "doi", "source", "attribution", "groups", "extra",
)  # fmt: skip
_PARQUET_TYPES = {"width": "int32", "height": "int32", "lat": "float64", "lon": "float64", "altitude": "float64"}
_ROWS_A_PART = 10_000


def export_corpus(corpus: Corpus, format_: str, out: str | os.PathLike[str], limit: int | None = None) -> int:
    """Write the corpus in one of `FORMATS`, whole or not at all; how many pictures were written."""
    writer = FORMATS.get(format_)
    if writer is None:
        raise UserError(f'"{format_}" is not a corpus format.', f"one of: {', '.join(FORMATS)}")
    return writer(corpus, Path(out).expanduser(), limit)


def _rows(corpus: Corpus, limit: int | None) -> Iterator[dict[str, Any]]:
    groups = _group_finder(corpus)
    return (_row(picture, groups(picture.id)) for picture in islice(corpus.pictures.values(), limit))


def _row(picture: Picture, groups: Iterable[str]) -> dict[str, Any]:
    return {
        "id": picture.id,
        "uri": picture.uri,
        "sha256": picture.sha256,
        "phash": None if picture.phash is None else f"{picture.phash:016x}",
        "width": picture.width,
        "height": picture.height,
        "mime": picture.mime,
        "taken_at": None if picture.taken_at is None else picture.taken_at.isoformat(),
        "lat": picture.lat,
        "lon": picture.lon,
        "altitude": picture.altitude,
        "address": picture.address,
        "device": picture.device,
        **asdict(picture.rights),
        "groups": list(groups),
        "extra": dict(picture.extra),
    }


def _group_finder(corpus: Corpus) -> Callable[[str], Sequence[str]]:
    if isinstance(corpus.groups, StoredGroups):
        return corpus.groups.of_picture
    found: dict[str, list[str]] = {}
    for group in corpus.groups:
        for picture in group.pictures:
            found.setdefault(picture, []).append(group.id)
    return lambda picture: found.get(picture, [])


def _jsonl(corpus: Corpus, out: Path, limit: int | None) -> int:
    return _lines(out, (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in _rows(corpus, limit)))


def _csv(corpus: Corpus, out: Path, limit: int | None) -> int:
    def line(values: Iterable[Any]) -> bytes:
        text = io.StringIO()
        csv.writer(text).writerow(values)
        return text.getvalue().encode()

    def flat(row: dict[str, Any]) -> list[Any]:
        return [orjson.dumps(value).decode() if isinstance(value, list | dict) else value for value in row.values()]

    return _lines(out, chain([line(COLUMNS)], (line(flat(row)) for row in _rows(corpus, limit)))) - 1


def _lines(out: Path, lines: Iterable[bytes]) -> int:
    count = 0

    def counted() -> Iterator[bytes]:
        nonlocal count
        for line in lines:
            count += 1
            yield line

    write_whole(out, counted())
    return count


def _parquet(corpus: Corpus, out: Path, limit: int | None) -> int:
    """A folder of finished parts: a Parquet file that is still growing can't be read."""
    with needs_extra("writing Parquet", "parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    fields = [pa.field(name, getattr(pa, _PARQUET_TYPES.get(name, "string"))()) for name in COLUMNS]
    fields[COLUMNS.index("groups")] = pa.field("groups", pa.list_(pa.string()))
    schema = pa.schema(fields)
    rows = _rows(corpus, limit)
    count = part = 0
    with whole_folder(out, marker="part-00000.parquet") as folder:
        while batch := list(islice(rows, _ROWS_A_PART)):
            for row in batch:
                row["extra"] = orjson.dumps(row["extra"]).decode()
            pq.write_table(pa.Table.from_pylist(batch, schema=schema), folder / f"part-{part:05d}.parquet")
            count, part = count + len(batch), part + 1
        if count == 0:
            pq.write_table(schema.empty_table(), folder / "part-00000.parquet")
    return count


def _imagefolder(corpus: Corpus, out: Path, limit: int | None) -> int:
    """Pictures beside a `metadata.jsonl` whose `file_name` column the `datasets` library joins on."""
    count = 0
    with whole_folder(out, marker="metadata.jsonl") as folder, (folder / "metadata.jsonl").open("wb") as metadata:
        for row in _rows(corpus, limit):
            source = path_of(row["uri"])
            if not source.is_file():
                raise UserError(f"{source} is not there.", "plug in its drive, or scan again")
            name = f"{count:08d}{source.suffix.lower() or '.jpg'}"
            shutil.copyfile(source, folder / name)
            row["extra"] = orjson.dumps(row["extra"]).decode()
            metadata.write(orjson.dumps({"file_name": name, **row}, option=orjson.OPT_APPEND_NEWLINE))
            count += 1
    return count


FORMATS: dict[str, Callable[[Corpus, Path, int | None], int]] = {
    "corpus-jsonl": _jsonl,
    "corpus-csv": _csv,
    "corpus-parquet": _parquet,
    "imagefolder": _imagefolder,
}
