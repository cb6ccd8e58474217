"""A curriculum and a model → a trained model: Glimpse and LLaVA, whole and by LoRA, killed and taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from sightline.errors import UserError
from sightline.train.__main__ import main
from sightline.train.answering import letter
from sightline.train.checkpoint import Keeper
from sightline.train.course import Course, by_name, read_questions, train_course
from sightline.train.curves import draw_curves
from sightline.train.encoding import RecordExamples, joined, opened
from sightline.train.glimpse_processor import learn_tokenizer
from sightline.train.loop import Settings
from sightline.train.models import open_model
from sightline.train.place import held
from sightline.train.records import read_records

COLOURS = {"A": "red", "B": "green", "C": "blue", "D": "white"}
SETTINGS = Settings(rate=2e-3, tokens=512, half=False, log_every=1, keep_every=2)


def _curriculum(folder: Path, copies: int = 4) -> Path:
    for colour in COLOURS.values():
        Image.new("RGB", (64, 48), colour).save(folder / f"{colour}.png")
    rows = [_row(key, n) for n in range(copies) for key in COLOURS]
    for name in ("easy", "hard"):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps({**row, "id": f"{name}-{row['id']}"}) + "\n" for row in rows)
        )
    stages = [{"name": name, "phase": name, "file": f"{name}.jsonl", "records": len(rows)} for name in ("easy", "hard")]
    (folder / "stages.json").write_text(json.dumps(stages))
    return folder


def _row(key: str, number: int) -> dict[str, Any]:
    asked = "Look: <image>\nWhich colour?\nOptions:\nA. red\nB. green\nC. blue\nD. white" + "?" * number
    said = f"Conclusion: It is {COLOURS[key]}. The answer is {key}."
    messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]
    return {"id": f"{key}{number}", "messages": messages, "images": [f"{COLOURS[key]}.png"], "answer": key}


def _course(tmp_path: Path, **changes: Any) -> Course:
    folder = tmp_path / "curriculum"
    if not folder.exists():
        folder.mkdir()
        _curriculum(folder)
    return Course(**{"folder": folder, "model": "glimpse-tiny", "out": tmp_path / "out", "evals": {}, **changes})


def _losses(folder: Path) -> list[tuple[int, float]]:
    entries = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [(entry["step"], entry["loss"]) for entry in entries if "loss" in entry]


def test_a_curriculum_becomes_a_model_a_log_and_curves(tmp_path: Path) -> None:
    course = _course(tmp_path)
    questions = read_questions(course.folder)
    done = train_course(_course(tmp_path, evals={"colours": questions}, most=4), SETTINGS)
    assert [entry["stage"] for entry in done.evaluations] == ["easy", "hard"]
    scores = done.evaluations[-1]["evaluation"]["colours"]
    assert scores["n"] == len(questions)
    assert 0 <= scores["low"] <= scores["accuracy"] <= scores["high"] <= 1
    assert done.curves.stat().st_size > 0
    assert list(dict.fromkeys(_stages(done.model.parent))) == ["easy", "hard"]
    model, processor = open_model(str(done.model), ())
    assert processor.tokenizer.eos_token == "<end>"
    assert type(model).__name__ == "GlimpseForConditionalGeneration"


def test_curves_are_drawn_of_one_step_a_stage_and_of_sets_that_begin_later(tmp_path: Path) -> None:
    score = {"accuracy": 0.5, "low": 0.3, "high": 0.7, "n": 9}
    entries: list[dict[str, Any]] = []
    for number, stage in enumerate(("easy", "hard", "easy"), 1):
        entries.append({"step": number, "stage": stage, "loss": 3.0 / number, "tokens": 100 * number})
        sets = ("a", "b") if number > 1 else ("a",)
        entries.append({"step": number, "stage": stage, "evaluation": dict.fromkeys(sets, score)})
    assert draw_curves(entries, tmp_path).stat().st_size > 10_000
    assert draw_curves(entries[:1], tmp_path).stat().st_size > 5_000


def _stages(folder: Path) -> list[str]:
    return [json.loads(line)["stage"] for line in (folder / "log.jsonl").read_text().splitlines()]


def test_lora_trains_only_what_it_adds(tmp_path: Path) -> None:
    done = train_course(_course(tmp_path, lora=2, stages=("easy",)), SETTINGS)
    files = {file.name for file in done.model.iterdir()}
    assert "adapter_model.safetensors" in files and "model.safetensors" not in files
    assert set(_stages(done.model.parent)) == {"easy"}


def test_stages_that_share_a_file_have_their_own_lines(tmp_path: Path) -> None:
    """As ms-swift's curricula have them."""
    course = _course(tmp_path)
    joined = "".join((course.folder / f"{name}.jsonl").read_text() for name in ("easy", "hard"))
    apart = train_course(course, SETTINGS)
    (course.folder / "train.jsonl").write_text(joined)
    rows = [
        {"name": name, "phase": name, "file": "train.jsonl", "first_line": first, "records": 16}
        for name, first in (("easy", 1), ("hard", 17))
    ]
    (course.folder / "stages.json").write_text(json.dumps(rows))
    shared = train_course(replace(course, out=tmp_path / "shared"), SETTINGS)
    assert shared.totals.tokens == apart.totals.tokens
    assert _losses(tmp_path / "shared") == _losses(tmp_path / "out")
    assert {one.id.partition("-")[0] for one in read_questions(course.folder)} == {"hard"}
    rows[1]["records"] = 17
    (course.folder / "stages.json").write_text(json.dumps(rows))
    with pytest.raises(UserError, match="only 16 of the 17 records"):
        train_course(replace(course, out=tmp_path / "third"), SETTINGS)


