"""Ids as columns of 64-bit words: compact, comparable and sortable without a Python object for each.

Then hashes of a document within a query: looked up, and searched for repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sightline.metrics.trec.fields import Bools, FieldTokens, Ints, Words

_SALT = np.uint64(0xD6E8FEB86659FD93)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_FEW = 100
_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Ids:
    """Column by column: the first eight bytes of each id (little-endian), the next … with zeros after its end."""

    columns: tuple[Words, ...]

    def __getitem__(self, rows: Ints | slice) -> Ids:
        return Ids(tuple(column[rows] for column in self.columns))

    def text_at(self, row: int) -> str:
        """One id as text; bytes that are not UTF-8 are shown as escapes."""
        raw = b"".join(int(column[row]).to_bytes(8, "little") for column in self.columns)
        return raw.rstrip(b"\0").decode(errors="backslashreplace")

    def same(self, other: Ids) -> Bools:
        """Whether each id equals, byte for byte, the one beside it."""
        shared = min(len(self.columns), len(other.columns))
        rest = self.columns[shared:] + other.columns[shared:]
        same: Bools = self.columns[0] == other.columns[0] if shared else np.empty(0, np.bool_)
        for ours, theirs in zip(self.columns[1:], other.columns[1:], strict=False):
            same &= ours == theirs
        for column in rest:
            same &= column == 0
        return same

    def sort_keys(self) -> list[Words]:
        """For `np.lexsort` (the last key is the first to count): the order of the ids' bytes."""
        return [column.byteswap() for column in reversed(self.columns)]


def ids_of(tokens: FieldTokens) -> Ids:
    """The ids at these places."""
    columns: list[Words] = []
    for rows, word in tokens.words():
        if isinstance(rows, slice):
            columns.append(word)
        else:
            columns.append(np.zeros(len(tokens), np.uint64))
            columns[-1][rows] = word
    return Ids(tuple(columns))


def hash_ids(ids: Ids) -> Words:
    """A 64-bit hash of each id; ids of up to 8 bytes never share one.

    The sum over words of a bijection that maps 0 to 0: it doesn't depend on how many words other ids need.
    """
    key = np.zeros(ids.columns[0].size if ids.columns else 0, np.uint64)
    for place, word in enumerate(ids.columns):
        mixed = word * _multiplier(place)
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        key += mixed
    key ^= key >> np.uint64(29)
    return key


def joined(parts: Sequence[Ids]) -> Ids:
    """All of them, one after the other."""
    width = max((len(part.columns) for part in parts), default=0)
    sizes = [part.columns[0].size if part.columns else 0 for part in parts]

    def column(place: int) -> Words:
        wide = (place < len(part.columns) for part in parts)
        return np.concatenate(
            [
                part.columns[place] if has else np.zeros(size, np.uint64)
                for part, has, size in zip(parts, wide, sizes, strict=True)
            ]
        )

    return Ids(tuple(column(place) for place in range(width)))


def _multiplier(place: int) -> np.uint64:
    """An odd number of its own for each word of an id (splitmix64 of its place)."""
    x = (place + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    x = (x ^ x >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return np.uint64((x ^ x >> 31) | 1)


def pair_keys(document: Words, query: Ints) -> Words:
    """One key for a query and a document, with its randomness in the high bits."""
    key = query.astype(np.uint64)
    key += np.uint64(1)
    key *= _SALT
    key ^= document
    key *= _SPREAD
    return key


@dataclass(frozen=True, slots=True)
class FoundKeys:
    """Where wanted keys are, and which of them each is, in no order; not looked for when a key occurs twice."""

    at: Ints
    which: Ints
    repeats: bool = False


def find(key: Words, wanted: Words) -> FoundKeys:
    """Look the wanted keys up, and notice whether a key occurs twice.

    Each key takes a slot of a table, in which the wanted ones are looked up. Keys that others beat to their slot, and
    wanted ones not yet found, go round again with other slots.
    """
    at, which = np.arange(key.size), np.arange(wanted.size)
    parts = [FoundKeys(_NONE, _NONE)]
    while at.size > _FEW:
        size = 1 << at.size.bit_length() + 1
        own = np.arange(at.size, dtype=np.min_scalar_type(at.size))
        slot, table = _slots(key, size), np.zeros(size, own.dtype)
        table[slot] = own
        holder = table[slot]
        beaten = np.flatnonzero(holder != own)
        if (key[beaten] == key[holder[beaten]]).any():
            return FoundKeys(_NONE, _NONE, repeats=True)
        there = table[_slots(wanted, size)]
        hit = key[there] == wanted
        parts.append(FoundKeys(at[there[hit]], which[hit]))
        at, which = at[beaten], which[~hit]
        key, wanted = key[beaten] * _SPREAD, wanted[~hit] * _SPREAD
    order = np.argsort(key)
    key, at = key[order], at[order]
    if (key[1:] == key[:-1]).any():
        return FoundKeys(_NONE, _NONE, repeats=True)
    if key.size:
        there = np.minimum(np.searchsorted(key, wanted), key.size - 1)
        hit = key[there] == wanted
        parts.append(FoundKeys(at[there[hit]], which[hit]))
    return FoundKeys(np.concatenate([p.at for p in parts]), np.concatenate([p.which for p in parts]))


def _slots(key: Words, size: int) -> Ints:
    """Each key's place in a table of this size, a power of two."""
    return (key >> np.uint64(65 - size.bit_length())).view(np.int64)
