"""Logistic regression with a ridge penalty: for a few hundred features and some thousand rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
_STEPS = 30
_CLOSE = 1e-8
_LARGEST = 35.0
"""Beyond this a probability is 0 or 1 in double precision."""


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
