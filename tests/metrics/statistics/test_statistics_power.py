from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from sightline.errors import UserError
from sightline.metrics.statistics.power import (
    detectable,
    paired_power,
    spread,
    tasks_needed,
    tasks_needed_binary,
)


@pytest.mark.parametrize("effect", [0.05, 0.2, 0.5, 1.3])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_tasks_needed_are_statsmodels(effect: float, alpha: float, power: float) -> None:
    exact = TTestPower().solve_power(effect_size=effect, alpha=alpha, power=power)
    assert tasks_needed(effect * 0.3, 0.3, alpha=alpha, power=power) == math.ceil(float(exact))


@pytest.mark.parametrize("n", [5, 40, 217, 3000])
def test_power_and_detectable_difference_are_statsmodels(n: int) -> None:
    effect = 2.5 / math.sqrt(n)
    assert paired_power(n, effect * 0.4, 0.4) == pytest.approx(TTestPower().power(effect, n, 0.05), abs=1e-9)
    expected = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8) * 0.4
    assert detectable(n, 0.4) == pytest.approx(float(expected), rel=1e-4)


def test_there_and_back() -> None:
    n = tasks_needed(0.04, 0.35)
    assert detectable(n, 0.35) <= 0.04 < detectable(n - 1, 0.35)
    assert tasks_needed(-0.04, 0.35) == n


def test_clusters_cost_tasks() -> None:
    assert tasks_needed(0.05, 0.4, design_effect=2.5) == math.ceil(2.5 * tasks_needed(0.05, 0.4))
    assert detectable(500, 0.4, design_effect=2) == pytest.approx(detectable(250, 0.4))


@pytest.mark.parametrize(("difference", "disagreement"), [(0.1, 0.3), (0.05, 0.15), (0.2, 0.25)])
def test_right_or_wrong_tasks_reach_the_power_that_was_asked_for(difference: float, disagreement: float) -> None:
    n = tasks_needed_binary(difference, disagreement)
    rng = np.random.default_rng(0)
    shares = [(disagreement + difference) / 2, (disagreement - difference) / 2, 1 - disagreement]
    drawn = rng.multinomial(n, shares, size=3000)
    found = np.mean([stats.binomtest(int(a), int(a + b)).pvalue < 0.05 for a, b, _ in drawn])
    # McNemar's exact test is conservative, so somewhat below 0.8.
    assert 0.72 < found < 0.83
    assert n == pytest.approx(tasks_needed(difference, math.sqrt(disagreement - difference**2)), rel=0.12)


def test_the_design_effect_of_clusters_is_measured() -> None:
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(300), 10)
    differences = np.repeat(rng.normal(0, 0.2, 300), 10) + rng.normal(0, 0.3, 3000)
    seen = spread(differences, clusters.tolist())
    assert seen.design_effect == pytest.approx(1 + 9 * 0.04 / 0.13, rel=0.2)


def test_spread_of_two_runs() -> None:
    seen = spread(np.array([1.0, 0.0, np.nan, -1.0, 0.0]))
    assert (seen.n, seen.disagreement, seen.design_effect) == (4, 0.5, 1.0)
    assert seen.sd == pytest.approx(np.std([1, 0, -1, 0], ddof=1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tasks_needed(0, 0.3), "difference of zero"),
        (lambda: tasks_needed(0.1, 0), "standard deviation"),
        (lambda: tasks_needed(0.1, 0.3, power=1), "power"),
        (lambda: tasks_needed(0.1, 0.3, alpha=5), "alpha"),
        (lambda: tasks_needed(0.1, 0.3, design_effect=0), "design effect"),
        (lambda: tasks_needed(1e-7, 1), "a billion"),
        (lambda: tasks_needed_binary(0.3, 0.2), "can't differ"),
        (lambda: detectable(1, 0.3), "too few"),
        (lambda: spread(np.array([1.0])), "two tasks"),
    ],
)
def test_impossible_questions_are_refused(call: object, words: str) -> None:
    with pytest.raises(UserError, match=words):
        call()  # type: ignore[operator]
