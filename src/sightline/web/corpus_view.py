"""The corpus as pages show it: any window of any order, counts by facet, month, place and group, from SQLite."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from sightline.corpus.schema import FILE_NAME
from sightline.corpus.store import LIVE_PICTURES, CorpusStore
from sightline.corpus.view import StoredGroups, StoredPictures
from sightline.errors import SightlineError
from sightline.reports.text import day
from sightline.retrieval.columns.files import load_columns
from sightline.retrieval.index.manifest import DEFAULT_INDEX, index_folder
from sightline.retrieval.index.manifest import FILE_NAME as MANIFEST
from sightline.types import Picture
from sightline.web.picture_choice import FACETS, LISTS, ORDERS, UNKNOWN, PictureChoice

_FACET_VALUES = 30
_YEARS = 60
_STACKS = ("duplicate/", "burst/", "film/")
"""Groups of which a grid shows one picture: those that are nearly the same, and those of one film."""
_KEPT = 24
_PAGE = 20_000


class Tile(NamedTuple):
    """A picture in a grid; `key` is the SHA-256 that its thumbnail is asked by, `tint` its mean colour."""

    key: str
    id: str
    taken_at: str | None = None
    tint: str = ""
    stack: str = ""
    others: int = 0


@dataclass(frozen=True, slots=True)
class PictureLooks:
    """Of each file by its number: its shape (32 steps for each doubling of width to height), colour, and stack.

    Of each stack its name, its size, and the file of the poster, where it is of a film.
    """

    shapes: NDArray[np.uint8]
    colours: NDArray[np.uint16]
    stacks: NDArray[np.int32]
    names: Sequence[str]
    sizes: Sequence[int]
    posters: NDArray[np.int64]

    def packed(self, files: NDArray[np.int64]) -> bytes:
        """Three bytes a picture, all that a grid needs to draw it before it has come."""
        out = np.empty((len(files), 3), np.uint8)
        out[:, 0] = self.shapes[files]
        out[:, 1:] = self.colours[files].astype(">u2").view(np.uint8).reshape(-1, 2)
        return out.tobytes()

    def folded(self, files: NDArray[np.int64], *, is_ranked: bool) -> NDArray[np.int64]:
        """Of each stack only the first that is among these; of a film its poster, but for the best of a search."""
        stacks = self.stacks[files]
        _, first = np.unique(stacks, return_index=True)
        kept = stacks == 0
        kept[first] = True
        found: NDArray[np.int64] = files[kept]
        posters = self.posters[stacks[kept]]
        return found if is_ranked else np.where(np.isin(posters, files), posters, found)


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
        self._looks = lru_cache(maxsize=1)(self._read_looks)
        self._places = lru_cache(maxsize=1)(self._read_places)
        self._named: Mapping[str, str] = {}
        self._problems = lru_cache(maxsize=1)(lambda _: (self.store.count_skipped(), self.store.count_warnings()))

    @property
    def store(self) -> CorpusStore:
        """A connection of this thread."""
        if not hasattr(self._mine, "store"):
            self._mine.store = CorpusStore(self.workspace, reading=True)
            self._mine.store.database.create_function("place_of", 1, self._place_of, deterministic=True)
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
        self.looks()
        self.total()
        self.knows("/timeline")
        self.knows("/map")

    # -- windows

    def files(self, choice: PictureChoice) -> NDArray[np.int64]:
        """The chosen pictures in their order, by the numbers of their files."""
        return self._ordered(choice, self.stamp())

    def files_of(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """Pictures by id, as the numbers of their files, in this order; those that are gone are left out."""
        query = "SELECT id, file FROM pictures WHERE id IN (SELECT value FROM json_each(?))"
        wanted = list(ids)
        known = dict(self.store.database.execute(query, (orjson.dumps(wanted).decode(),)).fetchall())
        return np.array([known[id_] for id_ in wanted if id_ in known], np.int64)

    def looks(self) -> PictureLooks:
        """What a grid draws before pictures have come."""
        return self._looks(self.stamp())

    def count(self, choice: PictureChoice) -> int:
        """How many pictures are chosen."""
        return len(self.files(choice))

    def total(self) -> int:
        """How many pictures there are."""
        found: int = self._rows(f"SELECT count(*) {LIVE_PICTURES}")[0][0]
        return found

    def window(self, choice: PictureChoice, offset: int, limit: int) -> list[Tile]:
        """Some pictures of the chosen ones, in their order."""
        return self.tiles(self.files(choice)[max(0, offset) : max(0, offset) + limit])

    def beside(self, choice: PictureChoice, id_: str) -> tuple[Tile | None, Tile | None]:
        """The pictures before and after one, in that order."""
        row = self.store.database.execute("SELECT file FROM pictures WHERE id = ?", (id_,)).fetchone()
        files = self.files(choice)
        at = np.flatnonzero(files == row[0]) if row is not None else np.zeros(0)
        if not len(at):
            return None, None
        place = int(at[0])
        before = self.tiles(files[max(0, place - 1) : place])
        after = self.tiles(files[place + 1 : place + 2])
        return next(iter(before), None), next(iter(after), None)

    def _order(self, choice: PictureChoice, _stamp: object) -> NDArray[np.int64]:
        # Eight bytes a picture, so that any window of a million pictures can be had at once.
        where, values = choice.clauses()
        rows = self.store.database.execute(
            f"SELECT p.file {LIVE_PICTURES}{where} ORDER BY {ORDERS[choice.order]}", values
        )
        return np.fromiter((row[0] for row in rows), np.int64)

    def tiles(self, files: NDArray[np.int64]) -> list[Tile]:
        """Pictures by the numbers of their files, in this order."""
        marks = ",".join("?" * len(files))
        query = f"SELECT file, sha256, id, taken_at, colours FROM pictures WHERE file IN ({marks})"
        found = {row[0]: row[1:] for row in self.store.database.execute(query, files.tolist())}
        looks = self.looks()
        numbers = [(file, int(looks.stacks[file])) for file in files.tolist() if file in found]
        return [
            _tile(found[file])._replace(stack=looks.names[stack], others=max(0, looks.sizes[stack] - 1))
            for file, stack in numbers
        ]

    def _read_looks(self, _stamp: object) -> PictureLooks:
        query = "SELECT file, width, height, colours, id, json_extract(extra, '$.poster') FROM pictures"
        rows = self.store.database.execute(query).fetchall()
        size = 1 + max((row[0] for row in rows), default=0)
        shapes, colours, stacks = np.full(size, 128, np.uint8), np.zeros(size, np.uint16), np.zeros(size, np.int32)
        if rows:
            files = np.array([row[0] for row in rows])
            sides = np.array([row[1:3] for row in rows], np.float64).clip(1)
            shapes[files] = (128 + 32 * np.log2(sides[:, 0] / sides[:, 1])).round().clip(0, 255).astype(np.uint8)
            cells = np.frombuffer(b"".join(row[3] for row in rows), np.uint8).reshape(len(rows), -1, 3)
            red, green, blue = cells.mean(axis=1).astype(np.uint16).T
            colours[files] = (red >> 3 << 11) | (green >> 2 << 5) | (blue >> 3)
        by_id = {row[4]: row[0] for row in rows}
        is_poster = {row[0] for row in rows if row[5]}
        names, sizes, posters = [""], [0], [0]
        for kind in _STACKS:  # A picture of both kinds is shown with its burst.
            members = self.store.database.execute(
                "SELECT group_id, picture FROM members WHERE group_id >= ? AND group_id < ? ORDER BY 1, position",
                (kind, kind[:-1] + "0"),
            )
            for name, group in groupby(members, key=itemgetter(0)):
                held = [by_id[id_] for _, id_ in group if id_ in by_id]
                stacks[held] = len(names)
                names.append(name)
                sizes.append(len(held))
                posters.append(next((file for file in held if file in is_poster), 0))
        return PictureLooks(shapes, colours, stacks, names, sizes, np.array(posters))

    def _place_of(self, id_: str) -> str | None:
        """The city nearest to a picture's coordinates, where the index knows it."""
        return self._named.get(id_)

    @property
    def _index(self) -> Path:
        return index_folder(self.workspace, DEFAULT_INDEX)

    def _read_places(self, _stamp: object) -> dict[str, str]:
        try:
            columns = load_columns(self._index)
        except SightlineError:  # None yet, or a page of search says what is wrong with it.
            return {}
        ids, places = columns.texts("id"), columns.texts("place")
        rows = np.flatnonzero(places.known() & columns.present).tolist()
        return {id_: place for row in rows if (id_ := ids[row]) is not None and (place := places[row]) is not None}

    # -- counts

    def facets(self, choice: PictureChoice) -> Mapping[str, Sequence[tuple[str, int]]]:
        """By facet its commonest values among the chosen pictures, with counts; `?` where it is not known."""
        return self._counted(choice, self.stamp())

    def _count_facets(self, choice: PictureChoice, _stamp: object) -> dict[str, list[tuple[str, int]]]:
        where, values = choice.clauses()
        rows = self.store.database.execute(f"SELECT {', '.join(FACETS.values())} {LIVE_PICTURES}{where}", values)
        return _counts(rows)

    def facets_of(self, files: NDArray[np.int64]) -> Mapping[str, Sequence[tuple[str, int]]]:
        """The same of these pictures."""
        columns = ", ".join(FACETS.values())
        chosen = f"SELECT {columns} FROM pictures AS p WHERE p.file IN (SELECT value FROM json_each(?))"
        return _counts(self.store.database.execute(chosen, (orjson.dumps(files.tolist()).decode(),)))

    def months(self) -> list[tuple[str, int]]:
        """Pictures by month, in order; those of unknown time are left out."""
        rows = self._rows(
            f"SELECT substr(p.taken_at, 1, 7), count(*) {LIVE_PICTURES} AND p.taken_at IS NOT NULL GROUP BY 1"
        )
        return [(row[0], row[1]) for row in rows]

    def knows(self, page: str) -> bool:
        """Is there something to show on the timeline, or on the map?"""
        column = "p.taken_key" if page == "/timeline" else "p.lat"
        with suppress(SightlineError):  # What is wrong with the corpus is said by the page itself.
            return bool(self._rows(f"SELECT 1 {LIVE_PICTURES} AND {column} IS NOT NULL LIMIT 1"))
        return False

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
            """SELECT p.sha256, p.id, p.taken_at, p.colours
            FROM members AS m JOIN pictures AS p ON p.id = m.picture JOIN files AS f ON f.id = p.file
            WHERE f.state <> 'deleted' AND m.group_id = ? ORDER BY m.position LIMIT ?""",
            (group, limit),
        )
        return [_tile(row) for row in rows]

    def skipped(self, offset: int, limit: int) -> list[tuple[str, str, str]]:
        """Files that gave no picture: path below its root, reason, detail."""
        return sorted(self.store.skipped(), key=itemgetter(1))[offset : offset + limit]

    def problems(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Skipped files and warnings, by reason."""
        return self._problems(self.stamp())

    def _rows(self, query: str, values: Iterable[Any] = ()) -> list[Any]:
        return self._all(query, tuple(values), self.stamp())

    def _query_all(self, query: str, values: tuple[Any, ...], _stamp: object) -> list[Any]:
        return self.store.database.execute(query, values).fetchall()

    def stamp(self) -> tuple[object, ...]:
        """Changes whenever the database does, or the index that names places."""
        index = _stamp_of(self._index / MANIFEST)
        self._named = self._places(index)
        return (*(_stamp_of(self.workspace / name) for name in (FILE_NAME, f"{FILE_NAME}-wal")), index)


def _stamp_of(path: Path) -> tuple[int, int] | None:
    with suppress(FileNotFoundError):
        state = path.stat()
        if state.st_size:  # An empty one comes and goes with whoever reads.
            return state.st_mtime_ns, state.st_size
    return None


def is_begun(workspace: Path) -> bool:
    """Does the corpus have its tables? The first scan makes them; what is wrong with others is told when it is read."""
    try:
        with closing(sqlite3.connect(f"{(workspace / FILE_NAME).absolute().as_uri()}?mode=ro", uri=True)) as database:
            return bool(database.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error:
        return True


def _counts(rows: sqlite3.Cursor) -> dict[str, list[tuple[str, int]]]:
    counters: list[Counter[Any]] = [Counter() for _ in FACETS]
    while page := rows.fetchmany(_PAGE):  # One pass for all facets, some rows at a time.
        for counter, column in zip(counters, zip(*page, strict=True), strict=True):
            counter.update(column)
    return {
        name: _commonest(name, _each_value(counter) if name in LISTS else counter)
        for name, counter in zip(FACETS, counters, strict=True)
        if set(counter) - {None}
    }


def _each_value(lists: Counter[Any]) -> Counter[Any]:
    """From counts of lists, as SQLite writes them, counts of what is in them."""
    found: Counter[Any] = Counter()
    for text, count in lists.items():
        try:
            held = [None] if text is None else orjson.loads(text)
        except orjson.JSONDecodeError:
            held = [text]
        found.update(dict.fromkeys(held if isinstance(held, list) else [held], count))
    return found


def _commonest(facet: str, counter: Counter[Any]) -> list[tuple[str, int]]:
    """Values with counts: years and stars from the highest, others from the commonest; what is not known comes last."""
    known = [(str(value), count) for value, count in counter.items() if value is not None]
    if facet in ("year", "rating"):
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
    sha256, id_, taken_at, colours = row
    red, green, blue = np.frombuffer(colours, np.uint8).reshape(-1, 3).mean(axis=0).astype(int).tolist()
    return Tile(sha256.hex(), id_, taken_at, f"#{red:02x}{green:02x}{blue:02x}")
