"""Groups of a scanned corpus: duplicates and bursts by look and time, events, owners and data sets.

Events of a photo history are cut at long pauses and long jumps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from sightline.config import DuplicateSettings, EventSettings
from sightline.corpus.film import FRAME
from sightline.corpus.near_duplicates import Pairs, connected, near_pairs
from sightline.corpus.store import LIVE_PICTURES, CorpusStore
from sightline.types import GroupKind

_COLOUR_TOLERANCE = 16.0
"""Mean difference of two colour prints, in grey levels, up to which two pictures have the same colours."""
_CELL_TOLERANCE, _PER_CHANGE = 6.0, 0.7
"""How far one cell may depart from what all have in common, and how much further for each level of mean difference: an
edited copy is brighter everywhere, while other things before the same backdrop differ in one place."""
_NEIGHBOURS = 64
"""Of pictures with one hash, each is compared with so many: thousands of empty pages are not compared all with all."""
_AT_ONCE = 65_536
GROUPING = 3
"""Counts the rules by which groups are found: a workspace that an earlier one grouped is grouped again."""


@dataclass(frozen=True, slots=True)
class PictureHashes:
    """What duplicates and bursts are found by: some forty bytes a picture, in order of time, then id."""

    files: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    contents: NDArray[np.uint64]
    times: NDArray[np.float64]
    owners: NDArray[np.int64]
    store: CorpusStore

    @classmethod
    def read(cls, store: CorpusStore) -> PictureHashes:
        columns = np.dtype([("file", "i8"), ("hash", "i8"), ("content", "u8"), ("time", "f8"), ("owner", "i8")])
        rows = store.database.execute(
            f"""SELECT p.file, p.phash, p.sha256, coalesce(p.taken_key, 'nan'),
            dense_rank() OVER (ORDER BY p.owner, p.device) {LIVE_PICTURES} ORDER BY p.taken_key, p.id"""
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


@dataclass(frozen=True, slots=True)
class PictureMoment:
    """When and where a picture was taken."""

    id: str
    owner: str | None
    taken_at: str
    seconds: float
    lat: float | None
    lon: float | None


def split_events(moments: Iterable[PictureMoment], settings: EventSettings) -> Iterator[list[PictureMoment]]:
    """Cut each owner's moments, in order of time, at long pauses and long jumps."""
    event: list[PictureMoment] = []
    last_place: PictureMoment | None = None
    for moment in moments:
        if event and _begins_event(event[-1], last_place, moment, settings):
            yield event
            event, last_place = [], None
        event.append(moment)
        if moment.lat is not None:
            last_place = moment
    if event:
        yield event


def _begins_event(
    before: PictureMoment, last_place: PictureMoment | None, now: PictureMoment, settings: EventSettings
) -> bool:
    if now.owner != before.owner or now.seconds - before.seconds > 3600 * settings.gap_hours:
        return True
    return last_place is not None and now.lat is not None and kilometres(last_place, now) > settings.distance_km


def kilometres(a: PictureMoment, b: PictureMoment) -> float:
    """Great-circle distance of two moments that have a place."""
    assert a.lat is not None and a.lon is not None and b.lat is not None and b.lon is not None
    phi, theta = math.radians(a.lat), math.radians(b.lat)
    half = (
        math.sin((theta - phi) / 2) ** 2
        + math.cos(phi) * math.cos(theta) * math.sin(math.radians(b.lon - a.lon) / 2) ** 2
    )
    return 2 * 6371.0 * math.asin(math.sqrt(min(1.0, half)))


def rebuild_groups(store: CorpusStore, duplicates: DuplicateSettings, events: EventSettings) -> None:
    """Find all groups again, in one transaction."""
    with store.transaction():
        store.database.execute("DELETE FROM members")
        store.database.execute("DELETE FROM groups")
        looks = PictureHashes.read(store)
        copies = looks.duplicates(duplicates)
        bursts = looks.bursts(copies, duplicates)
        _write(store, "duplicate", ((f"duplicate/{ids[0]}", ids) for ids in map(looks.ids, copies)))
        _write(store, "burst", ((f"burst/{ids[0]}", ids) for ids in map(looks.ids, bursts)))
        _write(store, "event", _events(store, events))
        for kind, column in (("owner", "owner"), ("dataset", "source")):
            store.database.execute(
                f"""INSERT INTO groups SELECT DISTINCT '{kind}/' || p.{column}, '{kind}', 0
                {LIVE_PICTURES} AND p.{column} IS NOT NULL"""
            )
            store.database.execute(
                f"""INSERT INTO members SELECT '{kind}/' || p.{column},
                row_number() OVER (PARTITION BY p.{column} ORDER BY p.taken_key, p.id) - 1, p.id
                {LIVE_PICTURES} AND p.{column} IS NOT NULL"""
            )
        _write(store, "album", _albums(store))
        _write(store, "film", _films(store))


def count_groups(store: CorpusStore) -> dict[str, int]:
    """Groups by kind; for duplicates, the pictures that another one stands for."""
    counts = dict(store.database.execute("SELECT kind, count(*) FROM groups GROUP BY kind").fetchall())
    extra = store.database.execute(
        "SELECT count(*) FROM members JOIN groups ON id = group_id WHERE kind = 'duplicate' AND position > 0"
    ).fetchone()[0]
    return {kind: counts.get(kind, 0) for kind in ("burst", "event", "owner", "dataset")} | {"duplicate": extra}


def _events(store: CorpusStore, settings: EventSettings) -> Iterator[tuple[str, list[str]]]:
    """`event/ana/2023-07-14`, and `-2` for the second of a day."""
    rows = store.database.execute(
        f"""SELECT p.id, p.owner, p.taken_at, p.taken_key, p.lat, p.lon {LIVE_PICTURES} AND p.taken_key IS NOT NULL
        ORDER BY p.owner, p.taken_key, p.id"""
    )
    last, number = "", 1
    for event in split_events((PictureMoment(*row) for row in rows), settings):
        day, owner = event[0].taken_at[:10], event[0].owner
        name = f"event/{owner}/{day}" if owner else f"event/{day}"
        number = number + 1 if name == last else 1
        last = name
        yield (name if number == 1 else f"{name}-{number}"), [moment.id for moment in event]


def _albums(store: CorpusStore) -> Iterator[tuple[str, list[str]]]:
    """`album/Summer in Rome`, of what programs for photographs said."""
    rows = store.database.execute(
        """SELECT a.value, p.id FROM pictures AS p JOIN files AS f ON f.id = p.file,
        json_each(p.given, '$.album') AS a WHERE f.state <> 'deleted' ORDER BY a.value, p.taken_key, p.id"""
    )
    for name, members in groupby(rows, key=itemgetter(0)):
        yield f"album/{name}", [id_ for _, id_ in members]


def _films(store: CorpusStore) -> Iterator[tuple[str, list[str]]]:
    """`film/2021/clip.mp4`, its frames in order of time."""
    rows = store.database.execute(f"SELECT p.id {LIVE_PICTURES} AND f.reader = ? ORDER BY p.id", (FRAME,))
    for film, members in groupby((id_ for (id_,) in rows), key=lambda id_: id_.rpartition("/")[0]):
        yield f"film/{film}", list(members)


def _write(store: CorpusStore, kind: GroupKind, groups: Iterable[tuple[str, Sequence[str]]]) -> None:
    for name, pictures in groups:
        store.database.execute("INSERT INTO groups VALUES (?, ?, 0)", (name, kind))
        store.database.executemany(
            "INSERT INTO members VALUES (?, ?, ?)",
            ((name, at, picture) for at, picture in enumerate(pictures)),
        )
