"""All pairs of runs at once: the definition step by step, what many runs cost, and how often it errs."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from sightline.metrics.statistics.paired import paired_difference
from sightline.metrics.statistics.significance import max_t

Floats = NDArray[np.float64]


def by_definition(sums: Floats) -> list[float]:
    """Adjusted p of all pairs of columns over every pattern of signs."""
    moved = np.stack([sums[:, second] - sums[:, first] for first, second in combinations(range(sums.shape[1]), 2)])
    norms = np.sqrt((moved**2).sum(axis=1))
    signs = np.array(list(product((1, -1), repeat=len(sums))))
    flipped = np.abs(signs @ moved.T) / norms
    seen = np.abs(moved.sum(axis=1)) / norms
    p = [float((flipped[:, seen <= of].max(axis=1) >= of - 1e-9).mean()) for of in seen]
    return [max(p[other] for other in range(len(p)) if seen[other] >= of) for of in seen]


def test_it_is_step_down_max_t_over_all_signs() -> None:
    values = np.random.default_rng(1).normal(0, 1, (10, 4)) + np.array([0, 0.2, 0.8, 1.6])
    assert max_t(values).p.tolist() == pytest.approx(by_definition(values))
    codes = np.array([0, 0, 1, 2, 2, 2, 3, 4, 5, 6])
    sums = np.stack([np.bincount(codes, column).astype(np.float64) for column in values.T], axis=1)
    assert max_t(values, codes).p.tolist() == pytest.approx(by_definition(sums))
    weights = np.linspace(0.5, 1.5, 10)
    assert max_t(values, None, weights).p.tolist() == pytest.approx(by_definition(values * weights[:, None]))


def test_one_pair_is_the_sign_flip_test() -> None:
    first, second = np.random.default_rng(2).random((2, 14))
    (p,) = max_t(np.stack([first, second], axis=1)).p
    assert p == pytest.approx(paired_difference(first, second).p)


def test_a_task_counts_for_the_pairs_that_have_values_for_it() -> None:
    values = np.random.default_rng(3).random((12, 3))
    values[0, 1] = np.nan
    found = max_t(values)
    assert found.totals.tolist() == pytest.approx(
        [np.nansum(values[:, second] - values[:, first]) for first, second in ((0, 1), (0, 2), (1, 2))]
    )
    nothing = max_t(np.column_stack([values, np.full(12, np.nan)]))
    assert nothing.p[[2, 4, 5]].tolist() == [1, 1, 1], "a run without values can't be told from any"


def test_what_all_runs_have_in_common_costs_nothing() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(0, 1e-3, (200, 3)) + np.array([0, 0, 4e-4])
    shifted = max_t(values + rng.normal(0, 1e3, (200, 1)))
    assert shifted.p.tolist() == pytest.approx(max_t(values).p.tolist(), abs=2e-3)


def test_the_best_of_sixty_runs_is_found() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(0, 0.1, (100, 1)) + rng.normal(0, 0.1, (100, 60))
    values[:, 7] += 0.15
    found = max_t(values)
    with_best = (found.first == 7) | (found.second == 7)
    assert found.p[with_best].max() < 0.05, "Holm's least p over 1,770 pairs is 0.18"
    assert found.p[~with_best].min() > 0.05


def test_equal_runs_are_seldom_told_apart() -> None:
    def finds_one(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        cluster = np.repeat(np.arange(20), rng.permutation(np.arange(1, 21)))
        drawn = rng.random((len(cluster), 1)) + rng.normal(0, 0.2, (20, 8))[cluster] + rng.normal(0, 0.2, (210, 8))
        return bool(max_t(drawn, cluster, flips=500).p.min() < 0.05)

    assert sum(map(finds_one, range(200))) <= 18  # 10 expected; 19 or more come up once in 150 times.


@pytest.mark.parametrize("tasks", [0, 1])
def test_without_tasks_nothing_can_be_told_apart(tasks: int) -> None:
    assert max_t(np.random.default_rng(6).random((tasks, 3))).p.tolist() == [1, 1, 1]
