"""Corrected scores: right on average whatever the judge says, with intervals that hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sightline.errors import UserError
from sightline.metrics.labels.corrected import (
    Corrected,
    JudgedPairs,
    correct,
    corrected_difference,
    corrected_score,
    decided_weights,
    judge_weight,
    t_half_width,
    worths,
)
from sightline.metrics.labels.targets import frozen_relevant, target
from trust_draws import draw_pairs, informative_rates, proportional_rates
from trust_whole_queries import correct_difference, correct_queries

QUERIES, DEPTH = 60, 5
QUERY = np.repeat(np.arange(QUERIES), DEPTH)
RANK = np.tile(np.arange(1, DEPTH + 1), QUERIES)
P5 = target("p@5", QUERY, RANK, QUERIES)


def _truth(rng: np.random.Generator) -> np.ndarray:
    return (rng.random(QUERIES * DEPTH) < np.repeat(rng.beta(2, 4, size=QUERIES), DEPTH)).astype(float)


def _judge(rng: np.random.Generator, truth: np.ndarray, accuracy: float) -> np.ndarray:
    return np.where(rng.random(len(truth)) < accuracy, truth, 1 - truth) * 2.0 - 1


def _pairs(truth: np.ndarray, judge: np.ndarray, decisions: int, seed: int) -> JudgedPairs:
    draw = draw_pairs(informative_rates(P5.weights, 0.5 + 0.3 * judge, decisions), QUERY, seed)
    return JudgedPairs(QUERY, judge, np.where(draw.drawn, truth, np.nan), draw.weights, QUERIES)


def _many(accuracy: float, repetitions: int, decisions: int = 60) -> tuple[list[Corrected], np.ndarray]:
    rng = np.random.default_rng(int(accuracy * 100))
    found, truths = [], []
    for seed in range(repetitions):
        truth = _truth(rng)
        truths.append(float(P5.expand(truth)[0].mean()))
        found.append(correct(_pairs(truth, _judge(rng, truth, accuracy), decisions, seed), P5, seed=seed))
    return found, np.array(truths)


def test_all_decisions_give_the_score_itself() -> None:
    rng = np.random.default_rng(0)
    truth = _truth(rng)
    pairs = JudgedPairs(QUERY, _judge(rng, truth, 0.6), truth, np.ones(len(truth)), QUERIES)
    found = correct(pairs, P5)
    assert found.mean == pytest.approx(P5.expand(truth)[0].mean())
    assert found.decisions == QUERIES * DEPTH
    assert found.unbiased
    values = P5.expand(truth)[0]
    assert found.half_width == pytest.approx(t_half_width(values, np.arange(QUERIES), 0.95)[0])


@pytest.mark.parametrize("accuracy", [0.15, 0.5, 0.9])
def test_a_judge_that_errs_leaves_no_bias(accuracy: float) -> None:
    found, truths = _many(accuracy, 300)
    errors = np.array([one.mean for one in found]) - truths
    assert abs(errors.mean()) < 4 * errors.std() / np.sqrt(len(errors))


def test_intervals_hold_and_a_good_judge_narrows_them() -> None:
    good, _ = _many(0.9, 300)
    chance, _ = _many(0.5, 300)
    for found in (good, chance):
        held = np.mean([one.low <= 1 / 3 <= one.high for one in found])
        assert 0.91 <= held <= 0.99
    narrow = np.mean([one.half_width for one in good]) / np.mean([one.without_judge for one in good])
    same = np.mean([one.half_width for one in chance]) / np.mean([one.without_judge for one in chance])
    assert narrow < 0.85
    assert same < 1.02
    assert np.mean([one.judge_weight for one in good]) > 0.85
    assert np.mean([one.judge_weight for one in chance]) < 0.5


def test_a_difference_cancels_what_both_found_alike() -> None:
    rng = np.random.default_rng(2)
    truth = _truth(rng)
    pairs = _pairs(truth, _judge(rng, truth, 0.8), 60, 0)
    same = correct_difference(pairs, P5, P5)
    assert (same.mean, same.half_width) == (0.0, 0.0)
    other = target("p@5", QUERY, np.where(RANK == 1, 0, RANK), QUERIES)
    lost = correct_difference(pairs, other, P5)
    assert lost.mean == pytest.approx(correct(pairs, P5).mean - correct(pairs, other).mean, abs=0.05)
    assert lost.mean > 0


def test_differences_are_unbiased_and_hold() -> None:
    other = target("ndcg@5", QUERY, DEPTH + 1 - RANK, QUERIES, np.full(QUERIES, 2.0))
    one = target("ndcg@5", QUERY, RANK, QUERIES, np.full(QUERIES, 2.0))
    rng = np.random.default_rng(5)
    errors, held = [], 0
    for seed in range(300):
        truth = _truth(rng)
        judge = _judge(rng, truth, 0.8)
        draw = draw_pairs(informative_rates(other.weights - one.weights, np.full(300, 0.5), 80), QUERY, seed)
        pairs = JudgedPairs(QUERY, judge, np.where(draw.drawn, truth, np.nan), draw.weights, QUERIES)
        found = correct_difference(pairs, one, other, seed=seed)
        errors.append(found.mean - float((other.expand(truth)[0] - one.expand(truth)[0]).mean()))
        held += found.low <= 0 <= found.high
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(300)
    assert held / 300 > 0.91


def test_decisions_that_all_agree_leave_room() -> None:
    pairs = _pairs(np.ones(300), np.ones(300), 60, 0)
    found = correct(pairs, P5)
    assert found.mean == pytest.approx(1.0, abs=0.01)
    assert found.high == 1.0
    assert 0.93 < found.low < 0.985


def test_undecided_pairs_are_counted_and_made_up_for() -> None:
    rng = np.random.default_rng(6)
    truth = _truth(rng)
    whole = _pairs(truth, _judge(rng, truth, 0.8), 80, 3)
    people = whole.people.copy()
    people[np.flatnonzero(whole.draw > 0)[::4]] = np.nan
    found = correct(JudgedPairs(QUERY, whole.judge, people, whole.draw, QUERIES), P5)
    assert (found.decisions, found.undecided) == (60, 20)
    weights, undecided = decided_weights(whole.draw, people)
    assert weights.sum() == pytest.approx(whole.draw.sum())
    assert undecided == 20


def test_clusters_of_queries_widen_the_interval() -> None:
    rng = np.random.default_rng(8)
    level = np.repeat(rng.beta(2, 2, size=12), QUERIES // 12)
    truth = (rng.random(300) < np.repeat(level, DEPTH)).astype(float)
    ones = np.ones(300)
    judge = _judge(rng, truth, 0.7)
    alone = correct(JudgedPairs(QUERY, judge, truth, ones, QUERIES), P5)
    codes = np.repeat(np.arange(12), QUERIES // 12)
    together = correct(JudgedPairs(QUERY, judge, truth, ones, QUERIES, codes), P5)
    assert together.mean == pytest.approx(alone.mean)
    assert together.half_width > 1.4 * alone.half_width
    assert together.df <= 11


def test_metrics_that_are_not_linear_carry_a_warning() -> None:
    rng = np.random.default_rng(9)
    truth = _truth(rng)
    pairs = _pairs(truth, _judge(rng, truth, 0.9), 100, 0)
    found = correct(pairs, target("rr@5", QUERY, RANK, QUERIES))
    assert not found.unbiased
    assert "first order" in found.warnings[0]
    assert 0 <= found.low <= found.mean <= found.high <= 1
    exact = correct(pairs, target("ndcg@5", QUERY, RANK, QUERIES, frozen_relevant(QUERY, np.full(300, 0.5), QUERIES)))
    assert exact.unbiased
    assert exact.warnings == ()


def test_whole_queries_correct_any_metric() -> None:
    """Classical reciprocal ranks; the judge's are too high by far."""
    one = target("rr@5", QUERY, RANK, QUERIES)
    rng = np.random.default_rng(10)
    errors, found_all, truths = [], [], []
    for seed in range(300):
        truth = _truth(rng)
        values = one.expand(truth)[0]
        truths.append(values.mean())
        by_judge = np.minimum(1.0, values * 0.5 + 0.4 + rng.normal(0, 0.1, size=QUERIES))
        draw = draw_pairs(proportional_rates(np.ones(QUERIES), 20), np.arange(QUERIES), seed)
        found = correct_queries(by_judge, np.where(draw.drawn, values, np.nan), draw.weights, seed=seed)
        errors.append(found.mean - values.mean())
        found_all.append(found)
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(300)
    aim = np.mean(truths)
    assert 0.91 <= np.mean([found.low <= aim <= found.high for found in found_all]) <= 0.99
    widths = [found.half_width / found.without_judge for found in found_all]
    assert np.mean(widths) < 0.95


