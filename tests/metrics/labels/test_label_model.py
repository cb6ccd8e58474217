"""The latent-class model: against crowd-kit, with people as anchors, and honest where nothing can be known."""

from __future__ import annotations

import numpy as np
import pytest

from sightline.errors import UserError
from trust_label_model import _Patterns, label_model


def _votes(rng: np.random.Generator, truth: np.ndarray, rates: list[tuple[float, float]]) -> np.ndarray:
    """One column for each judge with its sensitivity and specificity."""
    columns = []
    for sensitivity, specificity in rates:
        right = rng.random(len(truth)) < np.where(truth > 0, sensitivity, specificity)
        columns.append(np.where(right, truth, 1 - truth))
    return np.stack(columns, axis=1)


def test_without_smoothing_it_is_the_model_of_crowd_kit() -> None:
    """Values by `crowdkit.aggregation.DawidSkene(n_iter=5000, tol=1e-12)` of crowd-kit 1.4.2 on the same votes."""
    rng = np.random.default_rng(7)
    truth = (rng.random(60) < 0.4).astype(int)
    votes = np.array([np.where(rng.random(60) < right, truth, 1 - truth) for right in (0.9, 0.75, 0.7, 0.85)]).T
    votes[rng.random(votes.shape) < 0.2] = -1
    patterns = _Patterns.of(votes, np.full(60, -1), 2)
    fitted = patterns.fit(np.bincount(patterns.of_pair).astype(float), patterns.start(), smoothing=0.0, steps=20000)
    assert fitted.prior == pytest.approx([0.4375326141, 0.5624673859], abs=1e-6)
    assert fitted.confusion[0] == pytest.approx(np.array([[1.0, 0.0], [0.1899667, 0.8100333]]), abs=1e-5)


def test_a_slow_em_gives_the_same() -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random(80) < 0.5).astype(int)
    votes = _votes(rng, truth, [(0.9, 0.8), (0.7, 0.9), (0.8, 0.7)])
    known = np.where(np.arange(80) < 10, truth, -1)
    patterns = _Patterns.of(votes, known, 2)
    ours = patterns.fit(np.bincount(patterns.of_pair).astype(float), patterns.start(), smoothing=0.01, steps=300)
    prior, confusion = _slow_em(votes, known, 0.01, 300)
    assert ours.prior == pytest.approx(prior, abs=1e-6)
    assert ours.confusion == pytest.approx(confusion, abs=1e-6)


