"""What the networks are given, in training as in use: words as numbers, and signs cut out of a picture.

Words need no vocabulary: each word, and each of its three-letter pieces, has a place in a table.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.english import number_word
from sightline.types import Box

WORDS, GRAMS = 4096, 2048
LONGEST = 32
"""Words of a text that are read."""
_PIECES = 10
_WORD = re.compile(r"[a-z]+|\d+")
WIDE, HIGH = 160, 96
_MARGIN = 0.05
_TALLEST = 1.35
"""No board with words is higher than this many times its width; what reaches further down is what carries it."""


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


def cut_sign(pixels: NDArray[np.uint8], box: Box, margin: float = _MARGIN) -> NDArray[np.uint8]:
    """The upper part of a sign in grey, stretched to the size that the network reads."""
    high, wide = pixels.shape[:2]
    dx, dy = margin * (box.right - box.left), margin * (box.bottom - box.top)
    left, right = max(0.0, (box.left - dx) * wide), min(float(wide), (box.right + dx) * wide)
    top, bottom = max(0.0, (box.top - dy) * high), min(float(high), (box.bottom + dy) * high)
    bottom = min(bottom, top + _TALLEST * (right - left))
    if right - left < 1 or bottom - top < 1:
        return np.zeros((HIGH, WIDE), np.uint8)
    image = Image.fromarray(pixels).convert("L")
    return np.asarray(image.resize((WIDE, HIGH), Image.Resampling.BILINEAR, box=(left, top, right, bottom)))
