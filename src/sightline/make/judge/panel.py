"""Several judges: one grade from all of theirs, and how far they agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sightline.make.judge.verdicts import Verdict
from sightline.score.agreement import Measured, cohen_kappa, krippendorff_alpha, percent_agreement

Pair = tuple[str, str]
_RESAMPLES = 2000
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Label:
    """What counts of all that was said of one picture; `confidence` is the mean of those who gave one."""

    grade: int
    confidence: float | None
    judges: int

    @property
    def is_relevant(self) -> bool:
        return self.grade > 0


def label_of(verdicts: Sequence[Verdict]) -> Label:
    """The median of the grades; between two of them the lower, so that a tie is never called relevant."""
    grades = sorted(verdict.grade for verdict in verdicts)
    sure = [verdict.confidence for verdict in verdicts if verdict.confidence is not None]
    confidence = round(sum(sure) / len(sure), 3) if sure else None
    return Label(grades[(len(grades) - 1) // 2], confidence, len({verdict.judge for verdict in verdicts}))


def by_pair(verdicts: Iterable[Verdict]) -> dict[Pair, list[Verdict]]:
    """Verdicts by query and picture."""
    found: dict[Pair, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        found[verdict.task, verdict.picture].append(verdict)
    return dict(found)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the judges of a panel agree, over `items` that two or more of them judged.

    `alpha` is Krippendorff's, with squared distances between grades, and an interval by resampling queries; `pairs`
    holds percent agreement and Cohen's κ (quadratic weights) of each two judges.
    """

    judges: tuple[str, ...]
    items: int
    alpha: Measured
    pairs: Mapping[tuple[str, str], tuple[float | None, float | None]]
    relevant: Mapping[str, float]
    "The share of pictures that each judge calls relevant."
    level: float = _LEVEL


def agreement(verdicts: Sequence[Verdict], *, seed: int = 0) -> Agreement:
    """Of all verdicts of a panel; of one judge alone, only how often it says relevant."""
    judges = tuple(dict.fromkeys(verdict.judge for verdict in verdicts))
    pairs = list(dict.fromkeys((verdict.task, verdict.picture) for verdict in verdicts))
    column = {pair: at for at, pair in enumerate(pairs)}
    ratings: dict[str, list[int | None]] = {judge: [None] * len(pairs) for judge in judges}
    for verdict in verdicts:
        ratings[verdict.judge][column[verdict.task, verdict.picture]] = verdict.grade
    rows = list(ratings.values())
    said = Counter(verdict.judge for verdict in verdicts)
    relevant = Counter(verdict.judge for verdict in verdicts if verdict.grade > 0)
    return Agreement(
        judges,
        sum(sum(row[at] is not None for row in rows) > 1 for at in range(len(pairs))),
        _alpha(rows, [task for task, _ in pairs], seed),
        {
            (one, other): (
                percent_agreement(ratings[one], ratings[other]),
                cohen_kappa(ratings[one], ratings[other], "quadratic"),
            )
            for one, other in combinations(judges, 2)
        },
        {judge: relevant[judge] / said[judge] for judge in judges},
    )


def _alpha(rows: Sequence[Sequence[int | None]], tasks: Sequence[str], seed: int) -> Measured:
    value = krippendorff_alpha(rows, "interval") if len(rows) > 1 else None
    if value is None:
        return Measured(None)
    tables = coincidences(rows, tasks)
    rng = np.random.default_rng(seed)
    if len(tables) < 2:
        return Measured(value)
    picks = rng.integers(len(tables), size=(_RESAMPLES, len(tables)))
    drawn = np.stack([np.bincount(pick, minlength=len(tables)) for pick in picks])
    found = alphas(np.einsum("rt,tcd->rcd", drawn.astype(np.float64), tables))
    defined = found[np.isfinite(found)]
    if len(defined) <= _RESAMPLES // 2:
        return Measured(value)
    low, high = np.quantile(defined, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Measured(value, float(low), float(high))


def coincidences(rows: Sequence[Sequence[int | None]], tasks: Sequence[str]) -> NDArray[np.float64]:
    """For each task the table of grades that its pictures' judges pair, each picture weighing as its ratings."""
    table = np.array([[-1 if grade is None else grade for grade in row] for row in rows])
    counts = np.stack([(table == grade).sum(axis=0) for grade in range(int(table.max()) + 1)], axis=1).astype(float)
    several = counts.sum(axis=1) > 1
    weights = np.divide(1.0, counts.sum(axis=1) - 1, out=np.zeros(len(counts)), where=several)
    found = np.einsum("ic,id,i->icd", counts, counts, weights)
    diagonal = np.arange(counts.shape[1])
    found[:, diagonal, diagonal] -= counts * weights[:, None]
    _, at = np.unique(np.array(tasks), return_inverse=True)
    summed = np.zeros((int(at.max()) + 1, *found.shape[1:]))
    np.add.at(summed, at, found)
    return summed


def alphas(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """α = 1 − D_o / D_e of each table of coincidences, with squared distances; NaN where only one grade occurs."""
    grades = np.arange(tables.shape[1])
    apart = np.subtract.outer(grades, grades).astype(np.float64) ** 2
    margins = tables.sum(axis=1)
    total = margins.sum(axis=1)
    observed = (tables * apart).sum(axis=(1, 2))
    expected = np.einsum("rc,rd,cd->r", margins, margins, apart)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - observed * (total - 1) / expected, np.nan)
