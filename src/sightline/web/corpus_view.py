"""The corpus as pages show it: any window of any order, counts by facet, month, place and group, from SQLite."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.corpus.schema import FILE_NAME
from sightline.corpus.store import LIVE_PICTURES, CorpusStore
from sightline.corpus.view import StoredGroups, StoredPictures
from sightline.reports.text import day
from sightline.types import Picture

ORDERS = {
    "newest": "p.taken_key IS NULL, p.taken_key DESC, p.id",
    "oldest": "p.taken_key IS NULL, p.taken_key, p.id",
    "name": "p.id",
}
FACETS = {
    "year": "substr(p.taken_at, 1, 4)",
    "owner": "p.owner",
    "device": "p.device",
    "place": "p.address",
    "license": "p.license",
    "type": "p.mime",
}
UNKNOWN = "?"
"""As the value of a facet: pictures of which it is not known."""
_FACET_VALUES = 12
_YEARS = 40
_KEPT = 24
_PAGE = 20_000


@dataclass(frozen=True, slots=True)
class PictureChoice:
    """Which pictures are shown, and in what order; what is None does not limit."""

    year: str | None = None
    owner: str | None = None
    device: str | None = None
    place: str | None = None
    license: str | None = None
    type: str | None = None
    month: str | None = None
    warning: str | None = None
    group: str | None = None
    box: tuple[float, float, float, float] | None = None
    name: str | None = None
    order: str = "newest"

    @classmethod
    def read(cls, query: Mapping[str, str]) -> PictureChoice:
        """From an address; what is not understood there does not limit."""
        texts = {each.name: query.get(each.name, "").strip() or None for each in fields(cls) if each.name != "box"}
        order = texts.pop("order") or ""
        return cls(**texts, box=_box(query.get("box", "")), order=order if order in ORDERS else "newest")

    def chosen(self) -> dict[str, str]:
        """What limits, as it stands in an address."""
        found = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("box", "order")}
        if self.box is not None:
            found["box"] = ",".join(f"{edge:g}" for edge in self.box)
        return {name: value for name, value in found.items() if value is not None}

    def clauses(self) -> tuple[str, list[Any]]:
        """The same for SQLite: conditions, and what they compare with."""
        parts: list[str] = []
        values: list[Any] = []
        for facet, column in FACETS.items():
            wanted = getattr(self, facet)
            if wanted == UNKNOWN:
                parts.append(f"{column} IS NULL")
            elif wanted is not None:
                parts.append(f"{column} = ?")
                values.append(wanted)
        for condition, value in (
            ("substr(p.taken_at, 1, 7) = ?", self.month),
            ("EXISTS (SELECT 1 FROM json_each(p.warnings) WHERE value = ?)", self.warning),
            ("p.id IN (SELECT picture FROM members WHERE group_id = ?)", self.group),
            ("instr(lower(p.id), lower(?)) > 0", self.name),
        ):
            if value is not None:
                parts.append(condition)
                values.append(value)
        if self.box is not None:
            parts.append("p.lon >= ? AND p.lat >= ? AND p.lon < ? AND p.lat < ?")
            values += self.box
        return "".join(f" AND {part}" for part in parts), values


def _box(text: str) -> tuple[float, float, float, float] | None:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        return None
    return (west, south, east, north) if west < east and south < north else None


class Tile(NamedTuple):
    """A picture in a grid; `key` is the SHA-256 that its thumbnail is asked by, `tint` its mean colour."""

    key: str
    id: str
    taken_at: str | None = None
    width: int = 0
    height: int = 0
    tint: str = ""


@dataclass(frozen=True, slots=True)
class MapSpot:
    """Pictures near each other on the map."""

    lon: float
    lat: float
    count: int


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group: what it is called, how many pictures it has, and the first of them."""

    id: str
    title: str
    count: int
    tiles: tuple[Tile, ...]


