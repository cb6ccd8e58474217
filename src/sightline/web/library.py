"""All that the app shows: one corpus, and the benchmarks, runs and traces that were found; read when needed."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from sightline import bench
from sightline.agent.ask import FOLDER as ASKED
from sightline.bench.files import HEADER, REVIEWS, TABLES
from sightline.corpus.names import path_of
from sightline.errors import SightlineError, UserError
from sightline.make.audit.decisions import Labels, labels_of
from sightline.make.audit.judges import Said, said_by_judges
from sightline.models.pictures import is_web
from sightline.run.folder import BLOBS
from sightline.types import Annotation, Benchmark, Candidate, Judgment, Picture
from sightline.web.corpus import CorpusView
from sightline.web.places import Names, Places, find_places
from sightline.web.thumbs import Thumbs

T = TypeVar("T")
_THUMBS = "thumbs"


@dataclass(frozen=True)
class Shelf:
    """A benchmark without its reviews, and what pages look up in it."""

    name: str
    folder: Path
    benchmark: Benchmark

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """By picture id the key that its thumbnail is asked by."""
        return {id_: picture_key(self.name, picture) for id_, picture in self.benchmark.corpus.pictures.items()}

    @cached_property
    def mark(self) -> str:
        """Names this state of this folder: what a page was made from."""
        return hashlib.sha256(f"{self.folder}\0{self.benchmark.checksum}".encode()).hexdigest()[:32]

    @cached_property
    def labels(self) -> Labels:
        """What people can check."""
        return labels_of(self.benchmark)

    @cached_property
    def judges(self) -> Mapping[str, Said]:
        """What each judge said of these labels."""
        return said_by_judges(self.benchmark, self.labels)

    @cached_property
    def by_key(self) -> Mapping[str, Picture]:
        pictures = self.benchmark.corpus.pictures
        return {key: pictures[id_] for id_, key in self.keys.items()}

    @cached_property
    def candidates(self) -> Mapping[str, tuple[Candidate, ...]]:
        return _grouped(self.benchmark.candidates, lambda one: one.task)

    @cached_property
    def judgments(self) -> Mapping[str, tuple[Judgment, ...]]:
        return _grouped(self.benchmark.judgments, lambda one: one.task)

    @cached_property
    def annotations(self) -> Mapping[str, tuple[Annotation, ...]]:
        return _grouped(self.benchmark.annotations, lambda one: one.picture_id)

    def path(self, picture: Picture) -> Path | None:
        """The file of a picture; None where it lies on the web."""
        return None if is_web(picture.uri) else self.folder / path_of(picture.uri)


@dataclass(frozen=True, slots=True)
class Broken:
    """A benchmark that can't be read, and why."""

    name: str
    folder: Path
    why: str