def test_few_decisions_are_refused_or_marked() -> None:
    rng = np.random.default_rng(11)
    truth = _truth(rng)
    judge = _judge(rng, truth, 0.9)
    with pytest.raises(UserError, match="at least 20") as refused:
        correct(_pairs(truth, judge, 12, 0), P5)
    assert "8 more" in str(refused.value)
    assert "few" in correct(_pairs(truth, judge, 30, 0), P5).warnings[0]
    clusters = np.arange(QUERIES) % 3
    with pytest.raises(UserError, match="3 clusters"):
        correct(JudgedPairs(QUERY, judge, truth, np.ones(300), QUERIES, clusters), P5)


def test_the_weight_of_a_judge_is_the_best_between_0_and_1() -> None:
    rng = np.random.default_rng(12)
    change = rng.normal(size=500)
    noise = rng.normal(size=500)
    assert judge_weight(-0.6 * change + 0.01 * noise, change) == pytest.approx(0.6, abs=0.01)
    assert judge_weight(-3 * change, change) == 1.0
    assert judge_weight(change, change) == 0.0
    assert judge_weight(noise, np.zeros(500)) == 0.0


def test_equal_clusters_give_the_textbook_interval() -> None:
    values = np.random.default_rng(13).normal(size=200)
    half, df = t_half_width(values, np.arange(200), 0.95)
    assert df > 100
    assert half == pytest.approx(stats.t.ppf(0.975, df) * stats.sem(values), rel=1e-3)
    means = values.reshape(20, 10).mean(axis=1)
    half, df = t_half_width(values, np.repeat(np.arange(20), 10), 0.95)
    assert half == pytest.approx(stats.t.ppf(0.975, df) * stats.sem(means), rel=1e-3)


