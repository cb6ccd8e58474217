"""Captions that say which picture they are of, and steps that speak of pictures that are not shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reason.curriculum_tools import OPTIONS, STEPS, compiled, drawn, lines, pools, question, with_step, written
from sightline.errors import FoundError
from sightline.reason.curriculum.formats import FORMATS
from sightline.reason.curriculum.lessons import lesson_of, pictures_named, says_its_number
from sightline.types import Box, Choice, Option, PictureRef, Step, Task

ONE, TWO = PictureRef("q/1.png"), PictureRef("q/2.png")


def captions(steps: Sequence[Step], task: Task | None = None) -> list[str]:
    lesson = lesson_of(task or question("q"), Choice("A", steps=tuple(steps)), regions=True)
    return [said.text for said in lesson.steps["caption"]]


def test_captions_are_numbered_in_prompt_and_target_of_every_format(good: Path, tmp_path: Path) -> None:
    compiled(good, tmp_path)
    rows = [row for file in sorted((tmp_path / "out").glob("0*.jsonl")) for row in lines(file)]
    for row in rows:
        prompt, target = (message["content"] for message in row["messages"])
        place = prompt if "caption" in row["given"] else target
        said = [line for line in place.splitlines() if line.startswith("Caption: ")]
        assert said == [f"Caption: Picture {number}: {step.text}" for number, step in enumerate(STEPS[1:3], 1)]
    assert {"caption" in row["given"] for row in rows} == {True, False}
    assert not any("Summary: Picture" in str(row["messages"]) for row in rows)
    for name in FORMATS:
        compiled(good, tmp_path, format=name)
        texts = [file.read_text() for file in (tmp_path / "out").glob("*.json*")]
        assert any(f"Caption: Picture 2: {STEPS[2].text}" in text for text in texts)
        assert not any(f"Caption: {STEPS[2].text}" in text for text in texts)


def test_a_caption_has_the_number_of_the_picture_that_it_refers_to() -> None:
    cup, book = Step("caption", "A cup.", (TWO,)), Step("caption", "A book.", (ONE,))
    assert captions([cup, book]) == ["Picture 2: A cup.", "Picture 1: A book."]
    assert captions([cup]) == ["Picture 2: A cup."]
    seen = replace(cup, pictures=(PictureRef(TWO.id, Box(0.1, 0.2, 0.3, 0.4)),))
    assert captions([book, seen]) == ["Picture 1: A book.", "Picture 2: A cup. [picture 2: 10 20 30 40]"]


def test_pictures_of_options_count_too() -> None:
    options = (Option("A", (PictureRef("q/3.png"),)), Option("B", (PictureRef("q/4.png"),)))
    named = [Step("caption", f"It is {word}.") for word in ("red", "blue", "green", "white")]
    said = captions(named, question("q", options=options))
    assert said == [f"Picture {number}: {step.text}" for number, step in enumerate(named, 1)]


def test_a_picture_that_is_shown_twice_has_a_number_for_each_caption() -> None:
    task = question("q", prompt=("Look: ", ONE, TWO, ONE, " What has gone?"))
    thrice = [Step("caption", text, (ref,)) for text, ref in (("A.", ONE), ("B.", TWO), ("C.", ONE))]
    assert captions(thrice, task) == ["Picture 1: A.", "Picture 2: B.", "Picture 3: C."]
    assert captions(thrice[:2], task) == ["Picture 1: A.", "Picture 2: B."]


def test_nothing_is_numbered_that_can_not_be_or_need_not_be() -> None:
    """One picture, one caption for all of them, fewer captions than pictures, or one of several pictures."""
    cup = Step("caption", "A cup.")
    assert captions([replace(cup, pictures=(ONE,))], question("q", prompt=("Look: ", ONE))) == ["A cup."]
    assert captions([cup]) == ["A cup."]
    assert captions([cup, cup, cup]) == ["A cup."] * 3
    assert captions([replace(cup, pictures=(ONE, TWO))]) == ["A cup."]


@pytest.mark.parametrize(
    "text",
    ["Picture 2: A cup.", "image 2 shows a cup.", "[picture 2] A cup.", "**Image 2:** A cup.", "In picture 2, a cup.",
     "The second picture shows a cup.", "Photo #2: a cup.", "Frame 2: a cup.", "2. A cup.", "Chart 2 – cups.",
     "Picture 1: A cup."],
)  # fmt: skip
def test_a_caption_that_says_its_number_already_is_left_as_it_is(text: str) -> None:
    assert captions([Step("caption", "A book."), Step("caption", text)]) == ["Picture 1: A book.", text]


@pytest.mark.parametrize(
    "text",
    [
        "Frame 3: a cup.",
        "A cup, as in picture 2.",
        "2.5 cups.",
        "A 2-storey house.",
        "Picture frames.",
        "Image of 2 cups.",
    ],
)
def test_other_numbers_are_not_that_of_the_picture(text: str) -> None:
    assert not says_its_number(text, 2)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("In picture 5 the cup is gone.", {5}),
        ("The cup (image 4) stands left of the lamp (Picture #5).", {4, 5}),
        ("It moves from picture 1 to picture 6, and is largest in picture 7.", {1, 6, 7}),
        ("Only picture 7 shows it.", {7}),
        ("The image 9 shows a cup.", {9}),
        ("Pictures 2, 3 and 5 are alike, images 7-9 are not.", {2, 3, 5, 7, 9}),
        ("Photo number 6 is darker.", {6}),
        ("In picture 3, 5 people stand.", {3}),
        ("In the blurred picture 6 patches stand out from the ground, here.", set()),
        ("In the picture 5 people stand, in both pictures 7 cups.", set()),
        ("In the first image 8 apples lie beside 9 pears; the 5th is red.", set()),
        ('A poster that says "Image 12" hangs there since 1990.', set()),
        ("The picture 640 x 480 and the image 40% darker are pictures 9 cm wide.", set()),
        ("See image 5.jpg, a picture 2.5 times as large.", set()),
        ("The fifth picture, chart 6 and frame 7 say so at 8 o'clock.", set()),
    ],
)
def test_numbers_of_pictures_are_told_from_others(text: str, numbers: set[int]) -> None:
    assert pictures_named(text) == numbers


def with_refs(kind: str, *refs: PictureRef) -> list[Step]:
    return [replace(step, pictures=refs) if step.kind == kind else step for step in STEPS]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (with_step("text-to-region", "The things of picture 5 stand side by side."),
         "Text-to-Region speaks of picture 5, but the question shows 2 pictures"),
        (with_step("caption", "Picture 0: a table."), "Caption speaks of picture 0, but the question shows 2 pictures"),
        (with_step("conclusion", "As in image 3, the cup and the lamp are gone. The answer is A."),
         "Conclusion speaks of picture 3, but the question shows 2 pictures"),
        (with_refs("region-to-region", PictureRef("other.png", Box(0, 0, 0.5, 0.5))),
         'Region-to-Region is about "other.png", which the question does not show'),
        (with_refs("caption", PictureRef("other.png")),
         'Caption is about "other.png", which the question does not show'),
        (with_refs("conclusion", PictureRef("other.png")),
         'Conclusion is about "other.png", which the question does not show'),
    ],
)  # fmt: skip
def test_a_step_about_a_picture_that_is_not_shown_is_refused(tmp_path: Path, steps: list[Step], said: str) -> None:
    folder = written(tmp_path / "b", pools(2), steps)
    with pytest.raises(FoundError) as refused:
        compiled(folder, tmp_path, "full-chain")
    assert f"2 of 2 records fail a check:\n  full-chain, q0: steps: {said}\n" in str(refused.value)
    assert "correct the benchmark, or add --drop" in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_only_steps_of_the_record_count_and_they_are_counted(tmp_path: Path) -> None:
    lost = Choice("A", steps=tuple(with_step("text-to-region", "The things of picture 5 stand side by side.")))
    folder = written(tmp_path / "b", pools(4), truth={"q1": lost})
    assert compiled(folder, tmp_path, "plain").records == 4
    done = compiled(folder, tmp_path, "full-chain", drop=True)
    assert done.records == 3
    assert done.proof["checks"]["steps"]["failed"] == 1
    assert "every picture that a step speaks of is shown: 3 hold, 1 others left out" in done.proof_lines


def test_a_picture_that_the_question_names_may_be_spoken_of(tmp_path: Path) -> None:
    task = question("q")
    task = replace(task, prompt=(*task.prompt, " It would be gone from picture 3 too, or from that of option B."))
    options = (OPTIONS[0], Option("B", ("the book in picture 4",)))
    steps = with_step("text-to-region", "What is in picture 3 and in picture 4 stands side by side.")
    assert compiled(written(tmp_path / "b", [replace(task, options=options)], steps), tmp_path, "full-chain").records


def test_the_worlds_steps_speak_of_what_is_shown_and_its_captions_are_numbered(tmp_path: Path) -> None:
    done = compiled(drawn(tmp_path / "b", 36), tmp_path, "full-chain")
    assert done.proof["checks"]["steps"]["failed"] == 0
    for row in lines(tmp_path / "out/01-full-chain.jsonl"):
        said = [line for line in row["messages"][1]["content"].splitlines() if line.startswith("Caption: ")]
        numbers = [f"Caption: Picture {number}: " for number in range(1, len(row["images"]) + 1)]
        assert [line[: len(begin)] for line, begin in zip(said, numbers, strict=True)] == numbers
