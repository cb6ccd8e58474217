"""Files that appear whole or not at all, and JSON and JSONL whose errors name the line."""

from __future__ import annotations

import gzip
import hashlib
import math
import os
import shutil
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, TypeAlias

import orjson

from sightline.errors import UserError
from sightline.io.temporary_files import folder_beside, is_temporary, name_beside

PathLike: TypeAlias = "str | os.PathLike[str]"

_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"


class LineError(UserError):
    """A line of a file can't be read; `reason` says what was expected there."""

    def __init__(self, path: PathLike, line: int, reason: str, fix: str | None = None) -> None:
        super().__init__(f"{path}, line {line}: {reason}.", fix)
        self.line = line
        self.reason = reason


class CutOffError(LineError):
    """The file ends in the middle of a line: its writer was stopped, or it was not copied completely."""

    def __init__(self, path: PathLike, line: int) -> None:
        super().__init__(
            path, line, "the file ends in the middle of a line", "it is not complete: copy or make it again"
        )


# --- whole files and folders -------------------------------------------------------------------------------


def write_whole(path: PathLike, data: bytes | Iterable[bytes]) -> None:
    """Write a file so that a reader sees the old content or all of the new, even after a crash."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UserError(f"{target} is a folder; a file is to be written there.", "choose another place")
    temporary = name_beside(target)
    file = _create(temporary, target)
    try:
        with file:
            for chunk in (data,) if isinstance(data, bytes) else data:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


@contextmanager
def whole_folder(
    path: PathLike, *, marker: str, owned: Collection[str] | None = None, force: bool = False
) -> Iterator[Path]:
    """A new folder to write into; it takes the place of `path` when the block ends, and vanishes if it fails.

    Only nothing, an empty folder or one that holds the file `marker` is replaced, unless `force`. Of the old
    folder the names in `owned` go and everything else is carried over; without `owned` all of it goes. What a writer
    that was killed left beside `path` goes, too.
    """
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name}.sightline-before")
    _finish_earlier_swap(target, aside)
    _refuse_other_kind(target, marker, force)
    with folder_beside(target) as fresh:
        yield fresh
        if owned is not None and target.is_dir():
            _carry_over(target, fresh, owned)
        _sync_folder(fresh)
        _swap(fresh, target, aside)
    _sync_folder(target.parent)


def sha256_of(path: PathLike) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _create(temporary: Path, target: Path) -> IO[bytes]:
    try:
        return temporary.open("xb")
    except OSError as error:
        raise UserError(f"{target} can't be written: {error.strerror}.", "choose another place") from error


def _refuse_other_kind(target: Path, marker: str, force: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise UserError(f"{target} is a file; a folder is to be written there.", "choose another place")
    if not force and not (target / marker).is_file() and any(target.iterdir()):
        raise UserError(
            f"{target} holds other things and no {marker}; it is left as it is.", "choose a new or an empty folder"
        )


def _carry_over(old: Path, fresh: Path, owned: Collection[str]) -> None:
    """Hard links, so that a kill at any moment leaves the old folder complete."""
    for entry in old.iterdir():
        if entry.name in owned or is_temporary(entry.name):
            continue
        kept, is_folder = fresh / entry.name, entry.is_dir() and not entry.is_symlink()
        if is_folder and kept.is_dir():
            _carry_over(entry, kept, owned=())
        elif is_folder and not kept.exists():
            shutil.copytree(entry, kept, symlinks=True, copy_function=_link)
        elif not kept.exists():
            _link(str(entry), str(kept))


def _link(source: str, destination: str) -> None:
    try:
        os.link(source, destination, follow_symlinks=False)
    except OSError:  # A file system without hard links.
        shutil.copy2(source, destination, follow_symlinks=False)


def _swap(fresh: Path, target: Path, aside: Path) -> None:
    if not target.exists():
        fresh.rename(target)
        return
    try:
        target.rename(aside)
    except OSError as error:  # A mount point, for instance.
        raise UserError(f"{target} can't be replaced: {error.strerror}.", "write to a new folder inside it") from error
    try:
        fresh.rename(target)
    except BaseException:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _finish_earlier_swap(target: Path, aside: Path) -> None:
    """A kill between the two renames of a swap leaves the old folder aside: put it back, or clear it away."""
    if aside.exists() and not target.exists():
        aside.rename(target)
    elif aside.exists():
        shutil.rmtree(aside, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):  # Windows can't sync a folder.
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- JSON and JSONL ----------------------------------------------------------------------------------------


def read_lines(path: PathLike) -> Iterator[tuple[int, bytes]]:
    """The lines of a plain or gzipped file with their numbers, as bytes with the newline; blank ones are skipped."""
    number = 0
    try:
        with _open_maybe_gzipped(Path(path)) as file:
            for number, raw in enumerate(file, 1):
                line = raw.removeprefix(_BOM) if number == 1 else raw
                if not line.isspace() and line:
                    yield number, line
    except EOFError as error:
        raise CutOffError(path, number + 1) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise LineError(path, number + 1, f"the compressed data is damaged ({error})", "copy it again") from error
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.") from error


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
    try:
        content = Path(path).read_bytes().removeprefix(_BOM)
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.") from error
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise LineError(path, error.lineno, f"expected JSON: {error.msg} at column {error.colno}") from error


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


def _open_maybe_gzipped(path: Path) -> BufferedReader | gzip.GzipFile:
    file = path.open("rb")
    if file.peek(2)[:2] != _GZIP_MAGIC:
        return file
    file.close()
    return gzip.open(path, "rb")


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