def test_p_and_interval_of_a_difference_are_one_test() -> None:
    """p is that of Student's t for the same error and degrees of freedom, and crosses 0.05 where the interval does."""
    rng = np.random.default_rng(8)
    other = target("p@2", QUERY, RANK, QUERIES)
    for seed in range(12):
        truth = _truth(rng)
        pairs = _pairs(truth, _judge(rng, truth, 0.8), 60, seed)
        found = correct_difference(pairs, other, P5, seed=seed)
        error = found.half_width / stats.t.ppf(0.975, found.df)
        assert found.p == pytest.approx(2 * stats.t.sf(abs(found.mean) / error, found.df), rel=1e-6)
        assert found.p is not None and (found.p < 0.05) == (not found.low <= 0 <= found.high)
    assert correct(pairs, P5).p is None


def test_the_kept_worths_give_the_same_difference() -> None:
    rng = np.random.default_rng(9)
    truth = _truth(rng)
    pairs, other = _pairs(truth, _judge(rng, truth, 0.8), 60, 0), target("rr@5", QUERY, RANK, QUERIES)
    first, second = worths(pairs, (other, P5))
    assert corrected_difference(first, second, "p@5 and rr@5") == correct_difference(pairs, other, P5)
    assert not first.linear and second.linear and len(first.reach) == correct(pairs, P5).decisions
    same = corrected_difference(first, first, "rr@5")
    assert (same.mean, same.half_width, same.p) == (0.0, 0.0, 1.0)


def test_a_rare_find_moves_the_interval_towards_the_long_tail() -> None:
    """Relevant pictures are rare, so that the truth lies above the estimate more often than below."""
    rng, above, below, n = np.random.default_rng(10), 0, 0, 200
    truths, found = [], []
    for seed in range(n):
        truth = (rng.random(QUERIES * DEPTH) < 0.06).astype(float)
        truths.append(truth.mean())
        found.append(correct(_pairs(truth, _judge(rng, truth, 0.7), 60, seed), P5, seed=seed))
    for one in found:
        above += one.high < np.mean(truths)
        below += one.low > np.mean(truths)
        assert one.low <= one.mean <= one.high
    shifts = [(one.high + one.low) / 2 - one.mean for one in found]
    assert np.mean(shifts) > 0
    assert above + below <= 0.09 * n


def test_scores_over_clusters_have_the_interval_of_scores_over_clusters() -> None:
    rng = np.random.default_rng(11)
    truth = _truth(rng)
    clusters = np.sort(rng.integers(0, 12, QUERIES))
    clusters = np.unique(clusters, return_inverse=True)[1]
    pairs = replace(_pairs(truth, _judge(rng, truth, 0.8), 100, 0), clusters=clusters)
    found, worth = correct(pairs, P5), worths(pairs, (P5,))[0]
    plain = correct(replace(pairs, clusters=None), P5)
    assert found.mean == pytest.approx(plain.mean, abs=0.05)
    assert found.low <= found.mean <= found.high and (found.low, found.high) != (plain.low, plain.high)
    assert corrected_score(worth, P5, clusters) == found
