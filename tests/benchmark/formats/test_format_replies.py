"""Predictions as replies: all of one is kept where a log has room for it, and text is read by the task."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from sightline.benchmark.formats.replies import from_exact, read_reply, reply_text, right_replies, to_exact
from sightline.types import (
    Answer,
    Choice,
    Failure,
    Option,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Task,
    TaskKind,
    Text,
    Trace,
    Traces,
    Truth,
)
from strategies import predictions


@settings(max_examples=150, deadline=None)
@given(predictions())
def test_all_of_a_prediction_is_kept_as_json(prediction: Prediction) -> None:
    assert from_exact(json.loads(json.dumps(to_exact(prediction)))) == prediction


@pytest.mark.parametrize("other", [None, [], {}, {"text": 5}, {"guess": {}}, {"text": {"text": "x"}, "choice": {}}])
def test_what_is_not_ours_is_left_to_the_text(other: object) -> None:
    assert from_exact(other) is None


@pytest.mark.parametrize(
    ("kind", "prediction"),
    [
        ("answer", Text("about 12 m")),
        ("choose", Choice("B", "parsed")),
        ("describe", Trace("It has a mast.", "A boat.")),
        ("describe", Trace("", "A boat.")),
        ("rank", Ranking(("b", 'a "quoted"'))),
        ("select", PictureSet(())),
    ],
)
def test_a_reply_is_read_as_what_was_said(kind: TaskKind, prediction: Prediction) -> None:
    task = Task("t", kind, ("?",), (Option("A", ("x",)), Option("B", ("y",))) if kind == "choose" else ())
    assert read_reply(reply_text(prediction), task) == prediction


def test_without_a_task_a_reply_is_text_and_a_failure_says_nothing() -> None:
    assert read_reply("B", None) == Text("B")
    assert reply_text(Failure("timeout", "no reply")) == "" and reply_text(Choice(None, "refused")) == ""
    assert read_reply("[1]", Task("t", "rank", ("?",))) == Failure(
        "unreadable", "expected a JSON list of picture ids, got '[1]'"
    )


@pytest.mark.parametrize(
    ("truth", "expected"),
    [
        (Choice("A"), ["A"]),
        (Choice(None), []),
        (Answer("7", ("seven",), {"zh": "七", "de": "7"}), ["7", "seven", "七"]),
        (Traces((Trace("t", "one"), Trace("u", "two"))), ["one", "two"]),
        (PictureSet(("a", "b")), ["a", "b"]),
        (Relevance({"no": 0, "good": 1, "best": 2}), ["best", "good"]),
        (None, []),
    ],
)
def test_what_would_be_right_to_say(truth: Truth | None, expected: list[str]) -> None:
    assert right_replies(truth) == expected
