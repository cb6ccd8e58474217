"""Packed files, which may unpack to so much and no more: a bomb of half a megabyte holds a gigabyte of zeros."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from sightline.errors import UserError

MOST_GROWTH = 100
FREE_GROWTH = 64 << 20
_TIGHT = 20
_UNCOMPRESSED = "write it again, without compression"


class Growth:
    """Counts what a file unpacks to: at most 64 MiB and 100 times its size, which text and tables stay far below."""

    def __init__(self, path: Path, fix: str, size: int | None = None) -> None:
        self._path, self._fix = path, fix
        self.left = FREE_GROWTH + MOST_GROWTH * (path.stat().st_size if size is None else size)

    def add(self, count: int) -> None:
        """So many bytes more; `UserError` where they are too many."""
        self.left -= count
        if self.left < 0:
            raise UserError(f"{self._path} unpacks to over {MOST_GROWTH} times its size.", self._fix)


class _Gunzipped(io.RawIOBase):
    def __init__(self, raw: BinaryIO, growth: Growth) -> None:
        self._raw, self._stream, self._growth = raw, gzip.GzipFile(fileobj=raw), growth

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._stream.readinto(buffer)
        self._growth.add(count)
        return count

    def readall(self) -> bytes:
        data = self._stream.read(self._growth.left + 1)
        self._growth.add(len(data))
        return data

    def close(self) -> None:
        super().close()
        self._raw.close()


def gunzipped(path: Path, fix: str = "unpack it first", raw: BinaryIO | None = None) -> io.BufferedReader:
    """The content of a gzipped file, which may be open already."""
    raw = path.open("rb") if raw is None else raw
    size = raw.seek(0, io.SEEK_END)
    raw.seek(0)
    return io.BufferedReader(_Gunzipped(raw, Growth(path, fix, size)), 1 << 16)


def check_zip(path: Path, fix: str = "make it again, without compression") -> None:
    """Refuse a zip archive, as .npz and .xlsx files are, that claims to unpack to too much; others are let be.

    What is read of a member is never more than it claims.
    """
    import zipfile  # Here: most commands read none.

    if zipfile.is_zipfile(path):
        growth = Growth(path, fix)
        with zipfile.ZipFile(path) as archive:
            growth.add(sum(member.file_size for member in archive.infolist()))


def parquet_batches(path: Path, file: Any, rows: int) -> Iterator[Any]:
    """Batches of an open `ParquetFile`; one row at a time where it is packed so tightly that one may be large."""
    groups = map(file.metadata.row_group, range(file.num_row_groups))
    unpacked = sum(group.total_byte_size for group in groups)
    growth = Growth(path, _UNCOMPRESSED)
    if unpacked > growth.left:
        growth.add(unpacked)
    yield from limited_batches(path, file.iter_batches(1 if unpacked > _TIGHT * path.stat().st_size else rows))


def limited_batches(path: Path, batches: Any) -> Iterator[Any]:
    """Batches of an Arrow or Parquet file, for as long as all of them together are not too much."""
    growth = Growth(path, _UNCOMPRESSED)
    for batch in batches:
        growth.add(batch.nbytes)
        yield batch
