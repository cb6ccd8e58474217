"""Leakage as a figure, and the reader that drops what phrases do not find."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import models_server as wire
from reason.curriculum_tools import OPTIONS, STEPS, compiled, question, written
from reason.reason_tools import answering, pictures, words
from sightline.calls.session import Session
from sightline.errors import FoundError, UserError
from sightline.metrics.statistics.estimates import estimate
from sightline.reason.curriculum.compiler import curriculum
from sightline.reason.curriculum.leakage import leaking_sentence
from sightline.reason.curriculum.lessons import Lesson
from sightline.reason.curriculum.measure import CrossfittedReader, LeakageFigure, told_to_reader
from sightline.reason.curriculum.reader import BlindQuestion
from sightline.types import Option

FOUR = tuple(Option(key, (text,)) for key, text in zip("ABCD", ("cup", "green book", "lamp", "chair"), strict=True))
LESSON = Lesson("t", "", "", (), FOUR, "B", "B", {})


@pytest.mark.parametrize("leak", ["GT=B", "My money is on the green book.", "My money is on B."])
def test_the_reader_finds_leaks_that_no_phrase_finds(leak: str) -> None:
    assert leaking_sentence(leak, LESSON) is None
    assert told_to_reader(leak, LESSON) == leak


@pytest.mark.parametrize("harmless", ["Look at option B before you decide.", "A, B, C and D are all wrong here."])
def test_the_reader_leaves_alone_what_speaks_for_no_option(harmless: str) -> None:
    assert told_to_reader(harmless, LESSON) is None


def test_a_record_that_gives_its_answer_to_the_reader_is_named_and_dropped(tmp_path: Path) -> None:
    steps = [replace(one, text="My money is on A.") if one.kind == "summary" else one for one in STEPS]
    folder = written(tmp_path / "b", [question(f"q{n}", "hard" if n % 2 else "easy") for n in range(10)], steps)
    with pytest.raises(FoundError, match=r"a reader of a given step alone is sure .* A: \"My money is on A"):
        compiled(folder, tmp_path)


def test_a_habit_of_wording_is_above_chance_and_lots_are_not() -> None:
    options = {"A": "cup", "B": "book", "C": "lamp", "D": "chair"}
    keys = [*options] * 30

    def right(texts: list[str]) -> float:
        asked = [BlindQuestion(text, options, key) for text, key in zip(texts, keys, strict=True)]
        guessed = CrossfittedReader().guesses(asked)
        return sum(guess == key for guess, key in zip(guessed, keys, strict=True)) / len(keys)

    assert right([f"The light falls upon the {options[key]}." for key in keys]) > 0.9
    assert right(["There is a table by the wall."] * len(keys)) < 0.4


def test_the_figures_stand_in_the_summary_and_the_file(good: Path, tmp_path: Path) -> None:
    done = compiled(good, tmp_path)
    figures = done.proof["leakage"]["figures"]
    assert {one.get("stage") for one in figures} > {"easy", "stage-1"}
    assert {one.get("step") for one in figures} > {"summary", "caption"}
    assert all(one["chance"] == 1 / len(OPTIONS) and one["n"] for one in figures)
    assert "guessed from the text alone (ngram), stage easy: " in str(done)


def test_a_figure_of_too_few_records_has_no_interval_and_no_verdict() -> None:
    few, many = (LeakageFigure("stage", "easy", estimate([0.0] * n, proportion=True), 0.25) for n in (1, 100))
    assert str(few) == "easy: 0.00 of 1, chance 0.25: too few tasks (1) to tell"
    assert str(many) == "easy: 0.00 [0.00, 0.04] of 100, chance 0.25: not above chance"


def test_a_chat_model_guesses_for_once_and_what_it_does_not_say_is_in_no_figure(good: Path, tmp_path: Path) -> None:
    def say(received: wire.Received) -> str:
        assert not pictures(received), "the reader sees no picture"
        return "A" if "to be compared" in words(received) else "I cannot tell."

    settings: dict[str, Any] = {"session": Session(tmp_path / "ws"), "drop": True}
    with answering(say) as server:
        model = f"vllm/reader@{server.base_url}"
        done = compiled(good, tmp_path, leak_reader=model, **settings)
        paid = len(server.requests)
        curriculum(good, "mir", tmp_path / "again", leak_reader=model, **settings)
        assert paid and len(server.requests) == paid, "replies are kept in the journal"
    figures = {one.get("stage") or one["step"]: one for one in done.proof["leakage"]["figures"]}
    assert figures["summary"]["accuracy"]["mean"] == 1.0 and figures["summary"]["above_chance"]
    assert (figures["caption"]["n"], figures["caption"]["unanswered"]) == (0, figures["summary"]["n"])
    assert "step caption: nothing was guessed, " in str(done)


def test_a_chat_model_that_never_answers_ends_with_its_reason(good: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing listens on port 9:"):
        compiled(good, tmp_path, leak_reader="vllm/reader@http://127.0.0.1:9/v1", session=Session(tmp_path / "ws"))
    assert not (tmp_path / "out").exists()
