"""A file of (query, document, number) lines as flat arrays, grouped by query."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.score.trec.fields import WrongWidthError, decode_percent, split_lines
from sightline.score.trec.ids import Ids, hash_ids, ids_of, joined
from sightline.score.trec.numbers import NotANumberError
from sightline.score.trec.source import Piece, Source, open_source
from sightline.score.trec.threads import parallel, settle_allocator
from sightline.score.trec.tokens import PAD, Bytes, Ints, Tokens, Words

Numbers: TypeAlias = NDArray[Any]

# Small enough for a piece and its working arrays to stay in the processor's cache.
_PIECE = 1 << 21
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Form:
    """What a kind of file looks like: its columns by number of fields, and how its number is read."""

    layouts: Mapping[int, tuple[int, int, int]]
    number: str
    expected: str
    dtype: type[np.generic]
    parse: Callable[[Tokens], Numbers]
    header: tuple[bytes, ...] = (b"query-id", b"corpus-id", b"score")


@dataclass(frozen=True, slots=True)
class Table:
    """Lines grouped by query, queries in the order of the file: those of query q are [offsets[q], offsets[q + 1]).

    `keys` are the hashes of the documents' ids.
    """

    path: Path
    queries: tuple[str, ...]
    offsets: Ints
    documents: Ids
    keys: Words
    numbers: Numbers

    def __len__(self) -> int:
        return self.keys.size

    def owners(self) -> Ints:
        """The query of each line."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))

    def take(self, rows: Ints, offsets: Ints) -> Table:
        """Some of the lines, in the given order."""
        documents, keys, numbers = self.documents[rows], self.keys[rows], self.numbers[rows]
        return Table(self.path, self.queries, offsets, documents, keys, numbers)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The fields of a file's lines, and how many bytes at its start are not to be read: a header, a byte-order mark."""

    columns: tuple[int, int, int]
    width: int
    skip: int


@dataclass(frozen=True, slots=True)
class _Columns:
    """The arrays that the pieces of a file are written into; one more word of ids is added when an id needs it."""

    keys: Words
    numbers: Numbers
    words: list[Words] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def write(self, rows: slice, numbers: Numbers, documents: Ids) -> None:
        self.keys[rows] = hash_ids(documents)
        self.numbers[rows] = numbers
        with self.lock:
            while len(self.words) < len(documents.columns):
                self.words.append(np.zeros(self.keys.size, np.uint64))
        for column, word in zip(self.words, documents.columns, strict=False):
            column[rows] = word


@dataclass(frozen=True, slots=True)
class _Stretches:
    """Neighbouring lines with the same query: the first line of each stretch, its query's id, and `lines` in all."""

    lines: int
    first: Ints
    query: Ids
    key: Words


def read_table(path: Path, form: Form, *, decode_ids: bool, threads: int | None) -> Table:
    """Read a file piece by piece, several threads at once."""
    settle_allocator()
    source = open_source(path, _PIECE, threads)
    layout = _layout(source, form)
    columns = _Columns(np.empty(source.lines, np.uint64), np.empty(source.lines, form.dtype))

    def parse(piece: Piece) -> _Stretches:
        return _parse(source, piece, form, layout, decode_ids, columns)

    return _group(source, columns, list(parallel(parse, source.pieces, threads)))


def _layout(source: Source, form: Form) -> _Layout:
    """How to read the file, from the first line that says so."""
    skip = 0
    with source.open() as file, io.BufferedReader(file) as lines:
        for number, line in enumerate(lines, 1):
            if number == 1 and line.startswith(_BOM):
                skip, line = len(_BOM), line[len(_BOM) :]
            fields = tuple(line.split())
            if fields == form.header:
                skip += len(line)
            elif len(fields) in form.layouts:
                return _Layout(form.layouts[len(fields)], len(fields), skip)
            elif fields:
                raise UserError(f"{source.path}, line {number}: {len(fields)} fields.", f"expected {form.expected}")
            else:
                skip += len(line)
    return _Layout((0, 1, 2), 3, 0)


def _parse(
    source: Source, piece: Piece, form: Form, layout: _Layout, decode_ids: bool, columns: _Columns
) -> _Stretches:
    """Write one piece's lines into the columns, and say where its queries change."""
    data = source.read(piece)
    body = data[PAD:-PAD]
    skipped = body[: max(layout.skip - piece.begin, 0)]
    skipped[skipped != ord("\n")] = ord(" ")
    try:
        query, document, number = split_lines(data, PAD, PAD + body.size, layout.width, layout.columns)
        numbers = form.parse(number)
    except WrongWidthError as error:
        raise UserError(
            f"{source.path}, line {_line_of(data, piece, error.offset)}: {error.found} fields, "
            f"where the first line has {layout.width}.",
            f"expected {form.expected}, and the same on every line",
        ) from None
    except NotANumberError as error:
        raise UserError(
            f"{source.path}, line {_line_of(data, piece, int(number.start[error.row]))}, "
            f"field {layout.columns[2] + 1}: "
            f'"{number.bytes_at(error.row).decode(errors="backslashreplace")}" is not a {form.number}.',
            f"expected {form.expected}",
        ) from None
    if decode_ids:
        query, document = decode_percent(data, PAD, PAD + body.size, [query, document])
    columns.write(slice(piece.first_line, piece.first_line + len(query)), numbers, ids_of(document))
    return _stretches(ids_of(query), len(query))


def _line_of(data: Bytes, piece: Piece, offset: int) -> int:
    return piece.first_line + int(np.count_nonzero(data[PAD:offset] == ord("\n"))) + 1


def _stretches(query: Ids, lines: int) -> _Stretches:
    changed = np.zeros(lines, np.bool_)
    changed[:1] = True
    for column in query.columns:
        changed[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(changed)
    return _Stretches(lines, first, query[first], hash_ids(query[first]))


def _group(source: Source, columns: _Columns, parts: Sequence[_Stretches]) -> Table:
    """Name the queries, and bring the lines of each together where the file doesn't."""
    documents, keys, numbers = Ids(tuple(columns.words)), columns.keys, columns.numbers
    if sum(part.lines for part in parts) < source.lines:
        rows = _without_gaps(source.pieces, parts)
        documents, keys, numbers = documents[rows], keys[rows], numbers[rows]
    query = joined([part.query for part in parts])
    first, owner = _by_appearance(np.concatenate([np.empty(0, np.uint64), *(part.key for part in parts)]))
    _check_hashes(source.path, query, query[first[owner]])
    lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(np.append(p.first, p.lines)) for p in parts)])
    offsets = np.append(0, np.cumsum(np.bincount(owner, lengths, first.size))).astype(np.int64)
    names = tuple(query.text_at(row) for row in first.tolist())
    table = Table(source.path, names, offsets, documents, keys, numbers)
    if (owner[1:] >= owner[:-1]).all():
        return table
    # Few queries fit in 16 bits, which numpy sorts by radix.
    owner = owner.astype(np.uint16 if first.size <= 1 << 16 else np.int64)
    return table.take(np.argsort(np.repeat(owner, lengths), kind="stable"), offsets)


def _without_gaps(pieces: Sequence[Piece], parts: Sequence[_Stretches]) -> Ints:
    """Blank lines left holes at the end of some pieces: the rows that were written."""
    spans = (
        np.arange(piece.first_line, piece.first_line + part.lines) for piece, part in zip(pieces, parts, strict=True)
    )
    return np.concatenate([np.empty(0, np.int64), *spans])


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
