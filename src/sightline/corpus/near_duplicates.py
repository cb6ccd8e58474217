"""Near-duplicates: a 64-bit perceptual hash, a coarse colour print, and all pairs of hashes that are close.

The hash is the sign pattern of the 64 lowest frequencies (without the mean) of a cosine transform of the luminance of
a 32 × 32 thumbnail, against their median: two hashes of the same picture at other sizes or qualities differ in a few
bits. A picture with no structure (one flat colour) has hash 0, which never counts as similar to anything. The colour
print is the mean colour of a 4 × 4 grid: it keeps a red and a blue version of the same drawing apart.

Neighbours are exact, without comparing all with all. If two hashes differ in at most t bits and are cut into t + s
bands, at least s bands are equal. So for every choice of s bands, hashes are sorted by those bands' bits and only
neighbours with equal bits are compared. s is chosen so that few unrelated hashes meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

SIDE = 32
"""Side of the thumbnail that both are computed from."""
_GRID = 4
_FLAT = 6.0
"""Largest coefficient, in grey levels times SIDE / 2, below which a picture has no structure."""
_LUMINANCE = np.array([0.299, 0.587, 0.114], dtype=np.float32)
Hashes = NDArray[np.uint64]
Pairs = NDArray[np.intp]
_LONGEST_RUN = 512
"""Of hashes that share a choice of bands, each is compared with at most this many neighbours."""


def _cosines() -> NDArray[np.float32]:
    frequency, position = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    basis: NDArray[np.float64] = np.cos(np.pi * frequency * (2 * position + 1) / (2 * SIDE)) * np.sqrt(2 / SIDE)
    basis[0] /= np.sqrt(2)
    return basis.astype(np.float32)


def _lowest() -> NDArray[np.intp]:
    """Flat indices of the 64 lowest frequencies after the mean, diagonal by diagonal."""
    order = sorted((u + v, u, v) for u in range(SIDE) for v in range(SIDE))
    return np.array([u * SIDE + v for _, u, v in order[1:65]], dtype=np.intp)


_COSINES = _cosines()
_LOWEST = _lowest()


def perceptual_hash(thumbnail: NDArray[np.uint8]) -> int:
    """Hash of a 32 × 32 × 3 thumbnail as an unsigned 64-bit number."""
    grey = thumbnail.astype(np.float32) @ _LUMINANCE
    low = (_COSINES @ grey @ _COSINES.T).ravel()[_LOWEST]
    if np.abs(low).max() < _FLAT:
        return 0
    median = np.sort(low)[31]
    return int.from_bytes(np.packbits(low > median).tobytes(), "big")


def colour_print(thumbnail: NDArray[np.uint8]) -> bytes:
    """Mean colours of a 4 × 4 grid, 48 bytes."""
    cell = SIDE // _GRID
    sums: NDArray[np.uint16] = thumbnail.reshape(_GRID, cell, _GRID, cell, 3).sum(axis=(1, 3), dtype=np.uint16)
    return (sums // cell**2).astype(np.uint8).tobytes()


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


def chained(groups: Iterable[Sequence[int]]) -> Pairs:
    """Pairs that connect the positions of each group: its first with every other one."""
    pairs = [(group[0], other) for group in groups for other in group[1:]]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


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
