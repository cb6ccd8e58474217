"""Do 95 % intervals hold the truth about 95 times in 100, and does a 5 % test cry wolf about 5 times?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sightline.metrics.statistics.estimates import estimate
from sightline.metrics.statistics.paired import paired_difference

pytestmark = pytest.mark.slow

TRIALS = 800
Draw = Callable[[np.random.Generator], tuple[np.ndarray, list[int] | None]]


def coverage(draw: Draw, truth: float) -> float:
    rng = np.random.default_rng(0)
    held = 0
    for trial in range(TRIALS):
        values, clusters = draw(rng)
        found = estimate(values, clusters=clusters, resamples=1_500, seed=trial)
        held += found.low <= truth <= found.high
    return held / TRIALS


def clustered(clusters: int, mean: float, icc: float, size: float) -> Draw:
    """0/1 values whose chance differs from cluster to cluster; clusters of random sizes."""
    weight = (1 - icc) / icc

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, list[int]]:
        sizes = rng.geometric(1 / size, clusters) + 1
        chance = rng.beta(mean * weight, (1 - mean) * weight, clusters)
        values = (rng.random(sizes.sum()) < np.repeat(chance, sizes)).astype(float)
        return values, np.repeat(np.arange(clusters), sizes).tolist()

    return draw


@pytest.mark.parametrize(("n", "chance"), [(20, 0.5), (122, 0.287), (122, 0.05), (500, 0.9)])
def test_proportions(n: int, chance: float) -> None:
    assert 0.925 <= coverage(lambda rng: ((rng.random(n) < chance).astype(float), None), chance) <= 0.985


@pytest.mark.parametrize(("n", "least"), [(15, 0.89), (40, 0.92), (200, 0.93)])
def test_skewed_scores(n: int, least: float) -> None:
    assert least <= coverage(lambda rng: (rng.beta(0.5, 2, n), None), 0.2) <= 0.98


@pytest.mark.parametrize(("clusters", "least"), [(5, 0.88), (10, 0.90), (20, 0.92), (60, 0.92)])
@pytest.mark.parametrize("icc", [0.05, 0.3])
def test_clusters(clusters: int, least: float, icc: float) -> None:
    assert least <= coverage(clustered(clusters, 0.4, icc, 6), 0.4) <= 0.985


def test_ignoring_clusters_would_be_wrong() -> None:
    draw = clustered(40, 0.4, 0.3, 10)
    assert coverage(lambda rng: (draw(rng)[0], None), 0.4) < 0.75


def test_the_paired_test_keeps_its_level_with_clusters() -> None:
    rng = np.random.default_rng(1)
    wolf = 0
    for _ in range(TRIALS):
        clusters = np.repeat(np.arange(24), 8)
        effect = np.repeat(rng.normal(0, 0.2, 24), 8) + rng.normal(0, 0.3, 192)
        found = paired_difference(np.zeros(192), effect, clusters=clusters.tolist(), resamples=200, flips=999)
        wolf += found.p is not None and found.p < 0.05
    assert 0.03 <= wolf / TRIALS <= 0.075
