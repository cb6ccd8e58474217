"""Recall against the cut-off: how much of what is to be found is among the first k, for growing k."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from sightline.score.finding import has_something
from sightline.score.measure import Attempted, batch, rankings
from sightline.score.ranked.formula import formula
from sightline.score.scores import RecallAt
from sightline.score.statistics import Column
from sightline.types import Estimate, Ranking, TaskKind

CUT_OFFS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

Estimating = Callable[[Mapping[str, Column], Sequence[Hashable | None] | None], Mapping[str, Estimate]]


def recall_curves(
    attempts: Sequence[Attempted], cluster_of: Mapping[str, str], estimating: Estimating
) -> dict[TaskKind, tuple[RecallAt, ...]]:
    """For rank and select tasks that some ranking answers: recall at each cut-off up to the longest ranking.

    Tasks with nothing to find are left out; a failed or missing attempt counts as zero; attempts at a task are
    averaged. A set has no order, so where no prediction is a `Ranking` there is no curve.
    """
    curves: dict[TaskKind, tuple[RecallAt, ...]] = {}
    kinds: tuple[TaskKind, ...] = ("rank", "select")
    for kind in kinds:
        of_kind = [one for one in attempts if one.task.kind == kind and has_something(one.truth)]
        lengths = [len(one.prediction.pictures) for one in of_kind if isinstance(one.prediction, Ranking)]
        longest = max(lengths, default=0)
        if longest > 1:
            curves[kind] = _curve(of_kind, longest, cluster_of, estimating)
    return curves


def _curve(
    attempts: Sequence[Attempted], longest: int, cluster_of: Mapping[str, str], estimating: Estimating
) -> tuple[RecallAt, ...]:
    last = next((place for place, k in enumerate(CUT_OFFS) if k >= longest), len(CUT_OFFS) - 1)
    answered = rankings(attempts)
    all_at_once = batch(attempts, answered)
    tasks = list(dict.fromkeys(one.task.id for one in attempts))
    row = {task: number for number, task in enumerate(tasks)}
    owners = np.array([row[one.task.id] for one in attempts])
    tried = np.bincount(owners, minlength=len(tasks))
    replied = np.bincount(owners[answered], minlength=len(tasks))
    columns: dict[str, Column] = {}
    for k in CUT_OFFS[: last + 1]:
        sums = np.bincount(owners[answered], formula(f"recall@{k}")(all_at_once), minlength=len(tasks))
        means = np.divide(sums, replied, out=np.full(len(tasks), np.nan), where=replied > 0)
        columns[str(k)] = Column(sums / tried, replied < tried, means)
    clusters = [cluster_of.get(task) for task in tasks] if cluster_of else None
    return tuple(RecallAt(int(k), found) for k, found in estimating(columns, clusters).items())
