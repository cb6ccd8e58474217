"""How much of what is relevant the pools hold, when the judge errs."""

from __future__ import annotations

import numpy as np
import pytest

from sightline.errors import UserError
from sightline.metrics.labels.corrected import JudgedPairs
from sightline.metrics.labels.shares import Share, weighted_share
from trust_draws import draw_pairs, stratified_rates
from trust_pool_coverage import coverage_by_error_rates, coverage_by_people, coverage_by_positives

QUERIES, INSIDE, OUTSIDE, DRAWN = 40, 15, 150, 30
OUT = np.arange(QUERIES * (INSIDE + DRAWN)) >= QUERIES * INSIDE
QUERY = np.r_[np.repeat(np.arange(QUERIES), INSIDE), np.repeat(np.arange(QUERIES), DRAWN)]
EXPANSION = np.where(OUT, OUTSIDE / DRAWN, 1.0)
TRUE = 0.4 * INSIDE / (0.4 * INSIDE + 0.02 * OUTSIDE)


def _world(rng: np.random.Generator, accuracy: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    level = rng.gamma(8, 1 / 8, size=QUERIES)[QUERY]
    truth = (rng.random(len(OUT)) < level * np.where(OUT, 0.02, 0.4)).astype(float)
    says = np.where(rng.random(len(OUT)) < accuracy, truth, 1 - truth) > 0
    return truth, says


def _pairs(truth: np.ndarray, says: np.ndarray, seed: int, size: int = 80) -> JudgedPairs:
    strata = 2 * OUT.astype(int) + says
    draw = draw_pairs(stratified_rates(strata, [size // 2, size // 2, size, size]), strata, seed)
    return JudgedPairs(QUERY, says * 2.0 - 1, np.where(draw.drawn, truth, np.nan), draw.weights, QUERIES)


def test_counting_what_the_judge_says_is_far_off_and_people_set_it_right() -> None:
    rng = np.random.default_rng(0)
    apparent, people, positives, held = [], [], [], [0, 0]
    for seed in range(120):
        truth, says = _world(rng)
        inside, outside = says[~OUT].sum(), (EXPANSION * says)[OUT].sum()
        apparent.append(inside / (inside + outside))
        pairs = _pairs(truth, says, seed)
        one = coverage_by_people(pairs, OUT, EXPANSION, seed=seed)
        other = coverage_by_positives(pairs, says, OUT, EXPANSION, seed=seed)
        people.append(one.value)
        positives.append(other.value)
        held[0] += one.low <= TRUE <= one.high
        held[1] += other.low <= TRUE <= other.high
    assert np.mean(apparent) < TRUE - 0.3
    assert np.mean(people) == pytest.approx(TRUE, abs=0.05)
    assert np.mean(positives) == pytest.approx(TRUE, abs=0.05)
    assert min(held) / 120 >= 0.9


def test_error_rates_from_elsewhere_set_it_right_too() -> None:
    rng = np.random.default_rng(1)
    held, values = 0, []
    for seed in range(120):
        _, says = _world(rng, 0.95)
        known, said = _world(rng, 0.95)
        rates = [weighted_share((said == kind)[known == kind]) for kind in (1, 0)]
        assert rates[0] is not None
        assert rates[1] is not None
        found = coverage_by_error_rates(QUERY, says, OUT, EXPANSION, rates[0], rates[1], seed=seed)
        values.append(found.value)
        held += found.low <= TRUE <= found.high
    assert np.mean(values) == pytest.approx(TRUE, abs=0.06)
    assert held / 120 >= 0.9


def test_uncertain_error_rates_widen_the_interval() -> None:
    _, says = _world(np.random.default_rng(2))
    lengths = []
    for n in (60, 600, 6000):
        rate = Share(0.9, 0.85, 0.95, n, float(n))
        found = coverage_by_error_rates(QUERY, says, OUT, EXPANSION, rate, rate)
        lengths.append(found.high - found.low)
        assert "hold here" in found.assumes
    assert lengths[0] > lengths[1] > lengths[2]


def test_a_judge_at_chance_says_nothing() -> None:
    _, says = _world(np.random.default_rng(3))
    rate = Share(0.55, 0.45, 0.65, 100, 100.0)
    with pytest.raises(UserError, match="no better than chance"):
        coverage_by_error_rates(QUERY, says, OUT, EXPANSION, rate, rate)


def test_rates_that_what_is_said_contradicts_are_refused() -> None:
    """Specificity 0.8 from elsewhere, but of 1,200 pairs outside only 2 % are called relevant."""
    rng = np.random.default_rng(7)
    says = rng.random(len(OUT)) < np.where(OUT, 0.02, 0.4)
    rate = Share(0.8, 0.75, 0.85, 300, 300.0)
    with pytest.raises(UserError, match="do not hold here"):
        coverage_by_error_rates(QUERY, says, OUT, EXPANSION, rate, rate)


def test_nothing_found_outside_is_no_proof_that_nothing_is_there() -> None:
    rng = np.random.default_rng(4)
    truth, says = _world(rng)
    truth = np.where(OUT, 0.0, truth)
    few = coverage_by_people(_pairs(truth, says, 0, 40), OUT, EXPANSION)
    many = coverage_by_people(_pairs(truth, says, 0, 400), OUT, EXPANSION)
    for found in (few, many):
        assert found.value == found.high == 1.0
        assert found.missed == 0
        assert found.low < 1
    assert few.low < many.low


def test_a_judge_that_finds_less_outside_misleads_only_the_estimate_that_assumes_otherwise() -> None:
    rng = np.random.default_rng(5)
    people, positives = [], []
    for seed in range(60):
        truth, says = _world(rng)
        says = says & ~(OUT & (truth > 0) & (rng.random(len(OUT)) < 0.7))
        pairs = _pairs(truth, says, seed)
        people.append(coverage_by_people(pairs, OUT, EXPANSION, seed=seed).value)
        found = coverage_by_positives(pairs, says, OUT, EXPANSION, seed=seed)
        positives.append(found.value)
        assert "same share" in found.assumes
    assert np.mean(people) == pytest.approx(TRUE, abs=0.07)
    assert np.mean(positives) > TRUE + 0.12


def test_decisions_are_needed_on_both_sides() -> None:
    truth, says = _world(np.random.default_rng(6))
    pairs = _pairs(truth, says, 0)
    inside_only = JudgedPairs(QUERY, pairs.judge, np.where(OUT, np.nan, pairs.people), pairs.draw, QUERIES)
    with pytest.raises(UserError, match="outside the pools"):
        coverage_by_people(inside_only, OUT, EXPANSION)
    with pytest.raises(UserError, match="outside the pools about what the judge calls relevant"):
        coverage_by_positives(inside_only, says, OUT, EXPANSION)


def test_near_and_far_draws_may_stand_for_different_numbers() -> None:
    """Outside, 5 of 10 near pictures (every fourth relevant) and 25 of 140 far ones (one in 200) are drawn."""
    rng, shares, trues = np.random.default_rng(7), [], []
    near = OUT & (np.arange(len(OUT)) % DRAWN < 5)
    stands = np.where(near, 2.0, np.where(OUT, 140 / 25, 1.0))
    chance = np.where(near, 0.25, np.where(OUT, 0.005, 0.4))
    for seed in range(60):
        truth = (rng.random(len(OUT)) < chance).astype(float)
        says = np.where(rng.random(len(OUT)) < 0.95, truth, 1 - truth) > 0
        rates = np.where(says, np.where(OUT, 0.6, 0.3), 0.0)
        draw = draw_pairs(rates, 2 * OUT.astype(int) + says, seed)
        pairs = JudgedPairs(
            QUERY, np.where(says, 1.0, -1.0), np.where(draw.drawn, truth, np.nan), draw.weights, QUERIES
        )
        shares.append(coverage_by_positives(pairs, says, OUT, stands, seed=seed).value)
        trues.append((stands * truth)[~OUT].sum() / (stands * truth).sum())
    assert np.mean(shares) == pytest.approx(np.mean(trues), abs=0.01)