def _slow_em(votes: np.ndarray, known: np.ndarray, smoothing: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Pair by pair and judge by judge, as the paper writes it."""
    n, judges = votes.shape
    chances = np.array([[np.mean(row == value) for value in (0, 1)] for row in votes])
    confusion = np.zeros((judges, 2, 2))
    prior = np.zeros(2)
    for step in range(steps + 1):
        for pair in np.flatnonzero(known >= 0).tolist():
            chances[pair] = np.eye(2)[known[pair]]
        prior = (chances.sum(axis=0) + smoothing) / (n + 2 * smoothing)
        for judge in range(judges):
            for true in (0, 1):
                said = [chances[votes[:, judge] == value, true].sum() + smoothing for value in (0, 1)]
                confusion[judge, true] = np.array(said) / sum(said)
        if step == steps:
            break
        for pair in range(n):
            weight = prior.copy()
            for judge in range(judges):
                weight *= confusion[judge, :, votes[pair, judge]]
            chances[pair] = weight / weight.sum()
    return prior, confusion


def test_three_independent_judges_are_told_apart() -> None:
    rng = np.random.default_rng(2)
    truth = (rng.random(3000) < 0.3).astype(int)
    rates = [(0.95, 0.9), (0.7, 0.85), (0.6, 0.95)]
    found = label_model(_votes(rng, truth, rates), names=["a", "b", "c"], clusters=np.arange(3000) // 10)
    assert found.identified
    assert found.prior[1] == pytest.approx(0.3, abs=0.04)
    for judge, (sensitivity, specificity) in zip(found.judges, rates, strict=True):
        assert judge.source == "model"
        assert judge.sensitivity is not None
        assert judge.specificity is not None
        assert judge.sensitivity.low <= sensitivity <= judge.sensitivity.high
        assert judge.specificity.low <= specificity <= judge.specificity.high
    assert "independently" in found.warnings[0]
    brier = np.mean((found.relevant - truth) ** 2)
    assert brier < 0.8 * np.mean((found.probability[:, 1].mean() - truth) ** 2)


def test_people_anchor_a_single_judge() -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random(2000) < 0.3).astype(int)
    votes = _votes(rng, truth, [(0.8, 0.7)])
    people = np.where(rng.random(2000) < 0.15, truth, -1)
    found = label_model(votes, people, names=["judge"])
    judge = found.judges[0]
    assert judge.source == "people"
    assert judge.sensitivity is not None
    assert judge.sensitivity.low < 0.8 < judge.sensitivity.high
    assert np.array_equal(found.relevant[people >= 0], people[people >= 0].astype(float))
    assert found.anchors == int((people >= 0).sum())
    assert found.warnings == ()


def test_shared_errors_are_seen_with_people_and_only_with_people() -> None:
    """Three judges that a third of the pictures deceive alike: agreement looks like truth."""
    rng = np.random.default_rng(4)
    truth = (rng.random(1500) < 0.4).astype(int)
    seen = np.where(rng.random(1500) < 0.3, 1 - truth, truth)
    votes = _votes(rng, seen, [(0.95, 0.95)] * 3)
    alone = label_model(votes)
    assert alone.judges[0].sensitivity is not None
    assert alone.judges[0].sensitivity.value > 0.9
    assert "assume" in alone.warnings[0]
    people = np.where(np.arange(1500) < 200, truth, -1)
    anchored = label_model(votes, people)
    judge = anchored.judges[0]
    assert judge.sensitivity is not None
    assert judge.source == "people"
    assert judge.sensitivity.low < 0.68 < judge.sensitivity.high
    assert all(one.low > 0.5 for one in anchored.shared)
    assert "share errors" in anchored.warnings[0]


def test_independent_errors_raise_no_alarm_often() -> None:
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = (rng.random(300) < 0.4).astype(int)
        found = label_model(_votes(rng, truth, [(0.8, 0.8)] * 2), truth, resamples=2, seed=seed)
        alarms += len(found.warnings)
    assert alarms <= 6


@pytest.mark.parametrize("judges", [1, 2])
def test_too_few_judges_without_people_have_no_error_rates(judges: int) -> None:
    rng = np.random.default_rng(5)
    truth = (rng.random(200) < 0.5).astype(int)
    found = label_model(_votes(rng, truth, [(0.9, 0.9)] * judges))
    assert not found.identified
    assert found.judges == ()
    assert "can't be estimated" in found.warnings[0]
    assert set(found.relevant.tolist()) <= {0.0, 0.5, 1.0}


def test_three_judges_that_hardly_met_are_not_told_apart() -> None:
    votes = np.full((90, 3), -1)
    votes[:30, 0] = votes[30:60, 1] = votes[60:, 2] = 1
    assert not label_model(votes).identified


def test_grades_have_a_table_each() -> None:
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 4, size=1200)
    votes = np.stack([np.clip(truth + rng.integers(-1, 2, size=1200), 0, 3) for _ in range(3)], axis=1)
    people = np.where(np.arange(1200) < 150, truth, -1)
    found = label_model(votes, people, classes=4, clusters=np.arange(1200) // 8)
    assert found.probability.shape == (1200, 4)
    assert found.probability.sum(axis=1) == pytest.approx(np.ones(1200))
    assert found.judges[0].confusion.shape == (4, 4)
    assert found.judges[0].confusion[3, 0] < 0.05
    assert np.mean(found.probability.argmax(axis=1) == truth) > 0.55


def test_votes_that_are_no_classes_are_refused() -> None:
    with pytest.raises(UserError, match="from 0 to 1"):
        label_model([[0, 2, 1]])
    with pytest.raises(UserError, match="one decision"):
        label_model([[0, 1]], [0, 1])
