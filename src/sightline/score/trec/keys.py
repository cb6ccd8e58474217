"""Hashes of a document within a query: looked up, and searched for repeats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sightline.score.trec.tokens import Ints, Words

_SALT = np.uint64(0xD6E8FEB86659FD93)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_FEW = 100
_NONE = np.empty(0, np.int64)


def pair_keys(document: Words, query: Ints) -> Words:
    """One key for a query and a document, with its randomness in the high bits."""
    key = query.astype(np.uint64)
    key += np.uint64(1)
    key *= _SALT
    key ^= document
    key *= _SPREAD
    return key


@dataclass(frozen=True, slots=True)
class Found:
    """Where wanted keys are, and which of them each is, in no order; not looked for when a key occurs twice."""

    at: Ints
    which: Ints
    repeats: bool = False


def find(key: Words, wanted: Words) -> Found:
    """Look the wanted keys up, and notice whether a key occurs twice.

    Each key takes a slot of a table, in which the wanted ones are looked up. Keys that others beat to their slot, and
    wanted ones not yet found, go round again with other slots.
    """
    at, which = np.arange(key.size), np.arange(wanted.size)
    parts = [Found(_NONE, _NONE)]
    while at.size > _FEW:
        size = 1 << at.size.bit_length() + 1
        own = np.arange(at.size, dtype=np.min_scalar_type(at.size))
        slot, table = _slots(key, size), np.zeros(size, own.dtype)
        table[slot] = own
        holder = table[slot]
        beaten = np.flatnonzero(holder != own)
        if (key[beaten] == key[holder[beaten]]).any():
            return Found(_NONE, _NONE, repeats=True)
        there = table[_slots(wanted, size)]
        hit = key[there] == wanted
        parts.append(Found(at[there[hit]], which[hit]))
        at, which = at[beaten], which[~hit]
        key, wanted = key[beaten] * _SPREAD, wanted[~hit] * _SPREAD
    order = np.argsort(key)
    key, at = key[order], at[order]
    if (key[1:] == key[:-1]).any():
        return Found(_NONE, _NONE, repeats=True)
    if key.size:
        there = np.minimum(np.searchsorted(key, wanted), key.size - 1)
        hit = key[there] == wanted
        parts.append(Found(at[there[hit]], which[hit]))
    return Found(np.concatenate([p.at for p in parts]), np.concatenate([p.which for p in parts]))


def _slots(key: Words, size: int) -> Ints:
    """Each key's place in a table of this size, a power of two."""
    return (key >> np.uint64(65 - size.bit_length())).view(np.int64)
