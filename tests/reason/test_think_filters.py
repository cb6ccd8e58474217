"""Filters over replies: each names its reason, and a runaway trace is cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.reason.traces.filters import refuses, sift
from sightline.reason.traces.language import language_of
from sightline.reason.traces.loops import find_circles
from sightline.reason.traces.nouns import Rules, Said
from sightline.reason.traces.replies import said_in
from sightline.types import ChatReply, Failure

GOOD = "A brown dog stands on the wet sand of a wide beach while two people walk behind it in the evening sun."
THOUGHT = "The animal has four legs and a tail, so it is most likely a dog, and the sand tells me that this is a beach."
WORDS = st.lists(st.from_regex(r"[a-z]{3,9}", fullmatch=True), min_size=8, max_size=60, unique=True)


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{THOUGHT}</think>{GOOD}",
        f"<think>{THOUGHT}</think><answer>{GOOD}</answer>",
        f"◁think▷{THOUGHT}◁/think▷{GOOD}",
        f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|><|begin_of_solution|>{GOOD}<|end_of_solution|>",
        f"[THINK]{THOUGHT}[/THINK]{GOOD}",
        f"{THOUGHT}</think>\n<|begin_of_box|>{GOOD}<|end_of_box|>",
        f"<thinking>{THOUGHT}</thinking>{GOOD}",
        f"<seed:think>{THOUGHT}</seed:think>{GOOD}",
    ],
)
def test_thinking_and_answer_apart_in_every_style(text: str) -> None:
    said = said_in(ChatReply(text))
    assert isinstance(said, Said) and (said.thinking, said.answer) == (THOUGHT, GOOD)


def test_thinking_without_an_answer_is_a_failure() -> None:
    said = said_in(ChatReply(f"<think>{THOUGHT}"))
    assert isinstance(said, Failure) and said.kind == "empty"


def test_a_good_trace_has_no_reason_against_it() -> None:
    sifted = sift(Said(THOUGHT, GOOD), Rules(needs_thinking=True))
    assert sifted.reasons == () and (sifted.thinking, sifted.answer) == (THOUGHT, GOOD)


@pytest.mark.parametrize(
    ("said", "rules", "reason"),
    [
        (Said(THOUGHT, "A dog."), Rules(), "short"),
        (Said(THOUGHT, GOOD), Rules(most_words=20), "runaway"),
        (Said(THOUGHT, GOOD, finish="length"), Rules(), "truncated"),
        (Said("", "I'm sorry, but I can't help with describing people in this picture today."), Rules(), "refusal"),
        (Said("", GOOD), Rules(needs_thinking=True), "no-thinking"),
        (Said("这张图片显示了一只棕色的狗站在海滩上，后面有两个人在散步。", GOOD), Rules(), "language"),
        (
            Said(THOUGHT, "Ein brauner Hund steht auf dem nassen Sand und zwei Leute gehen mit ihm."),
            Rules(),
            "language",
        ),
        (Said(f"{THOUGHT} " + "Wait, let me look at it again. " * 30, GOOD), Rules(), "repetition"),
    ],
)
def test_each_reason(said: Said, rules: Rules, reason: str) -> None:
    assert sift(said, rules).reasons == (reason,)


def test_a_loop_is_cut_where_it_begins_its_second_round() -> None:
    looping = f"{THOUGHT} " + "But maybe it is a wolf and not a dog. " * 50
    sifted = sift(Said(looping, GOOD), Rules())
    assert sifted.reasons == ("repetition",)
    assert sifted.thinking == f"{THOUGHT} But maybe it is a wolf and not a dog."


def test_a_runaway_is_cut_to_the_limit() -> None:
    sifted = sift(Said(" ".join(f"word{number}" for number in range(500)), GOOD), Rules(most_words=100))
    assert "runaway" in sifted.reasons and len(sifted.thinking.split()) == 100


@given(WORDS, WORDS, st.integers(6, 20))
@settings(max_examples=60, deadline=None)
def test_loops_are_found_and_plain_text_is_not_one(before: list[str], round_: list[str], times: int) -> None:
    fresh = [word for word in before if word not in round_]
    text = " ".join(fresh + round_)
    assert find_circles(text).cut is None and find_circles(text).repeated == 0.0
    looping = find_circles(" ".join(fresh + round_ * times))
    assert looping.cut is not None and looping.cut >= len(text)
    assert looping.cut <= len(text) + 1 and looping.repeated > 0.3


@pytest.mark.parametrize("text", ["ha" * 200, "." * 90 + "x" * 90, "哈" * 60])
def test_a_stutter_is_a_loop(text: str) -> None:
    assert find_circles(f"It laughs: {text}").cut is not None


@pytest.mark.parametrize("text", ["very, very, very good", "a rose is a rose is a rose", "1 2 3 1 2 3"])
def test_emphasis_is_no_loop(text: str) -> None:
    assert find_circles(text).cut is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GOOD, "en"),
        ("这张图片显示了一只棕色的狗站在海滩上。", "zh"),
        ("この写真には茶色の犬が浜辺に立っています。", "ja"),
        ("На фотографии коричневая собака стоит на мокром песке.", "ru"),
        ("Le chien brun est sur le sable et les gens sont dans la mer avec une balle.", "fr"),
        ("El perro está en la playa con una pelota y los niños son felices en el agua.", "es"),
        ("dog beach", None),
        ("", None),
    ],
)
def test_language(text: str, language: str | None) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that.",
        "I cannot describe this picture.",
        "As an AI, I have no eyes.",
        "Unfortunately, I am unable to view the image.",
        "I\u2019m not able to identify people.",
        "抱歉，我无法描述这张图片。",
    ],
)
def test_refusals(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize(
    "text", [GOOD, "I can see a dog.", "A sorry-looking dog cannot reach the ball.", "I see no cat."]
)
def test_no_refusals(text: str) -> None:
    assert not refuses(text)
