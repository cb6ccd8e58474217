"""A file of (query, document, number) lines as flat arrays, grouped by query.

It is read in pieces of whole lines, and several threads parse them: numpy lets go of the interpreter while it computes.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.io.unpacked import gunzipped
from sightline.metrics.trec.fields import (
    PAD,
    Bytes,
    FieldTokens,
    Ints,
    NotANumberError,
    Words,
    WrongWidthError,
    decode_percent,
    split_lines,
)
from sightline.metrics.trec.ids import Ids, hash_ids, ids_of, joined

_In = TypeVar("_In")
_Out = TypeVar("_Out")
File: TypeAlias = io.FileIO | io.BytesIO
_GZIP = b"\x1f\x8b"
_NEWLINE = ord("\n")
Numbers: TypeAlias = NDArray[Any]
# Small enough for the working arrays to stay in the cache, large enough for threads to seldom wait for each other.
_PIECE = 1 << 22
_BOM = b"\xef\xbb\xbf"
_COMMENT = b"#"


def parallel(work: Callable[[_In], _Out], items: Iterable[_In], threads: int | None) -> list[_Out]:
    """The results in the order of the items, from so many threads (default: one for each processor we may use).

    An item is made when a thread is free for it. Where work fails, the error is that of the first item that fails.
    """
    numbered, turn = enumerate(items), Lock()
    results: dict[int, _Out] = {}
    errors: dict[int, Exception] = {}

    def loop() -> None:
        while not errors:
            with turn:
                number, item = next(numbered, (-1, None))
            if item is None:
                return
            try:
                results[number] = work(item)
            except Exception as error:
                errors[number] = error  # raised below, once the items before it are done

    threads = threads or _processors()
    if threads == 1:
        loop()
    else:
        with ThreadPoolExecutor(threads) as pool:
            for future in [pool.submit(loop) for _ in range(threads)]:
                future.result()
    if errors:
        raise errors[min(errors)]
    return [results[number] for number in range(len(results))]


def settle_allocator() -> None:
    """Free one large block: glibc then keeps memory for short-lived arrays instead of returning it each time.

    Without it, page faults double the time that parsing takes. Elsewhere it does nothing.
    """
    np.empty(31 << 20, np.uint8)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines between two margins of `PAD` bytes; `begin` and `first_line` count the bytes and lines before."""

    data: Bytes
    begin: int
    first_line: int

    @property
    def body(self) -> Bytes:
        return self.data[PAD:-PAD]

    def line_at(self, offset: int) -> int:
        """The number, from 1, of the line of the file that has this byte of `data`."""
        return self.first_line + int(np.count_nonzero(self.data[PAD:offset] == _NEWLINE)) + 1


@contextmanager
def open_text(path: Path) -> Iterator[tuple[File, int]]:
    """A file and its size; a gzipped one (told by content), a pipe and `-`, standard input, are read into memory."""
    try:
        with io.FileIO(sys.stdin.fileno() if str(path) == "-" else path, closefd=str(path) != "-") as given:
            file: File = given if stat.S_ISREG(os.fstat(given.fileno()).st_mode) else io.BytesIO(given.readall())
            packed = file.read(2) == _GZIP
            file.seek(0)
            if packed:
                with gunzipped(path, raw=file) as unpacker:
                    file = io.BytesIO(unpacker.read())
            yield file, len(file.getbuffer()) if isinstance(file, io.BytesIO) else os.fstat(file.fileno()).st_size
    except (OSError, EOFError) as error:
        raise UserError(f"{path}: can't be read: {error}", "check the path and that the file is complete") from error


def read_pieces(file: File, size: int, step: int) -> Iterator[Piece]:
    """The next `size` bytes of a file in pieces of about `step`; the last line need not end in a newline."""
    begin = first_line = 0
    rest = np.empty(0, np.uint8)
    for position in range(0, size, step):
        wanted = min(step, size - position)
        buffer = np.empty(rest.size + wanted + 1 + 2 * PAD, np.uint8)
        end = PAD + rest.size + wanted
        buffer[PAD : end - wanted] = rest
        if _fill(file, buffer[end - wanted : end]) < wanted:
            raise OSError("it became shorter while it was read")
        if position + wanted == size and buffer[end - 1] != _NEWLINE:
            buffer[end] = _NEWLINE
            end += 1
        stop = _after_last_newline(buffer, end)
        rest = buffer[stop:end]
        if stop > PAD:
            yield Piece(buffer[: stop + PAD], begin, first_line)
            first_line += int(np.count_nonzero(buffer[PAD:stop] == _NEWLINE))
            begin += stop - PAD


