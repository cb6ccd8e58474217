"""The `.eval` file of an inspect_ai log: a zip of JSON documents, read with limits."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from sightline.errors import MissingExtraError, UserError
from sightline.io import dump, write_whole

HEADER, START = "header.json", "_journal/start.json"
_SAMPLES = "samples/"
_ZSTD = 93
_LOCAL_HEADER = struct.Struct("<26xHH")
_MOST_BYTES = 1 << 30
_FIXED = (1980, 1, 1, 0, 0, 0)


def parse(content: bytes, where: str) -> Any:
    """A JSON document as inspect_ai writes it, in which NaN may stand."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: expected JSON: {error}.", "copy the log again") from error


class EvalFile:
    """The documents of a log that is open for reading."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path = path
        self._file = file
        self._names = dict.fromkeys(file.namelist())  # A sample that was logged again counts once, as it was last.

    def header(self) -> Any:
        """What the log says of the whole evaluation; of one that was stopped, what it began with."""
        name = next((name for name in (HEADER, START) if name in self._names), None)
        if name is None:
            raise UserError(f"{self._path} has no {HEADER}.", "is it a log of inspect_ai?")
        return self.document(name)

    def samples(self) -> Iterator[tuple[str, Any]]:
        """The samples, one at a time, with their names in the file."""
        for name in self._names:
            if name.startswith(_SAMPLES) and name.endswith(".json"):
                yield name, self.document(name)

    def document(self, name: str) -> Any:
        """One JSON document."""
        info = self._file.getinfo(name)
        if info.file_size > _MOST_BYTES:
            raise UserError(f"{self._path}, {name}: {info.file_size:,} bytes are too many.", "split the log")
        content = self._zstd(info) if info.compress_type == _ZSTD else self._file.read(info)
        return parse(content, f"{self._path}, {name}")

    def _zstd(self, info: zipfile.ZipInfo) -> bytes:
        """zipfile knows this compression from Python 3.14 on; Arrow has it for all versions."""
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtraError("reading this log's compression (zstd)", "parquet") from None
        source = self._file.fp
        assert source is not None
        source.seek(info.header_offset)
        name_length, extra_length = _LOCAL_HEADER.unpack(source.read(_LOCAL_HEADER.size))
        source.seek(info.header_offset + _LOCAL_HEADER.size + name_length + extra_length)
        packed = pa.BufferReader(source.read(info.compress_size))
        with pa.CompressedInputStream(packed, "zstd") as stream:
            content: bytes = stream.read(info.file_size)
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise zipfile.BadZipFile(f"{info.filename} is damaged")
        return content


@contextmanager
def open_eval(path: Path) -> Iterator[EvalFile]:
    """A log to be read; damage becomes a message."""
    try:
        with zipfile.ZipFile(path) as file:
            yield EvalFile(path, file)
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        raise UserError(f"{path} can't be read as a log: {error}.", "copy it again") from error
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror or error}.") from error


def write_eval(path: Path, documents: Iterable[tuple[str, Any]]) -> None:
    """Write documents by name, whole or not at all; the same content gives the same bytes."""
    with TemporaryFile() as place:
        with zipfile.ZipFile(place, "w") as file:
            for name, document in documents:
                info = zipfile.ZipInfo(name, _FIXED)
                info.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(info, dump(document))
        place.seek(0)
        write_whole(path, iter(lambda: place.read(1 << 20), b""))