def test_an_out_that_is_in_use_is_only_taken_up_when_asked(tmp_path: Path) -> None:
    train_course(_course(tmp_path, stages=("easy",)), SETTINGS)
    before = _losses(tmp_path / "out")
    with pytest.raises(UserError, match="begun here before"):
        train_course(_course(tmp_path), SETTINGS)
    with pytest.raises(UserError, match="begun in another way"):
        train_course(_course(tmp_path), SETTINGS, resume=True)
    train_course(_course(tmp_path, stages=("easy",)), SETTINGS, resume=True)
    assert _losses(tmp_path / "out") == before
    with pytest.raises(UserError, match="no checkpoint"):
        train_course(_course(tmp_path, out=tmp_path / "new"), SETTINGS, resume=True)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    train_course(_course(tmp_path), SETTINGS)
    before = _losses(tmp_path / "out")
    _cut(tmp_path / "out/checkpoint.pt")
    train_course(_course(tmp_path), SETTINGS, resume=True)
    assert "checkpoint.pt is damaged; the training goes on from" in caplog.text
    assert _losses(tmp_path / "out") == before
    for name in ("checkpoint.pt", "checkpoint-before.pt"):
        _cut(tmp_path / "out" / name)
    with pytest.raises(UserError, match=r"checkpoint\.pt: this checkpoint is damaged"):
        train_course(_course(tmp_path), SETTINGS, resume=True)


def test_a_checkpoint_that_can_not_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = torch.nn.Linear(1, 1)
    optimiser = torch.optim.SGD(model.parameters())
    with pytest.raises(UserError, match=r"checkpoint\.pt can't be written: .*\n.*begin again"):
        Keeper(tmp_path / "nowhere/checkpoint.pt", {}).keep(model, optimiser, {})
    keeper = Keeper(tmp_path / "checkpoint.pt", {})
    keeper.keep(model, optimiser, {})

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(UserError, match=r"checkpoint\.pt can't be written: .*\n.*--resume"):
        keeper.keep(model, optimiser, {})


def test_one_training_writes_to_a_folder_at_a_time(tmp_path: Path) -> None:
    with held(tmp_path / "out"), pytest.raises(UserError, match="another training writes here"):
        train_course(_course(tmp_path), SETTINGS)
    assert train_course(_course(tmp_path), SETTINGS).totals.steps > 0


def test_a_limit_is_of_each_stage(tmp_path: Path) -> None:
    whole = train_course(_course(tmp_path, out=tmp_path / "whole"), SETTINGS).totals
    few = train_course(_course(tmp_path, limit=4), SETTINGS).totals
    assert set(_stages(tmp_path / "out")) == {"easy", "hard"}
    assert few.said * 4 == whole.said
    with pytest.raises(UserError, match="limit was 4 and is 8"):
        train_course(_course(tmp_path, limit=8), SETTINGS, resume=True)


def test_a_damaged_picture_is_named_before_the_training(tmp_path: Path) -> None:
    course = _course(tmp_path)
    Image.effect_noise((300, 200), 80).convert("RGB").save(course.folder / "blue.png", "JPEG")
    _cut(course.folder / "blue.png")
    with pytest.raises(UserError, match=r"blue\.png: this picture can't be read: .*truncated"):
        train_course(course, SETTINGS)
    assert not (tmp_path / "out/log.jsonl").exists()


def test_a_picture_of_the_questions_that_is_not_there_is_named_before_the_training(tmp_path: Path) -> None:
    course = _course(tmp_path)
    asked = [replace(one, images=(tmp_path / "gone.png",)) for one in read_questions(course.folder)[:1]]
    with pytest.raises(UserError, match=r"gone\.png: this picture can't be read"):
        train_course(_course(tmp_path, evals={"asked": asked}), SETTINGS)
    assert not (tmp_path / "out/log.jsonl").exists()