class Fresh(Generic[T]):
    """Values by name, each made again when its stamp changes; who waits for one is not in the way of another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._held: dict[Hashable, tuple[object, T]] = {}

    def get(self, name: Hashable, stamp: object, make: Callable[[], T]) -> T:
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:  # Two people who open the same benchmark read it once.
            held = self._held.get(name)
            if held is None or held[0] != stamp:
                held = self._held[name] = (stamp, make())
            return held[1]


@dataclass
class Library:
    """What was found, under names that addresses of pages use; nothing else on disk can be reached through it."""

    given: tuple[Path, ...]
    asked_for: Path | None
    places: Places = field(init=False)
    corpus: CorpusView | None = field(init=False, default=None)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _names: Names = field(init=False, default_factory=Names)
    _shelves: Fresh[Shelf | Broken] = field(init=False, default_factory=Fresh)

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Look again at what is there; what is known already keeps its name."""
        with self._lock:
            self.places = find_places(self.asked_for, self.given, self._names)
            workspace = self.places.workspace
            if workspace is not None and (self.corpus is None or self.corpus.workspace != workspace):
                self.corpus = CorpusView(workspace)

    @cached_property
    def thumbs(self) -> Thumbs:
        """Small copies are kept in the workspace; without one, for as long as the app runs."""
        place = self.places.workspace
        return Thumbs(place / _THUMBS if place is not None else Path(tempfile.mkdtemp(prefix="sightline-")))

    def shelf(self, name: str) -> Shelf | None:
        """A benchmark by its name; one that can't be read is a `UserError` that says which, and why."""
        folder = self.places.benchmarks.get(name)
        if folder is None:
            return None
        found = self._read(name, folder)
        if isinstance(found, Broken):
            raise UserError(f"The benchmark {name} can't be read. {found.why}")
        return found

    def shelves(self) -> list[Shelf]:
        """All benchmarks that can be read."""
        return [shelf for shelf in self._all() if isinstance(shelf, Shelf)]

    def broken(self) -> list[Broken]:
        """All that can't."""
        return [shelf for shelf in self._all() if isinstance(shelf, Broken)]

    def _all(self) -> list[Shelf | Broken]:
        return [self._read(name, folder) for name, folder in self.places.benchmarks.items()]

    def _read(self, name: str, folder: Path) -> Shelf | Broken:
        return self._shelves.get(name, _stamp(folder), lambda: _read(name, folder))

    def run(self, name: str) -> Path | None:
        """The folder of a run, or of what was asked in the app."""
        if name == ASKED and self.places.workspace is not None:
            return self.places.workspace / ASKED
        return self.places.runs.get(name)

    def path(self, key: str) -> Path | None:
        """The file behind a key: of the corpus, of a benchmark, or what a run saw; None for anything else."""
        if self.corpus is not None:
            picture = self.corpus.by_key(key)
            if picture is not None:
                return path_of(picture.uri)
        for shelf in self.shelves():
            if key in shelf.by_key:
                return shelf.path(shelf.by_key[key])
        workspace = self.places.workspace
        for folder in (*self.places.runs.values(), *([workspace / ASKED] if workspace is not None else [])):
            blob = folder / BLOBS / key
            if blob.is_file():
                return blob
        return None

    def held(self, id_: str, key: str) -> tuple[Shelf, Picture] | None:
        """A picture of a benchmark, by the key of its file, or where that is not given by its id."""
        for shelf in self.shelves():
            own = shelf.benchmark.corpus.pictures.get(id_)
            if own is not None and key in ("", shelf.keys[id_]):
                return shelf, own
            if key in shelf.by_key:
                return shelf, shelf.by_key[key]
        return None

    def key(self, id_: str, shelf: Shelf | None = None) -> str | None:
        """The key of a picture by its id: of a benchmark, where one is given, else of the corpus."""
        if shelf is not None and id_ in shelf.keys:
            return shelf.keys[id_]
        picture = None if self.corpus is None else self.corpus.find(id_)
        return None if picture is None else picture.sha256

    def any_key(self, id_: str) -> str | None:
        """The key of a picture that is known by its id alone: of the corpus, else of a benchmark that holds it."""
        keys = (shelf.keys.get(id_) for shelf in self.shelves())
        return self.key(id_) or next((key for key in keys if key is not None), None)


def picture_key(source: str, picture: Picture) -> str:
    """The SHA-256 of its file, or where that is not known one that stands for its id."""
    return picture.sha256 or hashlib.sha256(f"{source}\0{picture.id}".encode()).hexdigest()


def _read(name: str, folder: Path) -> Shelf | Broken:
    """Without the reviews: what is wrong with one of them is said where they are read."""
    try:
        return Shelf(name, folder, bench.read(folder, reviews=False))
    except SightlineError as error:
        return Broken(name, folder, str(error))
    except OSError as error:
        return Broken(name, folder, f"{error.filename or folder} can't be read: {error.strerror}.")


def _stamp(folder: Path) -> tuple[Any, ...]:
    """Changes with the tables, but not with each review, nor with what that changes in the card."""
    found: list[object] = [_header(folder)]
    for table in TABLES:
        path = folder / table.name
        if table is not REVIEWS and path.is_file():
            state = path.stat()
            found.append((table.name, state.st_mtime_ns, state.st_size))
    return tuple(found)


def _header(folder: Path) -> object:
    try:
        data = (folder / HEADER).read_bytes()
        header = orjson.loads(data)
    except OSError as error:
        return error.strerror
    except orjson.JSONDecodeError:
        return data
    if not isinstance(header, dict):
        return data
    card = header.get("card")
    kept = {name: value for name, value in card.items() if name != "audit"} if isinstance(card, dict) else card
    return header | {"card": kept, "checksums": None}


def _grouped(values: tuple[T, ...], key: Callable[[T], str]) -> dict[str, tuple[T, ...]]:
    found: dict[str, list[T]] = {}
    for value in values:
        found.setdefault(key(value), []).append(value)
    return {name: tuple(held) for name, held in found.items()}
