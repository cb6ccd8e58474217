"""What a judge's confidence is worth: a calibrator fitted to people's decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import UserError
from sightline.metrics.statistics.auc import fit_logistic, sigmoid

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

RIDGE = 0.25
"""Penalty ½ · RIDGE · b² on each slope: a judge that never erred in 30 decisions may still err."""
_INTERCEPT_RIDGE = 0.001
_CLIP = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Calibrator:
    """p = 1 / (1 + exp(−b₀ − Σ b·(x − center) / scale))."""

    coefficients: Floats
    center: Floats
    scale: Floats

    def predict(self, features: ArrayLike) -> Floats:
        """The probability of relevance for each row of features."""
        rows = _rows(features)
        return sigmoid(self.coefficients[0] + ((rows - self.center) / self.scale) @ self.coefficients[1:])


def confidence_feature(probability: ArrayLike) -> Floats:
    """A stated probability as a feature: its log odds, with 0.01 and 0.99 as the ends."""
    clipped = np.clip(np.asarray(probability, dtype=np.float64), _CLIP, 1 - _CLIP)
    feature: Floats = np.log(clipped / (1 - clipped))
    return feature


def with_query_mean(features: ArrayLike, query: ArrayLike, queries: int) -> Floats:
    """Each feature, and its mean over the query's pool: where a judge finds much, more of the rest is relevant too."""
    rows, codes = _rows(features), np.asarray(query, dtype=np.intp)
    count = np.maximum(np.bincount(codes, minlength=queries), 1)
    means = [np.bincount(codes, weights=column, minlength=queries) / count for column in rows.T]
    return np.column_stack([rows, *(mean[codes] for mean in means)])


def fit_calibrator(
    features: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None, ridge: float = RIDGE
) -> Calibrator:
    """Logistic regression (`fit_logistic`); labels from 0 to 1 (a grade as a share of the highest).

    Maximizes Σ w (y log p + (1−y) log(1−p)) − ½ ridge Σ b², with weights scaled to mean 1 and standardized features.
    A feature that never varies gets slope zero.
    """
    rows, y = _rows(features), np.asarray(labels, dtype=np.float64)
    if not len(y) or len(rows) != len(y) or not np.all((y >= 0) & (y <= 1)):
        raise UserError("Calibration needs labels from 0 to 1, one for each row.", "check labels and features")
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    w = w / w.mean()
    center, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(len(y)), (rows - center) / scale])
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = _INTERCEPT_RIDGE
    return Calibrator(fit_logistic(design, y, w, penalty), center, scale)


@dataclass(frozen=True, slots=True, eq=False)
class CrossFit:
    """For each pair, from decisions about other queries only: the calibrated probability, and the plain share."""

    probability: Floats
    base: Floats


def cross_fit(features: ArrayLike, labels: ArrayLike, weights: ArrayLike, folds: ArrayLike) -> CrossFit:
    """Calibrate each fold with the decisions of the others, so that no decision helps to predict itself.

    `labels` is NaN where nobody decided, `weights` are those of the draw. A fold for which the others hold no decision
    is predicted by ½.
    """
    rows, y = _rows(features), np.asarray(labels, dtype=np.float64)
    w, fold = np.asarray(weights, dtype=np.float64), np.asarray(folds)
    known = np.isfinite(y) & (w > 0)
    probability, base = np.full(len(y), 0.5), np.full(len(y), 0.5)
    for number in np.unique(fold):
        here, others = fold == number, known & (fold != number)
        if others.any():
            probability[here] = fit_calibrator(rows[others], y[others], w[others]).predict(rows[here])
            base[here] = w[others] @ y[others] / w[others].sum()
    return CrossFit(probability, base)


def assign_folds(units: int, folds: int = 5, seed: int = 0) -> Codes:
    """A fold for each query or cluster, of nearly equal size, at random; at most one fold for each unit."""
    return np.random.default_rng((seed, 2)).permutation(units) % max(1, min(folds, units))


def _rows(features: ArrayLike) -> Floats:
    given = np.asarray(features, dtype=np.float64)
    return given[:, None] if given.ndim == 1 else given
