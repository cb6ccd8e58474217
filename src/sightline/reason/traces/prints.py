"""A short print of a text, by which nearly equal ones are found: MinHash over three words at a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from sightline.score.text.tokens import word_bytes

SIZE = 24
BANDS = 4
_WIDTH = 4 * SIZE // BANDS
_SHINGLE = 3
_FEWEST_WORDS = 8
_WORDS_AT_ONCE = 2_048
"""So many words are worked on at a time: numpy takes as long for few, and memory for many."""
_RNG = np.random.default_rng(20_261_115)
# Odd factors: each permutes the numbers below 2³², so that every shingle has the same chance to be the least.
_FACTORS = _RNG.integers(0, 2**31, (SIZE, 1), dtype=np.uint32) * np.uint32(2) + np.uint32(1)
_SHIFTS = _RNG.integers(0, 2**32, (SIZE, 1), dtype=np.uint32)
_PLACES = _RNG.integers(0, 2**31, _SHINGLE, dtype=np.uint32) * np.uint32(2) + np.uint32(1)


def prints_of(texts: Iterable[str]) -> Iterator[bytes]:
    """Of each text so many minima of hashes, four bytes each; empty if it is too short to say what is a copy of it."""
    lot: list[Sequence[bytes]] = []
    count = 0
    for text in texts:
        words = word_bytes(text).split()
        lot.append(words if len(words) >= _FEWEST_WORDS else ())
        count += len(lot[-1])
        if count >= _WORDS_AT_ONCE:
            yield from _prints(lot, count)
            lot, count = [], 0
    yield from _prints(lot, count)


def _prints(lot: Sequence[Sequence[bytes]], count: int) -> Iterator[bytes]:
    if not count:
        yield from (b"" for _ in lot)
        return
    hashes = np.fromiter(map(zlib.crc32, chain.from_iterable(lot)), np.uint32, count)
    mixed = hashes[:-2] * _PLACES[0] + hashes[1:-1] * _PLACES[1] + hashes[2:] * _PLACES[2]
    mixed ^= mixed >> np.uint32(15)
    sizes = np.array([len(words) for words in lot if words])
    ends = np.cumsum(sizes)
    # Of every second stretch nothing is wanted: shingles with words of two texts.
    edges = np.column_stack((ends - sizes, ends - (_SHINGLE - 1))).ravel()[:-1]
    minima = np.minimum.reduceat(mixed * _FACTORS + _SHIFTS, edges, axis=1)[:, ::2]
    found = iter(np.ascontiguousarray(minima.T, "<u4"))
    yield from (next(found).tobytes() if words else b"" for words in lot)


def bands_of(print_: bytes) -> tuple[int, ...]:
    """Numbers of which equal ones make two prints worth comparing: with 90 % in common, 19 of 20 pairs share one."""
    return tuple((zlib.crc32(print_[band * _WIDTH : (band + 1) * _WIDTH], band) << 3) | band for band in range(BANDS))


def likeness(one: bytes, other: bytes) -> float:
    """Equal minima / all: an estimate of the share of shingles in common (Jaccard)."""
    return float(np.count_nonzero(np.frombuffer(one, "<u4") == np.frombuffer(other, "<u4"))) / SIZE
