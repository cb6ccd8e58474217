from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import asdict, replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from sightline.errors import UserError
from sightline.metrics.statistics.estimates import Column, estimate, estimate_columns
from sightline.metrics.statistics.intervals import wilson
from sightline.types import Estimate


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@given(st.integers(1, 500), st.data(), st.floats(0.5, 0.999))
@settings(max_examples=80, deadline=None)
def test_wilson_is_statsmodels(n: int, data: st.DataObject, level: float) -> None:
    successes = data.draw(st.integers(0, n))
    expected = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    assert wilson(successes / n, n, level) == pytest.approx(expected, abs=1e-9)


def test_wilson_holds_the_mean_where_all_or_none_succeeded() -> None:
    for n in range(1, 200):
        assert wilson(0.0, n, 0.95).low == 0.0 and wilson(1.0, n, 0.95).high == 1.0


def test_wilson_gives_the_published_figures() -> None:
    found = estimate([1] * 35 + [0] * 87)
    assert (found.method, found.n) == ("wilson", 122)
    assert (round(found.low, 3), round(found.high, 3)) == (0.214, 0.373)


@pytest.mark.parametrize("n", [12, 40, 300])
def test_bca_is_scipys_within_the_noise_of_resampling(n: int) -> None:
    values = np.random.default_rng(n).beta(0.5, 2, n)
    ours = estimate(values, resamples=40_000)
    theirs = stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=40_000, rng=np.random.default_rng(0), batch=2_000
    ).confidence_interval
    noise = 0.06 * values.std() / math.sqrt(n)
    assert ours.method == "bca"
    assert ours.low == pytest.approx(theirs.low, abs=noise)
    assert ours.high == pytest.approx(theirs.high, abs=noise)


def test_failures_are_zero_in_the_mean_and_absent_from_answered() -> None:
    found = estimate([1.0, 0.5, None, 0.9], failures=[False, False, True, True])
    assert found.mean == pytest.approx(1.5 / 4)
    assert found.answered == pytest.approx(0.75)
    assert (found.n, found.failures) == (4, 2)


def test_undefined_values_are_left_out_of_n() -> None:
    found = estimate([1.0, None, float("nan"), 0.0])
    assert (found.n, found.mean, found.failures) == (2, 0.5, 0)


@pytest.mark.parametrize(
    ("values", "failures", "expected"),
    [
        ([], [], Estimate(0.0, 0.0, 0.0, 0, 0, None, method="none")),
        ([None, None], [False, False], Estimate(0.0, 0.0, 0.0, 0, 0, None, method="none")),
        ([0.4], [False], Estimate(0.4, 0.4, 0.4, 1, 0, 0.4, method="none")),
        ([0.4] * 9, [False] * 9, Estimate(0.4, 0.4, 0.4, 9, 0, 0.4, method="none")),
    ],
)
def test_nothing_to_resample(values: list[float | None], failures: list[bool], expected: Estimate) -> None:
    found = estimate(values, failures=failures)
    for name, value in asdict(expected).items():
        assert getattr(found, name) == (pytest.approx(value) if isinstance(value, float) else value), name


def test_all_failures_are_an_honest_zero() -> None:
    found = estimate([None] * 10, failures=[True] * 10)
    assert (found.mean, found.low, found.failures, found.answered) == (0.0, 0.0, 10, None)
    assert found.method == "wilson"
    assert found.high == pytest.approx(0.2775, abs=1e-4)


def test_one_right_answer_is_not_certainty() -> None:
    found = estimate([1.0])
    assert found.method == "wilson"
    assert found.low < 0.25
    assert found.high == 1.0


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    per_cluster = rng.random(30)
    values, clusters = np.repeat(per_cluster, 10), np.repeat(np.arange(30), 10).tolist()
    alone, clustered = estimate(values), estimate(values, clusters=clusters)
    assert (alone.method, clustered.method) == ("bca", "cluster-bootstrap")
    assert clustered.mean == pytest.approx(alone.mean)
    ratio = (clustered.high - clustered.low) / (alone.high - alone.low)
    assert ratio == pytest.approx(math.sqrt(10), rel=0.15)


@pytest.mark.parametrize("clusters", [list(range(40)), [None] * 40, ["one"] * 40])
def test_clusters_of_one_task_and_one_cluster_are_no_clusters(clusters: list[int | str | None]) -> None:
    values = np.random.default_rng(1).random(40)
    assert estimate(values, clusters=clusters) == estimate(values)