def test_what_lora_adds_can_be_opened_again(tmp_path: Path) -> None:
    """Also to a model that was made here: its base is saved beside."""
    done = train_course(_course(tmp_path, lora=2, stages=("easy",)), SETTINGS)
    named = json.loads((done.model / "adapter_config.json").read_text())["base_model_name_or_path"]
    assert Path(named) == (tmp_path / "out/base").resolve()
    model, processor = open_model(str(done.model), ())
    base, _ = open_model(named, ())
    moved = [name for name, weight in model.named_parameters() if not weight.equal(base.get_parameter(name))]
    assert len(moved) > 4 and all(".weight" in name for name in moved), "what was added is in the weights now"
    assert processor.tokenizer.eos_token == "<end>"


@pytest.mark.parametrize("lora", [None, 2])
def test_what_lora_added_can_be_trained_on_after_a_move(tmp_path: Path, lora: int | None) -> None:
    first = train_course(_course(tmp_path, lora=2, stages=("easy",)), SETTINGS)
    begun = _losses(tmp_path / "out")[0][1]
    moved = tmp_path / "moved"
    first.model.parent.rename(moved)
    again = _course(tmp_path, model=str(moved / "model"), lora=lora, out=tmp_path / "second", stages=("hard",))
    done = train_course(again, SETTINGS)
    assert _losses(tmp_path / "second")[0][1] < begun - 0.02, "it knows what it learnt before"
    model, _ = open_model(str(done.model), ())
    assert all(weight.isfinite().all() for weight in model.parameters())


def test_pictures_are_upright_on_white_and_of_eight_bits(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    halves = Image.new("RGB", (64, 48), "red")
    halves.paste("blue", (0, 0, 32, 48))
    halves.save(tmp_path / "turned.jpg", quality=95, exif=exif)
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    Image.fromarray(np.full((8, 8), 0x8000, np.uint16)).save(tmp_path / "deep.png")
    turned, clear, deep = (opened(tmp_path / name) for name in ("turned.jpg", "clear.png", "deep.png"))
    assert turned.size == (48, 64) and np.allclose(turned.getpixel((24, 5)), (0, 0, 255), atol=8)
    assert clear.getpixel((3, 3)) == (255, 255, 255)
    assert np.allclose(deep.getpixel((3, 3)), 128, atol=1)


def test_a_stop_from_the_keyboard_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = _course(tmp_path).folder, tmp_path / "out"

    def stopped(entry: object) -> None:
        if entry["step"] == 3:  # type: ignore[index]
            raise KeyboardInterrupt

    monkeypatch.setattr("sightline.train.__main__.tell", stopped)
    words = [str(folder), "--model", "glimpse-tiny", "--out", str(out), "--tokens", "512", "--log-every", "1"]
    assert main([*words, "--keep-every", "2"]) == 130
    assert capsys.readouterr().err == (
        f"stopped: 2 steps are kept in {out}; the same command with --resume goes on from there.\n"
    )


def test_questions_whose_answers_are_written_down_are_not_asked_again(tmp_path: Path) -> None:
    course = _course(tmp_path)
    course = replace(course, evals={"colours": read_questions(course.folder)[:1]}, most=2)

    def stopped(entry: Mapping[str, Any]) -> None:
        if "evaluation" in entry:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_course(course, SETTINGS, tell=stopped)
    done = train_course(course, SETTINGS, resume=True)
    assert [entry["stage"] for entry in done.evaluations] == ["easy", "hard"]


def test_answers_are_read_by_the_questions_own_options() -> None:
    assert letter("Conclusion: The answer is E.", dict.fromkeys("ABCDE", "")) == "E"
    assert letter("Conclusion: it is the red cup.", {"1": "the red cup", "2": "the blue cup"}) == "1"
    assert letter("Conclusion: The answer is E.") == "-"


def test_questions_of_a_curriculum_come_without_given_steps_and_once(tmp_path: Path) -> None:
    folder = _course(tmp_path).folder
    rows = [{**_row(key, 0), "task": key} for key in COLOURS]
    (folder / "easy.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, *rows]))
    (folder / "hard.jsonl").write_text("".join(json.dumps({**row, "given": ["summary"]}) + "\n" for row in rows))
    assert [record.task for record in read_questions(folder)] == list(COLOURS)


def test_every_set_of_questions_has_a_name_of_its_own(tmp_path: Path) -> None:
    one, other, third = tmp_path / "a/test", tmp_path / "b/test", tmp_path / "c.jsonl"
    assert by_name([one, third]) == {"test": one, "c": third}
    assert by_name([one, other, third]) == {"a/test": one, "b/test": other, f"{tmp_path.name}/c": third}
    assert by_name([one, one]) == {"test": one} and by_name([]) == {}
    file = tmp_path / "a/test.jsonl"
    assert by_name([one, file]) == {str(one): one, str(file): file}


def test_questions_need_answers(tmp_path: Path) -> None:
    folder = _course(tmp_path).folder
    row = {key: value for key, value in _row("A", 0).items() if key != "answer"}
    (folder / "asked.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UserError, match='not every record has an "answer"'):
        read_questions(folder / "asked.jsonl")


def test_a_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be opened"):
        open_model(str(tmp_path / "nothing"), ())


def test_only_what_the_assistant_says_last_has_a_loss(tmp_path: Path) -> None:
    records = read_records(_course(tmp_path).folder / "easy.jsonl")
    _, processor = open_model("glimpse-tiny", [message["content"] for one in records for message in one.messages])
    examples = RecordExamples(records, processor)
    batch = examples.batch([0, 5])
    for row, record in zip(batch.labels, (records[0], records[5]), strict=True):
        assert processor.tokenizer.decode(row[row >= 0]) == f"{record.target}<end>"
    assert batch.tokens == examples.lengths[[0, 5]].sum()


def _llava(folder: Path) -> str:
    """A LLaVA with random weights, as small as can be."""
    tokenizer = learn_tokenizer([json.dumps(_row(key, 0)) for key in COLOURS], 400)
    vision = transformers.CLIPVisionConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=28, patch_size=14
    )
    words = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, vocab_size=len(tokenizer)
    )
    config = transformers.LlavaConfig(vision_config=vision, text_config=words, image_token_index=3)
    torch.manual_seed(0)
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    pictures = transformers.CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28})
    transformers.LlavaProcessor(
        pictures,
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=tokenizer.chat_template,
        num_additional_image_tokens=1,
    ).save_pretrained(folder)
    return str(folder)


