"""The whole flow on a synthetic photo history: drawn, scanned, made into a benchmark, checked, run, compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from sightline.authoring.pipeline import make
from sightline.authoring.stage import StageResult
from sightline.benchmark.folder import write_benchmark
from sightline.calls.session import Session
from sightline.config import Config
from sightline.corpus.scan import ScanSummary
from sightline.demo.page import own_folder
from sightline.english import counted, listed
from sightline.io.files import PathLike
from sightline.pictures import scan
from sightline.types import Benchmark
from sightline_world.demo.page import write_world_page
from sightline_world.demo.results import WorldFound, audit_by_truth, by_truth, exact_truth
from sightline_world.demo.systems import CHAT, EMBEDDER, compare_on, run_systems
from sightline_world.histories import read_shots, write_history
from sightline_world.models.declaration import world_taxonomy
from sightline_world.models.networks import network
from sightline_world.tasks.benchmark import benchmark_of
from sightline_world.truth import SyntheticHistory

Tell: TypeAlias = Callable[[str, str], None]
_SIZE = (400, 300)


@dataclass(frozen=True, slots=True)
class Amounts:
    """How large the demo is."""

    pictures: int = 600
    queries: int = 40
    sets: int = 40


AMOUNTS = Amounts()


@dataclass(frozen=True, slots=True)
class WorldDemo:
    """What the demo found, where it lies, and the page that shows it."""

    folder: Path
    found: WorldFound
    page: Path
    seconds: float


def run_world_demo(
    folder: PathLike, *, seed: int = 0, amounts: Amounts = AMOUNTS, tell: Tell | None = None
) -> WorldDemo:
    """Do all of it in one folder; stopped at any moment, the same call goes on. `tell` hears of each stage."""
    started, out = time.monotonic(), Path(folder)
    say = tell or (lambda stage, line: None)
    network("reader")  # What is missing for the models is said before a life is drawn, not after.
    own_folder(out, seed)
    config = _config(out, amounts)
    life, scanned = _draw_history(out, config, seed, amounts, say)
    benchmark = _made(out, config, seed, say)
    truth = exact_truth({task.id: task.text for task in benchmark.tasks.values()}, read_shots(out / "life"))
    audit = audit_by_truth(benchmark, truth, seed=seed)
    say("truth", f"{audit.labels:,} labels held against the exact scenes, {audit.doubtful:,} of them in doubt")
    _sets(out, benchmark, seed, amounts, say)
    common: dict[str, Any] = {"workspace": out / "workspace", "config": config, "seed": seed, "tell": say}
    found = run_systems(out / "make" / "benchmark", out / "runs" / "search", **common)
    selected = run_systems(out / "sets", out / "runs" / "sets", **common)
    exact = compare_on(by_truth(benchmark, truth), found.runs, seed=seed)
    result = WorldFound(life, scanned, benchmark, truth, audit, found, exact, selected)
    page = write_world_page(result, out / "life", out / "report.html")
    return WorldDemo(out, result, page, time.monotonic() - started)


def _config(out: Path, amounts: Amounts) -> Config:
    """The built-in models, what they can tell, and pools that are deep for a collection of this size."""
    life = out / "life"
    config = Config.model_validate(
        {
            "benchmark": {"name": "Search in a life"},
            "paths": {"metadata": life / "addresses.jsonl"},
            "scan": {"owner_pattern": "{owner}/*"},
            "plan": {
                "seeds": amounts.queries,
                "core_facets": ("place",),
                "embedder": EMBEDDER,
                "easy": 3,
                "random": 3,
            },
            "judge": {"depth": 80, "together": 10},
        }
    )
    return world_taxonomy().settings(config)


def _draw_history(
    out: Path, config: Config, seed: int, amounts: Amounts, say: Tell
) -> tuple[SyntheticHistory, ScanSummary]:
    started, folder = time.monotonic(), out / "life"
    life = write_history(folder, seed, amounts.pictures, _SIZE, workers=None)
    about = f"{counted(amounts.pictures, 'picture')} of {life.owner} at {counted(len(life.events), 'event')}"
    say("draw", f"{about} in {time.monotonic() - started:.1f} s")
    scanned = scan(folder / "pictures", metadata=config.paths.metadata, session=Session(out / "workspace", config))
    counts = ((scanned.events, "event"), (scanned.bursts, "burst"), (scanned.duplicates, "duplicate"))
    say("scan", f"{listed([counted(*count) for count in counts])} found in {scanned.seconds:.1f} s")
    return life, scanned


def _made(out: Path, config: Config, seed: int, say: Tell) -> Benchmark:
    """What `sightline make` does, with the built-in models as annotator, judge and embedder."""

    def watch(result: StageResult) -> None:
        counts = ", ".join(f"{count:,} {name}" for name, count in result.counts.items() if count)
        say(result.stage, f"{counts} in {result.seconds:.1f} s")

    made = make(
        out / "life" / "pictures",
        out=out / "make",
        model=CHAT,
        embedder=EMBEDDER,
        seed=seed,
        watch=watch,
        session=Session(out / "workspace", config, local_only=True),
    )
    return made.benchmark()


def _sets(out: Path, made: Benchmark, seed: int, amounts: Amounts, say: Tell) -> None:
    """Tasks with exact sets as answers over the same life; words about the pictures are those of the annotator."""
    started, folder = time.monotonic(), out / "sets"
    name = "Exact sets in a life"
    tasks = benchmark_of(out / "life", folder, seed, count=amounts.sets, kinds=("select",), name=name)
    write_benchmark(replace(tasks, annotations=made.annotations), folder, force=True)
    say(
        "tasks",
        f"{len(tasks.tasks)} with exact sets as answers, by construction, in {time.monotonic() - started:.1f} s",
    )
