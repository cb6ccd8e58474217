from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.statistics import intervals
from sightline.metrics.statistics.intervals import Floats, Units, jackknife, replicates, units_of

RESAMPLES = 20_000


def plain_loop(units: Units, resamples: int, seed: int) -> Floats:
    """The definition: draw units with replacement, divide the sums."""
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, units.sums.shape[1]))
    for row in range(resamples):
        drawn = rng.integers(0, len(units.sizes), len(units.sizes))
        means[row] = units.sums[drawn].sum(axis=0) / units.sizes[drawn].sum()
    return means


def assert_same_distribution(ours: Floats, reference: Floats) -> None:
    """Means, spreads and quantiles agree within the noise of the simulation and the step of a lattice."""
    spread, step = reference.std(), np.diff(np.unique(reference.round(12))).max()
    assert ours.mean() == pytest.approx(reference.mean(), abs=5 * spread * np.sqrt(2 / len(ours)))
    assert ours.std() == pytest.approx(spread, rel=5 / np.sqrt(len(ours)))
    for q in (0.025, 0.25, 0.75, 0.975):
        assert np.quantile(ours, q) == pytest.approx(
            np.quantile(reference, q), abs=0.08 * spread + min(step, 0.2 * spread)
        )


@pytest.mark.parametrize("kind", ["continuous", "few values", "clusters", "equal clusters"])
def test_replicates_follow_the_plain_loop(kind: str) -> None:
    rng = np.random.default_rng(1)
    values = rng.beta(0.6, 2, size=(200, 1))
    clusters = None
    if kind == "few values":
        values = rng.choice([-1.0, 0.0, 0.0, 1.0], size=(200, 1))
    elif kind != "continuous":
        clusters = rng.integers(0, 25, 200) if kind == "clusters" else np.arange(200) % 25
        clusters = np.unique(clusters, return_inverse=True)[1]
    units = units_of(values, clusters)
    assert_same_distribution(replicates(units, RESAMPLES, 0), plain_loop(units, RESAMPLES, 1))


def test_both_ways_of_drawing_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    units = units_of(np.random.default_rng(2).choice([0.0, 0.5, 1.0], size=(150, 1)))
    by_multinomial = replicates(units, RESAMPLES, 0)
    monkeypatch.setattr(intervals, "_UNITS_PER_CATEGORY", 10**9)
    by_index = replicates(units, RESAMPLES, 0)
    assert not np.array_equal(by_multinomial, by_index)
    assert_same_distribution(by_multinomial, by_index)


def test_a_seed_gives_the_same_and_another_seed_another() -> None:
    units = units_of(np.random.default_rng(3).random((50, 1)))
    assert np.array_equal(replicates(units, 100, 7), replicates(units, 100, 7))
    assert not np.array_equal(replicates(units, 100, 7), replicates(units, 100, 8))


@pytest.mark.parametrize("clustered", [False, True])
def test_a_column_does_not_depend_on_its_neighbours_or_on_the_order(clustered: bool) -> None:
    rng = np.random.default_rng(4)
    values = np.column_stack([rng.random(90), rng.integers(0, 2, 90), rng.normal(size=90)])
    clusters = np.arange(90) % 40 if clustered else None
    order = rng.permutation(90)
    shuffled = units_of(values[order], None if clusters is None else clusters[order])
    together = replicates(shuffled, 300, 0)
    for column in range(3):
        alone = replicates(units_of(values[:, [column]], clusters), 300, 0)
        np.testing.assert_allclose(together[:, column], alone[:, 0], rtol=1e-12)


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 6)), min_size=3, max_size=30))
@settings(max_examples=50, deadline=None)
def test_jackknife_leaves_each_cluster_out(rows: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in rows])
    clusters = np.unique([cluster for _, cluster in rows], return_inverse=True)[1]
    if clusters.max() == 0:
        return
    left = jackknife(units_of(values[:, None], clusters))[:, 0]
    expected = [values[clusters != cluster].mean() for cluster in range(clusters.max() + 1)]
    np.testing.assert_allclose(left, expected, atol=1e-12)
