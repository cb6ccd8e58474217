"""A share of all labels from those that were checked: each counts for as many as its tier has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import replace

import numpy as np

from sightline.make.audit.decisions import Pair
from sightline.score.statistics import wilson
from sightline.types import Estimate

_RESAMPLES = 2000
_LEVEL = 0.95
NOTHING = Estimate(0.0, 0.0, 1.0, 0, 0, None, _LEVEL, "none")
"""Of nothing that was checked."""


def as_mended(
    before: Mapping[Pair, bool],
    now: Mapping[Pair, bool],
    tier_of: Mapping[Pair, str],
    sizes: Mapping[str, int],
    *,
    seed: int = 0,
) -> Estimate:
    """The share of all labels that is right now: checked ones as they are, the rest by how right they were when made.

    Labels that people have mended are right, but say nothing of those that nobody looked at: these are as good as the
    checked ones were `before`. Without any change this is `stratified`.
    `sizes` are how many labels each tier has, checked or not.
    """
    if before == now:
        return stratified(now, tier_of, seed=seed, sizes=sizes)
    tiers = {tier_of[pair] for pair in before}
    seen = Counter(tier_of[pair] for pair in now)
    rest = Counter({tier: left for tier in tiers if (left := sizes.get(tier, 0) - seen[tier]) > 0})
    whole = rest.total() + len(now)
    guess = stratified(before, tier_of, seed=seed, sizes=rest) if rest else replace(NOTHING, high=0.0, method="all")
    low, mean, high = (
        (sum(now.values()) + rest.total() * share) / max(1, whole) for share in (guess.low, guess.mean, guess.high)
    )
    return Estimate(mean, low, high, len(now), 0, mean, _LEVEL, guess.method)


def stratified(
    right: Mapping[Pair, bool],
    tier_of: Mapping[Pair, str],
    *,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
    among: Container[Pair] | None = None,
) -> Estimate:
    """Σ over tiers of (the tier's share of all labels) × (the share of its checked labels that is right).

    `sizes` are those of the tiers where they are not all labels of `tier_of`. With `among`, of these pairs alone, each
    still with its tier's weight. Tiers of which nothing was checked are left out of the weights. The interval resamples
    queries, and is no narrower than Wilson's for as many labels as the weights are worth, which stands
    alone when all are right.
    """
    known = {pair: value for pair, value in right.items() if pair in tier_of}
    sizes = Counter(tier_of.values()) if sizes is None else sizes
    checked = Counter(tier_of[pair] for pair in known)
    weight = {tier: sizes.get(tier, 0) / count for tier, count in checked.items()}
    pairs = [pair for pair in known if weight[tier_of[pair]] > 0 and (among is None or pair in among)]
    if not pairs:
        return NOTHING
    weights = np.array([weight[tier_of[pair]] for pair in pairs])
    values = np.array([float(known[pair]) for pair in pairs])
    mean = float(np.average(values, weights=weights))
    worth = float(weights.sum() ** 2 / (weights**2).sum())
    tasks, at = np.unique(np.array([task for task, _ in pairs], dtype=str), return_inverse=True)
    low, high = wilson(mean, max(1.0, min(worth, _effective(at, values))), _LEVEL)
    method = "wilson"
    if len(tasks) > 1 and 0 < mean < 1:
        lower, upper = _resampled(at, len(tasks), weights, values, seed)
        low, high = min(low, lower), max(high, upper)
        method = "cluster-bootstrap"
    return Estimate(mean, low, high, len(pairs), 0, mean, _LEVEL, method)


def _effective(at: np.typing.NDArray[np.intp], values: np.typing.NDArray[np.float64]) -> float:
    """Labels of one query that all come out the same say no more than a query each."""
    return float(len(values) if 0 < values.mean() < 1 else len(np.unique(at)))


def _resampled(
    at: np.typing.NDArray[np.intp],
    tasks: int,
    weights: np.typing.NDArray[np.float64],
    values: np.typing.NDArray[np.float64],
    seed: int,
) -> tuple[float, float]:
    sums = np.bincount(at, weights * values, minlength=tasks)
    sizes = np.bincount(at, weights, minlength=tasks)
    drawn = np.random.default_rng(seed).integers(tasks, size=(_RESAMPLES, tasks))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)
