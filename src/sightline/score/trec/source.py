"""A text file in pieces of whole lines, read one after the other."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sightline.errors import UserError
from sightline.score.trec.tokens import PAD, Bytes

File: TypeAlias = io.FileIO | io.BytesIO

_GZIP = b"\x1f\x8b"
_NEWLINE = ord("\n")


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
    """A file and its size; a gzipped one (told by content) is unpacked into memory first."""
    try:
        with io.FileIO(path) as file:
            packed = file.read(2) == _GZIP
            file.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=file) as unpacker:
                    text = unpacker.read()
                yield io.BytesIO(text), len(text)
            else:
                yield file, os.fstat(file.fileno()).st_size
    except (OSError, EOFError) as error:
        raise UserError(f"{path}: can't be read: {error}", "check the path and that the file is whole") from error


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
