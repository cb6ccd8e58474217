"""Repeated attempts at the same tasks: how much of the spread is chance, best@k, majority vote, verifier's choice."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import UserError
from sightline.metrics.statistics.intervals import Floats
from sightline.types import Failure, PictureSet


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


def best_at_k(values: ArrayLike, k: int, *, unbiased: bool = True) -> NDArray[np.float64]:
    """Best@k of each task, from a matrix with a row for each task and a column for each of n attempts.

    Unbiased: the expected maximum of k attempts drawn without replacement from the n,
    Σ_i C(i − 1, k − 1) / C(n, k) · v_(i), with v_(i) the i-th lowest value; plain: the maximum of the first k.
    Both are the maximum of all when k = n. A failed attempt is a 0 of the caller's.
    """
    table = np.asarray(values, np.float64)
    if table.ndim != 2:
        raise UserError("best@k needs a row for each task and a column for each attempt.")
    n = table.shape[1]
    if not 1 <= k <= n:
        raise UserError(f"best@{k} needs at least {max(k, 1)} attempts; there are {n}.", f"choose k from 1 to {n}")
    if np.isnan(table).any():
        raise UserError("best@k can't take a missing value.", "count a failed or missing attempt as 0")
    if not unbiased:
        return np.asarray(table[:, :k].max(axis=1))
    weights = [comb(i, k - 1) / comb(n, k) for i in range(n)]
    return np.asarray(np.sort(table, axis=1) @ weights)


def majority_vote(attempts: Sequence[PictureSet | Failure], threshold: float = 0.5) -> PictureSet | Failure:
    """The pictures in **more** than this share of the attempts that answered, most votes first.

    A share equal to the threshold is not a majority: of two attempts, both must agree. A failed attempt has no vote;
    when all failed, the first failure is the result. No majority for anything is an empty set: an abstention.
    Pictures with equally many votes stay in the order in which they were first named.
    """
    answered = [attempt for attempt in attempts if isinstance(attempt, PictureSet)]
    if not answered:
        return _first_failure(attempts)
    votes = Counter(picture for attempt in answered for picture in dict.fromkeys(attempt.pictures))
    return PictureSet(tuple(p for p, count in votes.most_common() if count / len(answered) > threshold))


def verifier_choice(attempts: Sequence[PictureSet | Failure], scores: Sequence[float]) -> PictureSet | Failure:
    """The answered attempt that the verifier scores highest, the earliest of equals; a failure when all failed."""
    if len(attempts) != len(scores):
        raise UserError(f"{len(attempts)} attempts, but {len(scores)} verifier scores.", "give one score for each")
    answered = [i for i, attempt in enumerate(attempts) if isinstance(attempt, PictureSet)]
    if not answered:
        return _first_failure(attempts)
    if any(scores[i] != scores[i] for i in answered):
        raise UserError("a verifier score is not a number.", "give every answered attempt a score")
    return attempts[max(answered, key=scores.__getitem__)]


def _first_failure(attempts: Sequence[PictureSet | Failure]) -> Failure:
    for attempt in attempts:
        if isinstance(attempt, Failure):
            return attempt
    return Failure("missing", "there is no attempt at this task")
