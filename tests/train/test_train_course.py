"""A curriculum and a model → a trained model, its log and its curves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from sightline.errors import UserError
from sightline.reason.train.examples import prompts
from sightline.reason.train.log import draw_curves
from sightline.reason.train.models import open_model
from sightline.reason.train.records import TrainRecord, read_questions
from sightline.reason.train.trainer import run_training
from train_tools import COLOURS, SETTINGS, course_in, cut, losses_of, row_of, stages_of


def test_a_curriculum_becomes_a_model_a_log_and_curves(tmp_path: Path) -> None:
    course = course_in(tmp_path)
    questions = read_questions(course.folder)
    done = run_training(course_in(tmp_path, evals={"colours": questions}, most=4), SETTINGS)
    assert [entry["stage"] for entry in done.evaluations] == ["easy", "hard"]
    scores = done.evaluations[-1]["evaluation"]["colours"]
    assert scores["n"] == len(questions)
    assert 0 <= scores["low"] <= scores["accuracy"] <= scores["high"] <= 1
    assert done.curves.stat().st_size > 0
    assert list(dict.fromkeys(stages_of(done.model.parent))) == ["easy", "hard"]
    model, processor = open_model(str(done.model), ())
    assert processor.tokenizer.eos_token == "<end>"
    assert type(model).__name__ == "GlimpseForConditionalGeneration"


def test_after_each_stage_questions_are_asked_as_it_teaches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = course_in(tmp_path)
    for name, steps in (("easy", "Summary, Conclusion"), ("hard", "Conclusion")):
        rows = [row_of(key, 0) for key in COLOURS]
        for row in rows:
            row["messages"][0]["content"] += f"\n\nWrite: {steps}."
        (course.folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown: list[str] = []

    def watched(records: Sequence[TrainRecord], processor: Any) -> Any:
        shown.extend(record.prompt.rpartition("\n\n")[2] for record in records[:1])
        return prompts(records, processor)

    monkeypatch.setattr("sightline.reason.train.trainer.prompts", watched)
    questions = read_questions(course.folder)
    run_training(course_in(tmp_path, evals={"colours": questions}, most=2), SETTINGS)
    assert shown == ["Write: Summary, Conclusion.", "Write: Conclusion."]


def test_curves_are_drawn_of_one_step_a_stage_and_of_sets_that_begin_later(tmp_path: Path) -> None:
    score = {"accuracy": 0.5, "low": 0.3, "high": 0.7, "n": 9}
    entries: list[dict[str, Any]] = []
    for number, stage in enumerate(("easy", "hard", "easy"), 1):
        entries.append({"step": number, "stage": stage, "loss": 3.0 / number, "tokens": 100 * number})
        sets = ("a", "b") if number > 1 else ("a",)
        entries.append({"step": number, "stage": stage, "evaluation": dict.fromkeys(sets, score)})
    assert draw_curves(entries, tmp_path).stat().st_size > 10_000
    assert draw_curves(entries[:1], tmp_path).stat().st_size > 5_000


def test_stages_that_share_a_file_have_their_own_lines(tmp_path: Path) -> None:
    """As ms-swift's curricula have them."""
    course = course_in(tmp_path)
    joined = "".join((course.folder / f"{name}.jsonl").read_text() for name in ("easy", "hard"))
    apart = run_training(course, SETTINGS)
    (course.folder / "train.jsonl").write_text(joined)
    rows = [
        {"name": name, "phase": name, "file": "train.jsonl", "first_line": first, "records": 16}
        for name, first in (("easy", 1), ("hard", 17))
    ]
    (course.folder / "stages.json").write_text(json.dumps(rows))
    shared = run_training(replace(course, out=tmp_path / "shared"), SETTINGS)
    assert shared.totals.tokens == apart.totals.tokens
    assert losses_of(tmp_path / "shared") == losses_of(tmp_path / "out")
    assert {one.id.partition("-")[0] for one in read_questions(course.folder)} == {"hard"}
    rows[1]["records"] = 17
    (course.folder / "stages.json").write_text(json.dumps(rows))
    with pytest.raises(UserError, match="only 16 of the 17 records"):
        run_training(replace(course, out=tmp_path / "third"), SETTINGS)


def test_a_limit_is_of_each_stage(tmp_path: Path) -> None:
    whole = run_training(course_in(tmp_path, out=tmp_path / "whole"), SETTINGS).totals
    few = run_training(course_in(tmp_path, limit=4), SETTINGS).totals
    assert set(stages_of(tmp_path / "out")) == {"easy", "hard"}
    assert few.said * 4 == whole.said
    with pytest.raises(UserError, match="limit was 4 and is 8"):
        run_training(course_in(tmp_path, limit=8), SETTINGS, resume=True)


def test_a_damaged_picture_is_named_before_the_training(tmp_path: Path) -> None:
    course = course_in(tmp_path)
    Image.effect_noise((300, 200), 80).convert("RGB").save(course.folder / "blue.png", "JPEG")
    cut(course.folder / "blue.png")
    with pytest.raises(UserError, match=r"blue\.png: this picture can't be read: .*truncated"):
        run_training(course, SETTINGS)
    assert not (tmp_path / "out/log.jsonl").exists()


def test_a_picture_of_the_questions_that_is_not_there_is_named_before_the_training(tmp_path: Path) -> None:
    course = course_in(tmp_path)
    asked = [replace(one, images=(tmp_path / "gone.png",)) for one in read_questions(course.folder)[:1]]
    with pytest.raises(UserError, match=r"gone\.png: this picture can't be read"):
        run_training(course_in(tmp_path, evals={"asked": asked}), SETTINGS)
    assert not (tmp_path / "out/log.jsonl").exists()
