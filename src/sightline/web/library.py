"""All that the app shows: one corpus, and the benchmarks, runs, traces and graphs in the folders that it was given.

Each has a short name that addresses of pages use, and is read when needed.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import orjson

from sightline.agent.ask import FOLDER as ASKED
from sightline.authoring.judge_quality import JudgeGrades, said_by_judges
from sightline.benchmark.files import HEADER, REVIEWS, TABLES
from sightline.benchmark.files import HEADER as BENCHMARK
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.review_decisions import BenchmarkLabels, labels_of
from sightline.corpus.names import path_of
from sightline.corpus.schema import FILE_NAME as CORPUS
from sightline.errors import SightlineError, UserError
from sightline.io.workspace import FOLDER_NAME
from sightline.mining.project import GRAPH
from sightline.models.pictures import is_web
from sightline.reason.traces.folder import HEADER as TRACES
from sightline.runs.folder import BLOBS
from sightline.runs.folder import HEADER as RUN
from sightline.types import Annotation, Benchmark, Candidate, Judgment, Picture
from sightline.web.cache import StampedCache, stamp_of
from sightline.web.corpus_view import CorpusView, Tile, is_begun
from sightline.web.thumbnails import Thumbs

Kind: TypeAlias = Literal["workspace", "benchmark", "run", "traces", "graph"]
_MARKERS: tuple[tuple[str, Kind], ...] = (
    (CORPUS, "workspace"),
    (BENCHMARK, "benchmark"),
    (RUN, "run"),
    (TRACES, "traces"),
    (GRAPH, "graph"),
)
_HOLDS_MORE = ("workspace", "graph")
_RUNS = "runs"
"""Where a benchmark of pooled systems keeps their runs."""
_DEPTH = 4
_FOLDERS = 5_000
"""A folder of photographs can be deep and wide; what is looked for lies near the top."""
_STILL_NS = 2_000_000_000
T = TypeVar("T")
_THUMBS = "thumbs"


@dataclass(frozen=True, slots=True)
class FoundFolders:
    """Folders by the names that addresses of pages use; `roots` are those that were given."""

    roots: tuple[Path, ...] = ()
    workspace: Path | None = None
    benchmarks: dict[str, Path] = field(default_factory=dict)
    runs: dict[str, Path] = field(default_factory=dict)
    traces: dict[str, Path] = field(default_factory=dict)
    graphs: dict[str, Path] = field(default_factory=dict)


class FolderNames:
    """Short names for folders: one that has a name keeps it, and no other is ever given it.

    An open page may say what it was made for by that name alone, and many a benchmark's folder is called `benchmark`.
    """

    def __init__(self) -> None:
        self._given: dict[Kind, dict[str, Path]] = {kind: {} for _, kind in _MARKERS}

    def of(self, kind: Kind, folders: Iterable[Path]) -> dict[str, Path]:
        """Each folder by its name, with as much of its path as tells it from others of that name."""
        given = self._given[kind]
        known = {folder: name for name, folder in given.items()}
        found: dict[str, Path] = {}
        for folder in folders:
            name = known.get(folder) or _fresh_name(folder, given)
            given[name] = found[name] = folder
        return found


def find_folders(workspace: Path | None, given: Iterable[Path], names: FolderNames | None = None) -> FoundFolders:
    """Look into the given folders, and into the workspace; the first corpus that is met is the one that is shown."""
    names = FolderNames() if names is None else names
    roots = tuple(dict.fromkeys(path.expanduser().absolute() for path in (*given, *([workspace] if workspace else []))))
    found: dict[Kind, list[Path]] = {kind: [] for _, kind in _MARKERS}
    for root in roots:
        if not root.is_dir() and root != (workspace and workspace.expanduser().absolute()):
            raise UserError(f"there is no folder {root}.", "give a workspace, a benchmark, a run, or a folder of them")
        for folder, kind in _walk(root):
            if folder not in found[kind]:
                found[kind].append(folder)
    return FoundFolders(
        roots,
        next(iter(found["workspace"]), None),
        names.of("benchmark", found["benchmark"]),
        names.of("run", found["run"]),
        names.of("traces", found["traces"]),
        names.of("graph", found["graph"]),
    )


def _walk(root: Path) -> Iterator[tuple[Path, Kind]]:
    """Marked folders below a root; not looked into are those of runs and traces, and a benchmark's but for its runs."""
    left, waiting = _FOLDERS, [root]
    while waiting and left > 0:
        left -= 1
        here = waiting.pop()
        kinds, folders = _look(here)
        yield from ((here, kind) for kind in kinds)
        deep = len(here.relative_to(root).parts) >= _DEPTH
        if not deep and all(kind in _HOLDS_MORE for kind in kinds):
            waiting += [here / name for name in reversed(folders) if _may_hold(name, "workspace" in kinds)]
        elif "benchmark" in kinds and _RUNS in folders:
            waiting.append(here / _RUNS)


