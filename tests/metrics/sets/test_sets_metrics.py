"""Set metrics: formulas, edge cases, and what is irregular about a prediction."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.registry import kinds_of, metric
from sightline.types import Answer, Failure, PictureSet, Prediction, Ranking, Relevance, Text, Truth

NAMES = ("em", "f1", "set_precision", "set_recall", "iou")
ids_st = st.lists(st.sampled_from("abcdefg"), max_size=8)


def values(
    truth: Truth, prediction: Prediction, context: Context | None = None, cut: str = ""
) -> dict[str, float | None]:
    return {name: metric(name + cut)(truth, prediction, context or Context()) for name in NAMES}


@settings(deadline=None, max_examples=150)
@given(true=ids_st, predicted=ids_st)
def test_formulas(true: list[str], predicted: list[str]) -> None:
    got = values(PictureSet(tuple(true)), PictureSet(tuple(predicted)))
    t, p = set(true), set(predicted)
    if not t and not p:
        expected = dict.fromkeys(NAMES, 1.0)
    elif not t or not p:
        expected = dict.fromkeys(NAMES, 0.0)
    else:
        precision, recall = len(t & p) / len(p), len(t & p) / len(t)
        f1 = 2 * precision * recall / (precision + recall) if t & p else 0.0
        expected = {"em": float(t == p), "f1": f1, "set_precision": precision, "set_recall": recall,
                    "iou": len(t & p) / len(t | p)}  # fmt: skip
    assert got == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=100)
@given(true=ids_st, predicted=ids_st)
def test_order_and_repeats_do_not_matter(true: list[str], predicted: list[str]) -> None:
    truth = PictureSet(tuple(true))
    assert values(truth, PictureSet(tuple(predicted))) == values(truth, PictureSet(tuple(reversed(predicted * 2))))


@settings(deadline=None, max_examples=100)
@given(true=ids_st, predicted=ids_st)
def test_measures_are_ordered(true: list[str], predicted: list[str]) -> None:
    got = values(PictureSet(tuple(true)), PictureSet(tuple(predicted)))
    em, f1, precision, recall, iou = (got[name] or 0.0 for name in NAMES)
    assert em <= iou <= f1 + 1e-12
    assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12


def test_outside_the_scope_is_wrong_and_reported() -> None:
    scope = frozenset("abc")
    prediction = PictureSet(("a", "z", "a", "b", "y", "z"))
    got = values(PictureSet(("a", "b")), prediction, Context(scope=scope))
    assert got == pytest.approx({"em": 0, "f1": 4 / 6, "set_precision": 0.5, "set_recall": 1, "iou": 0.5})
    assert values(PictureSet(("a", "z")), PictureSet(("a", "z")), Context(scope=scope))["set_recall"] == 0.5


def test_a_cut_off_takes_the_first_of_a_ranking() -> None:
    truth = Relevance({"a": 2, "b": 1, "c": 0, "d": -1})
    ranking = Ranking(("a", "c", "a", "b", "d"))
    assert values(truth, ranking, cut="@2") == pytest.approx(
        {"em": 0, "f1": 0.5, "set_precision": 0.5, "set_recall": 0.5, "iou": 1 / 3}
    )
    assert values(truth, ranking, cut="@3")["set_recall"] == 1.0
    assert values(truth, ranking, cut="@10")["set_precision"] == 0.5, "divided by what was returned, not by 10"


def test_what_is_refused() -> None:
    with pytest.raises(UserError, match="no options"):
        metric("f1(rel=2)")
    with pytest.raises(UserError, match="Failure"):
        metric("f1")(PictureSet(()), Failure("timeout", ""), Context())
    with pytest.raises(UserError, match="Text"):
        metric("f1")(PictureSet(()), Text(""), Context())
    with pytest.raises(UserError, match="Answer"):
        metric("f1")(Answer("x"), PictureSet(()), Context())


def test_kinds() -> None:
    assert set(kinds_of("em")) == {"select", "rank"}
