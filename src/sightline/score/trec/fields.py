"""Where the fields of each line begin and end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sightline.score.trec.tokens import Bools, Bytes, Ints, Tokens

_SPACE = 32
_NEWLINE = 10
_HEX = np.full(256, 16, np.uint8)
for _digit in b"0123456789abcdefABCDEF":
    _HEX[_digit] = int(chr(_digit), 16)


class WrongWidthError(Exception):
    """The line that ends at `offset` has another number of fields than it should."""

    def __init__(self, offset: int, found: int) -> None:
        super().__init__(found)
        self.offset = offset
        self.found = found


def split_lines(data: Bytes, begin: int, end: int, width: int, columns: Sequence[int]) -> list[Tokens]:
    """The wanted columns of the lines in [begin, end).

    Any run of bytes up to 0x20 separates fields (spaces, tabs, carriage returns); blank lines are skipped.
    """
    body = data[begin:end]
    blank = body <= _SPACE
    ends = _single_separators(body, blank, width)
    if ends is not None:
        return [_column(data, begin, ends, i) for i in columns]
    starts, ends = _any_separators(body, blank, width, begin)
    return [Tokens(data, starts[:, i] + begin, ends[:, i] - starts[:, i]) for i in columns]


def _single_separators(body: Bytes, blank: Bools, width: int) -> Ints | None:
    """The common case, in half the time: one separator after each field, and a newline after the last."""
    ends = np.flatnonzero(blank)
    lines, rest = divmod(ends.size, width)
    if rest or not lines or blank[0] or (blank[1:] & blank[:-1]).any():
        return None
    table = ends.reshape(lines, width)
    if np.count_nonzero(body == _NEWLINE) != lines or (body[table[:, -1]] != _NEWLINE).any():
        return None
    return table


def _column(data: Bytes, begin: int, ends: Ints, column: int) -> Tokens:
    """A column between single separators: each field starts after the end of the one before."""
    before = ends[:, column - 1] if column else np.append(-1, ends[:-1, -1])
    return Tokens(data, before + (begin + 1), ends[:, column] - before - 1)


def _any_separators(body: Bytes, blank: Bools, width: int, begin: int) -> tuple[Ints, Ints]:
    edges = np.flatnonzero(np.diff(blank, prepend=True)).reshape(-1, 2)
    starts, ends = edges[:, 0], edges[:, 1]
    newlines = np.flatnonzero(body == _NEWLINE)
    fields = np.diff(np.searchsorted(starts, newlines), prepend=0)
    wrong = np.flatnonzero((fields != width) & (fields > 0))
    if wrong.size:
        line = int(wrong[0])
        raise WrongWidthError(begin + int(newlines[line]), int(fields[line]))
    return starts.reshape(-1, width), ends.reshape(-1, width)


def decode_percent(data: Bytes, begin: int, end: int, columns: Sequence[Tokens]) -> list[Tokens]:
    """Turn %XX into the byte that it stands for, in place: what follows moves up, and the fields with it."""
    body = data[begin:end]
    marks = np.flatnonzero(body[:-2] == ord("%"))
    high, low = _HEX[body[marks + 1]], _HEX[body[marks + 2]]
    escape = (high < 16) & (low < 16) & ((high > 0) | (low > 0))  # no id has a NUL
    marks = marks[escape]
    if not marks.size:
        return list(columns)
    body[marks] = (high * 16 + low)[escape]
    keep = np.ones(body.size, np.bool_)
    keep[marks + 1] = keep[marks + 2] = False
    kept = body[keep]
    body[: kept.size] = kept
    marks += begin

    def moved(place: Ints) -> Ints:
        return place - 2 * np.searchsorted(marks, place)

    starts = [moved(column.start) for column in columns]
    ends = [moved(column.start + column.length) for column in columns]
    return [Tokens(data, start, stop - start) for start, stop in zip(starts, ends, strict=True)]