def _look(folder: Path) -> tuple[tuple[Kind, ...], tuple[str, ...]]:
    """What a folder is, and the folders in it; of one that can't be read, nothing."""
    try:
        changed = folder.stat().st_mtime_ns
        # What changed just now may change again without its time being another.
        is_still = time.time_ns() - changed > _STILL_NS
        return _kept_listing(folder, changed) if is_still else _listed(folder)
    except OSError:
        return (), ()


@lru_cache(maxsize=2 * _FOLDERS)
def _kept_listing(folder: Path, _changed: int) -> tuple[tuple[Kind, ...], tuple[str, ...]]:
    """Kept until something comes or goes: a folder of 100,000 photographs takes long to list, and rarely changes."""
    return _listed(folder)


def _listed(folder: Path) -> tuple[tuple[Kind, ...], tuple[str, ...]]:
    with os.scandir(folder) as entries:
        found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    kinds = tuple(kind for marker, kind in _MARKERS if found.get(marker) is False)
    return kinds, tuple(sorted(name for name, is_folder in found.items() if is_folder))


def _may_hold(name: str, in_workspace: bool) -> bool:
    """Hidden folders hold what a stopped writer left, but for a workspace; and most of a workspace is its own."""
    return (name == FOLDER_NAME or not name.startswith(".")) and not (
        in_workspace and name in ("indexes", "thumbs", "blobs", "jobs", ASKED)
    )


def _fresh_name(folder: Path, taken: Collection[str]) -> str:
    parts = [_plain(part) for part in folder.parts if _plain(part)]
    tries = ("-".join(parts[-length:]) for length in range(1, len(parts) + 1))
    counted = (f"{parts[-1]}-{number}" for number in count(2))
    return next(each for each in chain(tries, counted) if each not in taken)


def _plain(part: str) -> str:
    return re.sub(r"[^\w.]+", "-", part).strip("-.")


@dataclass(frozen=True)
class LoadedBenchmark:
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
    def labels(self) -> BenchmarkLabels:
        """What people can check."""
        return labels_of(self.benchmark)

    @cached_property
    def judges(self) -> Mapping[str, JudgeGrades]:
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
class BrokenBenchmark:
    """A benchmark that can't be read, and why."""

    name: str
    folder: Path
    why: str


