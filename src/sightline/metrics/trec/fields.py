"""The fields of a file's lines: found in its bytes, taken out eight bytes at a time, parsed as decimal numbers.

What the fast ways can't read, or could round wrongly, goes through Python's own `float`, so that every value is
exactly what `float32(float(text))` gives: the precision in which trec_eval compares scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

PAD = 64
"""Spare bytes at each end of a buffer: reading a little before or after a token stays inside it."""

_STRIDE = 4  # words gathered at once: a gather costs the same for 8 bytes and for 32
_SPAN = 8 * _STRIDE
_SPACE = 32
_NEWLINE = 10
_HEX = np.array([int(chr(byte), 16) if chr(byte) in "0123456789abcdefABCDEF" else 16 for byte in range(256)], np.uint8)
_MAX_WORDS = 3
_POWERS = 10.0 ** np.arange(23)  # the powers of ten that a double holds exactly
_WHOLE_POWERS = np.array([10**places for places in range(20)], np.uint64)
_EXACT = np.uint64(2**53)
_ONE, _SEVEN, _BYTE, _TOP = np.uint64(1), np.uint64(7), np.uint64(8), np.uint64(56)


def _stride_masks() -> list[Words]:
    """For each word of a stride: the mask that keeps what belongs to a token of 0 … 32 bytes."""
    sizes = [[min(max(length - 8 * word, 0), 8) for length in range(_SPAN + 1)] for word in range(_STRIDE)]
    return [np.array([(1 << 8 * size) - 1 for size in row], np.uint64) for row in sizes]


_STRIDE_MASKS = _stride_masks()


@dataclass(frozen=True, slots=True)
class FieldTokens:
    """Places in a buffer, each a start and a length."""

    data: Bytes
    start: Ints
    length: Ints

    def __len__(self) -> int:
        return self.start.size

    def __getitem__(self, rows: Ints) -> FieldTokens:
        return FieldTokens(self.data, self.start[rows], self.length[rows])

    def bytes_at(self, row: int) -> bytes:
        """One of them, taken out."""
        start = int(self.start[row])
        return self.data[start : start + int(self.length[row])].tobytes()

    def longest(self) -> int:
        return int(self.length.max(initial=0))

    def words(self) -> Iterator[tuple[Ints | slice, Words]]:
        """The first eight bytes of every token as a little-endian word, then the next …: which tokens have any, and
        the words, with zeros after a token's end."""
        for skip in range(0, self.longest(), _SPAN):
            rows = slice(None) if skip == 0 else np.flatnonzero(self.length > skip)
            left = np.minimum(self.length[rows] - skip, _SPAN)
            count = -(-int(left.max()) // 8)
            table = gather(self.data, self.start[rows] + skip, count)
            for word in range(count):
                yield rows, table[:, word] & _STRIDE_MASKS[word][left]


def gather(data: Bytes, at: Ints, words: int) -> Words:
    """`words` little-endian 64-bit words from each byte position, as one row for each."""
    width = 8 * words
    windows = np.ndarray((data.size - width + 1,), dtype=f"V{width}", buffer=data, strides=(1,))
    return windows[at].view("<u8").reshape(-1, words)


class WrongWidthError(Exception):
    """The line that ends at `offset` has another number of fields than it should."""

    def __init__(self, offset: int, found: int) -> None:
        super().__init__(found)
        self.offset = offset
        self.found = found


def split_lines(
    data: Bytes, begin: int, end: int, width: int, columns: Sequence[int], *, extra: bool = False
) -> list[FieldTokens]:
    """The wanted columns of the lines in [begin, end), which have `width` fields, or more where `extra` are allowed.

    Any run of bytes up to 0x20 separates fields (spaces, tabs, carriage returns); blank lines are skipped.
    """
    body = data[begin:end]
    blank = body <= _SPACE
    ends = _single_separators(body, blank, width)
    if ends is not None:
        return [_column(data, begin, ends, i) for i in columns]
    starts, ends, first = _any_separators(body, blank, width, begin, extra)
    return [FieldTokens(data, starts[first + i] + begin, ends[first + i] - starts[first + i]) for i in columns]


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


def _column(data: Bytes, begin: int, ends: Ints, column: int) -> FieldTokens:
    """A column between single separators: each field starts after the end of the one before."""
    before = ends[:, column - 1] if column else np.append(-1, ends[:-1, -1])
    return FieldTokens(data, before + (begin + 1), ends[:, column] - before - 1)


def _any_separators(body: Bytes, blank: Bools, width: int, begin: int, extra: bool) -> tuple[Ints, Ints, Ints]:
    """Where every field starts and ends, and the number of each line's first field."""
    edges = np.flatnonzero(np.diff(blank, prepend=True)).reshape(-1, 2)
    starts, ends = edges[:, 0], edges[:, 1]
    newlines = np.flatnonzero(body == _NEWLINE)
    after = np.searchsorted(starts, newlines)
    fields = np.diff(after, prepend=0)
    wrong = np.flatnonzero((fields > 0) & ((fields < width) if extra else (fields != width)))
    if wrong.size:
        line = int(wrong[0])
        raise WrongWidthError(begin + int(newlines[line]), int(fields[line]))
    return starts, ends, (after - fields)[fields > 0]


def decode_percent(data: Bytes, begin: int, end: int, columns: Sequence[FieldTokens]) -> list[FieldTokens]:
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
    return [FieldTokens(data, start, stop - start) for start, stop in zip(starts, ends, strict=True)]


def _each(byte: int) -> np.uint64:
    """The same byte eight times."""
    return np.uint64(byte * 0x0101010101010101)


_ONES, _HIGHS, _ZERO, _ABOVE_NINE = _each(0x01), _each(0x80), _each(ord("0")), _each(0x80 - 10)
_DOT, _CASE, _E = _each(ord(".") ^ ord("0")), _each(0x20), _each(ord("e"))


def _number_masks() -> list[Words]:
    """For the last, the last but one … word before a token's end: the mask that keeps what belongs to it."""
    words = range(_MAX_WORDS)
    sizes = [[min(max(size - 8 * word, 0), 8) for size in range(8 * _MAX_WORDS + 1)] for word in words]
    return [np.array([(1 << 64) - (1 << 64 - 8 * size) for size in row], np.uint64) for row in sizes]


_NUMBER_MASKS = _number_masks()


class NotANumberError(Exception):
    """The token at this place is no number of the wanted form."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


@dataclass(frozen=True, slots=True)
class _Decimals:
    """mantissa / 10^places, where `ok`; elsewhere the token is no plain decimal of up to 19 digits."""

    mantissa: Words
    places: Ints
    ok: Bools


def parse_floats(tokens: FieldTokens) -> NDArray[np.float32]:
    """Each token as a float, in single precision; NaN is refused."""
    negative, digits = _sign(tokens)
    plain = _decimals(digits)
    values = plain.mantissa.astype(np.float64)
    values /= _POWERS[plain.places]
    rest = np.flatnonzero(~(plain.ok & _certain(plain.mantissa, values)))
    if rest.size:
        values[rest], ok = _exponentials(digits[rest])
        rest = rest[~ok]
    np.negative(values, out=values, where=negative)
    for row in rest.tolist():
        values[row] = _float(tokens.bytes_at(row), row)
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def parse_ints(tokens: FieldTokens) -> NDArray[np.int32]:
    """Each token as a whole number of at most 9 digits; `1.0` is one, too."""
    negative, digits = _sign(tokens)
    plain = _decimals(digits)
    whole, rest = np.divmod(plain.mantissa, _WHOLE_POWERS[np.minimum(plain.places, _WHOLE_POWERS.size - 1)])
    wrong = np.flatnonzero(~plain.ok | (rest > 0) | (whole > np.uint64(999_999_999)))
    if wrong.size:
        raise NotANumberError(int(wrong[0]))
    values = whole.astype(np.int32)
    return np.where(negative, -values, values)


def _sign(tokens: FieldTokens) -> tuple[Bools, FieldTokens]:
    """Which tokens begin with a minus, and all of them without their sign."""
    first = tokens.data[tokens.start]
    negative = first == ord("-")
    signed = negative | (first == ord("+"))
    if not signed.any():
        return negative, tokens
    return negative, FieldTokens(tokens.data, tokens.start + signed, tokens.length - signed)


def _decimals(tokens: FieldTokens) -> _Decimals:
    """Read `digits[.digits]`, right-aligned: the last digit of every token is the top byte of its last word."""
    count = min(max(-(-tokens.longest() // 8), 1), _MAX_WORDS)
    size = np.minimum(tokens.length, 8 * count)
    rows = gather(tokens.data, tokens.start + tokens.length - 8 * count, count)
    words = [(rows[:, i] ^ _ZERO) & _NUMBER_MASKS[count - 1 - i][size] for i in range(count)]
    dotted, places = _drop_dot(words)
    wrong = np.zeros(len(tokens), np.uint64)
    mantissa = np.zeros(len(tokens), np.uint64)
    for word in words:
        wrong |= (word + _ABOVE_NINE) | word
        mantissa *= np.uint64(100_000_000)
        mantissa += _eight_digits(word)
    ok = (wrong & _HIGHS == 0) & (tokens.length > dotted) & (tokens.length <= 8 * count)
    if count == _MAX_WORDS:
        ok &= _eight_digits(words[0]) < 1000
    places *= ok
    return _Decimals(mantissa, places, ok)


def _drop_dot(words: list[Words]) -> tuple[Bools, Ints]:
    """Take the dot out of each number, moving the digits before it up by one byte; then: had one, digits after it.

    Masks instead of branches: `moved` are the bytes before the dot, `kept` those after it, and `done` is all ones
    once the dot was met in this word or in a later one.
    """
    done = np.zeros(words[0].size, np.uint64)
    after = np.zeros(words[0].size, np.uint64)
    for i in range(len(words) - 1, -1, -1):
        word = words[i]
        dot = _first_zero(word ^ _DOT)
        here = np.negative((dot != 0).astype(np.uint64))
        moved = (dot >> _SEVEN) - _ONE
        moved &= here
        moved |= done
        kept = ~(moved | ((dot << _ONE) - (dot >> _SEVEN)))
        done |= here
        words[i] = (word & kept) | ((word & moved) << _BYTE)
        if i > 0:
            words[i] |= (words[i - 1] >> _TOP) & done
        after += kept & _ONES
    places = (after * _ONES >> _TOP) & done
    return done != 0, places.astype(np.int64)


def _first_zero(word: Words) -> Words:
    """The high bit of the first byte that is zero, or 0."""
    found = (word - _ONES) & ~word & _HIGHS
    found &= np.negative(found)
    return found


def _eight_digits(word: Words) -> Words:
    """The value of eight digit bytes, the first of them the lowest byte: pairs, then fours, then all."""
    word = word * np.uint64(10) + (word >> _BYTE)
    low = word & np.uint64(0x000000FF000000FF)
    high = (word >> np.uint64(16)) & np.uint64(0x000000FF000000FF)
    return (low * np.uint64(100 + (1_000_000 << 32)) + high * np.uint64(1 + (10_000 << 32))) >> np.uint64(32)


def _certain(mantissa: Words, values: NDArray[np.float64]) -> Bools:
    """Whether the double is right, or too far from where singles meet for its last bits to matter."""
    certain: Bools = mantissa <= _EXACT
    rows = np.flatnonzero(~certain)
    if rows.size:
        tail = (values[rows].view(np.uint64) & np.uint64(2**29 - 1)).astype(np.int64)
        certain[rows] = np.abs(tail - 2**28) > 4
    return certain


def _exponentials(tokens: FieldTokens) -> tuple[NDArray[np.float64], Bools]:
    """Read `digits[.digits]e[±]digits`, with the exponent in the last 8 bytes."""
    end = tokens.start + tokens.length
    tail = gather(tokens.data, end - 8, 1)[:, 0] & _NUMBER_MASKS[0][np.minimum(tokens.length, 8)]
    found = _first_zero((tail | _CASE) ^ _E)
    after = ((~((found << _ONE) - _ONE) & _ONES) * _ONES >> _TOP).astype(np.int64) * (found != 0)
    sign = tokens.data[end - after]
    signed = ((sign == ord("-")) | (sign == ord("+"))) & (after > 0)
    mantissa = _decimals(FieldTokens(tokens.data, tokens.start, np.maximum(tokens.length - after - 1, 0)))
    exponent = _decimals(FieldTokens(tokens.data, end - after + signed, after - signed))
    power = np.minimum(exponent.mantissa, np.uint64(999)).astype(np.int64)
    power = np.where(sign == ord("-"), -power, power) - mantissa.places
    ok = (found != 0) & mantissa.ok & exponent.ok & (exponent.places == 0) & (np.abs(power) < _POWERS.size)
    scale = _POWERS[np.where(ok, np.abs(power), 0)]
    base = mantissa.mantissa.astype(np.float64)
    values = np.where(power < 0, base / scale, base * scale)
    return values, ok & _certain(mantissa.mantissa, values)


def _float(text: bytes, row: int) -> float:
    try:
        # Python allows underscores between digits; a run file doesn't.
        value = math.nan if b"_" in text else float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise NotANumberError(row)
    return value
