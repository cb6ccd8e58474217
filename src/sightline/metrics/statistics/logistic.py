"""Logistic regression with a ridge penalty and no intercept: for a few hundred features and some thousand rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS = 30
_CLOSE = 1e-8
_LARGEST = 35.0
"""Beyond this a probability is 0 or 1 in double precision."""


def fit_logistic(features: Floats, labels: NDArray[np.bool_], weights: Floats, penalty: float) -> Floats:
    """The coefficients β that minimize Σ wᵢ log(1 + exp(−sᵢ xᵢ·β)) + penalty/2 · |β|², with sᵢ = ±1 for the label.

    Newton's method with halved steps; the penalty makes the minimum unique, also where the labels are separable.
    """
    beta = np.zeros(features.shape[1])
    signs = np.where(labels, 1.0, -1.0)
    loss = _loss(features, signs, weights, penalty, beta)
    for _ in range(_STEPS):
        probable = _sigmoid(features @ beta)
        slope = features.T @ (weights * (probable - labels)) + penalty * beta
        curve = (features * (weights * probable * (1 - probable))[:, None]).T @ features
        curve[np.diag_indices_from(curve)] += penalty
        step = np.linalg.solve(curve, slope)
        decrease = float(slope @ step)
        if decrease < _CLOSE:
            break
        size = 1.0
        while (after := _loss(features, signs, weights, penalty, beta - size * step)) > loss and size > _CLOSE:
            size /= 2
        beta, loss = beta - size * step, after
    return beta


def _loss(features: Floats, signs: Floats, weights: Floats, penalty: float, beta: Floats) -> float:
    return float(weights @ np.logaddexp(0.0, -signs * (features @ beta)) + penalty / 2 * (beta @ beta))


def _sigmoid(values: Floats) -> Floats:
    found: Floats = 1.0 / (1.0 + np.exp(-np.clip(values, -_LARGEST, _LARGEST)))
    return found