class CorpusView:
    """Reads a workspace's corpus for any number of threads; counts and orders are kept until the corpus changes."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self._mine = threading.local()
        self._counted = lru_cache(maxsize=_KEPT)(self._count_facets)
        self._ordered = lru_cache(maxsize=_KEPT)(self._order)
        self._all = lru_cache(maxsize=_KEPT)(self._query_all)
        self._problems = lru_cache(maxsize=1)(lambda _: (self.store.count_skipped(), self.store.count_warnings()))

    @property
    def store(self) -> CorpusStore:
        """A connection of this thread."""
        if not hasattr(self._mine, "store"):
            self._mine.store = CorpusStore(self.workspace, reading=True)
        found: CorpusStore = self._mine.store
        return found

    @property
    def pictures(self) -> StoredPictures:
        return StoredPictures(self.store)

    @property
    def groups(self) -> StoredGroups:
        return StoredGroups(self.store)

    def find(self, id_: str) -> Picture | None:
        """A picture by its id, or by one that it had before."""
        try:
            return self.pictures[id_]
        except KeyError:
            return None

    def by_key(self, key: str) -> Picture | None:
        """A picture by the SHA-256 of its file."""
        row = self.store.database.execute(
            f"SELECT p.id {LIVE_PICTURES} AND p.sha256 = ? LIMIT 1", (bytes.fromhex(key),)
        ).fetchone()
        return None if row is None else self.find(row[0])

    def warm(self) -> None:
        """Count and order all pictures, so that the first page need not."""
        self.facets(PictureChoice())
        self.count(PictureChoice())

    # -- windows

    def count(self, choice: PictureChoice) -> int:
        """How many pictures are chosen."""
        return len(self._ordered(choice, self._stamp()))

    def total(self) -> int:
        """How many pictures there are."""
        found: int = self._rows(f"SELECT count(*) {LIVE_PICTURES}")[0][0]
        return found

    def window(self, choice: PictureChoice, offset: int, limit: int) -> list[Tile]:
        """Some pictures of the chosen ones, in their order."""
        return self._tiles(self._ordered(choice, self._stamp())[max(0, offset) : max(0, offset) + limit].tolist())

    def beside(self, choice: PictureChoice, id_: str) -> tuple[Tile | None, Tile | None]:
        """The pictures before and after one, in that order."""
        row = self.store.database.execute("SELECT file FROM pictures WHERE id = ?", (id_,)).fetchone()
        files = self._ordered(choice, self._stamp())
        at = np.flatnonzero(files == row[0]) if row is not None else np.zeros(0)
        if not len(at):
            return None, None
        place = int(at[0])
        before = self._tiles(files[max(0, place - 1) : place].tolist())
        after = self._tiles(files[place + 1 : place + 2].tolist())
        return next(iter(before), None), next(iter(after), None)

    def _order(self, choice: PictureChoice, _stamp: object) -> NDArray[np.int64]:
        # Eight bytes a picture, so that any window of a million pictures can be had at once.
        where, values = choice.clauses()
        rows = self.store.database.execute(
            f"SELECT p.file {LIVE_PICTURES}{where} ORDER BY {ORDERS[choice.order]}", values
        )
        return np.fromiter((row[0] for row in rows), np.int64)

    def _tiles(self, files: Sequence[int]) -> list[Tile]:
        marks = ",".join("?" * len(files))
        query = f"SELECT file, sha256, id, taken_at, width, height, colours FROM pictures WHERE file IN ({marks})"
        found = {row[0]: _tile(row[1:]) for row in self.store.database.execute(query, tuple(files))}
        return [found[file] for file in files if file in found]

    # -- counts

    def facets(self, choice: PictureChoice) -> Mapping[str, Sequence[tuple[str, int]]]:
        """By facet its commonest values among the chosen pictures, with counts; `?` where it is not known."""
        return self._counted(choice, self._stamp())

    def _count_facets(self, choice: PictureChoice, _stamp: object) -> dict[str, list[tuple[str, int]]]:
        where, values = choice.clauses()
        counters: list[Counter[str | None]] = [Counter() for _ in FACETS]
        rows = self.store.database.execute(f"SELECT {', '.join(FACETS.values())} {LIVE_PICTURES}{where}", values)
        while page := rows.fetchmany(_PAGE):  # One pass for all facets, some rows at a time.
            for counter, column in zip(counters, zip(*page, strict=True), strict=True):
                counter.update(column)
        return {
            name: _commonest(name, counter)
            for name, counter in zip(FACETS, counters, strict=True)
            if set(counter) - {None}
        }

    def months(self) -> list[tuple[str, int]]:
        """Pictures by month, in order; those of unknown time are left out."""
        rows = self._rows(
            f"SELECT substr(p.taken_at, 1, 7), count(*) {LIVE_PICTURES} AND p.taken_at IS NOT NULL GROUP BY 1"
        )
        return [(row[0], row[1]) for row in rows]

    def knows(self, page: str) -> bool:
        """Is there something to show on the timeline, or on the map?"""
        column = "p.taken_key" if page == "/timeline" else "p.lat"
        return bool(self._rows(f"SELECT 1 {LIVE_PICTURES} AND {column} IS NOT NULL LIMIT 1"))

    def spots(self, box: tuple[float, float, float, float], cell: float) -> list[MapSpot]:
        """Places with pictures, gathered in squares of so many degrees; the mean of each is where it is drawn."""
        rows = self._rows(
            f"""SELECT avg(p.lon), avg(p.lat), count(*) {LIVE_PICTURES} AND p.lat IS NOT NULL AND p.lon IS NOT NULL
            AND p.lon >= ? AND p.lat >= ? AND p.lon <= ? AND p.lat <= ?
            GROUP BY round(p.lon / ?), round(p.lat / ?) ORDER BY 3 DESC""",
            (*box, cell, cell),
        )
        return [MapSpot(*row) for row in rows]

    def extent(self) -> tuple[float, float, float, float] | None:
        """The box of all pictures with a place."""
        rows = self._rows(f"SELECT min(p.lon), min(p.lat), max(p.lon), max(p.lat) {LIVE_PICTURES}")
        west, south, east, north = rows[0]
        return None if west is None else (west, south, east, north)

    # -- groups and problems

    def group_counts(self) -> dict[str, int]:
        """How many groups there are of each kind."""
        return {row[0]: row[1] for row in self._rows("SELECT kind, count(*) FROM groups GROUP BY kind ORDER BY kind")}

    def group_rows(self, kind: str, offset: int, limit: int, tiles: int) -> list[GroupRow]:
        """Groups of a kind, the largest first (events: the latest first), with their first pictures."""
        order = "g.id DESC" if kind == "event" else "2 DESC, g.id"
        rows = self._rows(
            f"""SELECT g.id, count(*) FROM groups AS g JOIN members AS m ON m.group_id = g.id WHERE g.kind = ?
            GROUP BY g.id ORDER BY {order} LIMIT ? OFFSET ?""",
            (kind, limit, offset),
        )
        found = ((id_, count, tuple(self._first(id_, tiles))) for id_, count in rows)
        return [GroupRow(id_, _title(id_, first), count, first) for id_, count, first in found]

    def title(self, group: str) -> str:
        """What a group is called by people."""
        return _title(group, self._first(group, 1))

    def _first(self, group: str, limit: int) -> list[Tile]:
        rows = self.store.database.execute(
            """SELECT p.sha256, p.id, p.taken_at, p.width, p.height, p.colours
            FROM members AS m JOIN pictures AS p ON p.id = m.picture JOIN files AS f ON f.id = p.file
            WHERE f.state <> 'deleted' AND m.group_id = ? ORDER BY m.position LIMIT ?""",
            (group, limit),
        )
        return [_tile(row) for row in rows]

    def skipped(self, offset: int, limit: int) -> list[tuple[str, str, str]]:
        """Files that gave no picture: path below its root, reason, detail."""
        rows = self._rows(
            """SELECT path, reason, detail FROM files WHERE reason IS NOT NULL AND state <> 'deleted'
            ORDER BY reason, path LIMIT ? OFFSET ?""",
            (limit, offset),
        )
        return [(row[0].decode("utf-8", "replace"), row[1], row[2] or "") for row in rows]

    def problems(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Skipped files and warnings, by reason."""
        return self._problems(self._stamp())

    def _rows(self, query: str, values: Iterable[Any] = ()) -> list[Any]:
        return self._all(query, tuple(values), self._stamp())

    def _query_all(self, query: str, values: tuple[Any, ...], _stamp: object) -> list[Any]:
        return self.store.database.execute(query, values).fetchall()

    def _stamp(self) -> tuple[tuple[int, int], ...]:
        """Changes whenever the database does."""
        found = []
        for name in (FILE_NAME, f"{FILE_NAME}-wal"):
            with suppress(FileNotFoundError):
                state = (self.workspace / name).stat()
                if state.st_size:  # An empty one comes and goes with whoever reads.
                    found.append((state.st_mtime_ns, state.st_size))
        return tuple(found)


