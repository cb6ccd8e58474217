"""The proof: whatever would spoil the training is found, named, and nothing is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from reason.curriculum_tools import OPTIONS, STEPS, compiled, pools, question, with_step, written
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.errors import FoundError
from sightline.reason.curriculum.plan import CurriculumPlan, load_plan
from sightline.types import Choice, Option


def test_clean_questions_are_proved(good: Path, tmp_path: Path) -> None:
    done = compiled(good, tmp_path, limit_tokens=2000)
    assert done.proof["proved"] == done.proof["records"] == done.records == 5 + 5 * 2
    assert {check for check, found in done.proof["checks"].items() if found is None} == {"test"}
    assert all(found is None or found["failed"] == 0 for found in done.proof["checks"].values())


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
    more = compiled(good, tmp_path, CurriculumPlan("thrice", (stage,)))
    assert (more.records, more.proof["records"], more.proof["different"], more.proof["checked"]) == (30, 30, 10, 10)
    assert more.proof_lines[0] == "checked of every record (10 different ones)"
    assert all("30 hold" in line or "not asked for" in line or "guessed" in line for line in more.proof_lines[1:])
    few = compiled(good, tmp_path, "plain", tokens=more.tokens // 6)
    assert few.proof["records"] == few.proof["different"] == few.records == 5
    assert few.proof["checked"] == 10


def test_pictures_must_be_there_and_be_pictures(good: Path, tmp_path: Path) -> None:
    (good / "pictures/q0/1.png").unlink()
    (good / "pictures/q1/1.png").write_text("not a picture")
    with pytest.raises(FoundError) as refused:
        compiled(good, tmp_path, "plain")
    assert '"q0/1.png" can\'t be read' in str(refused.value)
    assert '"q1/1.png" is not a picture' in str(refused.value)
    assert "2 of 10" in str(refused.value)


def test_tokens_over_the_limit(good: Path, tmp_path: Path) -> None:
    with pytest.raises(FoundError, match="tokens are over 40"):
        compiled(good, tmp_path, "plain", limit_tokens=40)


def test_pictures_of_unstated_size_are_measured(good: Path, tmp_path: Path) -> None:
    """As after an import, which does not look at files."""
    known = compiled(good, tmp_path, "plain").tokens
    found = read_benchmark(good)
    bare = {name: replace(picture, width=None, height=None) for name, picture in found.corpus.pictures.items()}
    write_benchmark(replace(found, corpus=replace(found.corpus, pictures=bare)), good)
    assert compiled(good, tmp_path, "plain").tokens == known
    Image.new("RGB", (4000, 3000), "red").save(good / "pictures/q0/1.png")  # 15,301 tokens.
    said = r"1 of 10 records fail a check:\n.*q0: tokens: 15,3\d\d tokens are over 15,000"
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
        "two options with the same text": 1,
        "no caption step": 1,
        "no right option": 1,
    }


def test_questions_that_were_not_measured_are_left_out_where_difficulty_counts(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [*pools(4), question("q9", None)])
    assert compiled(folder, tmp_path, "mir").left_out == {"no difficulty": 1}
    assert compiled(folder, tmp_path, "plain").left_out == {}
