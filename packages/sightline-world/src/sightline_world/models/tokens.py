"""Words as numbers, with no vocabulary: each word, and each of its three-letter pieces, has a place in a table."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sightline.english import number_word

WORDS, GRAMS = 4096, 2048
LONGEST = 32
"""Words of a text that are read."""
_PIECES = 10
_WORD = re.compile(r"[a-z]+|\d+")


def split_words(text: str) -> list[str]:
    """Words in lower case without accents; small numbers spelt out."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return [number_word(int(word)) if word.isdigit() and len(word) < 3 else word for word in _WORD.findall(plain)]


def encode(texts: Sequence[str], longest: int = LONGEST) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of words (n, length) and of their pieces (n, length, 10); 0 where there is nothing."""
    split = [split_words(text)[:longest] for text in texts]
    length = max([1, *map(len, split)])
    words = np.zeros((len(texts), length), np.int64)
    grams = np.zeros((len(texts), length, _PIECES), np.int64)
    for row, found in enumerate(split):
        for at, word in enumerate(found):
            words[row, at], grams[row, at] = _places(word)
    return words, grams


@lru_cache(maxsize=8192)
def _places(word: str) -> tuple[int, tuple[int, ...]]:
    """Where a word lies in the table of words, and its pieces in the table of pieces."""
    framed = f"^{word}$"
    pieces = [_hash(framed[at : at + 3], GRAMS) for at in range(len(framed) - 2)][:_PIECES]
    return _hash(word, WORDS), (*pieces, *([0] * (_PIECES - len(pieces))))


def _hash(text: str, size: int) -> int:
    return 1 + zlib.crc32(text.encode()) % (size - 1)
