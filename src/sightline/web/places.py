"""What lies in the folders that the app was given: workspaces, benchmarks, runs, traces, each under a short name."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from typing import Literal, TypeAlias

from sightline.agent.ask import FOLDER as ASKED
from sightline.bench.files import HEADER as BENCHMARK
from sightline.corpus.schema import FILE_NAME as CORPUS
from sightline.errors import UserError
from sightline.mine.files import GRAPH
from sightline.reason.traces.folder import HEADER as TRACES
from sightline.run.folder import HEADER as RUN

Kind: TypeAlias = Literal["workspace", "benchmark", "run", "traces", "graph"]
_MARKERS: tuple[tuple[str, Kind], ...] = (
    (CORPUS, "workspace"),
    (BENCHMARK, "benchmark"),
    (RUN, "run"),
    (TRACES, "traces"),
    (GRAPH, "graph"),
)
_HOLDS_MORE = ("workspace", "graph")
_USUAL = ".sightline"
_DEPTH = 4
_FOLDERS = 5_000
"""A folder of photographs can be deep and wide; what is looked for lies near the top."""
_STILL_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Places:
    """Folders by the names that addresses of pages use; `roots` are those that were given."""

    roots: tuple[Path, ...] = ()
    workspace: Path | None = None
    benchmarks: dict[str, Path] = field(default_factory=dict)
    runs: dict[str, Path] = field(default_factory=dict)
    traces: dict[str, Path] = field(default_factory=dict)
    graphs: dict[str, Path] = field(default_factory=dict)


class Names:
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


def find_places(workspace: Path | None, given: Iterable[Path], names: Names | None = None) -> Places:
    """Look into the given folders, and into the workspace; the first corpus that is met is the one that is shown."""
    names = Names() if names is None else names
    roots = tuple(dict.fromkeys(path.expanduser().absolute() for path in (*given, *([workspace] if workspace else []))))
    found: dict[Kind, list[Path]] = {kind: [] for _, kind in _MARKERS}
    for root in roots:
        if not root.is_dir() and root != (workspace and workspace.expanduser().absolute()):
            raise UserError(f"there is no folder {root}.", "give a workspace, a benchmark, a run, or a folder of them")
        for folder, kind in _walk(root):
            if folder not in found[kind]:
                found[kind].append(folder)
    return Places(
        roots,
        next(iter(found["workspace"]), None),
        names.of("benchmark", found["benchmark"]),
        names.of("run", found["run"]),
        names.of("traces", found["traces"]),
        names.of("graph", found["graph"]),
    )


def _walk(root: Path) -> Iterator[tuple[Path, Kind]]:
    """Marked folders below a root; the own folder of a benchmark, a run or traces is not looked into."""
    left, waiting = _FOLDERS, [root]
    while waiting and left > 0:
        left -= 1
        here = waiting.pop()
        kinds, folders = _look(here)
        yield from ((here, kind) for kind in kinds)
        deep = len(here.relative_to(root).parts) >= _DEPTH
        if not deep and all(kind in _HOLDS_MORE for kind in kinds):
            waiting += [here / name for name in reversed(folders) if _may_hold(name, "workspace" in kinds)]


def _look(folder: Path) -> tuple[tuple[Kind, ...], tuple[str, ...]]:
    """What a folder is, and the folders in it; of one that can't be read, nothing."""
    try:
        changed = folder.stat().st_mtime_ns
        # What changed just now may change again without its time being another.
        is_still = time.time_ns() - changed > _STILL_NS
        return (_listed if is_still else _listed.__wrapped__)(folder, changed)
    except OSError:
        return (), ()


@lru_cache(maxsize=2 * _FOLDERS)
def _listed(folder: Path, _changed: int) -> tuple[tuple[Kind, ...], tuple[str, ...]]:
    """Kept until something comes or goes: a folder of 100,000 photographs takes long to list, and rarely changes."""
    with os.scandir(folder) as entries:
        found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    kinds = tuple(kind for marker, kind in _MARKERS if found.get(marker) is False)
    return kinds, tuple(sorted(name for name, is_folder in found.items() if is_folder))


def _may_hold(name: str, in_workspace: bool) -> bool:
    """Hidden folders hold what a stopped writer left, but for a workspace; and most of a workspace is its own."""
    return (name == _USUAL or not name.startswith(".")) and not (
        in_workspace and name in ("indexes", "thumbs", "blobs", ASKED)
    )


def _fresh_name(folder: Path, taken: Collection[str]) -> str:
    parts = [_plain(part) for part in folder.parts if _plain(part)]
    tries = ("-".join(parts[-length:]) for length in range(1, len(parts) + 1))
    counted = (f"{parts[-1]}-{number}" for number in count(2))
    return next(each for each in chain(tries, counted) if each not in taken)


def _plain(part: str) -> str:
    return re.sub(r"[^\w.]+", "-", part).strip("-.")
