"""From folders of runs and benchmarks to what a report tells: one section for each version of each benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from sightline import bench
from sightline.agent.attribution import attribute_folder, read_attribution
from sightline.bench.files import HEADER as BENCHMARK_FILE
from sightline.errors import UserError
from sightline.io import PathLike
from sightline.report.facts import Facts, facts_from_scores, facts_of
from sightline.report.runs import ScoredRun, compare_runs, read_scored, with_own_names
from sightline.run import read_run
from sightline.run.folder import HEADER as RUN_FILE
from sightline.score.compare import Comparison, Pair
from sightline.score.evaluate import evaluate
from sightline.score.scores import Scores, write_scores
from sightline.types import Benchmark, Run, TaskKind

Key: TypeAlias = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Section:
    """One version of one benchmark and the runs on it, best first in the first metric.

    `headlines` are the first metric that is computed for each kind of task.
    """

    facts: Facts
    runs: tuple[ScoredRun, ...]
    headlines: Mapping[TaskKind, str]
    comparison: Comparison | None
    warnings: tuple[str, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that some run was scored with."""
        return tuple(dict.fromkeys(metric for run in self.runs for metric in run.scores.metrics))

    def letters(self, metric: str) -> dict[str, str]:
        """By run the letters of its tie groups; empty where nothing was compared."""
        standings = {} if self.comparison is None else self.comparison.standings
        return {standing.system: standing.letters for standing in standings.get(metric, ())}

    def pairs(self, metric: str) -> tuple[Pair, ...]:
        """The differences in one metric, those of the best first; none where nothing was compared."""
        found = () if self.comparison is None else self.comparison.pairs
        place = {run.name: number for number, run in enumerate(self.runs)}
        pairs = [pair for pair in found if pair.metric == metric]
        return tuple(sorted(pairs, key=lambda pair: (place[pair.second], place[pair.first])))

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {
            "benchmark": self.facts.name,
            "checksum": self.facts.checksum,
            "tasks": dict(self.facts.kinds),
            "runs": [self._run_to_dict(run) for run in self.runs],
            "pairs": [asdict(pair) for metric in self.metrics for pair in self.pairs(metric)],
            "warnings": list(self.warnings),
            "notes": [] if self.comparison is None else list(self.comparison.notes),
        }

    def _run_to_dict(self, run: ScoredRun) -> dict[str, Any]:
        return {
            "name": run.name,
            "system": run.run.system,
            "folder": str(run.folder),
            "estimates": {metric: asdict(found) for metric, found in run.scores.overall.items()},
            "letters": {metric: letters[run.name] for metric in self.metrics if (letters := self.letters(metric))},
            "failures": dict(run.scores.failures),
            "spending": {**asdict(run.spending), "usd": run.spending.usd},
            "notes": list(run.scores.notes),
            "attribution": read_attribution(run.folder),
        }


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that a report tells, and as of when."""

    sections: tuple[Section, ...]
    date: datetime


def gather(sources: Sequence[PathLike], *, date: datetime | None = None) -> Gathered:
    """Read runs and benchmarks; a run that has no scores is scored, where its benchmark is among the sources.

    `date` is when the newest scores were written, unless given.
    """
    folders = _folders(sources)
    benchmarks = [bench.read(folder) for folder, marker in folders.items() if marker == BENCHMARK_FILE]
    score = partial(_score, benchmarks)
    runs = [read_scored(folder, score) for folder, marker in folders.items() if marker == RUN_FILE]
    sections = _sections(benchmarks, runs)
    dates = [run.scored_at for run in runs] or [
        datetime.fromtimestamp((folder / BENCHMARK_FILE).stat().st_mtime, UTC) for folder in folders
    ]
    return Gathered(sections, max(dates) if date is None else date)


def _folders(sources: Iterable[PathLike]) -> dict[Path, str]:
    """Each folder once, with the file that says what it is."""
    found: dict[Path, str] = {}
    seen: set[Path] = set()
    for source in sources:
        folder = Path(source).expanduser()
        marker = next((name for name in (BENCHMARK_FILE, RUN_FILE) if (folder / name).is_file()), None)
        if marker is None:
            what = "neither a benchmark nor a run" if folder.is_dir() else "not a folder"
            raise UserError(
                f"{folder} is {what}.", f"give folders that hold {BENCHMARK_FILE} or {RUN_FILE}, for example runs/*/"
            )
        if folder.resolve() not in seen:
            seen.add(folder.resolve())
            found[folder] = marker
    if not found:
        raise UserError("there is nothing to report on.", "give the folders of runs, of benchmarks or of both")
    return found


def _score(benchmarks: Sequence[Benchmark], folder: Path, header: Run) -> Scores:
    """Score a run on its benchmark and keep the scores with it."""
    named = [benchmark for benchmark in benchmarks if benchmark.name == header.benchmark]
    same = [benchmark for benchmark in named if benchmark.is_version(header.benchmark_checksum)]
    if not named:
        raise UserError(
            f'{folder} has no scores, and its benchmark "{header.benchmark}" is not among the sources.',
            f"give the benchmark's folder too, or score the run first: sightline score BENCH {folder}",
        )
    # A run of another version is refused by `evaluate`, which says so.
    benchmark = (same or named)[0]
    scores = evaluate(benchmark, read_run(folder))
    write_scores(scores, folder)
    attribute_folder(folder, benchmark)
    return scores


def _sections(benchmarks: Iterable[Benchmark], runs: Iterable[ScoredRun]) -> tuple[Section, ...]:
    """In the order in which benchmarks are first met: those given, then those that only runs tell of."""
    facts: dict[Key, Facts] = {(found.name, found.checksum): facts_of(found) for found in benchmarks}
    grouped: dict[Key, list[ScoredRun]] = {key: [] for key in facts}
    for run in runs:
        key = (run.scores.benchmark, run.scores.checksum)
        if key not in facts:
            facts[key] = facts_from_scores(run.scores)
        grouped.setdefault(key, []).append(run)
    return tuple(_section(facts[key], with_own_names(of_key), facts) for key, of_key in grouped.items())


def _section(facts: Facts, runs: Sequence[ScoredRun], all_facts: Iterable[Key]) -> Section:
    ranked = _ranked(runs)
    # From the last to the first, so that a difference says by how much the better one is ahead.
    compared = compare_runs(ranked[::-1])
    warnings = (*compared.warnings, *_versions(facts, ranked, all_facts))
    return Section(facts, tuple(ranked), _headlines(facts, ranked), compared.comparison, warnings)


def _headlines(facts: Facts, runs: Iterable[ScoredRun]) -> dict[TaskKind, str]:
    found: dict[TaskKind, str] = {}
    for run in runs:
        for row in run.scores.tasks:
            if row.kind not in found and row.values:
                found[row.kind] = next(iter(row.values))
    return {kind: found[kind] for kind in facts.kinds if kind in found}


def _ranked(runs: Sequence[ScoredRun]) -> list[ScoredRun]:
    """Best first in the first metric that all runs have; as given, where there is none."""
    estimates = [run.scores.overall for run in runs]
    shared = [metric for metric in (estimates[0] if runs else ()) if all(metric in one for one in estimates)]
    return sorted(runs, key=lambda run: -run.scores.overall[shared[0]].mean) if shared else list(runs)


def _versions(facts: Facts, runs: Iterable[ScoredRun], all_facts: Iterable[Key]) -> Iterator[str]:
    """What to say where versions of the benchmark differ."""
    if sum(name == facts.name for name, _ in all_facts) > 1:
        yield "another version of this benchmark is on this page; scores on the two can't be compared"
    for run in runs:
        before, now = run.run.benchmark_checksum, run.scores.checksum
        if before and now and before != now and before not in facts.former_checksums:
            yield (
                f"{run.name} was run on another version of the benchmark (checksum {before[:12]}) "
                f"than it was scored on ({now[:12]})"
            )
