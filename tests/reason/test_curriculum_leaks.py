"""The proof: what is to be written, or the answer, is found where it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reason.curriculum_tools import OPTIONS, STEPS, asking, compiled, drawn, lines, pools, question, with_step, written
from sightline.errors import FoundError
from sightline.reason.curriculum.plan import CurriculumPlan, load_plan
from sightline.types import Choice, Option, Step


def test_the_worlds_steps_do_not_leak(tmp_path: Path) -> None:
    done = compiled(drawn(tmp_path / "b", 36), tmp_path)
    assert done.proof["largest_overlap"] < 0.45


def test_the_leak_of_mirs_own_code_is_refused(good: Path, tmp_path: Path) -> None:
    """Its context always holds the region-to-region step, also where that is to be written."""
    stages = tuple(
        replace(stage, given=(*stage.given, "region-to-region"))
        if "region-to-region" in stage.target and stage.name in ("stage-2", "stage-3")
        else stage
        for stage in load_plan("mir").stages
    )
    with pytest.raises(FoundError) as refused:
        compiled(good, tmp_path, CurriculumPlan("leaky", stages))
    assert refused.value.exit_code == 4
    assert "4 of 15 records fail a check" in str(refused.value)
    assert "stage-2, q" in str(refused.value)
    assert "the target's Region-to-Region is in the given steps word for word" in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (with_step("summary", f"The answer. {STEPS[4].text} That is plain."), "is in the given steps"),
        (with_step("summary", STEPS[4].text.upper().replace(" ", "  ")), "is in the given steps"),
        (with_step("text-to-region", "So the answer is A, as one sees."), "says that the answer is A"),
        (with_step("text-to-region", "Correct option: (A), as is plain."), "says that the answer is A"),
        (with_step("conclusion", "It is plain that B is right. The answer is B."), "but the conclusion says"),
        (with_step("summary", "What is <image> here?"), "<image> 3 times"),
        (with_step("conclusion", "As in <image>. The answer is A."), "<image> in the target"),
    ],
)
def test_leaks_and_contradictions_in_the_data_are_found(tmp_path: Path, steps: Sequence[Step], said: str) -> None:
    folder = written(tmp_path / "b", pools(6), steps)
    with pytest.raises(FoundError) as refused:
        compiled(folder, tmp_path)
    assert said in str(refused.value)


def test_an_answer_that_is_no_option_is_found(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [question("q1")], truth={"q1": Choice("Z", steps=STEPS)})
    with pytest.raises(FoundError, match="q1: answer: the answer is Z, which is none of the options"):
        compiled(folder, tmp_path, "plain")


@pytest.mark.parametrize("truth", [" a", "the cup and the lamp"])
def test_an_answer_in_other_words_is_taught_by_its_key(tmp_path: Path, truth: str) -> None:
    folder = written(tmp_path / "b", [question("q1")], truth={"q1": Choice(truth, steps=STEPS)})
    (record,) = lines(compiled(folder, tmp_path, "plain").out / "01-plain.jsonl")
    assert record["answer"] == "A"


def test_a_step_that_is_in_the_question_is_found(tmp_path: Path) -> None:
    task = question("q1")
    folder = written(tmp_path / "b", [replace(task, prompt=(*task.prompt, f" Hint: {STEPS[4].text}"))])
    with pytest.raises(FoundError, match="target's Region-to-Region is in the question word for word"):
        compiled(folder, tmp_path, "full-chain")


@pytest.mark.parametrize("kind", [1, 3, 4])
@pytest.mark.parametrize("place", [0, 4, -1])
def test_a_step_less_one_word_is_found_in_the_question(tmp_path: Path, kind: int, place: int) -> None:
    words = STEPS[kind].text.split()
    del words[place]
    folder = asking(tmp_path / "b", f"Note: {' '.join(words)} So look well.")
    with pytest.raises(FoundError, match=r"is in the question (nearly )?word for word"):
        compiled(folder, tmp_path, "full-chain")


@pytest.mark.parametrize("hint", ["Mind that the cup and the lamp have gone.", "The cup and the lamp have gone!"])
def test_the_conclusion_is_found_in_the_question(tmp_path: Path, hint: str) -> None:
    with pytest.raises(FoundError, match="target's Conclusion is in the question word for word"):
        compiled(asking(tmp_path / "b", hint), tmp_path, "plain")


TELLING = (
    "The answer is A.",
    "So option A is correct.",
    "We should choose A.",
    "A is right.",
    "The answer is the cup and the lamp.",
    "Hence the correct option is (A), as one sees.",
    "Therefore, A.",
    "Pick A.",
    "Option A should be chosen.",
    "The cup and the lamp is the right answer.",
    "Das sieht man: \\boxed{A}",
    "答案是A。",
    "the answer is a.",
    "It must be A.",
    "This matches option A.",
    "Final: A",
    "Option B is wrong.",
    "Die Antwort ist A.",
    "La réponse est A.",
    "Ответ: A",
    "答えはAです。",
    "정답은 A입니다.",
    "选A。",
    "Only A fits.",
    "So, the cup and the lamp.",
)


SILENT = (
    "Option A speaks of two things, option B of one; which answer a cup would be?",
    "Look at option A.",
    "The answer is not A.",
    "Neither A nor B is right.",
    "Choose A if two things are gone, B if one is.",
    "Answer with A or B.",
    "If the answer is A, two things are gone.",
    "A is right of the lamp.",
    "The answer is B or A.",
    "Is it the cup and the lamp, or is it the book?",
    "Reply with the letter alone, for example: The answer is A.",
    "Reply in one line, e.g. The answer is A.",
    "Only one answer is right, and the right choice is to be found.",
)


@pytest.mark.parametrize("sentence", TELLING)
def test_the_answer_in_the_question_or_in_a_given_step_is_found(tmp_path: Path, sentence: str) -> None:
    with pytest.raises(FoundError, match="the question says that the answer is A: "):
        compiled(asking(tmp_path / "b", sentence), tmp_path, "plain")
    steps = with_step("text-to-region", f"The things stand side by side. {sentence}")
    with pytest.raises(FoundError, match="a given step says that the answer is A: "):
        compiled(written(tmp_path / "c", pools(6), steps), tmp_path)


def test_a_given_step_may_not_conclude_with_the_answer_and_a_question_may_begin_so(tmp_path: Path) -> None:
    sentence = "Therefore the cup and the lamp were taken away."
    steps = with_step("text-to-region", f"The things stand side by side. {sentence}")
    with pytest.raises(FoundError, match="a given step says that the answer is A: "):
        compiled(written(tmp_path / "c", pools(6), steps), tmp_path)
    assert compiled(asking(tmp_path / "b", sentence), tmp_path, "plain").proof["checks"]["leak"]["failed"] == 0


def test_a_mark_at_the_right_option_is_found_in_the_list(tmp_path: Path) -> None:
    options = (Option("A", ("the cup and the lamp (correct)",)), OPTIONS[1])
    folder = written(tmp_path / "b", [question("q1", options=options)])
    with pytest.raises(FoundError, match="leak: the list of options shows that the answer is A"):
        compiled(folder, tmp_path, "plain")


@pytest.mark.parametrize("sentence", SILENT)
def test_speaking_of_options_is_not_stating_the_answer(tmp_path: Path, sentence: str) -> None:
    steps = with_step("text-to-region", f"The things stand side by side. {sentence}")
    for folder in (asking(tmp_path / "b", sentence), written(tmp_path / "c", pools(6), steps)):
        assert compiled(folder, tmp_path).proof["checks"]["leak"]["failed"] == 0


def test_a_conclusion_may_be_the_text_of_an_option(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [question("q1")], with_step("conclusion", "the cup and the lamp"))
    assert compiled(folder, tmp_path, "plain").records == 1


def test_a_conclusion_may_be_an_option_that_is_spoken_of(tmp_path: Path) -> None:
    """In the question and in the given steps, as in the list of options."""
    steps = with_step("conclusion", "The cup and the lamp. The answer is A.")
    folder = asking(tmp_path / "b", "The cup and the lamp, or the book?", steps)
    assert compiled(folder, tmp_path).proof["checks"]["leak"]["failed"] == 0
