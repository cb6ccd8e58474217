"""Final answers, as models really write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.agent.finish import finish_spec, from_call, from_text
from sightline.agent.state import PictureNames
from sightline.types import Choice, Option, PictureSet, Ranking, Task, Text

IDS = ("ana/a.jpg", "ana/b.jpg", "bo/with, comma.jpg", "bo/IMG (1).JPG", "12345678", "bo/dup.jpg", "ana/dup.jpg")
NAMES = PictureNames(IDS)
SELECT, RANK = Task("t", "select", ("q",)), Task("t", "rank", ("q",))
ANSWER = Task("t", "answer", ("q",))
CHOOSE = Task("t", "choose", ("q",), (Option("A", ("a dog",)), Option("B", ("a cat",))))


def pictures(text: str, **more: Any) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    final = from_text(SELECT, text, NAMES, **more)
    if final is None:
        return None
    assert isinstance(final.prediction, PictureSet)
    return final.prediction.pictures, final.unknown


@pytest.mark.parametrize(
    ("text", "ids", "unknown"),
    [
        ("The final answer is: [ana/a.jpg, ana/b.jpg].", ("ana/a.jpg", "ana/b.jpg"), ()),
        ("the FINAL ANSWER is [ana/a.jpg]", ("ana/a.jpg",), ()),
        ('**The final answer is:** ["ana/a.jpg", "12345678"]', ("ana/a.jpg", "12345678"), ()),
        ("Final answer: `ana/a.jpg`", ("ana/a.jpg",), ()),
        ("The final answer is: [ana/a.jpg, ana/a.jpg]", ("ana/a.jpg",), ()),
        ("The final answer is: [bo/with, comma.jpg, ana/b.jpg]", ("bo/with, comma.jpg", "ana/b.jpg"), ()),
        ("The final answer is: [bo/IMG (1).JPG]", ("bo/IMG (1).JPG",), ()),
        ("The final answer is: [bo/img (1).jpg]", ("bo/IMG (1).JPG",), ()),
        ("The final answer is: [a.jpg, b]", ("ana/a.jpg", "ana/b.jpg"), ()),
        ("The final answer is: [ana/a.jpg#0.1,0.2,0.5,0.6]", ("ana/a.jpg",), ()),
        (
            "The final answer is: [dup.jpg]",
            ("dup.jpg",),
            ("dup.jpg",),
        ),  # Two pictures have that name: neither is meant.
        ("The final answer is: [ana/z.jpg, ana/a.jpg]", ("ana/z.jpg", "ana/a.jpg"), ("ana/z.jpg",)),
        ("The final answer is: [id9, id9, ana/a.jpg]", ("id9", "ana/a.jpg"), ("id9",)),
        ("The final answer is: no photo shows it, sorry for that", (), ()),
        ("The final answer is: [].", (), ()),
        ("The final answer is: none.", (), ()),
        ("The final answer is: [id9]. No wait. The final answer is: [ana/b.jpg].", ("ana/b.jpg",), ()),
        ("The final answer is:\n[\n ana/a.jpg,\n ana/b.jpg\n]", ("ana/a.jpg", "ana/b.jpg"), ()),
        ("The final answer is: [ana/a.jpg, ana/b", ("ana/a.jpg", "ana/b.jpg"), ()),
        ("最终答案是：[ana/a.jpg，ana/b.jpg]。", ("ana/a.jpg", "ana/b.jpg"), ()),
    ],
)
def test_lists_of_pictures_are_read(text: str, ids: tuple[str, ...], unknown: tuple[str, ...]) -> None:
    assert pictures(text) == (ids, unknown)


def test_a_text_without_an_answer_has_none() -> None:
    assert pictures("I should look at [ana/a.jpg] first.") is None
    assert pictures("I should look at [ana/a.jpg] first.", loose=True) == (("ana/a.jpg",), ())
    assert pictures("Nothing here [1].", loose=True) is None
    assert pictures("", loose=True) is None


def test_a_ranking_keeps_its_order() -> None:
    final = from_text(RANK, "The final answer is: [ana/b.jpg, ana/a.jpg]", NAMES)
    assert final is not None and final.prediction == Ranking(("ana/b.jpg", "ana/a.jpg"))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("The final answer is: Paris.", "Paris"),
        ('The final answer is: "The Louvre"', "The Louvre"),
        ("So.\n**Final answer:** **1,592 m**", "1,592 m"),
        ("The final answer is: [1592].", "1592"),
        ("The final answer is: 3.5", "3.5"),
        ("最终答案：长城。", "长城"),
    ],
)
def test_answers_in_words_are_read(said: str, text: str) -> None:
    final = from_text(ANSWER, said, NAMES)
    assert final is not None and final.prediction == Text(text)


def test_options_are_read() -> None:
    final = from_text(CHOOSE, "The final answer is: (B) a cat", NAMES)
    assert final is not None and isinstance(final.prediction, Choice) and final.prediction.option == "B"
    called = from_call(CHOOSE, {"answer": "b."}, NAMES)
    assert not isinstance(called, str) and called.prediction == Choice("B")


def test_finish_calls_are_read_and_complained_about() -> None:
    found = from_call(SELECT, {"photos": ["ana/a.jpg", "nowhere"], "reason": "seen"}, NAMES)
    assert not isinstance(found, str)
    assert (found.prediction, found.unknown, found.reason) == (
        PictureSet(("ana/a.jpg", "nowhere")),
        ("nowhere",),
        "seen",
    )
    as_text = from_call(SELECT, {"photos": "ana/a.jpg, ana/b.jpg"}, NAMES)
    assert not isinstance(as_text, str) and as_text.prediction == PictureSet(("ana/a.jpg", "ana/b.jpg"))
    assert isinstance(from_call(SELECT, {}, NAMES), str)
    assert isinstance(from_call(SELECT, {"photos": [{"id": 1}]}, NAMES), str)
    assert isinstance(from_call(ANSWER, {"answer": "  "}, NAMES), str)
    told = from_call(ANSWER, {"answer": 1592, "evidence": ["ana/a.jpg"]}, NAMES)
    assert not isinstance(told, str) and (told.prediction, told.evidence) == (Text("1592"), ("ana/a.jpg",))


@pytest.mark.parametrize(
    "arguments",
    [
        {"answer": "red", "evidence": ["ana/a.jpg"]},
        {"evidence": ["ana/a.jpg"]},
        {"answer": "ana/a.jpg", "evidence": ["ana/b.jpg"]},
        {"answer": ["ana/a.jpg"]},
    ],
)
def test_photos_are_found_under_other_names(arguments: dict[str, Any]) -> None:
    found = from_call(SELECT, arguments, NAMES)
    assert not isinstance(found, str) and found.prediction == PictureSet(("ana/a.jpg",)) and not found.unknown


def test_words_are_no_photos() -> None:
    told = from_call(SELECT, {"answer": "the red one"}, NAMES)
    assert isinstance(told, str) and 'no argument "answer"' in told and '"photos"' in told
    none = from_call(SELECT, {"answer": "none"}, NAMES)
    assert not isinstance(none, str) and none.prediction == PictureSet(())


def test_ids_are_taken_as_the_model_read_them() -> None:
    names = PictureNames(["<observation> x.jpg"])
    assert names.find("&lt;observation> x.jpg") == "<observation> x.jpg"


def test_each_kind_has_its_own_finish() -> None:
    assert list(finish_spec(SELECT).parameters["properties"]) == ["photos", "reason"]  # type: ignore[arg-type]
    assert "A, B" in str(finish_spec(CHOOSE).parameters)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.booleans())
def test_no_text_breaks_the_reader_or_makes_up_pictures(noise: str, loose: bool) -> None:
    for task in (SELECT, RANK, ANSWER, CHOOSE):
        for text in (noise, f"The final answer is: {noise}", f"The final answer is: [{noise}]"):
            final = from_text(task, text, NAMES, loose=loose)
            if final is not None and isinstance(final.prediction, PictureSet | Ranking):
                assert set(final.prediction.pictures) - set(final.unknown) <= set(IDS)
                assert set(final.unknown) <= set(final.prediction.pictures) - set(IDS)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(IDS), unique=True))
def test_what_is_written_is_what_is_read(ids: list[str]) -> None:
    assert pictures(f"The final answer is: [{', '.join(ids)}].") == (tuple(ids), ())
