"""What lies in the folders that the app was given: workspaces, benchmarks, runs, traces, each under a short name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from sightline.agent.ask import FOLDER as ASKED
from sightline.bench.files import HEADER as BENCHMARK
from sightline.corpus.schema import FILE_NAME as CORPUS
from sightline.errors import UserError
from sightline.mine.files import GRAPH_PAGE as GRAPH
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


@dataclass(frozen=True, slots=True)
class Places:
    """Folders by the names that addresses of pages use; `roots` are those that were given."""

    roots: tuple[Path, ...] = ()
    workspace: Path | None = None
    benchmarks: dict[str, Path] = field(default_factory=dict)
    runs: dict[str, Path] = field(default_factory=dict)
    traces: dict[str, Path] = field(default_factory=dict)
    graphs: dict[str, Path] = field(default_factory=dict)


def find_places(workspace: Path | None, given: Iterable[Path]) -> Places:
    """Look into the given folders, and into the workspace; the first corpus that is met is the one that is shown."""
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
        _named(found["benchmark"]),
        _named(found["run"]),
        _named(found["traces"]),
        _named(found["graph"]),
    )


def _walk(root: Path) -> Iterator[tuple[Path, Kind]]:
    """Marked folders below a root; the own folder of a benchmark, a run or traces is not looked into."""
    left = _FOLDERS
    for place, folders, files in os.walk(root):
        left -= 1
        here = Path(place)
        kinds = [kind for marker, kind in _MARKERS if marker in files]
        yield from ((here, kind) for kind in kinds)
        deep = len(here.relative_to(root).parts) >= _DEPTH
        is_end = deep or left <= 0 or any(kind not in _HOLDS_MORE for kind in kinds)
        folders[:] = [] if is_end else sorted(name for name in folders if _may_hold(name, "workspace" in kinds))


def _may_hold(name: str, in_workspace: bool) -> bool:
    """Hidden folders hold what a stopped writer left, but for a workspace; and most of a workspace is its own."""
    return (name == _USUAL or not name.startswith(".")) and not (
        in_workspace and name in ("indexes", "thumbs", "blobs", ASKED)
    )


def _named(folders: Iterable[Path]) -> dict[str, Path]:
    """Each folder by its name, with as much of its path as tells it from others of that name."""
    found: dict[str, Path] = {}
    for folder in folders:
        parts = [_plain(part) for part in folder.parts if _plain(part)]
        tries = ("-".join(parts[-length:]) for length in range(1, len(parts) + 1))
        name = next((each for each in tries if each not in found), None)
        found[name or f"{parts[-1]}-{len(found)}"] = folder
    return found


def _plain(part: str) -> str:
    return re.sub(r"[^\w.]+", "-", part).strip("-.")
