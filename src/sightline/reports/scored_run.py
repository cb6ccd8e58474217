"""A run with its scores, what it cost and how long it took, from its folder; and runs compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from sightline.benchmark.problems import stop
from sightline.errors import UserError
from sightline.metrics.comparison import Comparison, RunOrder, compare, order_runs
from sightline.metrics.scores import SCORES_FILE, Scores
from sightline.plain_text import dollars
from sightline.reports.text import DASH
from sightline.runs.folder import ATTEMPTS, HEADER, LEDGER, open_run
from sightline.runs.summary import ATTEMPT
from sightline.runs.trust import CHECK_FIX, REHEARSAL, is_rehearsal, scores_now
from sightline.types import Benchmark, LedgerEntry, Run, ScoreWarning

_TOKENS = {
    "in": "tokens_in",
    "cached": "tokens_cached",
    "image": "tokens_image",
    "out": "tokens_out",
    "reasoning": "tokens_reasoning",
}


@dataclass(frozen=True, slots=True)
class RunSpending:
    """Calls, money, tokens and time per task.

    `priced` calls have a known price and cost `known_usd` together. `p50` and `p95` are over `timed` tasks: the
    seconds of a task's attempts (of all calls for it, where the ledger times no attempts), divided by their number; a
    task with one of unknown length is left out.
    """

    calls: int = 0
    failed: int = 0
    priced: int = 0
    known_usd: float = 0.0
    tokens: Mapping[str, int] = field(default_factory=dict)
    tasks: int = 0
    timed: int = 0
    p50: float | None = None
    p95: float | None = None

    @property
    def usd(self) -> float | None:
        """What all of it cost; None where that is not known, which is not zero."""
        return self.known_usd if self.calls and self.priced == self.calls else None

    @property
    def usd_per_task(self) -> float | None:
        """Money for each task; None where it is not known."""
        return self.usd / self.tasks if self.usd is not None and self.tasks else None

    @property
    def usd_text(self) -> str:
        """The money in words: a lower bound where only part of it is known."""
        if not self.calls:
            return "not recorded"
        if not self.priced:
            return "unknown"
        return dollars(self.known_usd) if self.usd is not None else f"≥ {dollars(self.known_usd)}"

    @property
    def usd_per_task_text(self) -> str:
        """Money for each task in words; a dash where it is not known."""
        return DASH if self.usd_per_task is None else dollars(self.usd_per_task)


def spending(ledger: Sequence[LedgerEntry], attempts: Mapping[str, int]) -> RunSpending:
    """Add a ledger up; `attempts` says how often each task was tried."""
    prices = [entry.usd for entry in ledger if entry.usd is not None]
    times = _seconds_per_task(ledger, attempts)
    middle, high = (float(value) for value in np.quantile(times, (0.5, 0.95))) if times else (None, None)
    return RunSpending(
        calls=len(ledger),
        failed=sum(not entry.ok for entry in ledger),
        priced=len(prices),
        known_usd=sum(prices),
        tokens={name: sum(getattr(entry, field) for entry in ledger) for name, field in _TOKENS.items()},
        tasks=len(attempts),
        timed=len(times),
        p50=middle,
        p95=high,
    )


def only(ledger: Iterable[LedgerEntry], tasks: Collection[str]) -> list[LedgerEntry]:
    """The calls that were made for these tasks."""
    return [entry for entry in ledger if entry.task_id in tasks]


def _seconds_per_task(ledger: Iterable[LedgerEntry], attempts: Mapping[str, int]) -> list[float]:
    own: dict[str, list[float | None]] = {}
    calls: dict[str, list[float | None]] = {}
    for entry in ledger:
        if entry.task_id is not None and entry.task_id in attempts:
            # An attempt's time holds that of its calls.
            (own if entry.stage == ATTEMPT else calls).setdefault(entry.task_id, []).append(entry.seconds)
    times = {**calls, **own}
    known = {task: [second for second in of_task if second is not None] for task, of_task in times.items()}
    return [sum(known[task]) / attempts[task] for task in known if len(known[task]) == len(times[task])]


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """`run` has its ledger and no attempts: what they were worth is in `scores`."""

    name: str
    folder: Path
    run: Run
    scores: Scores
    spending: RunSpending
    ran_at: datetime
    scored_at: datetime


def read_scored(
    folder: Path, score: Callable[[Path, Run], Scores] | None = None, benchmarks: Iterable[Benchmark] = ()
) -> ReportedRun:
    """The run in a folder, under its system's name; one without scores is scored by `score`, else refused.

    What its scores are worth is looked up again in its benchmark, among `benchmarks` or where it was.
    """
    opened = open_run(folder, stop)
    run = opened.header.to_run((), tuple(entry for _, entry in opened.source.rows(LEDGER)))
    is_scored = (folder / SCORES_FILE).is_file()
    scores = scores_now(folder, benchmarks) if is_scored or score is None else score(folder, run)
    predictions = folder / ATTEMPTS.name
    return ReportedRun(
        name=run.system,
        folder=folder,
        run=run,
        scores=scores,
        spending=spending(run.ledger, attempts_by_task(scores)),
        ran_at=_written_at(predictions if predictions.is_file() else folder / HEADER),
        scored_at=_written_at(folder / SCORES_FILE),
    )


def attempts_by_task(scores: Scores) -> Counter[str]:
    """How often each task was tried; those without a prediction are left out."""
    return Counter(row.task_id for row in scores.tasks if row.status != "missing")


def failures_differ(runs: Iterable[ReportedRun]) -> bool:
    """Did some run fail on tasks that another did not fail on?"""
    failed = {frozenset(row.task_id for row in run.scores.tasks if row.status == "failed") for run in runs}
    return len(failed) > 1


def with_own_names(runs: Sequence[ReportedRun]) -> list[ReportedRun]:
    """The same runs; those of one system are told apart by as much of their paths as that takes."""
    shared = {name for name, count in Counter(run.name for run in runs).items() if count > 1}
    return [replace(run, name=f"{run.name} ({_own_path(run, runs)})") if run.name in shared else run for run in runs]


def _own_path(run: ReportedRun, runs: Iterable[ReportedRun]) -> str:
    parts = run.folder.resolve().parts
    others = [other.folder.resolve().parts for other in runs if other.name == run.name and other is not run]
    for length in range(1, len(parts)):
        if all(other[-length:] != parts[-length:] for other in others):
            return "/".join(parts[-length:])
    return str(run.folder)


Found = TypeVar("Found", Comparison, RunOrder)


@dataclass(frozen=True, slots=True)
class RunComparison(Generic[Found]):
    """The comparison of some runs; None for a single run, and where it can't be made, which `warnings` explain."""

    comparison: Found | None
    warnings: tuple[str, ...] = ()


