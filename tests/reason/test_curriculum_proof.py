"""The proof: whatever would spoil the training is found, named, and nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from curriculum_tools import STEPS, drawn, paint, question, written
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from sightline import bench
from sightline.config import Config
from sightline.errors import FoundError
from sightline.reason.curriculum.apart import Twins, find_twins
from sightline.reason.curriculum.compiling import Compiled, Settings, compile_curriculum
from sightline.reason.curriculum.overlap import RUN, overlap
from sightline.reason.curriculum.plan import Plan, load_plan
from sightline.types import Choice, Picture, Step


def names(count: int) -> list[str]:
    return [f"q{number}" for number in range(count)]


def compiled(folder: Path, tmp_path: Path, plan: str | Plan = "mir", **settings: object) -> Compiled:
    return compile_curriculum(folder, plan, tmp_path / "out", Settings(**settings))  # type: ignore[arg-type]


def with_step(kind: str, text: str) -> Sequence[Step]:
    return [replace(step, text=text) if step.kind == kind else step for step in STEPS]


def pools(count: int) -> list[object]:
    return [question(name, "easy" if number % 2 else "hard") for number, name in enumerate(names(count))]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return written(tmp_path / "b", pools(10))  # type: ignore[arg-type]


def test_clean_questions_are_proved(good: Path, tmp_path: Path) -> None:
    done = compiled(good, tmp_path, limit_tokens=2000)
    assert done.proof["proved"] == done.proof["records"] == done.records == 5 + 5 * 2
    assert {check for check, found in done.proof["checks"].items() if found is None} == {"test"}
    assert all(found is None or found["failed"] == 0 for found in done.proof["checks"].values())


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
        compiled(good, tmp_path, Plan("leaky", stages))
    assert refused.value.exit_code == 4
    assert "4 of 15 records can't be proved" in str(refused.value)
    assert "stage-2, q" in str(refused.value)
    assert "100% of a target step is in the given steps" in str(refused.value)
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
    folder = written(tmp_path / "b", pools(6), steps)  # type: ignore[arg-type]
    with pytest.raises(FoundError) as refused:
        compiled(folder, tmp_path)
    assert said in str(refused.value)


def test_a_step_that_is_in_the_question_is_found(tmp_path: Path) -> None:
    task = question("q1")
    folder = written(tmp_path / "b", [replace(task, prompt=(*task.prompt, f" Hint: {STEPS[4].text}"))])
    with pytest.raises(FoundError, match="a target step is in the question"):
        compiled(folder, tmp_path, "full-chain")


def test_a_conclusion_may_be_the_text_of_an_option(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [question("q1")], with_step("conclusion", "the cup and the lamp"))
    assert compiled(folder, tmp_path, "plain").records == 1


def test_naming_an_option_is_not_stating_the_answer(tmp_path: Path) -> None:
    steps = with_step("text-to-region", "Option A speaks of two things, option B of one; which answer a cup would be?")
    assert compiled(written(tmp_path / "b", pools(6), steps), tmp_path).records > 0  # type: ignore[arg-type]


def test_pictures_must_be_there_and_be_pictures(good: Path, tmp_path: Path) -> None:
    (good / "pictures/q0/1.png").unlink()
    (good / "pictures/q1/1.png").write_text("not a picture")
    with pytest.raises(FoundError) as refused:
        compiled(good, tmp_path, "plain")
    assert '"q0/1.png" can\'t be read' in str(refused.value)
    assert '"q1/1.png" is no picture' in str(refused.value)
    assert "2 of 10" in str(refused.value)


def test_tokens_over_the_limit(good: Path, tmp_path: Path) -> None:
    with pytest.raises(FoundError, match="tokens are over 40"):
        compiled(good, tmp_path, "plain", limit_tokens=40)


def test_drop_leaves_them_out_and_says_so(good: Path, tmp_path: Path) -> None:
    (good / "pictures/q0/1.png").unlink()
    done = compiled(good, tmp_path, "plain", drop=True)
    assert (done.records, done.tasks) == (9, 9)
    assert done.proof["checks"]["files"] == {"says": "every picture is there", "checked": 10, "failed": 1}
    assert [(fault["task"], fault["check"]) for fault in done.proof["dropped"]] == [("q0", "files")]
    assert "q0" not in (tmp_path / "out/01-plain.jsonl").read_text()


def twins(train: Path, test: Path) -> Twins:
    return find_twins(train, test, 6, Config())


def in_test(folder: Path, sources: Sequence[Path]) -> Path:
    """A test benchmark over copies of these pictures."""
    task = question("t0")
    written(folder, [task])
    found = bench.read(folder)
    pictures = {ref.id: Picture(ref.id, str(source)) for ref, source in zip(task.pictures, sources, strict=True)}
    bench.write(replace(found, corpus=replace(found.corpus, pictures=pictures)), folder)
    return folder


def test_pictures_of_the_test_are_found_as_files_and_by_their_looks(good: Path, tmp_path: Path) -> None:
    smaller = tmp_path / "smaller.jpg"
    Image.open(good / "pictures/q3/2.png").resize((48, 36)).save(smaller, quality=60)
    test = in_test(tmp_path / "t", [good / "pictures/q2/1.png", smaller])
    found, unreadable = twins(good, test)
    assert {name: twin.same_file for name, twin in found.items()} == {"q2/1.png": True, "q3/2.png": False}
    assert unreadable == 0
    with pytest.raises(FoundError) as refused:
        compiled(good, tmp_path, "plain", test=test)
    assert "2 of 10 records" in str(refused.value)
    assert '"q2/1.png" is "t0/1.png" of the test' in str(refused.value)
    assert '"q3/2.png" looks like "t0/2.png" of the test' in str(refused.value)


def test_every_copy_of_a_test_picture_is_found(good: Path, tmp_path: Path) -> None:
    """Also where several training pictures have the very same hash."""
    copy = tmp_path / "copy.jpg"
    Image.open(good / "pictures/q3/2.png").resize((48, 36)).save(copy, quality=60)
    for name in ("q4/1.png", "q5/1.png"):
        Image.open(good / "pictures/q3/2.png").resize((128, 96)).save(good / "pictures" / name)
    other = paint(tmp_path / "other.png", seed=1)
    found, _ = twins(good, in_test(tmp_path / "t", [copy, other]))
    assert set(found) == {"q3/2.png", "q4/1.png", "q5/1.png"}
    assert not any(twin.same_file for twin in found.values())


def test_other_colours_are_another_picture(good: Path, tmp_path: Path) -> None:
    image = Image.open(good / "pictures/q3/2.png")
    red, green, blue = image.split()
    Image.merge("RGB", (red.point(lambda v: 255 - v), green, blue)).save(tmp_path / "a.png")
    found, _ = twins(good, in_test(tmp_path / "t", [tmp_path / "a.png", paint(tmp_path / "b.png", seed=2)]))
    assert found == {}


def test_what_can_not_be_compared_is_counted(good: Path, tmp_path: Path) -> None:
    test = in_test(tmp_path / "t", [tmp_path / "gone.png", paint(tmp_path / "b.png", seed=3)])
    done = compiled(good, tmp_path, "plain", test=test)
    assert done.proof["pictures_not_compared"] == 1


def test_tasks_that_can_not_teach_are_counted(tmp_path: Path) -> None:
    tasks = [question("q1"), question("q2"), question("q3"), question("a1", kind="answer", options=())]
    truth = {
        "q2": Choice("A", steps=tuple(step for step in STEPS if step.kind != "caption")),
        "q3": Choice(None),
    }
    folder = written(tmp_path / "b", tasks, truth=truth)  # type: ignore[arg-type]
    done = compiled(folder, tmp_path, "full-chain")
    assert done.tasks == 1
    assert done.left_out == {"answer task": 1, "no caption step": 1, "no right option": 1}


WORDS = ("red", "cup", "on", "a", "table", "near", "the", "old", "green", "lamp")


def test_questions_that_were_not_measured_are_left_out_where_difficulty_counts(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [*pools(4), question("q9", None)])  # type: ignore[list-item]
    assert compiled(folder, tmp_path, "mir").left_out == {"no difficulty": 1}
    assert compiled(folder, tmp_path, "plain").left_out == {}


words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30)


@given(words, words, words)
@settings(max_examples=100, deadline=None)
def test_overlap_is_a_share_and_whole_when_contained(before: list[str], step: list[str], after: list[str]) -> None:
    text = " ".join(step)
    assert 0.0 <= overlap(text, " ".join([*before, *after])) <= 1.0
    if len(step) >= RUN:
        assert overlap(text, " ".join([*before, *step, *after])) == 1.0
    assert overlap(text, f"{' '.join(before)}. {text.title()}! {' '.join(after)}") == 1.0


def test_overlap_without_spaces_between_words() -> None:
    assert overlap("桌子上有一个红色的杯子", "图中桌子上有一个红色的杯子和灯") == 1.0
    assert overlap("桌子上有一个红色的杯子", "窗边站着两个人在看外面的雨") == 0.0


def test_short_steps_count_as_whole_sentences_only() -> None:
    assert overlap("B", "B is near. A bee.") == 0.0
    assert overlap("The red cup.", "One sees the red cup: the red cup.") == 1.0
    assert overlap("The red cup.", "One sees the red cup there.") == 0.0
