"""Whether a judge is the same judge throughout: by where a picture stands in a call, and by when it was judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sightline.make.judge.panel import by_pair, label_of
from sightline.make.judge.verdicts import Verdict
from sightline.score.statistics import estimate
from sightline.types import Estimate

_PARTS = 4
_FEWEST = 20
"""With fewer verdicts than this nothing can be said."""
_FEWEST_QUERIES = 8
_PERMUTATIONS = 5000
_SIGNIFICANT = 0.01
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Drift:
    """Of one judge. `position`: share of relevant in the later half of a call less that in the earlier, over queries.

    The order of pictures is drawn by lot, so it should be about zero. `agreement`: how often the judge agrees with the
    panel's label, in four parts of the time that it judged; `relevant`: how often it said relevant in each. `p` tells
    whether queries that were judged in the later half differ, in agreement or where nobody else judged in what was
    said, from the others (permutation test over queries). None and empty where there is too little to go by.
    """

    judge: str
    verdicts: int
    position: Estimate | None = None
    agreement: tuple[Estimate, ...] = ()
    relevant: tuple[Estimate, ...] = ()
    p: float | None = None

    @property
    def depends_on_position(self) -> bool:
        """Zero is outside the interval of the difference."""
        return self.position is not None and not self.position.low <= 0 <= self.position.high

    @property
    def changes(self) -> bool:
        """The two halves differ by more than chance would make them."""
        return self.p is not None and self.p < _SIGNIFICANT


def find_drift(verdicts: Sequence[Verdict], seed: int = 0) -> tuple[Drift, ...]:
    """For each judge of a panel."""
    labels = {pair: label_of(said).is_relevant for pair, said in by_pair(verdicts).items()}
    by_judge: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_judge[verdict.judge].append(verdict)
    return tuple(_drift(judge, said, labels if len(by_judge) > 1 else None, seed) for judge, said in by_judge.items())


def _drift(judge: str, said: Sequence[Verdict], labels: Mapping[tuple[str, str], bool] | None, seed: int) -> Drift:
    timed = sorted((verdict for verdict in said if verdict.at is not None), key=lambda verdict: verdict.at or 0.0)
    timed = timed if len(timed) >= _FEWEST else []
    relevant = [float(verdict.grade > 0) for verdict in timed]
    agree = relevant
    if labels is not None:
        agree = [float((verdict.grade > 0) == labels[verdict.task, verdict.picture]) for verdict in timed]
    tasks = [verdict.task for verdict in timed]
    return Drift(
        judge,
        len(said),
        _position(said, seed),
        () if labels is None else _over_time(tasks, agree, seed),
        _over_time(tasks, relevant, seed),
        _halves_differ(tasks, agree, seed),
    )


def _position(said: Sequence[Verdict], seed: int) -> Estimate | None:
    halves: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for verdict in said:
        if verdict.place is None or verdict.shown is None or verdict.shown < 2:
            continue
        where = (verdict.place - 1) / (verdict.shown - 1)
        if where != 0.5:
            halves[verdict.task][where > 0.5].append(float(verdict.grade > 0))
    differences = [_mean(late) - _mean(early) for early, late in halves.values() if early and late]
    return estimate(differences, proportion=False, seed=seed) if len(differences) > 1 else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _over_time(tasks: Sequence[str], values: Sequence[float], seed: int) -> tuple[Estimate, ...]:
    """In parts of equal size, by time; whole queries are what is resampled."""
    cuts = [part * len(tasks) // _PARTS for part in range(_PARTS + 1)] if tasks else []
    return tuple(
        estimate(values[start:end], clusters=tasks[start:end], proportion=True, seed=seed)
        for start, end in pairwise(cuts)
    )


def _halves_differ(tasks: Sequence[str], values: Sequence[float], seed: int) -> float | None:
    """Two-sided p of the difference between queries that were judged earlier and later, each query counting once."""
    by_task: dict[str, list[float]] = defaultdict(list)
    for task, value in zip(tasks, values, strict=True):
        by_task[task].append(value)
    means = np.array([_mean(one) for one in by_task.values()])
    if len(means) < _FEWEST_QUERIES:
        return None
    half = len(means) // 2
    shuffled = np.random.default_rng(seed).permuted(np.tile(means, (_PERMUTATIONS, 1)), axis=1)
    drawn = np.abs(shuffled[:, half:].mean(axis=1) - shuffled[:, :half].mean(axis=1))
    seen = abs(float(means[half:].mean() - means[:half].mean()))
    return float((1 + np.count_nonzero(drawn >= seen - _ROUNDING)) / (1 + _PERMUTATIONS))