def test_tasks_without_a_cluster_stand_alone() -> None:
    values = np.random.default_rng(2).random(30)
    named = ["x", "x", "y", "y", *range(26)]
    unnamed = ["x", "x", "y", "y", *[None] * 26]
    assert estimate(values, clusters=unnamed) == estimate(values, clusters=named)


def test_clusters_that_agree_exactly_count_as_one_trial_each() -> None:
    found = estimate([1.0] * 60, clusters=[task // 10 for task in range(60)])
    assert found.method == "wilson"
    assert found.low == pytest.approx(wilson(1.0, 6, 0.95).low)


def test_few_clusters_never_narrow_the_interval() -> None:
    values = [1.0] * 5 + [0.0] * 5 + [1.0] * 6 + [0.0] * 5
    clusters = ["a"] * 10 + ["b"] * 11
    clustered, plain = estimate(values, clusters=clusters), estimate(values)
    assert clustered.method == "cluster-bootstrap"
    assert clustered.low <= plain.low
    assert clustered.high >= plain.high


def test_proportion_can_be_told() -> None:
    assert estimate([0, 1, 1, 0, 1], proportion=False).method == "bca"
    with pytest.raises(UserError, match="neither 0 nor 1"):
        estimate([0, 0.5], proportion=True)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_an_impossible_level_is_refused(level: float) -> None:
    with pytest.raises(UserError, match="level"):
        estimate([0, 1], level=level)


def test_marks_of_another_length_are_refused() -> None:
    with pytest.raises(UserError, match="3 values but 1"):
        estimate([0, 1, 1], failures=[True])


values_and_clusters = st.lists(
    st.tuples(
        st.one_of(st.none(), st.floats(0, 1), st.sampled_from([0.0, 1.0])),
        st.booleans(),
        st.one_of(st.none(), st.sampled_from("abcd")),
    ),
    max_size=25,
)


@given(values_and_clusters, st.floats(0.5, 0.99), st.randoms(use_true_random=False))
@settings(max_examples=120, deadline=None)
def test_an_estimate_holds_together(rows: list[Any], level: float, random: Random) -> None:
    def of(part: list[Any]) -> Estimate:
        values, failures, clusters = ([row[i] for row in part] for i in range(3))
        return estimate(values, failures=failures, clusters=clusters, level=level, resamples=200)

    found = of(rows)
    assert all(math.isfinite(x) for x in (found.mean, found.low, found.high))
    assert 0 <= found.low <= found.mean <= found.high <= 1 + 1e-12
    assert 0 <= found.failures <= found.n <= len(rows)
    assert (found.answered is None) == (found.failures == found.n)
    assert found.answered is None or found.answered >= found.mean - 1e-12
    shuffled = list(rows)
    random.shuffle(shuffled)
    again = of(shuffled)
    assert (again.n, again.failures, again.method) == (found.n, found.failures, found.method)
    assert (again.low, again.mean, again.high) == pytest.approx((found.low, found.mean, found.high), abs=1e-9)


def test_a_higher_level_is_wider_and_a_seed_repeats() -> None:
    values = np.random.default_rng(5).random(60)
    narrow, wide = estimate(values, level=0.8), estimate(values, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert estimate(values, seed=3) == estimate(values, seed=3) != estimate(values, seed=4)


def test_columns_together_are_columns_alone() -> None:
    rng = np.random.default_rng(6)
    clusters = rng.integers(0, 20, 80).tolist()
    columns = {
        "continuous": Column.of(rng.random(80), rng.random(80) < 0.1),
        "binary": Column.of(rng.integers(0, 2, 80).astype(float), None),
        "partly undefined": Column.of([None if rng.random() < 0.3 else rng.random() for _ in range(80)], None),
    }
    together = estimate_columns(columns, clusters=clusters, resamples=500)
    assert list(together) == list(columns)
    for name, column in columns.items():
        alone = estimate_columns({name: column}, clusters=clusters, resamples=500)[name]
        assert (alone.low, alone.high) == pytest.approx((together[name].low, together[name].high), abs=1e-12)
        assert replace(alone, low=0, high=0) == replace(together[name], low=0, high=0)
