"""The overview: what there is, told from headers alone, so that it is there at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from sightline.benchmark.files import HEADER as BENCHMARK
from sightline.benchmark.files import TASKS, checksum
from sightline.english import counted, listed
from sightline.metrics.tables import trust_text
from sightline.mining.project import RETENTION
from sightline.reason.traces.folder import HEADER as TRACES
from sightline.reports.text import score
from sightline.runs.folder import HEADER as RUN
from sightline.runs.folder import SCORES
from sightline.types import GroupKind
from sightline.web.app_state import AppState
from sightline.web.cache import StampedCache, stamp_of
from sightline.web.pages.jobs import FORMS, choices
from sightline.web.picture_choice import PictureChoice

KINDS: Mapping[GroupKind, str] = {
    "event": "Events",
    "album": "Albums",
    "film": "Films",
    "burst": "Bursts",
    "duplicate": "Duplicates",
    "owner": "Owners",
    "dataset": "Data sets",
}
_NEWEST = 12
_TOLD: StampedCache[Mapping[str, Any]] = StampedCache()


@dataclass(frozen=True, slots=True)
class HomeEntry:
    """Something that was found: the name of its pages, what it is called, and what is known of it."""

    name: str
    title: str
    told: str


def home(request: Request) -> Response:
    """What there is."""
    state = AppState.of(request)
    state.library.refresh()
    corpus, places = state.library.corpus, state.library.places
    if corpus is None and not (places.benchmarks or places.runs):
        return state.show(
            request, "start.html", form=FORMS["scan"], statuses=state.jobs.all(), given={}, **choices(state)
        )
    return state.show(
        request,
        "home.html",
        statuses=state.jobs.active,
        tiles=[] if corpus is None else corpus.window(PictureChoice(), 0, _NEWEST),
        count=0 if corpus is None else corpus.total(),
        groups={} if corpus is None else corpus.group_counts(),
        kinds=KINDS,
        skipped=0 if corpus is None else sum(corpus.problems()[0].values()),
        benchmarks=[_benchmark(name, folder) for name, folder in places.benchmarks.items()],
        graphs=[_graph(name, folder) for name, folder in places.graphs.items()],
        runs=[_run(name, folder) for name, folder in places.runs.items()],
        traces=[_traces(name, folder) for name, folder in places.traces.items()],
    )


def _benchmark(name: str, folder: Path) -> HomeEntry:
    header = object_of(folder / BENCHMARK)
    tasks = _lines(folder / TASKS.name)
    told = f"{counted(tasks, 'task')}, version {header.get('version', '?')}" if header else "can't be read"
    told = ", ".join([told, *_grade(header)])
    title = str(header.get("name") or name)
    return HomeEntry(name, title, told if title == name else f"{told}, in {name}")


def _graph(name: str, folder: Path) -> HomeEntry:
    nodes = _part(_part(object_of(folder / RETENTION, "graph"), "graph"), "nodes")
    words = (("photo", "picture", None), ("event", "event", None), ("person", "person", "people"))
    counts = [(nodes.get(kind), one, several) for kind, one, several in words]
    told = [counted(number, one, several) for number, one, several in counts if isinstance(number, int) and number]
    return HomeEntry(name, name, listed(told))


def _run(name: str, folder: Path) -> HomeEntry:
    header = object_of(folder / RUN)
    scores = object_of(folder / SCORES, "overall", "grade", "checksum", "benchmark_folder")
    overall = _part(scores, "overall")
    metric = next(iter(overall), "")
    mean = _part(overall, metric).get("mean")
    result = f"{metric} {score(mean)}" if isinstance(mean, float | int) else "not scored yet"
    scored_on = object_of(folder / str(scores.get("benchmark_folder", "")) / BENCHMARK)  # Decisions change its grade.
    is_same = checksum(_part(scored_on, "checksums")) == scores.get("checksum")
    result = ", ".join([result, *_grade(scored_on if is_same else scores)])
    on = f" on {header['benchmark']}" if header.get("benchmark") else ""
    return HomeEntry(name, name, f"{header.get('system', '')}{on}: {result}" if header else "can't be read")


def _grade(held: Mapping[str, Any]) -> list[str]:
    """`labels: draft`, from the header of a benchmark or from scores; nothing where they have no such grade."""
    return [line.strip() for line in trust_text(held.get("grade"), ())]


def _traces(name: str, folder: Path) -> HomeEntry:
    teachers = object_of(folder / TRACES).get("teachers")
    return HomeEntry(name, name, f"by {listed(map(str, teachers))}" if isinstance(teachers, list) and teachers else "")


def _part(held: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = held.get(name)
    return found if isinstance(found, dict) else {}


def object_of(path: Path, *parts: str) -> Mapping[str, Any]:
    """A file's object, or these parts of it; empty where there is none that can be read, for its own page says why."""
    try:
        return _TOLD.get((path, parts), stamp_of(path), lambda: _parsed(path, parts))
    except (OSError, orjson.JSONDecodeError):
        return {}


def _parsed(path: Path, parts: Sequence[str]) -> Mapping[str, Any]:
    """Only the parts are kept: the scores of a run can be long."""
    found = orjson.loads(path.read_bytes())
    held = found if isinstance(found, dict) else {}
    return {name: held[name] for name in parts if name in held} if parts else held


def _lines(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return 0
