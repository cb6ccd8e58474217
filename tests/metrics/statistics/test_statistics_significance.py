from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from sightline.metrics.statistics.intervals import Units
from sightline.metrics.statistics.paired import paired_difference
from sightline.metrics.statistics.splits import FLIPS, Significance, split_means


def sign_flip_test(sums: NDArray[np.float64], *, seed: int = 0, flips: int = FLIPS) -> Significance:
    """p of a mean of zero over units that count alike."""
    return split_means(Units(sums[:, None], np.ones(len(sums))), flips, seed)[0].significance()


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 2)), min_size=1, max_size=9))
@settings(max_examples=80, deadline=None)
def test_few_units_are_enumerated(values: list[float]) -> None:
    sums = np.array(values)
    observed = abs(sums.sum())
    signs = np.array(list(itertools.product([-1, 1], repeat=len(sums))))
    expected = np.mean(np.abs(signs @ sums) >= observed - 1e-9)
    found = sign_flip_test(sums)
    assert found.method == "exact"
    assert found.p == pytest.approx(expected, abs=1e-12)


def test_exact_p_is_scipys_permutation_test() -> None:
    sums = np.random.default_rng(0).normal(0.4, 1, 12)
    theirs = stats.permutation_test(
        (sums, np.zeros(12)), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_test(sums).p == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.05, 0.1])
def test_sampled_p_is_scipys_within_its_noise(shift: float) -> None:
    sums = np.random.default_rng(1).normal(shift, 0.5, 200)
    ours = sign_flip_test(sums, flips=20_000)
    theirs = stats.permutation_test(
        (sums, np.zeros(200)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        batch=500,
        vectorized=True,
        rng=np.random.default_rng(2),
    ).pvalue
    assert ours.method == "monte-carlo"
    assert ours.p == pytest.approx(theirs, abs=5 * np.sqrt(2 * theirs * (1 - theirs) / 20_000) + 1e-4)


def test_sampled_p_is_never_zero_and_repeats_with_its_seed() -> None:
    sums = np.random.default_rng(3).normal(5, 1, 100)
    assert sign_flip_test(sums, flips=999).p == pytest.approx(1 / 1000)
    mixed = np.random.default_rng(4).normal(0.1, 1, 101)
    assert sign_flip_test(mixed, seed=1) == sign_flip_test(mixed, seed=1) != sign_flip_test(mixed, seed=2)


def test_sampled_p_approaches_the_exact_one() -> None:
    sums = np.random.default_rng(5).normal(0.3, 1, 16)
    exact = sign_flip_test(sums).p
    # A negligible seventeenth unit turns enumeration into sampling.
    sampled = sign_flip_test(np.append(sums, 1e-6), flips=40_000)
    assert sampled.method == "monte-carlo"
    assert sampled.p == pytest.approx(exact, abs=0.012)


def test_no_difference_at_all_is_p_one() -> None:
    assert sign_flip_test(np.zeros(20)).p == 1.0


def test_clusters_are_flipped_as_a_whole() -> None:
    rng = np.random.default_rng(6)
    per_cluster = rng.normal(0.3, 1, 10)
    second, clusters = np.repeat(per_cluster, 8), np.repeat(np.arange(10), 8).tolist()
    found = paired_difference(np.zeros(80), second, clusters=clusters)
    assert found.p == pytest.approx(sign_flip_test(per_cluster).p)
    assert found.method == "cluster-bootstrap"
    assert found.p is not None
    assert found.p > paired_difference(np.zeros(80), second).p  # type: ignore[operator]


def test_the_interval_of_a_difference_is_scipys_paired_bootstrap() -> None:
    rng = np.random.default_rng(7)
    first = rng.beta(1, 2, 60)
    second = np.clip(first + rng.normal(0.05, 0.2, 60), 0, 1)
    ours = paired_difference(first, second, resamples=40_000)
    theirs = stats.bootstrap(
        (second, first),
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=40_000,
        batch=2_000,
        rng=np.random.default_rng(8),
    ).confidence_interval
    noise = 0.06 * (second - first).std() / np.sqrt(60)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=noise)
    assert ours.method == "bca"


def test_effect_sizes_wins_and_undefined_tasks() -> None:
    first = np.array([0.0, 0.5, 0.1 + 0.2, np.nan, 1.0, 0.2])
    second = np.array([1.0, 0.5, 0.3, 1.0, 0.5, np.nan])
    found = paired_difference(first, second)
    assert (found.n, found.wins, found.ties, found.losses) == (4, 1, 2, 1)
    assert found.win_rate == 0.5
    differences = np.array([1.0, 0.0, 0.0, -0.5])
    assert found.mean == pytest.approx(0.125)
    assert found.dz == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert found.p == 1.0


def test_the_other_way_round_is_the_mirror_image() -> None:
    rng = np.random.default_rng(9)
    first, second = rng.random(50), rng.random(50)
    one, other = paired_difference(first, second), paired_difference(second, first)
    assert [one.mean, one.wins, one.losses] == [pytest.approx(-other.mean), other.losses, other.wins]
    assert one.p == pytest.approx(other.p, abs=0.02)
    assert one.low == pytest.approx(-other.high, abs=0.02)


def test_without_tasks_or_without_a_test() -> None:
    empty = paired_difference(np.array([np.nan]), np.array([1.0]))
    assert (empty.n, empty.p, empty.win_rate, empty.dz, empty.method) == (0, 1.0, None, None, "none")
    untested = paired_difference(np.zeros(5), np.ones(5), test=False)
    assert (untested.p, untested.test, untested.dz, untested.mean) == (None, None, None, 1.0)
