"""Tags of many pictures: how many of a few tags each picture has, counted without a loop over pictures.

Lists of pictures by tag count over all pictures; rows of bits count over some, where the vocabulary is small enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Rows: TypeAlias = NDArray[np.intp]
Counts: TypeAlias = NDArray[np.intp]
Scores: TypeAlias = NDArray[np.float64]

MOST_BITS = 2048
"""A larger vocabulary is kept in lists alone: rows of bits would be mostly zeros."""
_WORD = 64


class TagIndex:
    """The tags of each picture; pictures are numbered, in the order in which they were given."""

    def __init__(self, tags_of: Sequence[Iterable[str]]) -> None:
        self.numbers: dict[str, int] = {}
        spellings: dict[str, int] = {}

        def number(tag: str) -> int:
            if tag not in spellings:
                spellings[tag] = self.numbers.setdefault(fold(tag), len(self.numbers))
            return spellings[tag]

        coded = [sorted(set(map(number, tags))) for tags in tags_of]
        self.sizes: Counts = np.fromiter(map(len, coded), dtype=np.intp, count=len(coded))
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._tags = np.fromiter(chain.from_iterable(coded), dtype=np.intp, count=int(self._starts[-1]))
        rows = np.repeat(np.arange(len(coded)), self.sizes)
        self._rows = rows[np.argsort(self._tags, kind="stable")]
        self._ends = np.cumsum(np.bincount(self._tags, minlength=len(self.numbers)))
        self._bits = _bits(rows, self._tags, len(coded), len(self.numbers))

    def __len__(self) -> int:
        return len(self.numbers)

    def of(self, rows: Rows) -> Rows:
        """The tags that any of these pictures has."""
        found = [self._tags[self._starts[row] : self._starts[row + 1]] for row in rows]
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)

    def pictures(self, tag: int) -> Rows:
        """The pictures that have a tag."""
        return self._rows[self._ends[tag - 1] if tag else 0 : self._ends[tag]]

    def overlap(self, tags: Rows, rows: Rows | None = None) -> Counts:
        """How many of these tags each picture has: of some pictures, or of all."""
        if rows is not None and self._bits is not None:
            wanted = np.zeros(self._bits.shape[1], dtype=np.uint64)
            np.bitwise_or.at(wanted, tags // _WORD, np.uint64(1) << (tags % _WORD).astype(np.uint64))
            words = np.flatnonzero(wanted)
            counts: Counts = np.bitwise_count(self._bits[np.ix_(rows, words)] & wanted[words]).sum(1, dtype=np.intp)
            return counts
        lists = [self.pictures(tag) for tag in tags.tolist()]
        counts = np.bincount(np.concatenate(lists) if lists else np.empty(0, np.intp), minlength=len(self.sizes))
        return counts if rows is None else counts[rows]

    def jaccard(self, tags: Rows, rows: Rows | None = None) -> Scores:
        """Tags in common over tags of either, from 0 to 1; 0 where neither has any."""
        shared = self.overlap(tags, rows)
        either = (self.sizes if rows is None else self.sizes[rows]) + len(tags) - shared
        alike: Scores = shared / np.maximum(either, 1)
        return alike


def fold(tag: str) -> str:
    """A tag as it is compared: `Fire ` is `fire`."""
    return tag.strip().casefold()


def _bits(rows: Rows, tags: Rows, count: int, vocabulary: int) -> NDArray[np.uint64] | None:
    """One row of bits a picture; None where there is no tag, or too many different ones."""
    if not 0 < vocabulary <= MOST_BITS:
        return None
    width = -(-vocabulary // _WORD)
    bits = np.zeros(count * width, dtype=np.uint64)
    np.bitwise_or.at(bits, rows * width + tags // _WORD, np.uint64(1) << (tags % _WORD).astype(np.uint64))
    return bits.reshape(count, width)
