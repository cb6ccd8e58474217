"""The answer metrics by name."""

from __future__ import annotations

import pytest

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.registry import kinds_of, metric
from sightline.types import Answer, Failure, PictureSet, Prediction, Text, Trace, Truth

FAILURE = Failure("timeout", "no reply")
NAMES = ("answer", "answer_exact", "answer_normalised", "answer_numeric", "answer_date", "answer_yesno", "answer_parts")


def value(name: str, truth: Truth, prediction: Prediction) -> float | None:
    return metric(name)(truth, prediction, Context())


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_is_for_answers(name: str) -> None:
    assert kinds_of(name) == ("answer",)
    assert value(name, PictureSet(()), Text("5")) is None


def test_each_form_alone() -> None:
    number = Answer("5 km")
    assert value("answer", number, Text("5000 m")) == 1.0
    assert value("answer_exact", number, Text("5000 m")) == 0.0
    assert value("answer_normalised", number, Text("5000 m")) == 0.0
    assert value("answer_numeric", number, Text("5000 m")) == 1.0
    assert value("answer_exact", number, Text(" 5 km ")) == 1.0
    assert value("answer_normalised", number, Text("5 KM.")) == 1.0


def test_a_form_that_the_truth_does_not_have_is_not_defined() -> None:
    assert value("answer_numeric", Answer("Paris"), Text("5")) is None
    assert value("answer_date", Answer("Paris"), Text("2021")) is None
    assert value("answer_yesno", Answer("Paris"), Text("yes")) is None
    assert value("answer_numeric", Answer("Paris"), FAILURE) is None
    assert value("answer_date", Answer("3 May 2021"), Text("2021-05-03")) == 1.0
    assert value("answer_yesno", Answer("yes"), Text("No.")) == 0.0
    assert value("answer_numeric", Answer("five", aliases=("many",)), Text("5")) == 1.0


def test_parts_are_a_share_and_a_single_part_is_all_or_nothing() -> None:
    assert value("answer_parts", Answer("red; blue; green"), Text("red and green")) == pytest.approx(2 / 3)
    assert value("answer", Answer("red; blue; green"), Text("red and green")) == 0.0
    assert value("answer_parts", Answer("Paris"), Text("It's Paris.")) == 1.0
    assert value("answer_parts", Answer("Paris"), Text("London")) == 0.0
    assert value("answer_parts", Answer("5 km"), Text("5000 m")) == 1.0


@pytest.mark.parametrize("name", ["answer", "answer_exact", "answer_normalised", "answer_numeric", "answer_parts"])
def test_failures_and_other_forms_are_zero(name: str) -> None:
    assert value(name, Answer("5"), FAILURE) == 0.0
    assert value(name, Answer("5"), PictureSet(("5",))) == 0.0
    assert value(name, Answer("5"), Text("")) == 0.0


def test_the_answer_of_a_trace_counts_and_its_thinking_does_not() -> None:
    assert value("answer", Answer("5"), Trace("It is 4.", "5")) == 1.0
    assert value("answer", Answer("5"), Trace("It is 5.", "4")) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_cut_offs_and_options_are_refused(name: str) -> None:
    with pytest.raises(UserError, match="no cut-off"):
        metric(f"{name}@5")
    with pytest.raises(UserError, match='no option "case"'):
        metric(f"{name}(case=lower)")
