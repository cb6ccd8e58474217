"""Worlds with known truth, and judges with planted errors, for the simulations of `benchmarks/trust.py`.

A world has 200 queries. Two systems show 10 pictures each; 6 of them both found, in other places, and 4 are each
system's own. A query's share of relevant pictures is Beta with the given mean and an intraclass correlation of 0.2
(assumed, not measured on real runs), higher at the first ranks (1.3 to 0.7 times the mean). The
pictures that only the second system found are relevant more often, those that only the first found less often, so
that P@10 differs by `gap`.

A judge of accuracy a is right about relevant and other pictures alike (sensitivity = specificity = a) and states a
confidence: the normal deviate behind its label, as log odds twice as sure as it should be. A judge that states labels
alone narrows less: in a trial with P@10 at accuracy 0.85 by 8, 17 and 21 % at prevalence 0.1, 0.25 and 0.5. Errors:
- independent: each pair for itself;
- query: half of the errors come from queries about which the judge is wrong in 9 of 10 cases;
- picture: half of the errors come from pictures that it always or never calls relevant, whatever the query (300
  pictures);
- shared: three judges, half of whose errors are pairs that deceive all of them; their log odds are averaged;
- same-source: it favors what the first system alone found (specificity a − 0.25, at least 0.2; sensitivity a + 0.1, at
  most 0.99) and disfavors what the second alone found.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

QUERIES, DEPTH, COMMON, PICTURES = 200, 10, 6, 300
OWN = DEPTH - COMMON
POOL = COMMON + 2 * OWN
KINDS = ("independent", "query", "picture", "shared", "same-source")
ACCURACIES = (0.5, 0.7, 0.85, 0.95)
PREVALENCES = (0.1, 0.25, 0.5)
_ICC = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Pairs of all pools: truth, and the rank in both systems (0: not found)."""

    query: NDArray[np.intp]
    picture: NDArray[np.intp]
    truth: Floats
    first: NDArray[np.intp]
    second: NDArray[np.intp]


def draw_world(
    rng: np.random.Generator, prevalence: float, gap: float = 0.0, clusters: NDArray[np.intp] | None = None
) -> World:
    """One world; common pictures come first in a query's pool, then those of the first system, then of the second.

    Queries of a cluster (an owner) share half of what makes queries easy, and by how much the systems differ.
    """
    size = (1 - _ICC) / _ICC
    level = rng.beta(prevalence * size, (1 - prevalence) * size, size=(QUERIES, 1))
    lean = np.zeros((QUERIES, 1))
    if clusters is not None:
        shared = rng.beta(prevalence * size, (1 - prevalence) * size, size=int(clusters.max()) + 1)
        mean = np.clip(shared[clusters], 1e-3, 1 - 1e-3)
        level = rng.beta(9 * mean, 9 * (1 - mean))[:, None]
        lean = rng.normal(0, 0.05, int(clusters.max()) + 1)[clusters][:, None]
    places = [np.argsort(rng.random((QUERIES, DEPTH)), axis=1) + 1 for _ in range(2)]
    nothing = np.zeros((QUERIES, OWN), dtype=np.intp)
    first = np.concatenate([places[0], nothing], axis=1)
    second = np.concatenate([places[1][:, :COMMON], nothing, places[1][:, COMMON:]], axis=1)
    best = np.where(first > 0, first, DEPTH + 1)
    best = np.minimum(best, np.where(second > 0, second, DEPTH + 1))
    chance = level * (1.3 - 0.6 * (best - 1) / (DEPTH - 1))
    shift = gap * DEPTH / (2 * OWN)
    chance[:, COMMON:DEPTH] -= shift + lean
    chance[:, DEPTH:] += shift + lean
    truth = (rng.random(chance.shape) < chance).astype(np.float64)
    query = np.repeat(np.arange(QUERIES), POOL)
    picture = rng.integers(PICTURES, size=QUERIES * POOL)
    return World(query, picture, truth.ravel(), first.ravel(), second.ravel())


def unequal_clusters(rng: np.random.Generator, count: int) -> NDArray[np.intp]:
    """The cluster of each query: up to `count` of them, of lognormal sizes."""
    sizes = np.exp(rng.normal(0, 1, count))
    drawn = rng.choice(count, size=QUERIES, p=sizes / sizes.sum())
    return np.unique(drawn, return_inverse=True)[1].astype(np.intp)


def judge(rng: np.random.Generator, world: World, kind: str, accuracy: float) -> Floats:
    """The judge's stated log odds of relevance for each pair."""
    if kind == "shared":
        rest = (1 - accuracy) / 2
        deceived = rng.random(len(world.truth)) < (1 - accuracy - rest) / (1 - rest)
        aim = np.where(deceived, 1 - world.truth, world.truth)
        stated: Floats = np.mean([_stated(rng, aim, 1 - rest) for _ in range(3)], axis=0)
        return stated
    if kind == "same-source":
        return _favoring(rng, world, accuracy)
    aim, rest = world.truth, 1 - accuracy
    if kind in ("query", "picture"):
        aim, rest = _systematic(rng, world, kind, accuracy)
    return _stated(rng, aim, 1 - rest)


def _systematic(rng: np.random.Generator, world: World, kind: str, accuracy: float) -> tuple[Floats, float]:
    """What the judge takes for the truth, and the rate of its other errors."""
    rest = (1 - accuracy) / 2
    if kind == "query":
        bad = rng.random(QUERIES) < (1 - accuracy - rest) / (0.9 - rest)
        wrong = bad[world.query] & (rng.random(len(world.truth)) < 0.9)
        return np.where(wrong, 1 - world.truth, world.truth), rest
    bad = rng.random(PICTURES) < (1 - accuracy - rest) / (0.5 - rest)
    always = (rng.random(PICTURES) < 0.5).astype(np.float64)
    return np.where(bad[world.picture], always[world.picture], world.truth), rest


def _favoring(rng: np.random.Generator, world: World, accuracy: float) -> Floats:
    only_first, only_second = world.second == 0, world.first == 0
    low, high = max(accuracy - 0.25, 0.2), min(accuracy + 0.1, 0.99)
    right_yes = np.where(only_first, high, np.where(only_second, low, accuracy))
    right_no = np.where(only_first, low, np.where(only_second, high, accuracy))
    right = np.where(world.truth > 0, right_yes, right_no)
    table = {float(value): NormalDist().inv_cdf(float(value)) for value in np.unique(right)}
    deviate = np.array([table[float(value)] for value in right])
    latent = rng.normal(size=len(right)) + np.where(world.truth > 0, deviate, -deviate)
    return _log_odds(latent, accuracy)


def _stated(rng: np.random.Generator, aim: Floats, accuracy: float) -> Floats:
    deviate = NormalDist().inv_cdf(accuracy)
    return _log_odds(rng.normal(size=len(aim)) + np.where(aim > 0, deviate, -deviate), accuracy)


def _log_odds(latent: Floats, accuracy: float) -> Floats:
    """Honest log odds would be 2 · deviate · latent; a judge at chance still sounds sure."""
    return np.clip(4 * max(NormalDist().inv_cdf(accuracy), 0.3) * latent, -4.6, 4.6)


def probability(log_odds: Floats) -> Floats:
    """Stated confidence that a pair is relevant."""
    return 1 / (1 + np.exp(-log_odds))