def _fill(file: File, buffer: Bytes) -> int:
    """Read until the buffer is full or the file ends; how much was read."""
    got = 0
    while got < buffer.size and (step := file.readinto(buffer[got:].data)):
        got += step
    return got


def _after_last_newline(buffer: Bytes, end: int) -> int:
    """Where the last whole line ends, or `PAD` when there is none."""
    step = 1 << 12
    for begin in range(end - step, PAD - step, -step):
        found = buffer[max(begin, PAD) : begin + step].tobytes().rfind(b"\n")
        if found >= 0:
            return max(begin, PAD) + found + 1
    return PAD


@dataclass(frozen=True, slots=True)
class TrecForm:
    """What a kind of file looks like: its columns, and how its number is read.

    `layouts` has the columns by number of fields; a line with more than the largest number has extra ones at its end.
    """

    layouts: Mapping[int, tuple[int, int, int]]
    number: str
    expected: str
    dtype: type[np.generic]
    parse: Callable[[FieldTokens], Numbers]
    header: tuple[bytes, ...] = (b"query-id", b"corpus-id", b"score")


@dataclass(frozen=True, slots=True)
class TrecTable:
    """Lines grouped by query, queries in the order of the file: those of query q are [offsets[q], offsets[q + 1]).

    `duplicates` counts judgments that say again what another line says, which are dropped.
    """

    path: Path
    queries: tuple[str, ...]
    offsets: Ints
    documents: Ids
    numbers: Numbers
    duplicates: int = 0

    def __len__(self) -> int:
        return self.numbers.size

    def owners(self) -> Ints:
        """The query of each line."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))

    def take(self, rows: Ints, offsets: Ints) -> TrecTable:
        """Some of the lines, in the given order."""
        return TrecTable(self.path, self.queries, offsets, self.documents[rows], self.numbers[rows])


@dataclass(frozen=True, slots=True)
class _Layout:
    """The fields of a file's lines, and how many bytes at its start are not to be read: a header, a byte-order mark."""

    columns: tuple[int, int, int]
    width: int
    skip: int
    extra: bool = False
    "Whether lines may have more fields."


@dataclass(frozen=True, slots=True)
class _Columns:
    """The arrays that the pieces of a file are written into; one more word of ids is added when an id needs it.

    They have room for as many of the shortest possible lines as fit in the file. What is never written to takes no
    memory.
    """

    numbers: Numbers
    words: list[Words] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def write(self, rows: slice, numbers: Numbers, documents: Ids) -> None:
        self.numbers[rows] = numbers
        with self.lock:
            while len(self.words) < len(documents.columns):
                self.words.append(np.zeros(self.numbers.size, np.uint64))
        for column, word in zip(self.words, documents.columns, strict=False):
            column[rows] = word


@dataclass(frozen=True, slots=True)
class _Stretches:
    """Neighbouring lines of a piece with the same query: where each stretch begins, and its query's id.

    The piece's lines are in the columns from row `row` on, `lines` of them (blank ones don't count).
    """

    row: int
    lines: int
    first: Ints
    query: Ids
    key: Words


