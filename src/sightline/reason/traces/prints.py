"""A short print of a text, by which nearly equal ones are found: MinHash over three words at a time."""

from __future__ import annotations

import zlib

import numpy as np

from sightline.score.text.tokens import word_tokens

SIZE = 24
BANDS = 4
_WIDTH = SIZE // BANDS
_SHINGLE = 3
_FEWEST_WORDS = 8
_RNG = np.random.default_rng(20_261_115)
# Odd factors: each permutes the numbers below 2³², so that every shingle has the same chance to be the least.
_FACTORS = _RNG.integers(0, 2**31, (SIZE, 1), dtype=np.uint32) * np.uint32(2) + np.uint32(1)
_SHIFTS = _RNG.integers(0, 2**32, (SIZE, 1), dtype=np.uint32)
_PLACES = _RNG.integers(0, 2**31, _SHINGLE, dtype=np.uint32) * np.uint32(2) + np.uint32(1)


def print_of(text: str) -> tuple[int, ...]:
    """So many minima of hashes (below 2³²); empty for a text too short to say that another is a copy of it."""
    words = word_tokens(text)
    if len(words) < _FEWEST_WORDS:
        return ()
    hashes = np.array([zlib.crc32(word.encode()) for word in words], np.uint32)
    shingles = len(words) - _SHINGLE + 1
    mixed = sum((hashes[place : place + shingles] * _PLACES[place] for place in range(_SHINGLE)), np.uint32(0))
    mixed ^= mixed >> np.uint32(15)
    minima: list[int] = (mixed * _FACTORS + _SHIFTS).min(axis=1).tolist()
    return tuple(minima)


def bands_of(print_: tuple[int, ...]) -> tuple[int, ...]:
    """Numbers of which equal ones make two prints worth comparing: with 90 % in common, 19 of 20 pairs share one."""
    return tuple(
        (zlib.crc32(repr((band, print_[band * _WIDTH : (band + 1) * _WIDTH])).encode()) << 3) | band
        for band in range(BANDS)
    )


def likeness(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Equal minima / all: an estimate of the share of shingles in common (Jaccard)."""
    return sum(a == b for a, b in zip(one, other, strict=True)) / SIZE
