"""Several judges, and what pools miss: the figures against references and simulated corpora whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.authoring.judge_pool import CHANCE, NEAR, QueryPool, estimate_missed
from sightline.authoring.judge_verdicts import JudgeVerdict, agreement, alphas, coincidences, label_of
from sightline.authoring.project_files import PlannedQuery, Pooled
from sightline.metrics.agreement import krippendorff_alpha

GRADE = st.one_of(st.none(), st.integers(0, 3))


def verdict(task: str, picture: str, judge: str, grade: int, confidence: float | None = None) -> JudgeVerdict:
    return JudgeVerdict(task, picture, judge, grade, confidence)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(GRADE, min_size=6, max_size=6), min_size=n, max_size=n)))
def test_resampled_alpha_is_krippendorffs(rows: list[list[int | None]]) -> None:
    expected = krippendorff_alpha(rows, "interval")
    if all(grade is None for row in rows for grade in row):
        return
    found = float(alphas(coincidences(rows, list("aabbcc")).sum(axis=0)[None])[0])
    assert (expected is None and np.isnan(found)) or found == pytest.approx(expected)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=7))
def test_a_label_is_the_lower_median(grades: list[int]) -> None:
    label = label_of([verdict("q", "p", f"j{number}", grade) for number, grade in enumerate(grades)])
    assert label.grade in grades
    assert sum(grade >= label.grade for grade in grades) * 2 >= len(grades)
    assert sum(grade > label.grade for grade in grades) * 2 <= len(grades)


def test_a_tie_is_not_relevant_and_confidence_is_a_mean() -> None:
    label = label_of([verdict("q", "p", "a", 1, 0.9), verdict("q", "p", "b", 0, 0.6), verdict("q", "p", "c", 0)])
    assert (label.grade, label.confidence, label.judges) == (0, 0.75, 3)
    assert label_of([verdict("q", "p", "a", 1), verdict("q", "p", "b", 0)]).grade == 0


def test_one_judge_has_no_agreement() -> None:
    found = agreement([verdict("q", "p", "a", 1), verdict("q", "r", "a", 0)])
    assert found.alpha.value is None
    assert (found.items, found.pairs, found.relevant) == (0, {}, {"a": 0.5})


def test_no_verdicts_at_all_have_no_agreement() -> None:
    found = agreement([])
    assert (found.alpha.value, found.judges) == (None, ())


def test_alpha_has_an_interval_over_queries() -> None:
    rng = np.random.default_rng(0)
    said = []
    for task in range(30):
        for picture in range(8):
            truth = int(rng.random() < 0.4)
            for judge in "ab":
                flips = rng.random() < 0.1
                said.append(verdict(f"q{task}", f"p{picture}", judge, truth ^ int(flips)))
    alpha = agreement(said).alpha
    assert alpha.value is not None
    assert alpha.low is not None
    assert alpha.high is not None
    assert alpha.low < alpha.value < alpha.high
    assert alpha.high - alpha.low < 0.3


# --- missed -----------------------------------------------------------------------------------------------------


def simulated(rng: np.random.Generator, queries: int, corpus: int, drawn: int) -> tuple[list[QueryPool], dict, int]:  # type: ignore[type-arg]
    """Corpora in which every picture is relevant by chance and each of three sources finds some of the relevant."""
    pools, labels, missed = [], {}, 0
    for number in range(queries):
        relevant = rng.random(corpus) < 0.05
        found = {name: relevant & (rng.random(corpus) < 0.6) for name in ("plan", "words", "vectors")}
        pooled = np.logical_or.reduce(list(found.values())) | (rng.random(corpus) < 0.05)
        outside = np.flatnonzero(~pooled)
        draw = rng.permutation(outside)[:drawn]
        by = {}
        for at in np.flatnonzero(pooled):
            by[f"p{at}"] = tuple(name for name, has in found.items() if has[at]) or ("plan",)
        by |= {f"p{at}": (CHANCE,) for at in draw}
        query = PlannedQuery(f"q{number}", (), tuple(Pooled(picture, "pooled", None) for picture in by))
        pools.append(QueryPool(query, by, len(outside)))
        labels[f"q{number}"] = {picture: bool(relevant[int(picture[1:])]) for picture in by}
        missed += int(relevant[outside].sum()) - int(relevant[draw].sum())
    return pools, labels, missed


def test_the_draw_estimates_what_is_missed_without_bias() -> None:
    rng = np.random.default_rng(1)
    errors, covered = [], 0
    for _ in range(40):
        pools, labels, missed = simulated(rng, queries=25, corpus=400, drawn=20)
        found = estimate_missed(pools, labels)
        assert found.by_draw is not None
        errors.append(found.by_draw.value - missed)
        covered += found.by_draw.low <= missed <= found.by_draw.high
    spread = np.std(errors) / np.sqrt(len(errors))
    assert abs(np.mean(errors)) < 3 * spread
    assert covered >= 34  # 95 % of 40 is 38; the target itself varies from draw to draw.


def test_near_and_far_outside_are_weighed_apart() -> None:
    """40 near pictures, of which half are relevant, and 360 far ones, of which one in a hundred is."""
    rng = np.random.default_rng(5)
    errors, covered = [], 0
    for _ in range(60):
        pools, labels, missed = [], {}, 0
        for number in range(30):
            by, known = {"seed": ("plan",)}, {"seed": True}
            for name, size, rate in ((NEAR, 40, 0.5), (CHANCE, 360, 0.01)):
                relevant = rng.random(size) < rate
                by |= {f"{name} {at}": (name,) for at in range(8)}
                known |= {f"{name} {at}": bool(relevant[at]) for at in range(8)}
                missed += int(relevant[8:].sum())
            pools.append(QueryPool(PlannedQuery(f"q{number}", (), ()), by, 400, 40))
            labels[f"q{number}"] = known
        found = estimate_missed(pools, labels).by_draw
        assert found is not None
        errors.append(found.value - missed)
        covered += found.low <= missed <= found.high
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors))
    assert covered >= 53


def test_strata_that_were_drawn_whole_miss_nothing() -> None:
    by = {"a": ("plan",), "b": (CHANCE,), "c": (NEAR,)}
    found = estimate_missed([QueryPool(PlannedQuery("q", (), ()), by, 2, 1)], {"q": {"a": True, "b": True, "c": False}})
    assert found.by_draw is not None and found.coverage is not None
    assert (found.by_draw.high, found.coverage.low, found.found) == (0.0, 1.0, 2)


def test_nothing_found_outside_still_has_an_upper_bound() -> None:
    pools = [QueryPool(PlannedQuery(f"q{n}", (), ()), {"a": ("plan",), "b": (CHANCE,)}, 100) for n in range(20)]
    found = estimate_missed(pools, {f"q{n}": {"a": True, "b": False} for n in range(20)})
    assert found.by_draw is not None
    assert found.coverage is not None
    assert found.rate is not None
    assert (found.by_draw.value, found.rate.method, found.coverage.value) == (0.0, "wilson", 1.0)
    assert found.by_draw.high > 0
    assert found.coverage.low < 0.2
