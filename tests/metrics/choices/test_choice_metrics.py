"""Accuracy over all and over parsed, options in every form, and the parser on any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.metrics.choices.options import read_options, right_option
from sightline.metrics.choices.parse import parse_choice
from sightline.metrics.context import Context
from sightline.metrics.registry import kinds_of, metric
from sightline.types import Choice, Failure, Option, PictureRef, PictureSet, Prediction, Task, Text, Trace, Truth

OPTIONS = (Option("A", ("a cat",)), Option("B", ("a dog",)), Option("C", (PictureRef("c.jpg"),)))
TASK = Task("1", "choose", ("What is it?",), OPTIONS)
TRUTH = Choice("B")
STATUSES = {"parsed", "text", "ambiguous", "refused", "empty", "cut off", "unparsed"}
PIECES = [
    "A",
    "B",
    "(C)",
    "answer is",
    "not",
    "or",
    "so",
    "option",
    "<answer>",
    "</think>",
    "\\boxed{",
    "选",
    "答案",
    ".",
]


def value(name: str, prediction: Prediction, truth: Truth = TRUTH, task: Task | None = TASK) -> float | None:
    return metric(name)(truth, prediction, Context(task=task))


def test_accuracy_counts_what_could_not_be_read_as_wrong() -> None:
    assert value("accuracy", Choice("B", "parsed")) == 1.0
    assert value("accuracy", Choice("b", "parsed")) == 1.0
    assert value("accuracy", Choice("A", "parsed")) == 0.0
    assert value("accuracy", Choice(None, "refused")) == 0.0
    assert value("accuracy", Failure("timeout", "no reply")) == 0.0
    assert value("accuracy", PictureSet(("B",))) == 0.0


def test_accuracy_over_parsed_leaves_out_what_could_not_be_read() -> None:
    assert value("accuracy_parsed", Choice("B", "parsed")) == 1.0
    assert value("accuracy_parsed", Choice("A", "text")) == 0.0
    assert value("accuracy_parsed", Choice(None, "cut off")) is None
    assert value("accuracy_parsed", Text("A or B")) is None
    assert value("accuracy_parsed", Failure("timeout", "no reply")) == 0.0


def test_the_share_that_could_be_read() -> None:
    assert value("choice_parsed", Choice("A", "parsed")) == 1.0
    assert value("choice_parsed", Text("A or B")) == 0.0
    assert value("choice_parsed", Failure("timeout", "no reply")) == 0.0


@pytest.mark.parametrize("name", ["accuracy", "accuracy_parsed", "choice_parsed"])
def test_only_choices_have_it(name: str) -> None:
    assert kinds_of(name) == ("choose",)
    assert value(name, Choice("B"), PictureSet(())) is None
    assert value("accuracy", Choice("B"), Choice(None)) is None
    with pytest.raises(UserError, match="no cut-off"):
        metric(f"{name}@1")


def test_text_is_parsed_with_the_tasks_options() -> None:
    assert value("accuracy", Text("It is a dog.")) == 1.0
    assert value("accuracy", Text("The answer is B.")) == 1.0
    assert value("accuracy", Trace("A? No.", "Answer: B")) == 1.0
    assert value("accuracy", Text("Answer: B"), task=None) == 1.0


def test_a_truth_given_as_text_is_its_option() -> None:
    assert value("accuracy", Choice("B", "parsed"), Choice("a dog")) == 1.0
    assert value("accuracy", Choice("A", "parsed"), Choice("a dog")) == 0.0
    assert value("accuracy", Choice("A", "parsed"), Choice("an elephant")) is None


@pytest.mark.parametrize(
    ("truth", "key"),
    [
        (Choice("B"), "B"),
        (Choice(" b"), "B"),
        (Choice("a dog"), "B"),
        (Choice("A Dog."), "B"),
        (Choice("Z"), None),
        (Choice(None), None),
        (PictureSet(("B",)), None),
    ],
)
def test_the_right_option_has_the_tasks_own_key(truth: Truth, key: str | None) -> None:
    assert right_option(TASK, truth) == key
    assert right_option(Task("1", "choose", ("What is it?",), ()), truth) is None


def test_keys_that_differ_in_case_alone_are_told_apart() -> None:
    task = Task("1", "choose", ("What is it?",), (Option("A", ("a cat",)), Option("a", ("a dog",))))
    assert (right_option(task, Choice("A")), right_option(task, Choice("a"))) == ("A", "a")


@pytest.mark.parametrize(
    ("options", "keys", "texts"),
    [
        (["A", "B"], ["A", "B"], ["", ""]),
        (["1", "2", "3"], ["1", "2", "3"], ["", "", ""]),
        (["0", "1"], ["0", "1"], ["", ""]),
        (["5", "7", "9"], ["A", "B", "C"], ["5", "7", "9"]),
        (["I", "II", "III"], ["I", "II", "III"], ["", "", ""]),
        (["cat", "dog"], ["A", "B"], ["cat", "dog"]),
        (["A. cat", "B. dog"], ["A", "B"], ["cat", "dog"]),
        (["(1) cat", "(2) dog"], ["1", "2"], ["cat", "dog"]),
        ({"x": "cat", "y": "dog"}, ["x", "y"], ["cat", "dog"]),
        (OPTIONS, ["A", "B", "C"], ["a cat", "a dog", ""]),
    ],
)
def test_options_in_every_form(options: object, keys: list[str], texts: list[str]) -> None:
    read = read_options(options)  # type: ignore[arg-type]
    assert [option.key for option in read] == keys
    assert [option.text for option in read] == texts


def test_more_than_26_texts_have_keys() -> None:
    keys = [option.key for option in read_options([f"text {number}" for number in range(30)])]
    assert keys[25:28] == ["Z", "AA", "AB"]


def test_options_that_can_not_be_used_are_refused() -> None:
    with pytest.raises(UserError, match="no options"):
        parse_choice("A", [])
    with pytest.raises(UserError, match="twice"):
        parse_choice("A", [Option("A", ("x",)), Option("A", ("y",))])


replies = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).map(" ".join),
)


@settings(deadline=None, max_examples=200)
@given(replies, st.sampled_from([("A", "B", "C"), ("1", "2", "3"), ("I", "II"), {"A": "cat", "B": "a dog"}, OPTIONS]))
def test_never_raises_and_keeps_its_word(reply: str, options: tuple[str, ...]) -> None:
    choice = parse_choice(reply, options)
    assert choice.status in STATUSES
    assert (choice.option is None) == (choice.status not in ("parsed", "text"))
    assert choice.option is None or choice.option in {option.key for option in read_options(options)}


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from("ABCD"), st.sampled_from(["The answer is {}.", "Answer: {}", "\\boxed{{{}}}", "答案是{}", "({})"])
)
def test_every_letter_in_every_form(letter: str, form: str) -> None:
    assert parse_choice(form.format(letter), tuple("ABCD")) == Choice(letter, "parsed")


def test_a_dotless_i_is_read_like_an_i() -> None:
    assert parse_choice("ı)", tuple("ABCDEFGHI")).option in ("I", None)


def test_long_replies_are_read_in_good_time() -> None:
    filler = "In the first image the car is on the left side of the road and it moves. " * 2000
    assert parse_choice(filler + "The answer is B.", ("A", "B", "C")).option == "B"
    assert parse_choice("answer is " * 5000 + "C", ("A", "B", "C")).option == "C"
