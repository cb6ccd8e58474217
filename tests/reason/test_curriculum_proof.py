"""The proof: whatever would spoil the training is found, named, and nothing is written."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from curriculum_tools import OPTIONS, STEPS, drawn, paint, question, written
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from sightline import bench
from sightline.config import Config
from sightline.errors import FoundError, UserError
from sightline.io import sha256_of
from sightline.reason.curriculum.apart import Twins, find_twins
from sightline.reason.curriculum.compiling import Compiled, Settings, compile_curriculum
from sightline.reason.curriculum.overlap import NEARLY, RUN, likeness, overlap
from sightline.reason.curriculum.plan import Plan, load_plan
from sightline.types import Choice, Option, Picture, Step, Task


def names(count: int) -> list[str]:
    return [f"q{number}" for number in range(count)]


def compiled(folder: Path, tmp_path: Path, plan: str | Plan = "mir", **settings: object) -> Compiled:
    return compile_curriculum(folder, plan, tmp_path / "out", Settings(**settings))  # type: ignore[arg-type]


def with_step(kind: str, text: str) -> Sequence[Step]:
    return [replace(step, text=text) if step.kind == kind else step for step in STEPS]


def pools(count: int) -> list[Task]:
    return [question(name, "easy" if number % 2 else "hard") for number, name in enumerate(names(count))]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return written(tmp_path / "b", pools(10))


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


def test_a_step_that_is_in_the_question_is_found(tmp_path: Path) -> None:
    task = question("q1")
    folder = written(tmp_path / "b", [replace(task, prompt=(*task.prompt, f" Hint: {STEPS[4].text}"))])
    with pytest.raises(FoundError, match="target's Region-to-Region is in the question word for word"):
        compiled(folder, tmp_path, "full-chain")


def asking(folder: Path, more: str, steps: Sequence[Step] = STEPS) -> Path:
    """Questions that also say this."""
    tasks = [replace(task, prompt=(*task.prompt, f" {more}")) for task in pools(6)]
    return written(folder, tasks, steps)


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


@pytest.mark.parametrize(
    "mark", ["<|image_pad|>", "<|vision_start|>", "<start_of_image>", "[IMG]", "<|im_end|>", "<img>"]
)
def test_marks_of_tokenizers_are_found_in_prompt_and_target(tmp_path: Path, mark: str) -> None:
    steps = with_step("caption", f"A table with {mark} and a lamp on it.")
    folder = written(tmp_path / "b", pools(6), steps)
    with pytest.raises(FoundError) as refused:
        compiled(folder, tmp_path)
    assert f"{mark} in the target, which a tokenizer" in str(refused.value)
    assert f"{mark} in the prompt, which a tokenizer" in str(refused.value)


def test_a_picture_that_is_cut_off_is_found(good: Path, tmp_path: Path) -> None:
    noise = Image.effect_noise((400, 300), 90).convert("RGB")
    noise.save(good / "pictures/q0/1.png", "JPEG")
    whole = (good / "pictures/q0/1.png").read_bytes()
    assert compiled(good, tmp_path, "plain").records == 10
    (good / "pictures/q0/1.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FoundError, match=r'"q0/1\.png" is truncated: the file ends before the picture does'):
        compiled(good, tmp_path, "plain")


def test_what_is_counted_is_what_is_trained_on(good: Path, tmp_path: Path) -> None:
    stage = replace(load_plan("plain").stages[0], epochs=3)
    more = compiled(good, tmp_path, Plan("thrice", (stage,)))
    assert (more.records, more.proof["records"], more.proof["different"], more.proof["checked"]) == (30, 30, 10, 10)
    assert more.proof_lines[0] == "proved of every record (10 different ones)"
    assert all("30 hold" in line or "not asked for" in line for line in more.proof_lines[1:])
    few = compiled(good, tmp_path, "plain", tokens=more.tokens // 6)
    assert few.proof["records"] == few.proof["different"] == few.records == 5
    assert few.proof["checked"] == 10


def test_a_conclusion_may_be_the_text_of_an_option(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [question("q1")], with_step("conclusion", "the cup and the lamp"))
    assert compiled(folder, tmp_path, "plain").records == 1


def test_a_conclusion_may_be_an_option_that_is_spoken_of(tmp_path: Path) -> None:
    """In the question and in the given steps, as in the list of options."""
    steps = with_step("conclusion", "The cup and the lamp. The answer is A.")
    folder = asking(tmp_path / "b", "The cup and the lamp, or the book?", steps)
    assert compiled(folder, tmp_path).proof["checks"]["leak"]["failed"] == 0


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


def test_pictures_of_unstated_size_are_measured(good: Path, tmp_path: Path) -> None:
    """As after an import, which does not look at files."""
    known = compiled(good, tmp_path, "plain").tokens
    found = bench.read(good)
    bare = {name: replace(picture, width=None, height=None) for name, picture in found.corpus.pictures.items()}
    bench.write(replace(found, corpus=replace(found.corpus, pictures=bare)), good)
    assert compiled(good, tmp_path, "plain").tokens == known
    Image.new("RGB", (4000, 3000), "red").save(good / "pictures/q0/1.png")  # 15,301 tokens.
    said = r"1 of 10 records can't be proved:\n.*q0: tokens: 15,3\d\d tokens are over 15,000"
    with pytest.raises(FoundError, match=said):
        compiled(good, tmp_path, "plain", limit_tokens=15_000)


def test_drop_leaves_them_out_and_says_so(good: Path, tmp_path: Path) -> None:
    (good / "pictures/q0/1.png").unlink()
    done = compiled(good, tmp_path, "plain", drop=True)
    assert (done.records, done.tasks) == (9, 9)
    assert done.proof["checks"]["files"] == {
        "says": "every picture is there and can be read",
        "checked": 10,
        "failed": 1,
    }
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
    found, pictures, by_checksum = twins(good, test)
    assert {name: twin.same_file for name, twin in found.items()} == {"q2/1.png": True, "q3/2.png": False}
    assert (pictures, by_checksum) == (2, 0)
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
    found = twins(good, in_test(tmp_path / "t", [copy, other])).found
    assert set(found) == {"q3/2.png", "q4/1.png", "q5/1.png"}
    assert not any(twin.same_file for twin in found.values())


def test_other_colours_are_another_picture(good: Path, tmp_path: Path) -> None:
    image = Image.open(good / "pictures/q3/2.png")
    red, green, blue = image.split()
    Image.merge("RGB", (red.point(lambda v: 255 - v), green, blue)).save(tmp_path / "a.png")
    found = twins(good, in_test(tmp_path / "t", [tmp_path / "a.png", paint(tmp_path / "b.png", seed=2)]))
    assert found.found == {}


def with_checksums(folder: Path) -> Path:
    """A benchmark that states the checksums of its files."""
    found = bench.read(folder)
    pictures = {
        name: replace(picture, sha256=sha256_of(folder / picture.uri))
        for name, picture in found.corpus.pictures.items()
    }
    bench.write(replace(found, corpus=replace(found.corpus, pictures=pictures)), folder)
    return folder


def test_a_test_that_can_not_be_compared_proves_nothing(good: Path, tmp_path: Path) -> None:
    test = in_test(tmp_path / "t", [tmp_path / "gone.png", paint(tmp_path / "b.png", seed=3)])
    for drop in (False, True):
        with pytest.raises(
            FoundError, match=r'1 of the 2 pictures of .* such as "t0/1\.png" at .*gone\.png'
        ) as refused:
            compiled(good, tmp_path, "plain", test=test, drop=drop)
        assert refused.value.exit_code == 4
    found = bench.read(test)
    bench.write(replace(found, corpus=replace(found.corpus, pictures={})), test)
    with pytest.raises(FoundError, match=r"2 of the 2 pictures .* which is not in its pictures"):
        compiled(good, tmp_path, "plain", test=test)
    assert not (tmp_path / "out").exists()


def test_a_test_without_its_files_is_known_by_its_checksums(good: Path, tmp_path: Path) -> None:
    with_checksums(good)
    copied = tmp_path / "copied"
    shutil.copytree(good, copied, ignore=shutil.ignore_patterns("pictures"))
    with pytest.raises(FoundError, match=r'10 of 10 records .*\n.*"q0/1\.png" is "q0/1\.png" of the test'):
        compiled(good, tmp_path, "plain", test=copied)
    other = written(tmp_path / "t", [question("t0")])
    paint(other / "pictures/t0/1.png", seed=77)
    paint(other / "pictures/t0/2.png", seed=78)
    with_checksums(other)
    (other / "pictures/t0/1.png").unlink()
    done = compiled(good, tmp_path, "plain", test=other)
    assert (done.proof["test_pictures"], done.proof["test_pictures_by_checksum_alone"]) == (2, 1)
    said = "10 hold (2 pictures of it compared, 1 of them by checksum alone: only the same file)"
    assert f"no picture of the test, or nearly one: {said}" in done.proof_lines
    assert said in (tmp_path / "out/README.md").read_text()


def test_checksums_are_held_against_the_files_of_the_training(good: Path, tmp_path: Path) -> None:
    """Also where the training states none."""
    test = with_checksums(in_test(tmp_path / "t", [good / "pictures/q2/1.png", good / "pictures/q3/1.png"]))
    found = bench.read(test)
    moved = {name: replace(one, uri="https://example.org/1.png") for name, one in found.corpus.pictures.items()}
    bench.write(replace(found, corpus=replace(found.corpus, pictures=moved)), test)
    assert twins(good, test) == ({"q2/1.png": ("t0/1.png", True), "q3/1.png": ("t0/2.png", True)}, 2, 2)


def test_an_empty_test_is_refused(good: Path, tmp_path: Path) -> None:
    test = written(tmp_path / "t", [])
    with pytest.raises(UserError, match="t tests nothing: it has no tasks"):
        compiled(good, tmp_path, "plain", test=test)
    written(tmp_path / "w", [question("t0", prompt=("What is it?",))])
    with pytest.raises(UserError, match="w tests nothing: none of its tasks is about a picture"):
        compiled(good, tmp_path, "plain", test=tmp_path / "w")
    assert not (tmp_path / "out").exists()


def test_tasks_that_can_not_teach_are_counted(tmp_path: Path) -> None:
    tasks = [question("q1"), question("q2"), question("q3"), question("a1", kind="answer", options=())]
    tasks.append(question("q4", options=(OPTIONS[0], Option("B", OPTIONS[0].content))))
    truth = {
        "q2": Choice("A", steps=tuple(step for step in STEPS if step.kind != "caption")),
        "q3": Choice(None),
    }
    folder = written(tmp_path / "b", tasks, truth=truth)
    done = compiled(folder, tmp_path, "full-chain")
    assert done.tasks == 1
    assert done.left_out == {
        "answer task": 1,
        "two options that say the same": 1,
        "no caption step": 1,
        "no right option": 1,
    }


WORDS = ("red", "cup", "on", "a", "table", "near", "the", "old", "green", "lamp")


def test_questions_that_were_not_measured_are_left_out_where_difficulty_counts(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [*pools(4), question("q9", None)])
    assert compiled(folder, tmp_path, "mir").left_out == {"no difficulty": 1}
    assert compiled(folder, tmp_path, "plain").left_out == {}


words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30)


@given(words, words, words)
@settings(max_examples=100, deadline=None)
def test_overlap_is_a_share_and_whole_when_contained(before: list[str], step: list[str], after: list[str]) -> None:
    text = " ".join(step)
    assert 0.0 <= overlap(text, " ".join([*before, *after])) <= 1.0
    assert 0.0 <= likeness(text, " ".join([*before, *after])) <= 1.0
    if len(step) >= RUN:
        assert overlap(text, " ".join([*before, *step, *after])) == 1.0
        dropped = step[: len(before) % len(step)] + step[len(before) % len(step) + 1 :]
        assert likeness(text, " ".join([*before, *dropped, *after])) >= NEARLY
    assert likeness(text, f"{' '.join(before)}. {text.title()}! {' '.join(after)}") == 1.0


def test_overlap_without_spaces_between_words() -> None:
    assert overlap("桌子上有一个红色的杯子", "图中桌子上有一个红色的杯子和灯") == 1.0
    assert overlap("桌子上有一个红色的杯子", "窗边站着两个人在看外面的雨") == 0.0


def test_short_steps_count_as_whole_sentences_only() -> None:
    assert likeness("B", "B is near. A bee.") == 0.0
    assert likeness("The red cup.", "One sees the red cup: the red cup.") == 1.0
    assert likeness("The red cup.", "One sees the red cup there.") == 0.0
    assert likeness("The small red cup.", "One sees the small red cup there.") == 1.0


def test_likeness_is_of_one_place_and_its_order() -> None:
    step = "a red cup stands to the left of the old green lamp"
    assert likeness(step, "the lamp is old and green; of a cup that stands to the left, red it is") < NEARLY
    assert likeness(step, "here a red cup stands just to the left of that old green lamp") >= NEARLY
