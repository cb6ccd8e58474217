"""Repeated runs: how much of the spread is the tasks, and how much is the system's own chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sightline.score.statistics.bootstrap import Floats


@dataclass(frozen=True, slots=True)
class Repeated:
    """Variance of a metric over repeated attempts, a failure counting as zero.

    `run_means`: the mean of each attempt over its tasks. `between_run_sd`: their standard deviation: what a single
    run's headline wobbles by. `within_task_sd` and `between_task_sd`: one-way random-effects components.
    `intraclass`: ICC(1), the share of variance that is the task; near 1 means that repeating tells little.
    None where there is too little to tell.
    """

    runs: int
    tasks: int
    run_means: tuple[float, ...]
    between_run_sd: float | None
    within_task_sd: float | None
    between_task_sd: float | None
    intraclass: float | None


def repeated(table: Floats) -> Repeated:
    """Decompose a table of tasks × attempts; NaN marks an attempt that was not made or is undefined."""
    made = np.isfinite(table)
    table, made = table[made.any(axis=1)], made[made.any(axis=1)]
    filled = np.where(made, table, 0.0)
    per_run = made.sum(axis=0)
    means = [float(total / count) for total, count in zip(filled.sum(axis=0), per_run, strict=True) if count]
    within, between, intraclass = _components(filled, made)
    return Repeated(
        runs=len(means),
        tasks=len(table),
        run_means=tuple(means),
        between_run_sd=float(np.std(means, ddof=1)) if len(means) > 1 else None,
        within_task_sd=within,
        between_task_sd=between,
        intraclass=intraclass,
    )


def _components(filled: Floats, made: np.typing.NDArray[np.bool_]) -> tuple[float | None, float | None, float | None]:
    """Standard deviation within tasks, between tasks, and ICC(1), by one-way analysis of variance."""
    attempts = made.sum(axis=1).astype(np.float64)
    total, tasks = float(attempts.sum()), len(filled)
    if total <= tasks:
        return None, None, None
    task_means = filled.sum(axis=1) / attempts
    residuals = np.where(made, filled - task_means[:, None], 0.0)
    within = float((residuals**2).sum()) / (total - tasks)
    if tasks < 2:
        return math.sqrt(within), None, None
    grand = float(filled.sum()) / total
    mean_square = float((attempts * (task_means - grand) ** 2).sum()) / (tasks - 1)
    # The average number of attempts as the expected mean square weighs it; equals it when balanced.
    each = (total - float((attempts**2).sum()) / total) / (tasks - 1)
    between = (mean_square - within) / each
    spread = between + within
    intraclass = None if spread <= 0 else between / spread
    return math.sqrt(within), math.sqrt(max(between, 0.0)), intraclass
