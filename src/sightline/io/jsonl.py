"""JSON and JSONL, plain or gzipped; errors name the line."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

import orjson

from sightline.errors import READ_AGAIN, UserError, explained
from sightline.io.files import PathLike, write_whole
from sightline.io.unpacked import gunzipped

_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"
_CORRECT = "Correct that line, copy the file again, or make it anew."


class LineError(UserError):
    """A line of a file can't be read; `reason` says what was expected there."""

    def __init__(self, path: PathLike, line: int, reason: str, fix: str = _CORRECT) -> None:
        super().__init__(f"{path}, line {line}: {reason}.", fix)
        self.line = line
        self.reason = reason


class CutOffError(LineError):
    """The file ends in the middle of a line: its writer was stopped, or it was not copied completely."""

    def __init__(self, path: PathLike, line: int) -> None:
        super().__init__(
            path, line, "the file ends in the middle of a line", "it is not complete: copy or make it again"
        )


def read_lines(path: PathLike) -> Iterator[tuple[int, bytes]]:
    """The lines of a plain or gzipped file with their numbers, as bytes with the newline; blank ones are skipped."""
    number = 0
    try:
        with open_maybe_gzipped(Path(path)) as file:
            for number, raw in enumerate(file, 1):
                line = raw.removeprefix(_BOM) if number == 1 else raw
                if not line.isspace() and line:
                    yield number, line
    except EOFError as error:
        raise CutOffError(path, number + 1) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise LineError(path, number + 1, f"the compressed data is damaged ({error})", "copy it again") from error
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.", READ_AGAIN) from error


def parse_line(path: PathLike, number: int, line: bytes) -> Any:
    """The JSON value of one line; a `LineError` says what is wrong with it."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if _is_cut_off(line, error):
            raise CutOffError(path, number) from error
        raise LineError(path, number, _why_not_json(line, error)) from error


def read_jsonl(path: PathLike) -> Iterator[tuple[int, Any]]:
    """Line numbers and values of a JSONL file (also gzipped), read as a stream."""
    for number, line in read_lines(path):
        yield number, parse_line(path, number, line)


def read_json(path: PathLike) -> Any:
    """The value of a file that is one JSON document."""
    with explained(f"{path} can't be read", READ_AGAIN):
        content = Path(path).read_bytes().removeprefix(_BOM)
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise LineError(path, error.lineno, f"expected JSON: {error.msg} at column {error.colno}") from error


def json_object(text: bytes | str) -> dict[str, Any] | None:
    """The JSON object that a text is; None for any other."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def dump(value: Any, *, indent: bool = False) -> bytes:
    """JSON bytes that end in a newline; what JSON can't hold (NaN, broken Unicode, huge integers) is refused."""
    options = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        line = orjson.dumps(value, option=options)
    except orjson.JSONEncodeError as error:
        raise UserError(f"a value can't be written as JSON: {error}.") from error
    # orjson writes NaN and infinity as null, so only a line with a null can hold one.
    if b"null" in line and not _is_finite(value):
        raise UserError("a value can't be written as JSON: NaN or infinity.", "leave the field out instead")
    return line


def write_json(path: PathLike, value: Any) -> None:
    """Write one JSON document, indented for people, whole or not at all."""
    write_whole(path, dump(value, indent=True))


def write_jsonl(path: PathLike, rows: Iterable[Any]) -> None:
    """Write one JSON value per line, whole or not at all; gzipped when the name ends in `.gz`."""
    write_lines(path, (dump(row) for row in rows))


def write_lines(path: PathLike, lines: Iterable[bytes]) -> None:
    """Write lines that end in a newline, whole or not at all; gzipped when the name ends in `.gz`."""
    write_whole(path, _gzipped(lines) if Path(path).suffix == ".gz" else lines)


def open_maybe_gzipped(path: Path) -> BufferedReader:
    """The bytes of a plain or gzipped file."""
    file = path.open("rb")
    if file.peek(2)[:2] != _GZIP_MAGIC:
        return file
    file.close()
    return gunzipped(path)


def _gzipped(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """A gzip stream without a time in its header: same content, same bytes."""
    compressor = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    for chunk in chunks:
        yield compressor.compress(chunk)
    yield compressor.flush()


def _is_cut_off(line: bytes, error: orjson.JSONDecodeError) -> bool:
    if line.endswith(b"\n"):
        return False
    try:
        return error.pos >= len(line.decode())
    except UnicodeDecodeError as broken:
        return broken.reason == "unexpected end of data"


def _why_not_json(line: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        text = line.decode()
    except UnicodeDecodeError as broken:
        return f"expected UTF-8 text, found the byte 0x{line[broken.start]:02x} at column {broken.start + 1}"
    if text[error.pos :].startswith(("NaN", "Infinity")):
        return f"expected a number or null at column {error.pos + 1}; NaN and infinity are not JSON"
    return f"expected one JSON value: {error.msg} at column {error.pos + 1}"


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return all(_is_finite(item) for item in value.values())
    if isinstance(value, list | tuple):
        return all(_is_finite(item) for item in value)
    return True
