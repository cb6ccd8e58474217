"""A run with its scores and what it cost, from its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sightline.bench.problems import stop
from sightline.errors import UserError
from sightline.report.spending import Spending, spending
from sightline.run.folder import ATTEMPTS, HEADER, LEDGER, open_run
from sightline.score.compare import Comparison, compare
from sightline.score.scores import SCORES_FILE, Scores, read_scores
from sightline.types import Run


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """`run` has its ledger and no attempts: what they were worth is in `scores`."""

    name: str
    folder: Path
    run: Run
    scores: Scores
    spending: Spending
    ran_at: datetime
    scored_at: datetime


def read_scored(folder: Path, score: Callable[[Path, Run], Scores] | None = None) -> ScoredRun:
    """The run in a folder, under its system's name; one without scores is scored by `score`, else refused."""
    opened = open_run(folder, stop)
    run = opened.header.to_run((), tuple(entry for _, entry in opened.source.rows(LEDGER)))
    is_scored = (folder / SCORES_FILE).is_file()
    scores = read_scores(folder) if is_scored or score is None else score(folder, run)
    predictions = folder / ATTEMPTS.name
    return ScoredRun(
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


def failures_differ(runs: Iterable[ScoredRun]) -> bool:
    """Did some run fail on tasks that another did not fail on?"""
    failed = {frozenset(row.task_id for row in run.scores.tasks if row.status == "failed") for run in runs}
    return len(failed) > 1


def with_own_names(runs: Sequence[ScoredRun]) -> list[ScoredRun]:
    """The same runs; those of one system are told apart by as much of their paths as that takes."""
    shared = {name for name, count in Counter(run.name for run in runs).items() if count > 1}
    return [replace(run, name=f"{run.name} ({_own_path(run, runs)})") if run.name in shared else run for run in runs]


def _own_path(run: ScoredRun, runs: Iterable[ScoredRun]) -> str:
    parts = run.folder.resolve().parts
    others = [other.folder.resolve().parts for other in runs if other.name == run.name and other is not run]
    for length in range(1, len(parts)):
        if all(other[-length:] != parts[-length:] for other in others):
            return "/".join(parts[-length:])
    return str(run.folder)


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of some runs; None for a single run, and where it can't be made, which `warnings` explain."""

    comparison: Comparison | None
    warnings: tuple[str, ...] = ()


def compare_runs(runs: Sequence[ScoredRun], metrics: Sequence[str] | None = None) -> Compared:
    """Compare runs of one benchmark over all their tasks; failures that differ are noted, not refused."""
    if len(runs) < 2:
        return Compared(None)
    levels = {run.scores.level for run in runs}
    # Slices of differences are not shown, and without labels they are not computed.
    scores = [replace(run.scores, tasks=tuple(replace(row, labels={}) for row in run.scores.tasks)) for run in runs]
    try:
        found = compare(
            scores,
            metrics,
            names=[run.name for run in runs],
            allow_failures_differ=True,
            level=max(levels),
            seed=runs[0].scores.seed,
        )
    except UserError as error:
        fix = f" To compare them: {error.fix}." if error.fix else ""
        return Compared(None, (f"the runs can't be compared: {error.message}{fix}",))
    mixed = (f"intervals are of different levels; differences are tested at {max(levels):.0%}",)
    return Compared(found, mixed if len(levels) > 1 else ())


def _written_at(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
