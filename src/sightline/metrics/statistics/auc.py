"""Labels told apart: the area under the ROC curve within queries, and logistic regression with a ridge penalty.

The interval of the area knows that queries share pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.metrics.statistics.distributions import student_cdf, student_quantile
from sightline.metrics.statistics.intervals import Codes, Floats, effective_count

CHANCE = 0.5
_STEPS = 30
_CLOSE = 1e-8
_LARGEST = 35.0
"""Beyond this a probability is 0 or 1 in double precision."""


@dataclass(frozen=True, slots=True)
class WithinAuc:
    """The mean over `queries` of the probability that a relevant picture is scored above another of its query.

    `low` and `high` are the ends of the interval of `level`; `p` is the chance of so high a value if scores and labels
    had nothing to do with each other.
    """

    value: float
    low: float
    high: float
    queries: int
    p: float
    level: float = 0.95


def within_auc(
    scores: Floats,
    labels: NDArray[np.bool_],
    queries: Codes,
    pictures: Codes,
    *,
    level: float = 0.95,
    cross_fitted: bool = False,
) -> WithinAuc | None:
    """Mean AUC over queries that have relevant and other rows; None where there are fewer than two of them.

    Rows that share a query depend on each other, and so do rows that share a picture: a picture that is in many pools
    is no more than one picture. With DeLong's placements as influences of rows, and S² for the sum over clusters of
    the squared sum of their influences, the variance is S²(queries) + S²(pictures) − S²(rows) (Cameron, Gelbach and
    Miller, 2011), but no less than either, and counts one more query at chance, so that no interval has length 0.
    With `cross_fitted` scores it is doubled: two folds test each other, so that what they have in common by chance
    counts twice (the sum of cᵢcⱼ over ordered pairs of folds has twice the variance of as many independent products).
    The interval is Student's with one degree of freedom less than there are queries, relevant pictures or others.
    """
    parts = _influences(scores, labels, queries)
    if len(parts.values) < 2:
        return None
    count, value = len(parts.values), float(parts.values.mean())
    by_query = np.bincount(queries, parts.of_rows)
    by_picture = np.bincount(pictures, parts.of_rows)
    squares = [float((sums**2).sum()) for sums in (by_query, by_picture, parts.of_rows)]
    fewest = max(2, min(count, *(_worth(pictures[side], parts.weights[side]) for side in (labels, ~labels))))
    variance = max(squares[0], squares[1], squares[0] + squares[1] - squares[2]) * fewest / (fewest - 1)
    spread = sqrt(variance * (2 if cross_fitted else 1) + ((value - CHANCE) / (count + 1)) ** 2)
    return _judged(value, spread, fewest - 1, count, level)


@dataclass(frozen=True, slots=True)
class AucInfluences:
    """The AUC of each query that has one, how much each row adds to the mean of them, and how much it weighs there."""

    values: Floats
    of_rows: Floats
    weights: Floats


def _influences(scores: Floats, labels: NDArray[np.bool_], queries: Codes) -> AucInfluences:
    """A relevant row has (V − A) / (m Q), another (V − Aq) / (n Q), with V the share of comparisons that are won."""
    order = np.argsort(queries, kind="stable")
    placed: list[tuple[Codes, Codes, Floats, Floats]] = []
    for rows in np.split(order, np.flatnonzero(np.diff(queries[order])) + 1):
        above, below = rows[labels[rows]], rows[~labels[rows]]
        if len(above) and len(below):
            wins = (np.sign(scores[above][:, None] - scores[below][None, :]) + 1) / 2
            placed.append((above, below, wins.mean(axis=1), wins.mean(axis=0)))
    values = np.array([wins.mean() for _, _, wins, _ in placed])
    of_rows, weights = np.zeros(len(scores)), np.zeros(len(scores))
    for (above, below, theirs, ours), value in zip(placed, values, strict=True):
        of_rows[above] = (theirs - values.mean()) / (len(above) * len(values))
        of_rows[below] = (ours - value) / (len(below) * len(values))
        weights[above], weights[below] = 1 / len(above), 1 / len(below)
    return AucInfluences(values, of_rows, weights)


def _worth(clusters: Codes, weights: Floats) -> int:
    """How many clusters of equal weight these are worth (Kish)."""
    sums: Floats = np.bincount(clusters, weights).astype(np.float64)
    return round(effective_count(sums))


def _judged(value: float, spread: float, df: int, queries: int, level: float) -> WithinAuc:
    half = student_quantile((1 + level) / 2, df) * spread
    p = 1 - student_cdf((value - CHANCE) / spread, df) if spread > 0 else 1.0
    return WithinAuc(value, max(0.0, value - half), min(1.0, value + half), queries, p, level)


def pooled_auc(scores: Floats, labels: NDArray[np.bool_]) -> float | None:
    """The AUC over all rows at once, ties counted half; None where all have the same label."""
    above, below = int(labels.sum()), int((~labels).sum())
    if not above or not below:
        return None
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return float((ranks[inverse][labels].sum() - above * (above + 1) / 2) / (above * below))


def fit_logistic(features: Floats, labels: ArrayLike, weights: Floats, penalty: float | Floats) -> Floats:
    """The β that minimize Σ wᵢ (log(1 + exp(xᵢ·β)) − yᵢ xᵢ·β) + ½ Σ penalty_j β_j², for labels y from 0 to 1.

    There is no intercept but a column of ones, whose penalty may be lower. Newton's method with halved steps; the
    penalty makes the minimum unique, also where the labels are separable.
    """
    y = np.asarray(labels, dtype=np.float64)
    ridge = np.broadcast_to(np.asarray(penalty, dtype=np.float64), features.shape[1:])
    beta = np.zeros(features.shape[1])
    loss = _loss(features, y, weights, ridge, beta)
    for _ in range(_STEPS):
        probable = sigmoid(features @ beta)
        slope = features.T @ (weights * (probable - y)) + ridge * beta
        curve = (features * (weights * probable * (1 - probable))[:, None]).T @ features
        curve.flat[:: len(ridge) + 1] += ridge
        step = np.linalg.solve(curve, slope)
        decrease = float(slope @ step)
        if decrease < _CLOSE:
            break
        size = 1.0
        while (after := _loss(features, y, weights, ridge, beta - size * step)) > loss and size > _CLOSE:
            size /= 2
        beta, loss = beta - size * step, after
    return beta


def _loss(features: Floats, y: Floats, weights: Floats, ridge: Floats, beta: Floats) -> float:
    odds = features @ beta
    return float(weights @ (np.logaddexp(0.0, odds) - y * odds) + ridge @ beta**2 / 2)


def sigmoid(values: Floats) -> Floats:
    """1 / (1 + e^−x)."""
    found: Floats = 1.0 / (1.0 + np.exp(-np.clip(values, -_LARGEST, _LARGEST)))
    return found
