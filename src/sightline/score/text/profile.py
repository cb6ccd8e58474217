"""A text's distinct words and how often each occurs, as arrays: many texts are taken apart in a few numpy calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.score.text.tokens import word_bytes

# Bytes of text that are worked on at once: small enough for the processor's cache.
_CHUNK = 1 << 16
# Words up to this many bytes are hashed eight bytes at a time, the few longer ones (a pasted blob) one by one.
_LONG = 64
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
_STIR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class Profile(NamedTuple):
    """Distinct words as sorted keys, and their counts.

    A key is the word itself up to eight bytes of UTF-8, and a 64-bit hash beyond.
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]

    def shared_with(self, other: Profile) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the words that both have stand in this profile, and where in the other."""
        place = other.keys.searchsorted(self.keys)
        if not len(other.keys):
            return place[:0], place[:0]
        here = np.flatnonzero(other.keys.take(place, mode="clip") == self.keys)
        return here, place[here]


def profiles(texts: Sequence[str]) -> Iterator[Profile]:
    """The profile of each text, in order."""
    chunk: list[bytes] = []
    size = 0
    for text in texts:
        chunk.append(word_bytes(text))
        size += len(chunk[-1])
        if size > _CHUNK:
            yield from _chunk(chunk)
            chunk, size = [], 0
    if chunk:
        yield from _chunk(chunk)


def _chunk(texts: Sequence[bytes]) -> list[Profile]:
    # A blank at either end makes every word start and end inside; eight more let the last one be read whole.
    buffer = b" ".join((b"", *texts, b" " * 8))
    starts, keys = _words(buffer)
    offsets = np.cumsum([0, *(len(text) + 1 for text in texts)])
    bounds = np.searchsorted(starts, offsets + 1)
    for begin, end in pairwise(bounds.tolist()):
        keys[begin:end].sort()
    new = np.ones(len(keys) + 1, dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:-1])
    new[bounds] = True
    first = np.flatnonzero(new)
    counts = np.diff(first)
    distinct = keys[first[:-1]]
    cuts = np.searchsorted(first, bounds).tolist()
    return [Profile(distinct[begin:end], counts[begin:end]) for begin, end in pairwise(cuts)]


def _words(buffer: bytes) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Where each word starts, and its key."""
    blank = np.frombuffer(buffer, dtype=np.uint8) == ord(" ")
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    lengths = ends - starts
    # Eight bytes from any place on, without a copy.
    windows = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))
    keys: NDArray[np.uint64] = windows[starts] & _MASKS[np.minimum(lengths, 8)]
    longer = np.flatnonzero((lengths > 8) & (lengths <= _LONG))
    offset = 8
    while longer.size:
        rest = lengths[longer] - offset
        piece = windows[starts[longer] + offset] & _MASKS[np.minimum(rest, 8)]
        mixed = (keys[longer] * _STIR ^ piece) * _STIR
        keys[longer] = mixed ^ mixed >> _SHIFT
        longer = longer[rest > 8]
        offset += 8
    for at in np.flatnonzero(lengths > _LONG).tolist():
        digest = blake2b(buffer[starts[at] : ends[at]], digest_size=8).digest()
        keys[at] = int.from_bytes(digest, "little")
    return starts, keys
