"""Corrections that no command uses: of a difference from its pairs, and from queries that people judged whole.

Beside `trust_scores.py`, which measures both.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.metrics.labels.calibration import assign_folds
from sightline.metrics.labels.corrected import (
    LEAST_CLUSTERS,
    Corrected,
    JudgedPairs,
    Worth,
    check_enough,
    corrected_difference,
    decided_weights,
    worths,
)
from sightline.metrics.labels.targets import Target

Codes = NDArray[np.intp]


def correct_difference(
    pairs: JudgedPairs, first: Target, second: Target, *, level: float = 0.95, seed: int = 0
) -> Corrected:
    """Second − first, paired: the same queries, and pairs that both found alike cancel."""
    before, after = worths(pairs, (first, second), seed=seed)
    names = " and ".join(sorted({first.name, second.name}))
    return corrected_difference(before, after, names, pairs.clusters, level=level, seed=seed)


def correct_queries(
    judge: ArrayLike,
    people: ArrayLike,
    draw: ArrayLike,
    *,
    clusters: Codes | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Corrected:
    """Any metric (or a difference of two) where people judged *whole* queries: unbiased, for classical nDCG and RR too.

    `judge` holds each query's value by generated labels, `people` its value by people's labels, NaN where nobody judged
    it, `draw` the weights of the drawn queries. v_q = c + λ (m_q − m̄) + W_q (y_q − c − λ (m_q − m̄)), with c the mean of
    people's values and λ in [0, 1] from the other folds.
    """
    values, y = np.asarray(judge, dtype=np.float64), np.asarray(people, dtype=np.float64)
    weights, undecided = decided_weights(np.asarray(draw, dtype=np.float64), y)
    check_enough(weights, "whole queries", LEAST_CLUSTERS)
    known = np.where(weights > 0, y, 0.0)
    codes = np.arange(len(values)) if clusters is None else np.asarray(clusters)
    fold = assign_folds(int(codes.max()) + 1, seed=seed)[codes]
    center = np.empty(len(values))
    for number in np.unique(fold):
        others = (fold != number) & (weights > 0)
        center[fold == number] = weights[others] @ known[others] / weights[others].sum() if others.any() else 0.0
    plain = center + weights * np.where(weights > 0, known - center, 0.0)
    change = (values - values.mean()) * (1 - weights)
    reach = weights[weights > 0]
    worth = Worth(tuple(plain.tolist()), tuple(change.tolist()), tuple(reach.tolist()), undecided)
    nothing = Worth((0.0,) * len(plain), (0.0,) * len(plain), (0.0,) * len(reach))
    return replace(corrected_difference(nothing, worth, "", clusters, level=level, seed=seed), p=None)