def read_table(path: Path, form: TrecForm, *, decode_ids: bool, threads: int | None) -> TrecTable:
    """Read a file piece by piece, several threads at once."""
    settle_allocator()
    with open_text(path) as (file, size):
        layout = _layout(path, file, form)
        columns = _Columns(np.empty(size // (2 * layout.width) + 1, form.dtype))

        def parse(piece: Piece) -> _Stretches:
            return _parse(path, piece, form, layout, decode_ids, columns)

        return _group(path, columns, parallel(parse, read_pieces(file, size, _PIECE), threads))


def _layout(path: Path, file: File, form: TrecForm) -> _Layout:
    """How to read the file, from the first line that says so; then back to its start."""
    try:
        skip = 0
        for number, line in enumerate(iter(file.readline, b""), 1):
            if number == 1 and line.startswith(_BOM):
                skip, line = len(_BOM), line[len(_BOM) :]
            fields = () if line.startswith(_COMMENT) else tuple(line.split())
            if fields and fields != form.header:
                width = min(len(fields), max(form.layouts))
                if width in form.layouts:
                    return _Layout(form.layouts[width], width, skip, width == max(form.layouts))
                raise UserError(f"{path}, line {number}: {len(fields)} fields.", f"expected {form.expected}")
            skip += len(line)
        return _Layout((0, 1, 2), 3, skip)
    finally:
        file.seek(0)


def _parse(
    path: Path, piece: Piece, form: TrecForm, layout: _Layout, decode_ids: bool, columns: _Columns
) -> _Stretches:
    """Write one piece's lines into the columns, and say where its queries change."""
    data, end = piece.data, piece.data.size - PAD
    skipped = piece.body[: max(layout.skip - piece.begin, 0)]
    skipped[skipped != ord("\n")] = ord(" ")
    _blank_comments(piece.body)
    try:
        query, document, number = split_lines(data, PAD, end, layout.width, layout.columns, extra=layout.extra)
        numbers = form.parse(number)
    except WrongWidthError as error:
        raise UserError(
            f"{path}, line {piece.line_at(error.offset)}: {error.found} fields, "
            f"where the first line has {layout.width}.",
            f"expected {form.expected}, and the same on every line",
        ) from None
    except NotANumberError as error:
        raise UserError(
            f"{path}, line {piece.line_at(int(number.start[error.row]))}, field {layout.columns[2] + 1}: "
            f'"{number.bytes_at(error.row).decode(errors="backslashreplace")}" is not a {form.number}.',
            f"expected {form.expected}",
        ) from None
    if decode_ids:
        query, document = decode_percent(data, PAD, end, [query, document])
    # As many rows as lines before, but no more than there is room for if most of those are blank.
    row = min(piece.first_line, piece.begin // (2 * layout.width))
    columns.write(slice(row, row + len(query)), numbers, ids_of(document))
    return _stretches(ids_of(query), row, len(query))


def _blank_comments(body: Bytes) -> None:
    """Make lines that begin with # blank, as trec_eval reads them."""
    marks = np.flatnonzero(body == _COMMENT[0])
    for mark in marks[(marks == 0) | (body[marks - 1] == _NEWLINE)].tolist():
        end = mark + int(np.argmax(body[mark:] == _NEWLINE))
        body[mark:end] = ord(" ")


def _stretches(query: Ids, row: int, lines: int) -> _Stretches:
    changed = np.zeros(lines, np.bool_)
    changed[:1] = True
    for column in query.columns:
        changed[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(changed)
    return _Stretches(row, lines, first, query[first], hash_ids(query[first]))


def _group(path: Path, columns: _Columns, parts: Sequence[_Stretches]) -> TrecTable:
    """Name the queries, and bring the lines of each together where the file doesn't."""
    rows = _rows(parts)
    documents, numbers = Ids(tuple(columns.words))[rows], columns.numbers[rows]
    query = joined([part.query for part in parts])
    first, owner = _by_appearance(np.concatenate([np.empty(0, np.uint64), *(part.key for part in parts)]))
    _check_hashes(path, query, query[first[owner]])
    lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(np.append(p.first, p.lines)) for p in parts)])
    offsets = np.append(0, np.cumsum(np.bincount(owner, lengths, first.size))).astype(np.int64)
    names = tuple(query.text_at(row) for row in first.tolist())
    table = TrecTable(path, names, offsets, documents, numbers)
    if (owner[1:] >= owner[:-1]).all():
        return table
    # Few queries fit in 16 bits, which numpy sorts by radix.
    owner = owner.astype(np.uint16 if first.size <= 1 << 16 else np.int64)
    return table.take(np.argsort(np.repeat(owner, lengths), kind="stable"), offsets)


def _rows(parts: Sequence[_Stretches]) -> Ints | slice:
    """The rows that were written: the first so many, unless blank lines left gaps between pieces."""
    lines = sum(part.lines for part in parts)
    if not parts or parts[-1].row + parts[-1].lines == lines:
        return slice(lines)
    return np.concatenate([np.arange(part.row, part.row + part.lines) for part in parts])


def _by_appearance(key: Words) -> tuple[Ints, Ints]:
    """Where each key is first seen, and the number of each key in the order of first sight."""
    _, first, owner = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(order.size)
    return first[order], number[owner]


def _check_hashes(path: Path, query: Ids, same_key: Ids) -> None:
    """Two query ids with one hash would be taken for one query: refuse, however unlikely."""
    different = np.flatnonzero(~query.same(same_key))
    if different.size:
        names = query.text_at(int(different[0])), same_key.text_at(int(different[0]))
        raise UserError(f"{path}: query ids {names[0]} and {names[1]} share a 64-bit hash.", "rename one of them")
