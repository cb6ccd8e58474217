"""How far each judge can be trusted: by what people found of the same pictures, and by whether it drifts.

Drift is by where a picture stands in a call, and by when it was judged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.authoring.judge_verdicts import JudgeVerdict, by_pair, label_of
from sightline.benchmark.label_quality import stratified
from sightline.benchmark.review_decisions import BenchmarkLabels, Pair, labels_of, settled, standing, votes_of
from sightline.metrics.statistics.estimates import estimate
from sightline.types import Benchmark, Estimate

_FEWEST = 20
"""With fewer verdicts than this nothing can be said."""
_FEWEST_QUERIES = 8
_PERMUTATIONS = 5000
_SIGNIFICANT = 0.01
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class JudgeRates:
    """A judge against people: how often they agree, how much of what it finds they find, and the other way round.

    `precision`: of the pictures that it calls relevant, those that people do. `recall`: of the judged pictures that
    people find relevant, those that it does. With `n` 0 there was nothing to measure by.
    """

    agreement: Estimate
    precision: Estimate
    recall: Estimate


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """One judge: `rates` weighted back to all that it judged, by stratum of the draw; by tier; by each of its grades.

    `by_grade` is the judge's calibration: of the pictures to which it gave the grade, the share that people find
    relevant.
    """

    judge: str
    judged: int
    checked: int
    rates: JudgeRates
    by_tier: Mapping[str, JudgeRates]
    by_grade: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class JudgeGrades:
    """What one judge said: grade, tier and stratum of each pair, and how many pairs each stratum has, also by grade."""

    grades: Mapping[Pair, int]
    tier_of: Mapping[Pair, str]
    stratum: Mapping[Pair, str]
    sizes: Mapping[str, int]
    by_grade: Mapping[int, Mapping[str, int]]


def said_by_judges(benchmark: Benchmark, labels: BenchmarkLabels) -> dict[str, JudgeGrades]:
    """By judge; no review changes it."""
    grades: dict[str, dict[Pair, int]] = defaultdict(dict)
    for one in benchmark.judgments:
        if (one.task, one.picture) in labels.stratum:
            grades[one.judge][one.task, one.picture] = one.grade
    return {judge: _said(held, labels) for judge, held in sorted(grades.items())}


def _said(grades: Mapping[Pair, int], labels: BenchmarkLabels) -> JudgeGrades:
    by_grade: dict[int, Counter[str]] = defaultdict(Counter)
    for pair, grade in grades.items():
        by_grade[grade][labels.stratum[pair]] += 1
    sizes = sum(by_grade.values(), Counter[str]())
    return JudgeGrades(grades, labels.tier, labels.stratum, sizes, by_grade)


def judge_quality(
    benchmark: Benchmark,
    *,
    labels: BenchmarkLabels | None = None,
    said: Mapping[str, JudgeGrades] | None = None,
) -> tuple[JudgeQuality, ...]:
    """Every judge of whose judgments people have checked some; `labels` and `said` where they are known already."""
    labels = labels or labels_of(benchmark)
    votes = votes_of(standing(benchmark.reviews), benchmark, labels.now)
    found = {pair: is_so for pair, given in votes.items() if (is_so := settled(given, 1)) is not None}
    if not found:
        return ()
    judges = said_by_judges(benchmark, labels) if said is None else said
    return tuple(
        _measured(judge, held, checked)
        for judge, held in judges.items()
        if (checked := {pair: is_so for pair, is_so in found.items() if pair in held.grades})
    )


def _measured(judge: str, said: JudgeGrades, found: Mapping[Pair, bool]) -> JudgeQuality:
    tiers: dict[str, dict[Pair, bool]] = defaultdict(dict)
    for pair, is_so in found.items():
        tiers[said.tier_of[pair]][pair] = is_so
    return JudgeQuality(
        judge,
        len(said.grades),
        len(found),
        _rates(said, found),
        {tier: _rates(said, held) for tier, held in sorted(tiers.items())},
        {
            str(grade): stratified(
                {pair: is_so for pair, is_so in found.items() if said.grades[pair] == grade},
                said.stratum,
                sizes=sizes,
            )
            for grade, sizes in sorted(said.by_grade.items())
        },
    )


def _rates(said: JudgeGrades, found: Mapping[Pair, bool]) -> JudgeRates:
    says = {pair: said.grades[pair] > 0 for pair in found}
    agree = {pair: says[pair] == is_so for pair, is_so in found.items()}
    found_by_judge, found_by_people = ({pair for pair, is_so in each.items() if is_so} for each in (says, found))
    return JudgeRates(
        stratified(agree, said.stratum, sizes=said.sizes),
        stratified(found, said.stratum, sizes=said.sizes, among=found_by_judge),
        stratified(says, said.stratum, sizes=said.sizes, among=found_by_people),
    )


@dataclass(frozen=True, slots=True)
class JudgeDrift:
    """Of one judge. `position`: share of relevant in the later half of a call less that in the earlier, over queries.

    The order of pictures is drawn by lot, so it should be about zero. `p` tells whether queries that were judged in the
    later half differ from the others: in agreement with the panel's label, or where nobody else judged in what was said
    (permutation test over queries). None where there is too little to go by.
    """

    judge: str
    verdicts: int
    position: Estimate | None = None
    p: float | None = None

    @property
    def depends_on_position(self) -> bool:
        """Zero is outside the interval of the difference."""
        interval = None if self.position is None else self.position.interval
        return interval is not None and not interval[0] <= 0 <= interval[1]

    @property
    def changes(self) -> bool:
        """The two halves differ by more than chance would make them."""
        return self.p is not None and self.p < _SIGNIFICANT


def find_drift(verdicts: Sequence[JudgeVerdict], seed: int = 0) -> tuple[JudgeDrift, ...]:
    """For each judge of a panel."""
    labels = {pair: label_of(said).is_relevant for pair, said in by_pair(verdicts).items()}
    by_judge: dict[str, list[JudgeVerdict]] = defaultdict(list)
    for verdict in verdicts:
        by_judge[verdict.judge].append(verdict)
    return tuple(_drift(judge, said, labels if len(by_judge) > 1 else None, seed) for judge, said in by_judge.items())


def _drift(
    judge: str, said: Sequence[JudgeVerdict], labels: Mapping[tuple[str, str], bool] | None, seed: int
) -> JudgeDrift:
    timed = sorted((verdict for verdict in said if verdict.at is not None), key=lambda verdict: verdict.at or 0.0)
    timed = timed if len(timed) >= _FEWEST else []
    values = [
        float((verdict.grade > 0) == (True if labels is None else labels[verdict.task, verdict.picture]))
        for verdict in timed
    ]
    p = _halves_differ([verdict.task for verdict in timed], values, seed)
    return JudgeDrift(judge, len(said), _position(said, seed), p)


def _position(said: Sequence[JudgeVerdict], seed: int) -> Estimate | None:
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
