"""How far each judge can be trusted, by what people found of the same pictures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from sightline.make.audit.decisions import Labels, Pair, labels_of, settled, standing, votes_of
from sightline.make.audit.weighing import stratified
from sightline.types import Benchmark, Estimate


@dataclass(frozen=True, slots=True)
class Rates:
    """A judge against people: how often they agree, how much of what it finds they find, and the other way round.

    `precision`: of the pictures that it calls relevant, those that people do. `recall`: of the judged pictures that
    people find relevant, those that it does. With `n` 0 there was nothing to measure by.
    """

    agreement: Estimate
    precision: Estimate
    recall: Estimate


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """One judge: `rates` weighted back to all that it judged, by tier, and what each of its grades is worth.

    `by_grade` is the judge's calibration: of the pictures to which it gave the grade, the share that people find
    relevant.
    """

    judge: str
    judged: int
    checked: int
    rates: Rates
    by_tier: Mapping[str, Rates]
    by_grade: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Said:
    """What one judge said: grade and tier of each pair, and how many pairs each tier has, in all and by grade."""

    grades: Mapping[Pair, int]
    tier_of: Mapping[Pair, str]
    sizes: Mapping[str, int]
    by_grade: Mapping[int, Mapping[str, int]]


def said_by_judges(benchmark: Benchmark, labels: Labels) -> dict[str, Said]:
    """By judge; no review changes it."""
    grades: dict[str, dict[Pair, int]] = defaultdict(dict)
    for one in benchmark.judgments:
        if (one.task, one.picture) in labels.stratum:
            grades[one.judge][one.task, one.picture] = one.grade
    return {judge: _said(held, labels.stratum) for judge, held in sorted(grades.items())}


def _said(grades: Mapping[Pair, int], stratum: Mapping[Pair, str]) -> Said:
    tier_of = {pair: stratum[pair] for pair in grades}
    by_grade: dict[int, Counter[str]] = defaultdict(Counter)
    for pair, grade in grades.items():
        by_grade[grade][tier_of[pair]] += 1
    return Said(grades, tier_of, Counter(tier_of.values()), by_grade)


def judge_quality(
    benchmark: Benchmark,
    *,
    labels: Labels | None = None,
    said: Mapping[str, Said] | None = None,
    seed: int = 0,
) -> tuple[JudgeQuality, ...]:
    """Every judge of whose judgments people have checked some; `labels` and `said` where they are known already."""
    labels = labels or labels_of(benchmark)
    votes = votes_of(standing(benchmark.reviews), benchmark, labels.now)
    found = {pair: is_so for pair, given in votes.items() if (is_so := settled(given, 1)) is not None}
    if not found:
        return ()
    judges = said_by_judges(benchmark, labels) if said is None else said
    return tuple(
        _measured(judge, held, checked, seed)
        for judge, held in judges.items()
        if (checked := {pair: is_so for pair, is_so in found.items() if pair in held.grades})
    )


def _measured(judge: str, said: Said, found: Mapping[Pair, bool], seed: int) -> JudgeQuality:
    tiers: dict[str, dict[Pair, bool]] = defaultdict(dict)
    for pair, is_so in found.items():
        tiers[said.tier_of[pair]][pair] = is_so
    return JudgeQuality(
        judge,
        len(said.grades),
        len(found),
        _rates(said, found, seed),
        {tier: _rates(said, held, seed) for tier, held in sorted(tiers.items())},
        {
            str(grade): stratified(
                {pair: is_so for pair, is_so in found.items() if said.grades[pair] == grade},
                said.tier_of,
                seed=seed,
                sizes=sizes,
            )
            for grade, sizes in sorted(said.by_grade.items())
        },
    )


def _rates(said: Said, found: Mapping[Pair, bool], seed: int) -> Rates:
    says = {pair: said.grades[pair] > 0 for pair in found}
    agree = {pair: says[pair] == is_so for pair, is_so in found.items()}
    found_by_judge, found_by_people = ({pair for pair, is_so in each.items() if is_so} for each in (says, found))
    return Rates(
        stratified(agree, said.tier_of, seed=seed, sizes=said.sizes),
        stratified(found, said.tier_of, seed=seed, sizes=said.sizes, among=found_by_judge),
        stratified(says, said.tier_of, seed=seed, sizes=said.sizes, among=found_by_people),
    )
