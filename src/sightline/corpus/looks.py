"""Duplicates and bursts of a scanned corpus, by look and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.config import DuplicateSettings
from sightline.corpus.duplicates import Pairs, connected, near_pairs
from sightline.corpus.store import LIVING, Store

_COLOUR_TOLERANCE = 16.0
"""Mean difference of two colour prints, in grey levels, up to which two pictures have the same colours."""
_CELL_TOLERANCE, _PER_CHANGE = 6.0, 0.7
"""How far one cell may depart from what all have in common, and how much further for each level of mean difference: an
edited copy is brighter everywhere, while other things before the same backdrop differ in one place."""
_NEIGHBOURS = 64
"""Of pictures with one hash, each is compared with so many: thousands of empty pages are not compared all with all."""
_AT_ONCE = 65_536


@dataclass(frozen=True, slots=True)
class Looks:
    """What duplicates and bursts are found by: some forty bytes a picture, in order of time, then id."""

    files: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    contents: NDArray[np.uint64]
    times: NDArray[np.float64]
    owners: NDArray[np.int64]
    store: Store

    @classmethod
    def read(cls, store: Store) -> Looks:
        columns = np.dtype([("file", "i8"), ("hash", "i8"), ("content", "u8"), ("time", "f8"), ("owner", "i8")])
        rows = store.database.execute(
            f"""SELECT p.file, p.phash, p.sha256, coalesce(p.taken_key, 'nan'),
            dense_rank() OVER (ORDER BY p.owner, p.device) {LIVING} ORDER BY p.taken_key, p.id"""
        )
        table = np.fromiter(
            (
                (file, hash_, int.from_bytes(sha[:8], "big"), float(time), owner)
                for file, hash_, sha, time, owner in rows
            ),
            dtype=columns,
        )
        return cls(
            table["file"],
            table["hash"].view(np.uint64),
            table["content"],
            table["time"],
            table["owner"],
            store,
        )

    def duplicates(self, settings: DuplicateSettings) -> list[NDArray[np.intp]]:
        """Same bytes; or near in hash and colour, unless the camera took them one after the other."""
        near = near_members(self.hashes, settings.bits)
        pause = np.abs(self.times[near[:, 0]] - self.times[near[:, 1]])
        burst = (pause > 0) & (pause <= settings.burst_seconds)
        near = near[~burst]
        near = near[self._same_colours(near)]
        _, first, inverse = np.unique(self.contents, return_index=True, return_inverse=True)
        same = np.stack([first[inverse], np.arange(len(self.files))], axis=1)
        same = same[same[:, 0] != same[:, 1]]
        return connected(len(self.files), np.concatenate([near, same]))

    def bursts(self, copies: Sequence[NDArray[np.intp]], settings: DuplicateSettings) -> list[NDArray[np.intp]]:
        """Neighbours in time of one owner and device, near in hash; a copy does not count beside its original."""
        keep = ~np.isnan(self.times) & (self.hashes != 0)
        for group in copies:
            keep[group[1:]] = False
        order = np.flatnonzero(keep)
        order = order[np.lexsort((self.times[order], self.owners[order]))]
        before, after = order[:-1], order[1:]
        linked = (
            (self.owners[before] == self.owners[after])
            & (self.times[after] - self.times[before] <= settings.burst_seconds)
            & (np.bitwise_count(self.hashes[before] ^ self.hashes[after]) <= settings.burst_bits)
        )
        return connected(len(self.files), np.stack([before[linked], after[linked]], axis=1))

    def _same_colours(self, pairs: Pairs) -> NDArray[np.bool_]:
        parts = [pairs[start : start + _AT_ONCE] for start in range(0, len(pairs), _AT_ONCE)]
        return np.concatenate([same_colours(*self._colours(part)) for part in parts] or [np.zeros(0, dtype=bool)])

    def _colours(self, pairs: Pairs) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The colour prints of the first and of the second of each pair."""
        fetch = self.store.database.execute
        positions, at = np.unique(pairs, return_inverse=True)
        query = "SELECT colours FROM pictures WHERE file = ?"
        found = b"".join(fetch(query, (int(self.files[one]),)).fetchone()[0] for one in positions)
        prints = np.frombuffer(found, np.uint8).reshape(len(positions), -1, 3).astype(np.float32)
        first, second = at.reshape(pairs.shape).T
        return prints[first], prints[second]

    def ids(self, group: NDArray[np.intp]) -> list[str]:
        fetch = self.store.database.execute
        return [fetch("SELECT id FROM pictures WHERE file = ?", (int(self.files[at]),)).fetchone()[0] for at in group]


def near_members(hashes: NDArray[np.uint64], bits: int) -> Pairs:
    """Every pair (i < j) with hashes at most `bits` bits apart, of many with one hash only neighbours.

    `near_pairs` gives one picture for each hash, which is not enough where colours decide: the first of a hash may have
    others than the second.
    """
    distinct, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    members = np.split(np.argsort(inverse, kind="stable"), np.cumsum(counts)[:-1])
    found = [_within(members[at]) for at in np.flatnonzero((counts > 1) & (distinct != 0))]
    found += [_between(members[one], members[other]) for one, other in near_pairs(distinct, bits)]
    return np.sort(np.concatenate([np.empty((0, 2), np.intp), *found]), axis=1)


def _within(group: NDArray[np.intp]) -> Pairs:
    steps = range(1, min(len(group), _NEIGHBOURS + 1))
    return np.concatenate([np.stack([group[:-step], group[step:]], axis=1) for step in steps])


def _between(ours: NDArray[np.intp], theirs: NDArray[np.intp]) -> Pairs:
    ours, theirs = ours[:_NEIGHBOURS], theirs[:_NEIGHBOURS]
    return np.stack([np.repeat(ours, len(theirs)), np.tile(theirs, len(ours))], axis=1)


def same_colours(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Of prints (pair × cell × colour): alike on the whole, and no cell departs from what all have in common."""
    apart = second - first
    mean = np.abs(apart).mean(axis=(1, 2))
    departing = np.abs(apart - apart.mean(axis=1, keepdims=True)).mean(axis=2).max(axis=1)
    fits: NDArray[np.bool_] = (mean <= _COLOUR_TOLERANCE) & (departing <= _CELL_TOLERANCE + _PER_CHANGE * mean)
    return fits
