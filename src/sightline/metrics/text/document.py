"""One text, taken apart at most once however many metrics look at it: tokens, counts, vector, word profile.

A profile holds the distinct words and how often each occurs, as arrays: many texts are taken apart in few numpy calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.context import Context, TextEmbedder
from sightline.metrics.text.tokens import bleu_tokens, rouge_tokens, word_bytes, word_tokens

# Bytes of text that are worked on at once: small enough for the processor's cache.
_CHUNK = 1 << 16
# Words up to this many bytes are hashed eight bytes at a time, the few longer ones (a pasted blob) one by one.
_LONG = 64
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
_STIR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class WordProfile(NamedTuple):
    """Distinct words as sorted keys, and their counts.

    A key is the word itself up to eight bytes of UTF-8, and a 64-bit hash beyond.
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]

    def shared_with(self, other: WordProfile) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the words that both have stand in this profile, and where in the other."""
        place = other.keys.searchsorted(self.keys)
        if not len(other.keys):
            return place[:0], place[:0]
        here = np.flatnonzero(other.keys.take(place, mode="clip") == self.keys)
        return here, place[here]


def profiles(texts: Sequence[str]) -> Iterator[WordProfile]:
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


def _chunk(texts: Sequence[bytes]) -> list[WordProfile]:
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
    return [WordProfile(distinct[begin:end], counts[begin:end]) for begin, end in pairwise(cuts)]


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


class TextDocument:
    """A text and, each worked out on demand and then kept: its tokens, their counts, its vector."""

    def __init__(self, text: str) -> None:
        self.text = text
        # the unit vector, and the embedder that gave it
        self.embedded: tuple[TextEmbedder, NDArray[np.float64]] | None = None
        self.profile: WordProfile | None = None

    @cached_property
    def words(self) -> list[str]:
        return word_tokens(self.text)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.words)

    @cached_property
    def rouge(self) -> list[str]:
        return self.words if self.text.isascii() else rouge_tokens(self.text)

    @cached_property
    def rouge_counts(self) -> Counter[str]:
        return self.counts if self.text.isascii() else Counter(self.rouge)

    @cached_property
    def bleu(self) -> list[str]:
        return bleu_tokens(self.text)

    @cached_property
    def characters(self) -> str:
        """The text without white space."""
        return "".join(self.text.split())


def profiles_of(documents: Sequence[TextDocument]) -> list[WordProfile]:
    """The profile of each document, those that lack one worked out together."""
    wanting = [item for item in documents if item.profile is None]
    for item, profile in zip(wanting, profiles([item.text for item in wanting]), strict=True):
        item.profile = profile
    return [item.profile for item in documents if item.profile is not None]


def prefetch_profiles(documents: Sequence[TextDocument], context: Context) -> None:
    """Take many documents apart at once."""
    profiles_of(documents)


# Metrics are called one after the other on the same few texts; a runaway text is large, so few are kept.
document = lru_cache(maxsize=8)(TextDocument)
