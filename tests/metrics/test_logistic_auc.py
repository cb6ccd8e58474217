"""Logistic regression and the AUC within queries: against scikit-learn, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.statistics.auc import fit_logistic, pooled_auc, within_auc


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(5, 80), st.integers(1, 12), st.sampled_from([0.1, 1.0, 10.0]))
def test_coefficients_are_those_of_scikit_learn(seed: int, rows: int, columns: int, penalty: float) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, columns))
    labels = features[:, 0] + rng.normal(size=rows) > 0
    if labels.all() or not labels.any():
        labels[0] = not labels[0]
    weights = rng.uniform(0.1, 2, rows)
    theirs = linear.LogisticRegression(C=1 / penalty, fit_intercept=False, tol=1e-10, max_iter=10_000)
    theirs.fit(features, labels, sample_weight=weights)
    ours = fit_logistic(features, labels, weights, penalty)
    np.testing.assert_allclose(ours, theirs.coef_[0], atol=2e-4)


def test_labels_that_a_feature_separates_have_a_finite_fit() -> None:
    features = np.array([[-1.0], [-0.5], [0.5], [1.0]])
    beta = fit_logistic(features, features[:, 0] > 0, np.ones(4), 0.01)
    assert 1 < beta[0] < 100


def drawn(rng: np.random.Generator, shared: bool, signal: float = 0.0) -> tuple[np.ndarray, ...]:
    """20 queries with 4 relevant and 8 other rows, over pictures of their own or over 24 pictures that all share."""
    count = 24 if shared else 240
    effect = rng.normal(size=count)  # Of a picture, in whatever pool it is.
    often = np.argsort(rng.normal(size=count))[:8]
    rows = []
    for query in range(20):
        pictures = rng.permutation(count)[:12] if shared else np.arange(query * 12, query * 12 + 12)
        if shared:  # The same pictures are relevant to most queries.
            pictures = np.array(sorted(pictures, key=lambda one: (one not in often, rng.random())))
        labels = np.arange(12) < 4
        scores = effect[pictures] + signal * labels + 0.1 * rng.normal(size=12)
        rows += list(zip(scores, labels, [query] * 12, pictures, strict=True))
    scores, labels, queries, pictures = (np.array(column) for column in zip(*rows, strict=True))
    return scores, labels.astype(bool), queries.astype(np.intp), pictures.astype(np.intp)


def test_the_value_is_the_mean_of_scikit_learns() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels, queries, pictures = drawn(np.random.default_rng(0), shared=False, signal=0.5)
    scores = scores.round(1)  # With ties.
    found = within_auc(scores, labels, queries, pictures)
    each = [metrics.roc_auc_score(labels[queries == query], scores[queries == query]) for query in range(20)]
    assert found is not None
    assert found.value == pytest.approx(np.mean(each))
    assert pooled_auc(scores, labels) == pytest.approx(metrics.roc_auc_score(labels, scores))
    assert found.low < found.value < found.high
    assert found.queries == 20


@pytest.mark.parametrize("shared", [False, True])
def test_scores_that_say_nothing_are_seldom_called_significant(shared: bool) -> None:
    """Also where the same few pictures are relevant to most queries, so that chance repeats itself in all of them."""
    rng = np.random.default_rng(1)
    found = [within_auc(*drawn(rng, shared)) for _ in range(200)]
    ps = [one.p for one in found if one is not None]
    held = [one.low <= 0.5 <= one.high for one in found if one is not None]
    assert np.mean(np.array(ps) < 0.05) <= 0.08
    assert np.mean(held) >= 0.92


def test_a_signal_is_significant_and_nothing_to_compare_gives_nothing() -> None:
    found = within_auc(*drawn(np.random.default_rng(2), shared=False, signal=1.0))
    assert found is not None and found.p < 1e-3 and found.low > 0.5
    one = np.zeros(3)
    assert within_auc(one, np.ones(3, bool), np.arange(3), np.arange(3)) is None
    assert pooled_auc(one, np.ones(3, bool)) is None
    perfect = within_auc(np.tile([1.0, 0.0], 9), np.tile([True, False], 9), np.repeat(np.arange(9), 2), np.arange(18))
    assert perfect is not None and (perfect.value, perfect.high) == (1.0, 1.0)
    assert 0.5 < perfect.low < 1 and perfect.p < 1e-4
