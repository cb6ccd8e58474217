"""Which pictures are the same, or nearly: exact neighbours among 64-bit hashes, without comparing all with all.

If two hashes differ in at most t bits and are cut into t + s bands, at least s bands are equal. So for every choice
of s bands, hashes are sorted by those bands' bits and only neighbours with equal bits are compared. s is chosen so
that few unrelated hashes meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Pairs = NDArray[np.intp]

_LONGEST_RUN = 512
"""Of hashes that share a choice of bands, each is compared with at most this many neighbours."""


def near_pairs(hashes: Hashes, bits: int) -> Pairs:
    """All pairs of positions (i < j) whose hashes differ in at most `bits` bits; hash 0 is near nothing.

    Equal hashes are given as a chain (first with second, first with third, …), not as all pairs.
    """
    distinct, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    rest = np.flatnonzero(first[inverse] != np.arange(len(hashes)))
    rest = rest[hashes[rest] != 0]
    found = [np.stack([first[inverse[rest]], rest], axis=1)]
    found += [first[pairs] for pairs in _near_distinct(distinct, bits)]
    pairs = np.sort(np.concatenate(found), axis=1)
    pairs = pairs[(hashes[pairs] != 0).all(axis=1)]
    return np.unique(pairs, axis=0) if len(pairs) else pairs.reshape(0, 2)


def _near_distinct(distinct: Hashes, bits: int) -> Iterator[Pairs]:
    if bits == 0 or len(distinct) < 2:
        return
    same = _bands_in_common(len(distinct), bits)
    edges = np.linspace(0, 64, bits + same + 1).round().astype(int)
    bands = [((1 << (b - a)) - 1) << a for a, b in pairwise(edges.tolist())]
    for chosen in combinations(bands, same):
        keys = distinct & np.uint64(sum(chosen))
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], distinct[order]
        for step in range(1, min(_LONGEST_RUN, len(keys))):
            meet = np.flatnonzero(keys[step:] == keys[:-step])
            if len(meet) == 0:
                break
            near = meet[np.bitwise_count(values[meet] ^ values[meet + step]) <= bits]
            yield np.stack([order[near], order[near + step]], axis=1)


def _bands_in_common(count: int, bits: int) -> int:
    """The s that makes the least work: choices of bands × (a sort + chance meetings)."""

    def work(same: int) -> float:
        shared = 64 * same / (bits + same)
        return comb(bits + same, same) * count * (20 + count / 2**shared)

    return min(range(1, 5), key=work)


def connected(count: int, pairs: Pairs) -> list[NDArray[np.intp]]:
    """Groups of two or more positions that pairs connect, each in rising order."""
    leader = np.arange(count)

    def find(node: int) -> int:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = int(leader[node])
        return node

    for a, b in pairs:
        low, high = sorted((find(int(a)), find(int(b))))
        leader[high] = low
    touched = np.unique(pairs)
    roots = np.array([find(int(node)) for node in touched], dtype=np.intp)
    order = np.argsort(roots, kind="stable")
    cuts = np.flatnonzero(np.diff(roots[order])) + 1
    return [group for group in np.split(touched[order], cuts) if len(group) > 1]