def test_llava_goes_through_the_same_trainer(tmp_path: Path) -> None:
    name = _llava(tmp_path / "llava")
    course = _course(tmp_path, model=name)
    records = read_records(course.folder / "easy.jsonl")
    _, processor = open_model(name, ())
    batch = joined(records[:3], processor, masked=True)
    assert batch.inputs["attention_mask"].sum() == batch.tokens == RecordExamples(records, processor).lengths[:3].sum()
    questions = {"colours": records[:4]}
    done = train_course(_course(tmp_path, model=name, evals=questions, most=4), SETTINGS)
    losses = _losses(tmp_path / "out")
    assert losses[-1][1] < losses[0][1]
    assert done.evaluations[-1]["evaluation"]["colours"]["n"] == 4


@pytest.mark.slow
def test_a_kill_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "curriculum"
    folder.mkdir()
    _curriculum(folder, copies=12)
    assert _command(folder, tmp_path / "whole").wait(600) == 0
    killed = _command(folder, tmp_path / "cut")
    while killed.poll() is None and len(_lines(tmp_path / "cut")) < 4:
        time.sleep(0.02)
    assert killed.poll() is None
    killed.send_signal(signal.SIGKILL)
    killed.wait(60)
    assert _command(folder, tmp_path / "cut", "--resume").wait(600) == 0
    assert _losses(tmp_path / "cut") == _losses(tmp_path / "whole")


@pytest.mark.slow
def test_two_processes_do_what_one_does_with_twice_the_batches(tmp_path: Path) -> None:
    folder = tmp_path / "curriculum"
    folder.mkdir()
    _curriculum(folder, copies=3)
    assert _command(folder, tmp_path / "one", "--together", "2").wait(600) == 0
    two = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    assert _command(folder, tmp_path / "two", before=two).wait(600) == 0
    one, both = _losses(tmp_path / "one"), _losses(tmp_path / "two")
    assert [step for step, _ in both] == [step for step, _ in one]
    assert [loss for _, loss in both] == pytest.approx([loss for _, loss in one], rel=1e-4)


def _lines(folder: Path) -> list[str]:
    file = folder / "log.jsonl"
    return file.read_text().splitlines() if file.exists() else []


def _command(folder: Path, out: Path, *more: str, before: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
    settings = ("--rate", "1e-3", "--tokens", "256", "--keep-every", "1", "--full-precision", "--log-every", "1")
    words = [
        sys.executable,
        *before,
        "-m",
        "sightline.train",
        str(folder),
        "--model",
        "glimpse-tiny",
        "--out",
        str(out),
    ]
    return subprocess.Popen(
        [*words, *settings, *more], env={**os.environ, "ACCELERATE_USE_CPU": "1"}, stderr=subprocess.DEVNULL
    )
