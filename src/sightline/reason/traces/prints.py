"""A short print of a text, by which nearly equal ones are found: MinHash over three words at a time."""

from __future__ import annotations

import zlib

import numpy as np

from sightline.score.text.tokens import word_bytes

SIZE = 24
BANDS = 4
_WIDTH = 4 * SIZE // BANDS
_SHINGLE = 3
_FEWEST_WORDS = 8
_RNG = np.random.default_rng(20_261_115)
# Odd factors: each permutes the numbers below 2³², so that every shingle has the same chance to be the least.
_FACTORS = _RNG.integers(0, 2**31, (SIZE, 1), dtype=np.uint32) * np.uint32(2) + np.uint32(1)
_SHIFTS = _RNG.integers(0, 2**32, (SIZE, 1), dtype=np.uint32)
_PLACES = _RNG.integers(0, 2**31, _SHINGLE, dtype=np.uint32) * np.uint32(2) + np.uint32(1)


def print_of(text: str) -> bytes:
    """So many minima of hashes, four bytes each; empty for a text too short to say that another is a copy of it."""
    words = word_bytes(text).split()
    if len(words) < _FEWEST_WORDS:
        return b""
    hashes = np.fromiter(map(zlib.crc32, words), np.uint32, len(words))
    mixed = hashes[:-2] * _PLACES[0] + hashes[1:-1] * _PLACES[1] + hashes[2:] * _PLACES[2]
    mixed ^= mixed >> np.uint32(15)
    minima: bytes = (mixed * _FACTORS + _SHIFTS).min(axis=1).astype("<u4", copy=False).tobytes()
    return minima


def bands_of(print_: bytes) -> tuple[int, ...]:
    """Numbers of which equal ones make two prints worth comparing: with 90 % in common, 19 of 20 pairs share one."""
    return tuple((zlib.crc32(print_[band * _WIDTH : (band + 1) * _WIDTH], band) << 3) | band for band in range(BANDS))


def likeness(one: bytes, other: bytes) -> float:
    """Equal minima / all: an estimate of the share of shingles in common (Jaccard)."""
    return float(np.count_nonzero(np.frombuffer(one, "<u4") == np.frombuffer(other, "<u4"))) / SIZE
