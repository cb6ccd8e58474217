"""A text file cut into pieces of whole lines, each read when it is its turn."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sightline.errors import UserError
from sightline.score.trec.threads import parallel
from sightline.score.trec.tokens import PAD, Bytes

Opener: TypeAlias = Callable[[], io.FileIO | io.BytesIO]

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines, from byte `begin` to `end`; `first_line` counts the lines before them."""

    begin: int
    end: int
    first_line: int
    lines: int


@dataclass(frozen=True, slots=True)
class Source:
    """A file, how to open it anew, and the pieces that together are all of it."""

    path: Path
    open: Opener
    pieces: tuple[Piece, ...]

    @property
    def lines(self) -> int:
        return self.pieces[-1].first_line + self.pieces[-1].lines if self.pieces else 0

    def read(self, piece: Piece) -> Bytes:
        """The piece's bytes between two margins of `PAD`, its last line with a newline."""
        size = piece.end - piece.begin
        buffer = np.empty(size + 1 + 2 * PAD, np.uint8)
        if _fill(self.open, piece.begin, buffer[PAD : PAD + size]) < size:
            raise UserError(f"{self.path}: became shorter while it was read.", "try again when it is finished")
        if buffer[PAD + size - 1] != ord("\n"):
            buffer[PAD + size] = ord("\n")
            size += 1
        return buffer[: size + 2 * PAD]


def open_source(path: Path, piece_size: int, threads: int | None) -> Source:
    """A plain file is read twice, first to count its lines; a gzipped one (told by content) is unpacked into memory."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
        opener: Opener = _unpacked(path) if packed else partial(io.FileIO, path)
        return Source(path, opener, tuple(_pieces(opener, piece_size, threads)))
    except (OSError, EOFError) as error:
        raise UserError(f"{path}: can't be read: {error}", "check the path and that the file is whole") from error


def _unpacked(path: Path) -> Opener:
    with gzip.open(path, "rb") as file:
        return partial(io.BytesIO, file.read())


def _pieces(opener: Opener, size: int, threads: int | None) -> Iterator[Piece]:
    """A piece ends with the last newline of the next `size` bytes, or of the first such stretch that has any."""
    with opener() as file:
        stop = file.seek(0, io.SEEK_END)
    steps = range(0, stop, size)
    begin = first_line = 0
    for step, (lines, last) in zip(steps, parallel(partial(_newlines, opener, size), steps, threads), strict=True):
        if lines:
            yield Piece(begin, step + last + 1, first_line, lines)
            begin, first_line = step + last + 1, first_line + lines
    if begin < stop:
        yield Piece(begin, stop, first_line, 1)


def _newlines(opener: Opener, size: int, begin: int) -> tuple[int, int]:
    """How many newlines there are in the next `size` bytes, and where the last of them is."""
    buffer = bytearray(size)
    data = np.frombuffer(buffer, np.uint8)
    got = _fill(opener, begin, data)
    return int(np.count_nonzero(data[:got] == ord("\n"))), buffer.rfind(b"\n", 0, got)


def _fill(opener: Opener, begin: int, buffer: Bytes) -> int:
    """Read from byte `begin` on until the buffer is full or the file ends; how much was read."""
    got = 0
    with opener() as file:
        file.seek(begin)
        while got < buffer.size and (step := file.readinto(buffer[got:].data)):
            got += step
    return got
