"""Shares with weights and clusters, weighted counts and the quantiles behind them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from sightline.metrics.labels.rare_counts import Total, gamma_quantile, weighted_count
from sightline.metrics.labels.shares import weighted_share
from sightline.metrics.statistics.distributions import student_quantile
from trust_pool_coverage import ratio_interval


def test_equal_weights_give_nearly_wilson() -> None:
    hits = np.arange(200) < 56
    share = weighted_share(hits)
    assert share is not None
    low, high = proportion_confint(56, 200, method="wilson")
    assert (share.value, share.n) == (0.28, 200)
    # Student's instead of the normal quantile, and n / (n − 1).
    assert (share.low, share.high) == pytest.approx((low, high), abs=0.003)


def test_weights_decide_the_share_and_cost_precision() -> None:
    hits = np.tile([1.0, 0.0], 50)
    weights = np.tile([3.0, 1.0], 50)
    share = weighted_share(hits, weights)
    assert share is not None
    assert share.value == pytest.approx(0.75)
    uneven = weighted_share(hits, np.r_[np.full(10, 20.0), np.ones(90)])
    even = weighted_share(hits)
    assert uneven is not None
    assert even is not None
    assert uneven.effective < even.effective / 2


def test_decisions_of_one_query_count_as_one() -> None:
    hits = np.repeat(np.arange(20) % 2, 10)
    alone, together = weighted_share(hits), weighted_share(hits, clusters=np.repeat(np.arange(20), 10))
    assert alone is not None
    assert together is not None
    assert together.effective < 21
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_decisions_that_all_agree_leave_room() -> None:
    share = weighted_share(np.ones(30))
    assert share is not None
    assert share.high == pytest.approx(1.0)
    assert share.low == pytest.approx(0.88, abs=0.02)


def test_without_decisions_there_is_no_share() -> None:
    assert weighted_share([]) is None
    assert weighted_share([1.0], [0.0]) is None


def test_intervals_of_shares_hold() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        rates = rng.beta(2, 6, size=40)
        weights = np.repeat(rng.uniform(1, 4, size=40), 4)
        share = weighted_share(rng.random(160) < np.repeat(rates, 4), weights, np.repeat(np.arange(40), 4))
        assert share is not None
        hits += share.low <= 0.25 <= share.high
    assert 0.92 <= hits / 400 <= 0.985


@pytest.mark.parametrize("df", [1, 2, 2.5, 3.3, 7.9, 40.2, 199])
def test_student_quantiles_between_whole_degrees_of_freedom(df: float) -> None:
    exact = float(stats.t.ppf(0.975, df))
    assert exact - 1e-9 <= student_quantile(0.975, df) <= exact * (1.03 if df < 3 else 1.005)


@pytest.mark.parametrize("shape", [0.2, 1.0, 2.7, 30.0, 199.0, 500.0])
@pytest.mark.parametrize("p", [0.005, 0.025, 0.5, 0.975])
def test_gamma_quantiles_are_those_of_scipy(p: float, shape: float) -> None:
    assert gamma_quantile(p, shape) == pytest.approx(stats.gamma.ppf(p, shape), rel=1e-4)


@pytest.mark.parametrize("count", [0, 1, 7])
def test_equal_weights_give_the_exact_poisson_interval(count: int) -> None:
    hits = (np.arange(50) < count).astype(float)
    found = weighted_count(hits, np.full(50, 3.0), np.arange(50), 0.95)
    low = 3 * stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0
    assert found.value == 3 * count
    assert found.low == pytest.approx(low, rel=1e-6)
    assert found.high == pytest.approx(3 * stats.chi2.ppf(0.975, 2 * count + 2) / 2, rel=1e-6)


def test_finds_that_come_together_are_less_sure() -> None:
    hits = (np.arange(50) < 6).astype(float)
    alone = weighted_count(hits, np.ones(50), np.arange(50), 0.95)
    together = weighted_count(hits, np.ones(50), np.r_[np.zeros(6, int), np.arange(1, 45)], 0.95)
    assert together.value == alone.value
    assert together.high > alone.high + 2
    assert together.low < alone.low


def test_the_ratio_of_two_totals_has_an_interval_around_it() -> None:
    low, high = ratio_interval(Total(10, 5, 18), Total(100, 90, 110))
    assert low < 0.1 < high
    assert (low, high) == pytest.approx((0.05, 0.18), abs=0.01)
    exact = ratio_interval(Total(10, 10, 10), Total(100, 100, 100))
    assert exact == pytest.approx((0.1, 0.1))
    assert ratio_interval(Total(0, 0, 4), Total(100, 90, 110))[0] == 0


def test_draws_without_replacement_vary_by_what_is_left() -> None:
    """n of N pictures are drawn; each find stands for w − 1 missed ones, with variance w (w − 1)."""
    rng, size, drawn, held = np.random.default_rng(4), 200, 80, 0
    for _ in range(300):
        relevant = rng.random(size) < 0.1
        hits, w = relevant[:drawn].astype(float), np.full(drawn, size / drawn)
        found = weighted_count(hits, w - 1, np.arange(drawn), 0.95, w * (w - 1))
        assert found.value == pytest.approx(hits.sum() * (size / drawn - 1))
        held += found.low <= relevant[drawn:].sum() <= found.high
    assert held >= 0.93 * 300
