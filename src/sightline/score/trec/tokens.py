"""Texts inside a file's bytes, taken out eight bytes at a time."""

from __future__ import annotations

from collections.abc import Iterator
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


def _masks() -> list[Words]:
    """For each word of a stride: the mask that keeps what belongs to a token of 0 … 32 bytes."""
    sizes = [[min(max(length - 8 * word, 0), 8) for length in range(_SPAN + 1)] for word in range(_STRIDE)]
    return [np.array([(1 << 8 * size) - 1 for size in row], np.uint64) for row in sizes]


_MASKS = _masks()


@dataclass(frozen=True, slots=True)
class Tokens:
    """Places in a buffer, each a start and a length."""

    data: Bytes
    start: Ints
    length: Ints

    def __len__(self) -> int:
        return self.start.size

    def __getitem__(self, rows: Ints) -> Tokens:
        return Tokens(self.data, self.start[rows], self.length[rows])

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
                yield rows, table[:, word] & _MASKS[word][left]


def gather(data: Bytes, at: Ints, words: int) -> Words:
    """`words` little-endian 64-bit words from each byte position, as one row for each."""
    width = 8 * words
    windows = np.ndarray((data.size - width + 1,), dtype=f"V{width}", buffer=data, strides=(1,))
    return windows[at].view("<u8").reshape(-1, words)
