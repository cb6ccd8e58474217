"""What is wrong with steps, by name; nothing is with those that the world makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reason.reason_tools import reasoning, reasoning_of
from sightline.models.structured_output import ReplySchema
from sightline.reason.questions import TaskQuestion
from sightline.reason.steps.annotation import Reasoning, check_reply, read_reasoning
from sightline.reason.steps.checks import has_steps, question_faults, step_faults
from sightline.types import Answer, Box, Choice, Option, PictureRef, Step, Task

OPTIONS = (Option("A", ("left",)), Option("B", ("right",)))
TASK = Task("q", "choose", ("First ", PictureRef("1.png"), " then ", PictureRef("2.png"), ": which way?"), OPTIONS)
QUESTION = TaskQuestion(TASK, Choice("A"), {})


def read(said: dict[str, Any]) -> Reasoning:
    return ReplySchema.of(Reasoning).adapter.validate_python(said)


@pytest.mark.world
def test_exact_steps_have_no_faults_and_survive_the_form_of_a_reply() -> None:
    from sightline_world.choose import choose_tasks

    for made in choose_tasks(12, seed=11):
        assert has_steps(made.truth) and not question_faults(made.task, made.truth)
        assert step_faults(made.task, made.truth, made.truth.steps) == ()
        question, refs = TaskQuestion(made.task, made.truth, {}), made.task.shown
        said = reasoning_of(made.truth.steps, refs, made.truth.option or "")
        again = read_reasoning(question, said)
        assert again.faults == () and again.steps == made.truth.steps


def test_a_reply_in_order_becomes_five_kinds_of_steps() -> None:
    found = check_reply(QUESTION, read(reasoning()))
    assert found.faults == ()
    assert [step.kind for step in found.steps] == [
        "summary",
        "caption",
        "caption",
        "text-to-region",
        "region-to-region",
        "conclusion",
    ]
    assert found.steps[1].pictures == (PictureRef("1.png"),)
    assert found.steps[3].pictures == (PictureRef("1.png", Box(0.1, 0.2, 0.6, 0.9)),)


def test_a_whole_picture_is_no_box_and_an_unnamed_answer_is_added() -> None:
    whole = {"picture": 2, "left": 0, "top": 0, "right": 1, "bottom": 1}
    said = reasoning(text_to_region={"text": "It.", "regions": [whole]}, conclusion="It moved that way.")
    found = check_reply(QUESTION, read(said))
    assert found.faults == () and found.steps[3].pictures == (PictureRef("2.png"),)
    assert found.steps[-1].text == "It moved that way. The answer is A."


@pytest.mark.parametrize(
    ("words", "answer", "taken"),
    [
        ("It moved that way.", "left", "It moved that way. The answer is A."),
        ("", "A", "The answer is A."),
        ("The conclusion is that it moved.", "(a)", "The conclusion is that it moved. The answer is A."),
        ("So the answer is clear from picture 2.", "A.", "So the answer is clear from picture 2. The answer is A."),
        ("Nobody knows why it moved there.", "A", "Nobody knows why it moved there. The answer is A."),
        ("It is not known why. It moved that way.", "A", "It is not known why. It moved that way. The answer is A."),
        ("It is not B.", "A", "It is not B."),  # Of two options it leaves one.
        ("None of them is seen then.", "A", "None of them is seen then. The answer is A."),
        ("The door is open.", "A", "The door is open. The answer is A."),
        ("It moved to the left.", "A", "It moved to the left."),
        ("So the answer is A.", "", "So the answer is A."),
    ],
)
def test_the_answer_is_put_behind_words_that_contradict_nothing(words: str, answer: str, taken: str) -> None:
    found = check_reply(QUESTION, read(reasoning(conclusion=words, answer=answer)))
    assert found.faults == () and found.steps[-1].text == taken


CUT = {"text": "It.", "regions": [{"picture": 1, "left": 0.5, "top": 0.0, "right": 0.4, "bottom": 1.0}]}
PIXELS = {"text": "It.", "regions": [{"picture": 1, "left": 10, "top": 20, "right": 300, "bottom": 200}]}
TWICE = {"text": "It.", "regions": [{"picture": 1, "left": 0, "top": 0, "right": 1, "bottom": 1}] * 2}
NOWHERE = {"text": "It.", "regions": [{"picture": 3, "left": 0, "top": 0, "right": 1, "bottom": 1}]}


@pytest.mark.parametrize(
    ("change", "kind", "says"),
    [
        ({"summary": " "}, "missing", "no summary"),
        ({"captions": [{"picture": 1, "text": "Blobs."}]}, "captions", "picture 2 has no captions"),
        ({"captions": [{"picture": n, "text": "Blobs."} for n in (1, 1, 2)]}, "captions", "picture 1 has 2"),
        ({"captions": [{"picture": n, "text": "Blobs."} for n in (1, 2, 3)]}, "captions", "no picture 3"),
        ({"summary": "In <image> it moves."}, "placeholder", "<image>"),
        ({"summary": "In picture 7 it moves."}, "placeholder", "no picture 7"),
        ({"text_to_region": CUT}, "region", "not within"),
        ({"text_to_region": PIXELS}, "region", "fractions"),
        ({"text_to_region": NOWHERE}, "region", "no picture 3"),
        ({"text_to_region": {"text": "It.", "regions": []}}, "region", "at least 1"),
        ({"region_to_region": {"text": "It.", "regions": CUT["regions"][:0]}}, "region", "at least 2"),
        ({"summary": "The answer is A, as we shall see."}, "early-answer", "summary"),
        ({"summary": "It moves that way. So option A is correct."}, "early-answer", "So option A is correct."),
        ({"summary": "We should choose A."}, "early-answer", "summary"),
        (
            {
                "region_to_region": {
                    **TWICE,
                    "regions": reasoning()["region_to_region"]["regions"],
                    "text": "A is right.",
                }
            },
            "early-answer",
            "region-to-region",
        ),
        ({"summary": "It is left. The answer is left."}, "early-answer", "summary"),
        ({"region_to_region": TWICE}, "region", "1 region, and at least 2"),
        ({"summary": "It moves. " * 500}, "long", "4,999 characters"),
        ({"conclusion": "So the answer is B.", "answer": "B"}, "conclusion", "right option is A"),
        ({"conclusion": "So the answer is A.", "answer": "B"}, "conclusion", "given as B"),
        ({"summary": "A way <|im_end|> is to be found."}, "placeholder", "<|im_end|> is what a tokenizer"),
        ({"conclusion": "Who knows?", "answer": ""}, "conclusion", "no option can be read"),
        ({"conclusion": "Who knows?"}, "conclusion", "no option can be read"),
        ({"conclusion": "It moved. Nobody knows."}, "conclusion", "no option can be read"),
        ({"conclusion": "It can't be told from these."}, "conclusion", "no option can be read"),
        ({"conclusion": "None of the options fits."}, "conclusion", "no option can be read"),
        ({"conclusion": "The answer is the moon."}, "conclusion", "no option can be read"),
        ({"conclusion": "So the option must be neither of them."}, "conclusion", "no option can be read"),
        (
            {"conclusion": "It did not move. It is not A."},
            "conclusion",
            "the conclusion says B, and the answer is given as A",
        ),
        ({"answer": "Z"}, "conclusion", 'given as "Z", which is none of the options'),
        ({"conclusion": "It moved that way.", "answer": "the moon"}, "conclusion", 'given as "the moon"'),
    ],
)
def test_each_fault_has_its_name(change: dict[str, Any], kind: str, says: str) -> None:
    faults = check_reply(QUESTION, read(reasoning(**change))).faults
    assert faults and {fault.kind for fault in faults} == {kind}
    assert any(says in fault.message for fault in faults)


@pytest.mark.parametrize(
    "summary", ["Is option A or option B correct?", "Option A is a way, too.", "The answer is B or C.", "Go left."]
)
def test_to_speak_of_an_option_is_not_to_give_the_answer(summary: str) -> None:
    assert check_reply(QUESTION, read(reasoning(summary=summary))).faults == ()


def test_the_answer_of_a_free_question_is_held_against_all_right_forms() -> None:
    task = replace(TASK, kind="answer", options=())
    question = TaskQuestion(task, Answer("12 km", aliases=("twelve kilometres",)), {})
    assert check_reply(question, read(reasoning(conclusion="It went far.", answer="12 kilometres"))).faults == ()
    for words, answer in (("It went far.", "15 km"), ("Nobody knows.", "12 km"), ("The answer is 15 km.", "12 km")):
        faults = check_reply(question, read(reasoning(conclusion=words, answer=answer))).faults
        assert [fault.kind for fault in faults] == ["conclusion"]
    told = check_reply(question, read(reasoning(conclusion="The answer is 12 kilometres.", answer="12 km")))
    assert told.faults == () and told.steps[-1].text == "The answer is 12 kilometres."


def test_a_placeholder_in_the_question_is_a_picture_too_many() -> None:
    (fault,) = question_faults(replace(TASK, prompt=(*TASK.prompt, "<image>")), QUESTION.truth)
    assert fault.kind == "placeholder" and "1 placeholder in its words beside 2 pictures" in fault.message
    (fault,) = question_faults(replace(TASK, prompt=(*TASK.prompt, "<|im_end|>")), QUESTION.truth)
    assert fault.kind == "placeholder" and "<|im_end|> in its words" in fault.message


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("left", " left"), "two options with the same text"),
        (("left",), "fewer than two options"),
        (("left", ""), "an option without text"),
    ],
)
def test_options_that_can_not_be_told_apart(texts: tuple[str, ...], said: str) -> None:
    options = tuple(Option(key, (text,)) for key, text in zip("AB", texts, strict=False))
    (fault,) = question_faults(replace(TASK, options=options), QUESTION.truth)
    assert (fault.kind, fault.message) == ("options", f"the question has {said}")
    assert question_faults(replace(TASK, kind="answer", options=()), QUESTION.truth) == ()


def test_regions_of_a_cut_out_are_told_from_the_whole_picture() -> None:
    outer = PictureRef("1.png", Box(0.5, 0.0, 1.0, 0.5))
    task = replace(TASK, prompt=("In ", outer, " and ", PictureRef("2.png"), ": which way?"))
    found = check_reply(TaskQuestion(task, Choice("A"), {}), read(reasoning()))
    box = found.steps[3].pictures[0].region
    assert found.faults == () and box is not None
    assert (box.left, box.top, box.right, box.bottom) == pytest.approx((0.55, 0.1, 0.8, 0.45))


def test_steps_without_pictures_are_counted_as_they_are() -> None:
    """As MIR's own: texts, with no boxes and with one caption for all."""
    texts = tuple(Step(kind, "Words.") for kind in ("summary", "caption", "text-to-region", "region-to-region"))
    steps = (*texts, Step("conclusion", "A"))
    assert has_steps(Choice("A", steps=steps))
    assert {fault.kind for fault in step_faults(TASK, Choice("A"), steps)} == {"captions", "region"}


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        (Choice("Z"), 'the right option is given as "Z", and the options are A, B'),
        (Choice(None), "it is not known which option is right"),
    ],
)
def test_a_truth_that_is_no_option_is_a_fault_of_the_question(truth: Choice, said: str) -> None:
    (fault,) = question_faults(TASK, truth)
    assert (fault.kind, fault.message) == ("options", said)
    assert question_faults(TASK, Choice(" b")) == ()


@pytest.mark.parametrize("truth", [Choice(" a"), Choice("left"), Choice("Left.")])
def test_a_truth_in_other_words_is_the_option_that_scores_take_it_for(truth: Choice) -> None:
    assert question_faults(TASK, truth) == ()
    asked = replace(QUESTION, truth=truth)
    assert check_reply(asked, read(reasoning())).faults == ()
    early = check_reply(asked, read(reasoning(summary="The answer is A, as we shall see."))).faults
    assert [fault.kind for fault in early] == ["early-answer"]
    (wrong,) = check_reply(asked, read(reasoning(conclusion="So the answer is B.", answer="B"))).faults
    assert wrong.message == "the conclusion is B, and the right option is A"
