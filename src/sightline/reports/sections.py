"""What a report tells: one section for each version of each benchmark, from folders of runs and benchmarks.

And the tables beside a page, as CSV: every attempt at every task, every slice, every difference.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeAlias

from sightline.agent.attribution import attribute_folder
from sightline.benchmark.files import HEADER as BENCHMARK_FILE
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.grade import grade_of
from sightline.english import some
from sightline.errors import UserError
from sightline.io.files import PathLike, csv_bytes
from sightline.metrics.blind_rows import BaselineScore
from sightline.metrics.comparison import Comparison, PairedComparison
from sightline.metrics.evaluation import evaluate
from sightline.metrics.scores import Scores
from sightline.reports.scored_run import ReportedRun, compare_runs, read_scored, trust_of, with_own_names
from sightline.runs.folder import HEADER as RUN_FILE
from sightline.runs.folder import read_attribution, read_run
from sightline.runs.integrity import keep_scores, with_changes
from sightline.runs.trust import is_circular, with_trust
from sightline.types import Benchmark, Json, Run, ScoreWarning, TaskKind
from sightline.types.truth import grades_of

Key: TypeAlias = tuple[str, str | None]
_GIVE = f"Give folders that hold {BENCHMARK_FILE} or {RUN_FILE}, for example runs/*/."
_log = logging.getLogger(__name__)
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class BenchmarkCounts:
    """Counts of a benchmark; `pictures`, `judgments` and `groups` are None where only its scores are at hand.

    `judgments` counts the pictures that the truth speaks of; `prompts` are the words of each task.
    """

    name: str
    checksum: str | None
    kinds: Mapping[TaskKind, int]
    labels: Mapping[str, Mapping[str, int]]
    version: str | None = None
    pictures: int | None = None
    judgments: int | None = None
    groups: Mapping[str, int] | None = None
    card: Mapping[str, Json] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    former_checksums: frozenset[str] = frozenset()
    grade: str | None = None
    grade_why: str = ""

    @property
    def tasks(self) -> int:
        return sum(self.kinds.values())


def facts_of(benchmark: Benchmark) -> BenchmarkCounts:
    """The counts of a benchmark that was read."""
    tasks, grade = benchmark.tasks.values(), grade_of(benchmark)
    judged = (len(grades_of(truth)) for truth in benchmark.truth.values())
    return BenchmarkCounts(
        name=benchmark.name,
        checksum=benchmark.checksum,
        kinds=Counter(task.kind for task in tasks),
        labels=_count_labels(task.labels for task in tasks),
        version=benchmark.version,
        pictures=len(benchmark.corpus.pictures),
        judgments=sum(judged),
        groups=Counter(group.kind for group in benchmark.corpus.groups),
        card=benchmark.card,
        prompts={task.id: task.text for task in tasks},
        former_checksums=benchmark.former_checksums,
        grade=grade.name,
        grade_why=grade.why,
    )


def facts_from_scores(scores: Scores) -> BenchmarkCounts:
    """What a run's scores tell of the benchmark when its folder is not at hand."""
    tasks = {row.task_id: row for row in scores.tasks}.values()
    return BenchmarkCounts(
        name=scores.benchmark,
        checksum=scores.checksum,
        kinds=Counter(row.kind for row in tasks),
        labels=_count_labels(row.labels for row in tasks),
        grade=scores.grade,
    )


