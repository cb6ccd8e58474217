"""The four systems of the demo, run on its two benchmarks and compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from sightline.benchmark.folder import read_benchmark
from sightline.calls.session import Session
from sightline.config import Config
from sightline.metrics.comparison import Comparison, SystemStanding
from sightline.metrics.evaluation import evaluate
from sightline.reports.scored_run import RunSpending, read_scored
from sightline.runs.folder import read_run
from sightline.runs.runner import run
from sightline.runs.summary import RunSummary
from sightline.runs.system_spec import Spec, make_spec
from sightline.runs.systems.base import find_kind
from sightline.scoring import compare, score
from sightline.types import Benchmark

CHAT, EMBEDDER = "builtin/world", "world"
SYSTEMS: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        "agent": ("agent", {"model": CHAT, "embedder": EMBEDDER}),
        "hybrid": ("hybrid", {"embedder": EMBEDDER}),
        "embedder": ("retriever", {"embedder": EMBEDDER}),
        "text only": ("blind", {"by": "exif"}),
    }
)
"""Kind and options by name; the last reads when, where and with what a picture was taken, and looks at none."""


@dataclass(frozen=True, slots=True)
class Field:
    """A benchmark and a run of each system on it; `called` is what a run's system is called there."""

    benchmark: Path
    runs: Mapping[str, Path]
    called: Mapping[str, str]
    comparison: Comparison

    @property
    def sources(self) -> list[Path]:
        """What a report is made of."""
        return [self.benchmark, *self.runs.values()]

    def standing(self, system: str, metric: str) -> SystemStanding:
        """A system's estimate in a metric, with the letters of its tie groups."""
        return standing(self.comparison, self.called[system], metric)

    def spending(self, system: str) -> RunSpending:
        """What a run cost, and how long its tasks took."""
        return read_scored(self.runs[system]).spending


def standing(comparison: Comparison, called: str, metric: str) -> SystemStanding:
    """One system in one metric."""
    return next(one for one in comparison.standings[metric] if one.system == called)


def run_systems(
    benchmark: Path, out: Path, *, workspace: Path, config: Config, seed: int, tell: Callable[[str, str], None]
) -> Field:
    """Each system over the benchmark; rankings that answer `select` tasks are cut into sets where other tasks say."""
    asks_sets = any(task.kind == "select" for task in read_benchmark(benchmark).tasks.values())
    runs: dict[str, Path] = {}
    called: dict[str, str] = {}
    session = Session(workspace, config, local_only=True)

    def attempt(kind: str, options: Mapping[str, str], folder: Path) -> RunSummary:
        spec: Spec = make_spec(find_kind(kind), options)
        return run(benchmark, spec, folder, show_annotations=True, seed=seed, session=session)

    for name, (kind, options) in SYSTEMS.items():
        slug = name.replace(" ", "-")
        runs[name], called[name] = out / slug, name
        if asks_sets and kind != "agent":
            called[name] = f"{name}, cut"
            rankings = out / "rankings" / slug
            done = attempt(kind, {**options, "name": name}, rankings)
            attempt("cut", {"run": str(rankings), "name": called[name]}, runs[name])
        else:
            done = attempt(kind, {**options, "name": name}, runs[name])
        score(benchmark, runs[name], seed=seed)
        tell("run", f"{name} on {done.run.benchmark}: {done.attempts} tasks{_failed(done)} in {done.seconds:.1f} s")
    compared = compare(list(runs.values()), allow_failures_differ=True, rehearsal=True, seed=seed)
    return Field(benchmark, runs, called, compared)


def compare_on(benchmark: Benchmark, runs: Mapping[str, Path], *, seed: int) -> Comparison:
    """The same predictions, scored by another truth."""
    found = [evaluate(benchmark, read_run(folder), seed=seed, allow_other_version=True) for folder in runs.values()]
    return compare(found, allow_failures_differ=True, seed=seed)


def _failed(done: RunSummary) -> str:
    count = sum(done.failures.values())
    return f", {count} failed," if count else ""