def compare_runs(
    runs: Sequence[ReportedRun], metrics: Sequence[str] | None = None, *, rehearsal: bool = False
) -> RunComparison[Comparison]:
    """Compare runs of one benchmark over all their tasks; failures that differ are noted, not refused.

    On a benchmark of the grade `rehearsal` nothing is compared unless that is asked for.
    """

    def compared(names: Sequence[str], level: float, seed: int) -> Comparison:
        # Slices of differences are not shown, and without labels they are not computed.
        bare = [replace(run.scores, tasks=tuple(replace(row, labels={}) for row in run.scores.tasks)) for run in runs]
        return compare(bare, metrics, names=names, allow_failures_differ=True, level=level, seed=seed)

    return _held_together(runs, compared, rehearsal)


def runs_in_order(runs: Sequence[ReportedRun], metric: str, *, rehearsal: bool = False) -> RunComparison[RunOrder]:
    """Only which of the runs are better than which in one metric, by the tests of `compare_runs`."""

    def ordered(names: Sequence[str], level: float, seed: int) -> RunOrder:
        return order_runs([run.scores for run in runs], metric, names=names, level=level, seed=seed)

    return _held_together(runs, ordered, rehearsal)


def _held_together(
    runs: Sequence[ReportedRun], by: Callable[[Sequence[str], float, int], Found], rehearsal: bool
) -> RunComparison[Found]:
    if len(runs) < 2:
        return RunComparison(None)
    if not rehearsal and any(is_rehearsal(run.scores) for run in runs):
        return RunComparison(None, (f"No comparison is drawn: {REHEARSAL}. {CHECK_FIX}",))
    levels = {run.scores.level for run in runs}
    try:
        found = by([run.name for run in runs], max(levels), runs[0].scores.seed)
    except UserError as error:
        fix = f" To compare them: {error.fix}." if error.fix else ""
        return RunComparison(None, (f"the runs can't be compared: {error.message}{fix}",))
    mixed = (f"intervals are of different levels; differences are tested at {max(levels):.0%}",)
    return RunComparison(found, mixed if len(levels) > 1 else ())


def trust_of(runs: Sequence[ReportedRun], comparison: Comparison | RunOrder | None) -> tuple[ScoreWarning, ...]:
    """The warnings of some runs and of their comparison, each once."""
    compared = () if comparison is None else comparison.warnings
    return tuple(dict.fromkeys((*(warning for run in runs for warning in run.scores.warnings), *compared)))


def _written_at(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
