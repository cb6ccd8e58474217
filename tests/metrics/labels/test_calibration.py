"""Calibration of a judge's confidence, against scikit-learn and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sightline.errors import UserError
from sightline.metrics.labels.calibration import (
    assign_folds,
    confidence_feature,
    cross_fit,
    fit_calibrator,
    with_query_mean,
)


def _sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = (rng.random(n) < 1 / (1 + np.exp(-(0.5 + 1.5 * x[:, 0] - 0.7 * x[:, 1])))).astype(float)
    return x, y


def test_coefficients_are_those_of_scikit_learn() -> None:
    x, y = _sample(300)
    weights = np.random.default_rng(1).uniform(0.2, 3, size=300)
    ours = fit_calibrator(x, y, weights, ridge=0.25)
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    theirs = LogisticRegression(C=4, tol=1e-10, max_iter=1000).fit(standard, y, weights / weights.mean())
    # Their intercept is not penalized, ours by a thousandth.
    assert ours.coefficients[1:] == pytest.approx(theirs.coef_[0], abs=2e-4)
    assert ours.coefficients[0] == pytest.approx(theirs.intercept_[0], abs=2e-4)
    assert ours.predict(x) == pytest.approx(theirs.predict_proba(standard)[:, 1], abs=1e-4)


def test_labels_that_a_feature_separates_give_finite_probabilities() -> None:
    x = np.array([-2.0, -1.5, -1.0, 1.0, 1.5, 2.0])
    found = fit_calibrator(x, x > 0).predict(x)
    assert np.all((found > 0) & (found < 1))
    assert found[-1] < 0.999


def test_labels_of_one_kind_and_a_constant_feature_are_allowed() -> None:
    assert np.all(fit_calibrator(np.ones(8), np.ones(8)).predict(np.ones(3)) > 0.9)


def test_shares_between_0_and_1_are_labels_too() -> None:
    """A grade of 2 of 3 is worth two relevant and one not relevant decision."""
    x = np.array([0.0, 1.0, 2.0])
    graded = fit_calibrator(x, [1 / 3, 2 / 3, 2 / 3], ridge=1e-6)
    counted = fit_calibrator(np.repeat(x, 3), [0, 0, 1, 0, 1, 1, 0, 1, 1], ridge=1e-6)
    assert graded.predict(x) == pytest.approx(counted.predict(x), abs=1e-3)


def test_no_decision_helps_to_predict_itself() -> None:
    x, y = _sample(60)
    folds = np.arange(60) % 3
    weights = np.ones(60)
    before = cross_fit(x, y, weights, folds)
    changed = np.where(folds == 0, 1 - y, y)
    after = cross_fit(x, changed, weights, folds)
    assert np.array_equal(before.probability[folds == 0], after.probability[folds == 0])
    assert np.array_equal(before.base[folds == 0], after.base[folds == 0])
    assert not np.array_equal(before.probability[folds == 1], after.probability[folds == 1])


def test_pairs_without_decisions_are_predicted_too() -> None:
    x, y = _sample(60)
    labels = np.where(np.arange(60) < 40, y, np.nan)
    found = cross_fit(x, labels, np.where(np.isfinite(labels), 2.0, 0.0), np.arange(60) % 5)
    assert np.all(np.isfinite(found.probability))
    alone = cross_fit(x, np.full(60, np.nan), np.zeros(60), np.arange(60) % 5)
    assert np.all(alone.probability == 0.5)


def test_folds_are_of_nearly_equal_size() -> None:
    assert set(np.bincount(assign_folds(23, 5)).tolist()) == {4, 5}
    assert assign_folds(3, 5).max() == 2


def test_the_mean_of_a_query_stands_beside_each_feature() -> None:
    found = with_query_mean([1.0, 3.0, 10.0], [0, 0, 1], 3)
    assert found.tolist() == [[1.0, 2.0], [3.0, 2.0], [10.0, 10.0]]


def test_labels_beyond_a_probability_are_refused() -> None:
    with pytest.raises(UserError, match="from 0 to 1"):
        fit_calibrator([1.0, 2.0], [0.0, 2.0])


def test_confidence_as_log_odds_has_ends() -> None:
    found = confidence_feature([0.0, 0.5, 1.0])
    assert found == pytest.approx([-4.59512, 0.0, 4.59512], abs=1e-5)
