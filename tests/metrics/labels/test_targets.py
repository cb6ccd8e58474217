"""Metrics of uncertain labels: values and slopes against enumeration, and against the metrics that score rankings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.metrics.labels.targets import frozen_relevant, ideal_dcg, target, target_name, with_shared_errors

QUERY = np.array([0, 0, 0, 0, 1, 1, 1])
RANK = np.array([1, 2, 3, 0, 2, 3, 1])
"""The fourth pair was pooled by another system."""
RELEVANT = np.array([2.0, 1.5])


def _by_hand(name: str, labels: np.ndarray, relevant: float) -> float:
    """A metric of labels in the order of their ranks, as a textbook writes it."""
    found = [place for place, label in enumerate(labels, start=1) if label]
    depth = len(labels)
    values: dict[str, float] = {
        "p@3": len(found) / depth,
        "r@3": len(found) / relevant,
        "dcg@3": float(sum(1 / np.log2(place + 1) for place in found)),
        "success@3": float(bool(found)),
        "rr": 1 / found[0] if found else 0.0,
        "ap": sum((at + 1) / place for at, place in enumerate(found)) / relevant,
    }
    return values[name]


@pytest.mark.parametrize("name", ["p@3", "r@3", "dcg@3", "success@3", "rr", "ap"])
def test_certain_labels_give_the_textbook_value(name: str) -> None:
    one = target(name, QUERY, RANK, 2, RELEVANT)
    for labels in product((0.0, 1.0), repeat=7):
        g = np.array(labels)
        value, _ = one.expand(g)
        expected = [_by_hand(name, g[[0, 1, 2]], 2.0), _by_hand(name, g[[6, 4, 5]], 1.5)]
        assert value == pytest.approx(expected)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(["p@3", "success@3", "rr", "ap"]), st.lists(st.floats(0, 1), min_size=7, max_size=7))
def test_values_are_expectations_and_slopes_are_their_differences(name: str, chances: list[float]) -> None:
    one = target(name, QUERY, RANK, 2, RELEVANT)
    g = np.array(chances)
    value, slopes = one.expand(g)
    expected = np.zeros(2)
    for labels in product((0.0, 1.0), repeat=7):
        y = np.array(labels)
        expected += np.prod(np.where(y > 0, g, 1 - g)) * one.expand(y)[0]
    assert value == pytest.approx(expected, abs=1e-9)
    for pair in range(7):
        with_it, without = g.copy(), g.copy()
        with_it[pair], without[pair] = 1.0, 0.0
        change = one.expand(with_it)[0] - one.expand(without)[0]
        assert slopes[pair] == pytest.approx(change[QUERY[pair]], abs=1e-9)


def test_ndcg_is_dcg_over_the_frozen_ideal() -> None:
    g = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    value, _ = target("ndcg@3", QUERY, RANK, 2, RELEVANT).expand(g)
    dcg, _ = target("dcg@3", QUERY, RANK, 2).expand(g)
    assert value == pytest.approx(dcg / ideal_dcg(RELEVANT, 3))


def test_ideal_dcg_takes_the_last_picture_by_its_fraction() -> None:
    one, half = 1 / np.log2(2), 1 / np.log2(3)
    assert ideal_dcg([1.0, 2.0, 1.5, 9.0], 2) == pytest.approx([one, one + half, one + half / 2, one + half])


def test_a_query_without_likely_pictures_is_frozen_at_one() -> None:
    assert frozen_relevant([0, 0, 2], [0.2, 0.3, 2.5], 3).tolist() == [1.0, 1.0, 2.5]


def test_cut_off_and_unpooled_results_count_for_nothing() -> None:
    one = target("p@2", QUERY, RANK, 3)
    value, slopes = one.expand(np.ones(7))
    assert value.tolist() == [1.0, 1.0, 0.0]
    assert slopes.tolist() == [0.5, 0.5, 0.0, 0.0, 0.5, 0.0, 0.5]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("map", "can't be corrected"),
        ("p", "cut-off"),
        ("p@x", "can't be corrected"),
        ("p@0", "no results"),
        ("ndcg@3", "frozen"),
        ("r@3", "frozen"),
        ("ap", "frozen"),
    ],
)
def test_what_can_not_be_corrected_is_refused(name: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        target(name, QUERY, RANK, 2)


def test_frozen_numbers_must_fit() -> None:
    with pytest.raises(UserError, match="one for each query"):
        target("ndcg@3", QUERY, RANK, 2, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", ["success@4", "rr@4", "ap@4"])
@pytest.mark.parametrize("variance", [0.0, 1.0, 4.0])
def test_labels_that_err_together_have_the_value_that_a_simulation_gives(name: str, variance: float) -> None:
    """One query of four pictures; in each of many worlds the log odds of all four are off by the same error."""
    rng = np.random.default_rng(3)
    g, query, rank = np.array([0.2, 0.5, 0.1, 0.4]), np.zeros(4, dtype=np.intp), np.arange(1, 5)
    plain = target(name, query, rank, 1, [2.0])
    found = with_shared_errors(plain, variance).expand(g)
    odds = np.log(g / (1 - g)) * np.sqrt(1 + 3 * (16 / (15 * np.pi)) ** 2 * variance)
    error = np.sqrt(variance) * rng.normal(size=20_000)
    values = [plain.expand(1 / (1 + np.exp(-odds - one)))[0][0] for one in error]
    assert found[0][0] == pytest.approx(np.mean(values), abs=4 * np.std(values) / 140 + 1e-6)
    if not variance:
        np.testing.assert_allclose(found[1], plain.expand(g)[1])


@pytest.mark.parametrize(
    ("metric", "name"),
    [("recall@100", "r@100"), ("map", "ap"), ("mrr@10", "rr@10"), ("hit@3", "success@3"), ("p@5", "p@5"), ("p", None)],
)
def test_metrics_of_scores_are_known_by_their_other_names(metric: str, name: str | None) -> None:
    assert target_name(metric) == name
    assert target_name("bleu") is None and target_name("ndcg(exp)@10") is None and target_name("p@0") is None