def is_begun(workspace: Path) -> bool:
    """Does the corpus have its tables? The first scan makes them; what is wrong with others is told when it is read."""
    try:
        with closing(sqlite3.connect(f"{(workspace / FILE_NAME).absolute().as_uri()}?mode=ro", uri=True)) as database:
            return bool(database.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error:
        return True


def _commonest(facet: str, counter: Counter[str | None]) -> list[tuple[str, int]]:
    """Values with counts: years from the latest, others from the commonest; what is not known comes last."""
    known = [(value, count) for value, count in counter.items() if value is not None]
    if facet == "year":
        ranked = sorted(known, reverse=True)[:_YEARS]
    else:
        ranked = sorted(known, key=lambda pair: (-pair[1], pair[0]))[:_FACET_VALUES]
    return [*ranked, *([(UNKNOWN, counter[None])] if None in counter else [])]


def _title(group: str, tiles: Sequence[Tile]) -> str:
    """Events and bursts by their first picture's time, copies by its file's name, others by their own name."""
    kind, _, name = group.partition("/")
    first = next(iter(tiles), None)
    if first is not None and kind == "duplicate":
        return f"Copies of {first.id.rpartition('/')[2]}"
    if first is not None and kind in ("event", "burst") and first.taken_at:
        return f"{day(first.taken_at)}, {first.taken_at[11:16]}"
    return name or group


def _tile(row: Sequence[Any]) -> Tile:
    sha256, id_, taken_at, width, height, colours = row
    red, green, blue = np.frombuffer(colours, np.uint8).reshape(-1, 3).mean(axis=0).astype(int).tolist()
    return Tile(sha256.hex(), id_, taken_at, width, height, f"#{red:02x}{green:02x}{blue:02x}")
