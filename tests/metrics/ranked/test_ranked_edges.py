"""Edge cases of ranked metrics: forms of truth and prediction, ties, duplicates, options, diversity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.registry import kinds_of, metric
from sightline.types import Answer, Failure, PictureSet, Prediction, Ranking, Relevance, Text, Truth


def value(name: str, truth: Truth, prediction: Prediction, context: Context | None = None) -> float | None:
    return metric(name)(truth, prediction, context or Context())


def test_ideal_runs_over_all_known_positives() -> None:
    """The error of a system that takes the ideal from what it returned: a missed picture must cost something."""
    truth = Relevance({"a": 1, "b": 1, "c": 1})
    assert value("ndcg", truth, Ranking(("a",))) == pytest.approx(1 / (1 + 1 / np.log2(3) + 1 / 2))


@pytest.mark.parametrize(
    "name", ["ndcg@10", "map", "p@5", "recall", "rr", "success@3", "rprec", "bpref", "rbp", "ap_min"]
)
def test_nothing_relevant_is_zero_as_in_trec_eval(name: str) -> None:
    assert value(name, Relevance({"a": 0, "b": -1}), Ranking(("a", "b", "c"))) == 0.0
    assert value(name, Relevance({}), Ranking(())) == 0.0


def test_judged_is_undefined_for_an_empty_ranking_only() -> None:
    truth = Relevance({"a": 0, "b": -1})
    assert value("judged@2", truth, Ranking(())) is None
    assert value("judged@2", truth, Ranking(("b", "c"))) == 0.0
    assert value("judged@3", truth, Ranking(("a", "b"))) == 0.5


def test_a_set_can_be_ranked_against_and_used_as_a_ranking() -> None:
    truth = PictureSet(("a", "b"))
    assert value("rr", truth, Ranking(("x", "a"))) == 0.5
    assert value("p", truth, PictureSet(("a", "x"))) == 0.5
    assert value("judged", truth, Ranking(("x", "y"))) == 1.0
    assert value("bpref", truth, Ranking(("x", "a", "y", "b"))) == pytest.approx((0.5 + 0.0) / 2)


def test_a_picture_returned_twice_counts_once_at_its_first_place() -> None:
    truth = Relevance({"a": 1, "b": 1})
    assert value("p@2", truth, Ranking(("a", "a", "b"))) == 1.0
    assert value("recall", truth, Ranking(("a", "a"))) == 0.5


def test_neighbours_with_equal_scores_are_ordered_by_id_descending() -> None:
    truth = Relevance({"a": 1})
    assert value("rr", truth, Ranking(("a", "b", "c"), (2.0, 2.0, 1.0))) == 0.5
    assert value("rr", truth, Ranking(("a", "b", "c"), (2.0, 2.0 - 1e-12, 1.0))) == 0.5, "single precision"
    assert value("rr", truth, Ranking(("a", "b", "c"), (3.0, 2.0, 2.0))) == 1.0
    assert value("rr", truth, Ranking(("b", "a", "c"), (0.1, 0.2, 0.3))) == 0.5, "distances keep the given order"


def test_rel_sets_the_lowest_relevant_grade() -> None:
    truth = Relevance({"a": 1, "b": 2})
    assert value("rr", truth, Ranking(("a", "b"))) == 1.0
    assert value("rr(rel=2)", truth, Ranking(("a", "b"))) == 0.5
    assert value("recall(rel=3)", truth, Ranking(("a", "b"))) == 0.0


def test_rbp_patience() -> None:
    assert value("rbp(p=0.5)@2", PictureSet(("b", "c")), Ranking(("a", "b", "c"))) == 0.25


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("rr(depth=3)", "no option"),
        ("judged(rel=2)", "no options"),
        ("rprec@5", "no cut-off"),
        ("rr(rel=0)", "rel=0"),
        ("rr(rel=x)", "rel=x"),
        ("ndcg(gain=log)", "gain=log"),
        ("rbp(p=1)", "p=1"),
        ("rbp(p=high)", "p=high"),
        ("ap(unjudged=dropped)", "unjudged=dropped"),
        ("diversity(rel=1)", "no option"),
    ],
)
def test_wrong_options_are_refused(name: str, part: str) -> None:
    with pytest.raises(UserError) as error:
        metric(name)
    assert part in str(error.value)


def test_other_forms_are_refused() -> None:
    with pytest.raises(UserError, match="Failure"):
        value("rr", PictureSet(("a",)), Failure("timeout", "no answer"))
    with pytest.raises(UserError, match="Text"):
        value("rr", PictureSet(("a",)), Text("a"))
    with pytest.raises(UserError, match="Answer"):
        value("rr", Answer("a"), Ranking(("a",)))
    with pytest.raises(UserError, match="2 pictures and 1 scores"):
        value("rr", PictureSet(("a",)), Ranking(("a", "b"), (1.0,)))
    with pytest.raises(UserError, match="exponential"):
        value("ndcg(gain=exp)", Relevance({"a": 2000}), Ranking(("a",)))


def test_ranked_metrics_are_for_rank_and_select_tasks() -> None:
    assert set(kinds_of("ndcg@10")) == {"rank", "select"}


@settings(deadline=None, max_examples=50)
@given(
    rows=st.lists(st.lists(st.floats(-5, 5, width=32), min_size=3, max_size=3), min_size=2, max_size=8),
    k=st.sampled_from([None, 1, 2, 3, 20]),
)
def test_diversity_is_one_minus_the_mean_pairwise_cosine(rows: list[list[float]], k: int | None) -> None:
    vectors = {f"p{i}": np.array(row) for i, row in enumerate(rows)}
    top = [np.array(row) / np.linalg.norm(row) for row in rows[:k] if np.linalg.norm(row) > 0]
    pairs = [float(a @ b) for i, a in enumerate(top) for b in top[:i]]
    got = value(
        "diversity" if k is None else f"diversity@{k}",
        PictureSet(()),
        Ranking(tuple(vectors)),
        Context(vectors=vectors),
    )
    if not pairs:
        assert got is None
    else:
        assert got == pytest.approx(1 - np.mean(pairs), abs=1e-9)


def test_diversity_needs_two_vectors() -> None:
    vectors = {"a": np.array([1.0, 0.0]), "b": np.array([0.0, 2.0]), "zero": np.zeros(2)}
    truth = PictureSet(())
    assert value("diversity", truth, Ranking(("a", "b")), Context()) is None
    assert value("diversity", truth, Ranking(("a", "x", "zero")), Context(vectors=vectors)) is None
    assert value("diversity", truth, Ranking(("a", "a")), Context(vectors=vectors)) is None
    assert value("diversity", truth, Ranking(("a", "b", "zero")), Context(vectors=vectors)) == pytest.approx(1.0)
    assert value("diversity@1", truth, Ranking(("a", "b")), Context(vectors=vectors)) is None
