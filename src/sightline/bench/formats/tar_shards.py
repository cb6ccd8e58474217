"""Tar files of samples: read as a stream with limits, written with the same bytes for the same content."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from urllib.parse import quote, unquote

from sightline.bench.formats.base import Complaints
from sightline.errors import UserError

_MEMBER = re.compile(r"(?P<key>(?:.*/)?[^./][^.]*)\.(?P<ext>[^/]+)", re.DOTALL)
_UNSAFE = re.compile(r"[.%\\\x00-\x1f\x7f]|^/|/$|(?<=/)/|/(?=/)")
_SUFFIXES = (".tar", ".tar.gz", ".tgz")
_MOST_BYTES = 256 << 20
_MOST_GROWTH = 100
_FREE_GROWTH = 64 << 20


@dataclass(frozen=True, slots=True)
class Sample:
    """The files of one key, by their endings."""

    shard: Path
    key: str
    files: dict[str, bytes] = field(default_factory=dict)


def encode_key(name: str) -> str:
    """A key that keeps a sample's files together: dots, control characters and stray slashes are percent-encoded."""
    return _UNSAFE.sub(lambda found: "%2E" if found[0] == "." else quote(found[0], safe=""), name)


def decode_key(key: str) -> str:
    """The name that was encoded."""
    return unquote(key)


def shards_of(path: Path) -> list[Path]:
    """The tar file itself, or those of a folder in order."""
    if path.is_file():
        return [path]
    found = sorted(file for file in path.glob("*") if file.name.endswith(_SUFFIXES))
    if not found:
        raise UserError(f"{path} has no tar file.", "give a shard (.tar, .tar.gz), or the folder that holds them")
    return found


def read_samples(shard: Path, complaints: Complaints) -> Iterator[Sample]:
    """The samples of a shard: neighbouring files with the same key. Only plain files of a bounded size are read."""
    current: Sample | None = None
    for name, content in _files(shard, complaints):
        found = _MEMBER.fullmatch(name)
        if found is None:
            continue  # No ending, or hidden: webdataset passes over it too.
        key, ending = found["key"], found["ext"].lower()
        if current is None or current.key != key:
            if current is not None:
                yield current
            current = Sample(shard, key)
        if ending in current.files:
            complaints.add(shard, None, name, "the file is there twice")
        current.files[ending] = content
    if current is not None:
        yield current


def _files(shard: Path, complaints: Complaints) -> Iterator[tuple[str, bytes]]:
    with _opened(shard) as tar:
        while (member := tar.next()) is not None:
            tar.members = []  # type: ignore[attr-defined]  # The list would grow with the number of files.
            refusal = _refusal(member)
            if refusal is not None:
                complaints.add(shard, None, member.name, refusal)
            elif member.isreg() and (file := tar.extractfile(member)) is not None:
                yield member.name.removeprefix("./"), file.read()


def _refusal(member: tarfile.TarInfo) -> str | None:
    if member.isdir():
        return None
    if not member.isreg() or member.issparse():
        return "expected a plain file, got a link, a device or a file with holes"
    if member.name.startswith("/") or ".." in member.name.split("/"):
        return "expected a path inside the archive"
    return None if member.size <= _MOST_BYTES else f"{member.size:,} bytes are more than {_MOST_BYTES:,}"


@contextmanager
def _opened(shard: Path) -> Iterator[tarfile.TarFile]:
    try:
        with shard.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            source: IO[bytes] = _Growing(raw, shard) if zipped else raw  # type: ignore[assignment]
            with tarfile.open(fileobj=source, mode="r|") as tar:
                yield tar
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"{shard} can't be read as a tar file: {error}.", "copy or make it again") from error
    except OSError as error:
        raise UserError(f"{shard} can't be read: {error.strerror}.") from error


class _Growing:
    """A gzipped file that may unpack to so much and no more: pictures hardly shrink, bombs do."""

    def __init__(self, raw: IO[bytes], shard: Path) -> None:
        self._stream = gzip.GzipFile(fileobj=raw)
        self._shard = shard
        self._left = _FREE_GROWTH + _MOST_GROWTH * shard.stat().st_size

    def read(self, size: int) -> bytes:
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise UserError(f"{self._shard} unpacks to over {_MOST_GROWTH} times its size.", "unpack it to .tar first")
        return content


class ShardWriter:
    """Writes samples into `prefix-000000.tar`, …, each with at most so many samples and, but for one, so many bytes."""

    def __init__(self, folder: Path, prefix: str, *, samples: int, size: int) -> None:
        self._folder = folder
        self._prefix = prefix
        self._samples = samples
        self._size = size
        self._tar: tarfile.TarFile | None = None
        self._shards = self._count = self._bytes = 0

    def __enter__(self) -> Self:
        self._next_shard()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._tar is not None:
            self._tar.close()

    def add(self, key: str, files: Mapping[str, bytes]) -> None:
        """Add a sample; its files stay together."""
        size = sum(tarfile.BLOCKSIZE + len(content) for content in files.values())
        if self._count and (self._count >= self._samples or self._bytes + size > self._size):
            self._next_shard()
        self._count += 1
        self._bytes += size
        for ending, content in files.items():
            info = tarfile.TarInfo(f"{key}.{ending}")  # Without a time or an owner: same content, same bytes.
            info.size = len(content)
            assert self._tar is not None
            self._tar.addfile(info, io.BytesIO(content))

    def _next_shard(self) -> None:
        if self._tar is not None:
            self._tar.close()
        path = self._folder / f"{self._prefix}-{self._shards:06d}.tar"
        self._tar = tarfile.open(path, "w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 - closed by the next, or at the end.
        self._shards += 1
        self._count = self._bytes = 0
