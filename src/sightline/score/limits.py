"""Runs that were limited on purpose (`run --limit N`): scored on the tasks that they were to do, and no others."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from sightline.types import Benchmark, Run


def limit_of(run: Run) -> int | None:
    """How many tasks the run was meant to do, from the first on; None for all."""
    given = run.limits.get("limit")
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else None


def within_limit(benchmark: Benchmark, run: Run, limit: int | None = None) -> Benchmark:
    """The benchmark with only the tasks that the run was meant to do, and at most the first `limit` of all.

    A task beyond the run's own limit that it has an attempt at was meant, too.
    """
    meant = limit_of(run)
    names = list(islice(benchmark.tasks, limit))
    if meant is not None:
        attempted = {attempt.task_id for attempt in run.attempts}
        first = set(islice(benchmark.tasks, meant))
        names = [name for name in names if name in first or name in attempted]
    if len(names) == len(benchmark.tasks):
        return benchmark
    return replace(benchmark, tasks={name: benchmark.tasks[name] for name in names})


def about_limit(whole: Benchmark, scored: Benchmark, run: Run) -> tuple[str, ...]:
    """What a reader must know of scores over some of the tasks."""
    if len(scored.tasks) == len(whole.tasks):
        return ()
    meant = limit_of(run)
    why = "" if meant is None else f"; the run was limited to {meant:,}"
    return (f"scored on {len(scored.tasks):,} of {len(whole.tasks):,} tasks{why}",)