def _count_labels(labels: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for of_task in labels:
        for label, values in of_task.items():
            counts.setdefault(label, Counter()).update(values)
    return {
        label: dict(sorted(values.items(), key=lambda pair: (-pair[1], pair[0])))
        for label, values in sorted(counts.items())
    }


@dataclass(frozen=True, slots=True)
class ReportSection:
    """One version of one benchmark and the runs on it, best first in the first metric.

    `headlines` are the first metric that is computed for each kind of task.
    """

    facts: BenchmarkCounts
    runs: tuple[ReportedRun, ...]
    headlines: Mapping[TaskKind, str]
    comparison: Comparison | None
    warnings: tuple[str, ...]
    trust: tuple[ScoreWarning, ...] = ()
    "Why the scores deserve less trust than they look."

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that some run was scored with."""
        return tuple(dict.fromkeys(metric for run in self.runs for metric in run.scores.metrics))

    def letters(self, metric: str) -> dict[str, str]:
        """By run the letters of its tie groups; empty where nothing was compared."""
        standings = {} if self.comparison is None else self.comparison.standings
        return {standing.system: standing.letters for standing in standings.get(metric, ())}

    def pairs(self, metric: str) -> tuple[PairedComparison, ...]:
        """The differences in one metric, those of the best first; none where nothing was compared."""
        found = () if self.comparison is None else self.comparison.pairs
        place = {run.name: number for number, run in enumerate(self.runs)}
        pairs = [pair for pair in found if pair.metric == metric]
        return tuple(sorted(pairs, key=lambda pair: (place[pair.second], place[pair.first])))

    def baselines(self, metric: str) -> tuple[BaselineScore, ...]:
        """Systems that see no pixel in a metric, best first; each once."""
        found = {row.by: row for run in self.runs for row in run.scores.baselines if row.metric == metric}
        return tuple(sorted(found.values(), key=lambda row: -row.estimate.mean))

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {
            "benchmark": self.facts.name,
            "checksum": self.facts.checksum,
            "tasks": dict(self.facts.kinds),
            "runs": [self._run_to_dict(run) for run in self.runs],
            "pairs": [asdict(pair) for metric in self.metrics for pair in self.pairs(metric)],
            "grade": self.facts.grade,
            "baselines": {row.name: asdict(row.estimate) for row in self.baselines(next(iter(self.metrics), ""))},
            "warnings": [asdict(warning) for warning in self.trust],
            "notes": [*self.warnings, *(() if self.comparison is None else self.comparison.notes)],
        }

    def _run_to_dict(self, run: ReportedRun) -> dict[str, Any]:
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
class ReportContent:
    """All that a report tells, and as of when."""

    sections: tuple[ReportSection, ...]
    date: datetime


def gather(sources: Sequence[PathLike], *, date: datetime | None = None, rehearsal: bool = False) -> ReportContent:
    """Read runs and benchmarks; a run that has no scores is scored, where its benchmark is among the sources.

    `date` is when the newest scores were written, unless given.
    """
    folders = _folders(sources)
    benchmarks = [read_benchmark(folder) for folder, marker in folders.items() if marker == BENCHMARK_FILE]
    score = partial(score_on, benchmarks)
    runs = [read_scored(folder, score, benchmarks) for folder, marker in folders.items() if marker == RUN_FILE]
    sections = _sections(benchmarks, runs, rehearsal)
    dates = [run.scored_at for run in runs] or [
        datetime.fromtimestamp((folder / BENCHMARK_FILE).stat().st_mtime, UTC) for folder in folders
    ]
    return ReportContent(sections, max(dates) if date is None else date)


def _folders(sources: Iterable[PathLike]) -> dict[Path, str]:
    """Each folder once, with the file that says what it is; files, as `runs/*` names them too, are skipped."""
    found: dict[Path, str] = {}
    seen: set[Path] = set()
    files: list[str] = []
    for source in sources:
        folder = Path(source).expanduser()
        if folder.is_file():
            files.append(str(folder))
            continue
        marker = next((name for name in (BENCHMARK_FILE, RUN_FILE) if (folder / name).is_file()), None)
        if marker is None:
            what = "neither a benchmark nor a run" if folder.is_dir() else "not a folder"
            raise UserError(f"{folder} is {what}.", _GIVE)
        if folder.resolve() not in seen:
            seen.add(folder.resolve())
            found[folder] = marker
    if not found:
        only = f": {some(files, 3)} {'is not a folder' if len(files) == 1 else 'are not folders'}" if files else ""
        raise UserError(f"There is nothing to report on{only}.", _GIVE)
    if files:
        _log.warning("Skipped files, which are neither runs nor benchmarks: %s.", some(files, 3))
    return found


def score_on(benchmarks: Sequence[Benchmark], folder: Path, header: Run) -> Scores:
    """Score a run on its benchmark and keep the scores with it."""
    named = [benchmark for benchmark in benchmarks if benchmark.name == header.benchmark]
    same = [benchmark for benchmark in named if benchmark.is_version(header.benchmark_checksum)]
    if not named:
        raise UserError(
            f'{folder} has no scores, and its benchmark "{header.benchmark}" was not found.',
            f"give the benchmark's folder too, or score the run first: sightline score BENCH {folder}",
        )
    # A run of another version is refused by `evaluate`, which says so.
    benchmark = (same or named)[0]
    run = read_run(folder)
    scores = with_changes(with_trust(evaluate(benchmark, run), benchmark, run), folder)
    keep_scores(scores, folder)
    attribute_folder(folder, benchmark)
    return scores


def _sections(
    benchmarks: Iterable[Benchmark], runs: Iterable[ReportedRun], rehearsal: bool
) -> tuple[ReportSection, ...]:
    """In the order in which benchmarks are first met: those given, then those that only runs tell of."""
    facts: dict[Key, BenchmarkCounts] = {(found.name, found.checksum): facts_of(found) for found in benchmarks}
    grouped: dict[Key, list[ReportedRun]] = {key: [] for key in facts}
    for run in runs:
        key = (run.scores.benchmark, run.scores.checksum)
        if key not in facts:
            facts[key] = facts_from_scores(run.scores)
        grouped.setdefault(key, []).append(run)
    return tuple(_section(facts[key], with_own_names(of_key), facts, rehearsal) for key, of_key in grouped.items())


def _section(
    facts: BenchmarkCounts, runs: Sequence[ReportedRun], all_facts: Iterable[Key], rehearsal: bool
) -> ReportSection:
    ranked = _ranked(runs)
    # From the last to the first, so that a difference says by how much the better one is ahead.
    compared = compare_runs(ranked[::-1], rehearsal=rehearsal)
    warnings = (*compared.warnings, *_versions(facts, ranked, all_facts))
    trust = trust_of(ranked, compared.comparison)
    return ReportSection(facts, tuple(ranked), _headlines(facts, ranked), compared.comparison, warnings, trust)


def _headlines(facts: BenchmarkCounts, runs: Iterable[ReportedRun]) -> dict[TaskKind, str]:
    found: dict[TaskKind, str] = {}
    for run in runs:
        for row in run.scores.tasks:
            if row.kind not in found and row.values:
                found[row.kind] = next(iter(row.values))
    return {kind: found[kind] for kind in facts.kinds if kind in found}


def _ranked(runs: Sequence[ReportedRun]) -> list[ReportedRun]:
    """Best first in the first metric that all runs have; as given, where there is none.

    Systems that are, or were shown, what the labels were made from come last: no report begins with a circular score.
    """
    estimates = [run.scores.overall for run in runs]
    shared = [metric for metric in (estimates[0] if runs else ()) if all(metric in one for one in estimates)]
    key = (lambda run: -run.scores.overall[shared[0]].mean) if shared else (lambda _: 0.0)
    return sorted(runs, key=lambda run: (is_circular(run.scores), key(run)))


def _versions(facts: BenchmarkCounts, runs: Iterable[ReportedRun], all_facts: Iterable[Key]) -> Iterator[str]:
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


@dataclass(frozen=True, slots=True)
class FileNames:
    """How the tables of one benchmark are called."""

    per_task: str
    slices: str
    pairs: str


def file_names(stem: str, sections: Sequence[ReportSection]) -> list[FileNames]:
    """`page-samples-per-task.csv` and so on; each benchmark's name is used once."""
    slugs = unique_slugs([section.facts.name for section in sections])
    return [
        FileNames(*(f"{stem}-{slug}-{table}.csv" for table in ("per-task", "slices", "differences"))) for slug in slugs
    ]


def unique_slugs(names: Sequence[str]) -> list[str]:
    """Names in plain small letters, each once."""
    found: list[str] = []
    for name in names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        slug = _NOT_PLAIN.sub("-", plain).strip("-")[:60] or "benchmark"
        numbered = (f"{slug}-{number}" for number in count(2))
        found.append(next(one for one in chain([slug], numbered) if one not in found))
    return found


def tables_of(section: ReportSection, names: FileNames) -> dict[str, bytes]:
    """The tables of a benchmark by file name; those that would be empty are left out."""
    tables = {
        names.per_task: list(_per_task(section)),
        names.slices: list(_slices(section)),
        names.pairs: list(_pairs(section)),
    }
    return {name: csv_bytes(rows) for name, rows in tables.items() if rows}


def _per_task(section: ReportSection) -> Iterator[dict[str, Any]]:
    for run in section.runs:
        for record in run.scores.records():
            yield {"system": run.name, **record}


def _slices(section: ReportSection) -> Iterator[dict[str, Any]]:
    for run in section.runs:
        for label, values in run.scores.by_label.items():
            for value, estimates in values.items():
                for metric, found in estimates.items():
                    yield {"label": label, "value": value, "metric": metric, "system": run.name, **asdict(found)}


def _pairs(section: ReportSection) -> Iterator[dict[str, Any]]:
    for metric in section.metrics:
        for pair in section.pairs(metric):
            both = {"metric": metric, "first": pair.first, "second": pair.second}
            said = {"no_win": pair.no_win, "grade": section.facts.grade}
            yield {**both, **asdict(pair.difference), "p_adjusted": pair.p_adjusted, **said}