@dataclass
class Library:
    """What was found, under names that addresses of pages use; nothing else on disk can be reached through it."""

    given: tuple[Path, ...]
    asked_for: Path | None
    places: FoundFolders = field(init=False)
    corpus: CorpusView | None = field(init=False, default=None)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _names: FolderNames = field(init=False, default_factory=FolderNames)
    _benchmarks: StampedCache[LoadedBenchmark | BrokenBenchmark] = field(init=False, default_factory=StampedCache)

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Look again at what is there; what is known already keeps its name."""
        with self._lock:
            self.places = find_folders(self.asked_for, self.given, self._names)
            workspace = self.places.workspace
            is_known = self.corpus is not None and self.corpus.workspace == workspace
            if workspace is not None and not is_known and is_begun(workspace):
                self.corpus = CorpusView(workspace)

    @property
    def workspace(self) -> Path | None:
        """The one whose corpus is shown; where there is none yet, the one that was asked for."""
        return self.places.workspace or (None if self.asked_for is None else self.asked_for.expanduser().absolute())

    @cached_property
    def thumbs(self) -> Thumbs:
        """Small copies are kept in the workspace; without one, for as long as the app runs."""
        place = self.workspace
        return Thumbs(place / _THUMBS if place is not None else Path(tempfile.mkdtemp(prefix="sightline-")))

    def benchmark(self, name: str) -> LoadedBenchmark | None:
        """A benchmark by its name; one that can't be read is a `UserError` that says which, and why."""
        folder = self.places.benchmarks.get(name)
        if folder is None:
            return None
        found = self._read(name, folder)
        if isinstance(found, BrokenBenchmark):
            raise UserError(f"The benchmark {name} can't be read. {found.why}")
        return found

    def benchmarks(self) -> list[LoadedBenchmark]:
        """All benchmarks that can be read."""
        return [loaded for loaded in self._all() if isinstance(loaded, LoadedBenchmark)]

    def broken(self) -> list[BrokenBenchmark]:
        """All that can't."""
        return [loaded for loaded in self._all() if isinstance(loaded, BrokenBenchmark)]

    def benchmark_of(self, name: str, checksum: str | None) -> LoadedBenchmark | None:
        """The benchmark that a run was made on: the same content, else one of the same name."""
        named = [loaded for loaded in self.benchmarks() if loaded.benchmark.name == name]
        same = [loaded for loaded in named if loaded.benchmark.is_version(checksum)]
        return next(iter(same or named), None)

    def _all(self) -> list[LoadedBenchmark | BrokenBenchmark]:
        return [self._read(name, folder) for name, folder in self.places.benchmarks.items()]

    def _read(self, name: str, folder: Path) -> LoadedBenchmark | BrokenBenchmark:
        return self._benchmarks.get(name, _stamp(folder), lambda: _read(name, folder))

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
        for loaded in self.benchmarks():
            if key in loaded.by_key:
                return loaded.path(loaded.by_key[key])
        workspace = self.places.workspace
        for folder in (*self.places.runs.values(), *([workspace / ASKED] if workspace is not None else [])):
            blob = folder / BLOBS / key
            if blob.is_file():
                return blob
        return None

    def held(self, id_: str, key: str) -> tuple[LoadedBenchmark, Picture] | None:
        """A picture of a benchmark, by the key of its file, or where that is not given by its id."""
        for loaded in self.benchmarks():
            own = loaded.benchmark.corpus.pictures.get(id_)
            if own is not None and key in ("", loaded.keys[id_]):
                return loaded, own
            if key in loaded.by_key:
                return loaded, loaded.by_key[key]
        return None

    def key(self, id_: str, loaded: LoadedBenchmark | None = None) -> str | None:
        """The key of a picture by its id: of a benchmark, where one is given, else of the corpus."""
        if loaded is not None and id_ in loaded.keys:
            return loaded.keys[id_]
        picture = None if self.corpus is None else self.corpus.find(id_)
        return None if picture is None else picture.sha256

    def tiles(self, ids: Iterable[str], loaded: LoadedBenchmark | None = None) -> tuple[Tile, ...]:
        """Pictures by id, of a benchmark or of the corpus; one that is not known has no key."""
        return tuple(Tile(self.key(id_, loaded) or "", id_) for id_ in ids)

    def any_key(self, id_: str) -> str | None:
        """The key of a picture that is known by its id alone: of the corpus, else of a benchmark that holds it."""
        keys = (loaded.keys.get(id_) for loaded in self.benchmarks())
        return self.key(id_) or next((key for key in keys if key is not None), None)


def picture_key(source: str, picture: Picture) -> str:
    """The SHA-256 of its file, or where that is not known one that stands for its id."""
    return picture.sha256 or hashlib.sha256(f"{source}\0{picture.id}".encode()).hexdigest()


def _read(name: str, folder: Path) -> LoadedBenchmark | BrokenBenchmark:
    """Without the reviews: what is wrong with one of them is said where they are read."""
    try:
        return LoadedBenchmark(name, folder, read_benchmark(folder, reviews=False))
    except SightlineError as error:
        return BrokenBenchmark(name, folder, str(error))
    except OSError as error:
        return BrokenBenchmark(name, folder, f"{error.filename or folder} can't be read: {error.strerror}.")


def _stamp(folder: Path) -> tuple[Any, ...]:
    """Changes with the tables, but not with each review, nor with what that changes in the card."""
    found: list[object] = [_header(folder)]
    for table in TABLES:
        path = folder / table.name
        if table is not REVIEWS and path.is_file():
            found.append((table.name, *stamp_of(path)))
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
