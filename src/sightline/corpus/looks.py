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
        near = near_pairs(np.ascontiguousarray(self.hashes), settings.bits)
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
        result = np.zeros(len(pairs), dtype=bool)
        for start in range(0, len(pairs), 4096):
            part = pairs[start : start + 4096]
            prints = self._colours(np.unique(part))
            for row, (a, b) in enumerate(part, start):
                result[row] = np.abs(prints[int(a)] - prints[int(b)]).mean() <= _COLOUR_TOLERANCE
        return result

    def _colours(self, positions: NDArray[np.intp]) -> dict[int, NDArray[np.float32]]:
        query = "SELECT colours FROM pictures WHERE file = ?"
        fetch = self.store.database.execute
        return {
            int(at): np.frombuffer(fetch(query, (int(self.files[at]),)).fetchone()[0], np.uint8).astype(np.float32)
            for at in positions
        }

    def ids(self, group: NDArray[np.intp]) -> list[str]:
        fetch = self.store.database.execute
        return [fetch("SELECT id FROM pictures WHERE file = ?", (int(self.files[at]),)).fetchone()[0] for at in group]
