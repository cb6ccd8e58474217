"""A training that is stopped, killed or damaged, and taken up again."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError

from sightline.errors import UserError
from sightline.reason.train.__main__ import main
from sightline.reason.train.checkpoint import Checkpoints, held
from sightline.reason.train.records import read_questions
from sightline.reason.train.trainer import run_training
from train_tools import SETTINGS, course_in, cut, losses_of, write_curriculum


def test_an_out_that_is_in_use_is_only_taken_up_when_asked(tmp_path: Path) -> None:
    run_training(course_in(tmp_path, stages=("easy",)), SETTINGS)
    before = losses_of(tmp_path / "out")
    with pytest.raises(UserError, match="there is a training here already"):
        run_training(course_in(tmp_path), SETTINGS)
    with pytest.raises(UserError, match="started with other settings"):
        run_training(course_in(tmp_path), SETTINGS, resume=True)
    run_training(course_in(tmp_path, stages=("easy",)), SETTINGS, resume=True)
    assert losses_of(tmp_path / "out") == before
    with pytest.raises(UserError, match="no checkpoint"):
        run_training(course_in(tmp_path, out=tmp_path / "new"), SETTINGS, resume=True)


def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run_training(course_in(tmp_path), SETTINGS)
    before = losses_of(tmp_path / "out")
    cut(tmp_path / "out/checkpoint.pt")
    run_training(course_in(tmp_path), SETTINGS, resume=True)
    assert "checkpoint.pt is damaged; the training goes on from" in caplog.text
    assert losses_of(tmp_path / "out") == before
    for name in ("checkpoint.pt", "checkpoint-before.pt"):
        cut(tmp_path / "out" / name)
    with pytest.raises(UserError, match=r"checkpoint\.pt: this checkpoint is damaged"):
        run_training(course_in(tmp_path), SETTINGS, resume=True)


def test_a_checkpoint_that_can_not_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = torch.nn.Linear(1, 1)
    optimiser = torch.optim.SGD(model.parameters())
    with pytest.raises(UserError, match=r"checkpoint\.pt can't be written: .*\n.*start again"):
        Checkpoints(tmp_path / "nowhere/checkpoint.pt", {}).keep(model, optimiser, {})
    keeper = Checkpoints(tmp_path / "checkpoint.pt", {})
    keeper.keep(model, optimiser, {})

    monkeypatch.setattr(torch, "save", _raising(OSError(errno.EIO, os.strerror(errno.EIO))))
    with pytest.raises(UserError, match=r"checkpoint\.pt can't be written: .*\n.*--resume"):
        keeper.keep(model, optimiser, {})
    monkeypatch.setattr(torch, "save", _raising(RuntimeError("out of memory")))
    with pytest.raises(RuntimeError, match="out of memory"):  # Which has nothing to do with the disk.
        keeper.keep(model, optimiser, {})
    assert not (tmp_path / "checkpoint.part").exists()


@pytest.mark.parametrize("room", [0, 5_000, 20_000, 45_000])
def test_a_full_disk_is_said_and_leaves_the_earlier_checkpoint_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    model = torch.nn.Linear(100, 100)
    optimiser = torch.optim.SGD(model.parameters())
    keeper = Checkpoints(tmp_path / "checkpoint.pt", {})
    for steps in (1, 2):
        keeper.keep(model, optimiser, {"steps": steps})
    with monkeypatch.context() as patched:
        _fill_disk(patched, room)
        with pytest.raises(UserError) as stopped:
            keeper.keep(model, optimiser, {"steps": 3})
    assert str(stopped.value) == (
        f"{keeper.file} can't be written: the disk is full.\n  make room, and continue from the last one with --resume"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint.pt"] and keeper.steps() == 2
    keeper.keep(model, optimiser, {"steps": 3})
    assert keeper.steps() == 3


def test_a_full_disk_leaves_the_one_checkpoint_that_is_whole_after_a_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = torch.nn.Linear(100, 100)
    optimiser = torch.optim.SGD(model.parameters())
    for steps in (1, 2):
        Checkpoints(tmp_path / "checkpoint.pt", {}).keep(model, optimiser, {"steps": steps})
    cut(tmp_path / "checkpoint.pt")
    keeper = Checkpoints(tmp_path / "checkpoint.pt", {})
    assert keeper.restore(model, optimiser) == {"steps": 1}
    with monkeypatch.context() as patched:
        _fill_disk(patched, 20_000)
        with pytest.raises(UserError, match="the disk is full"):
            keeper.keep(model, optimiser, {"steps": 2})
    assert keeper.steps() == 1
    for steps in (2, 3):
        keeper.keep(model, optimiser, {"steps": steps})
    cut(tmp_path / "checkpoint.pt")
    assert keeper.steps() == 2


@pytest.mark.parametrize("what", ["log", "model"])
def test_a_full_disk_is_said_whatever_was_to_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    course = course_in(tmp_path, stages=("easy",))
    with monkeypatch.context() as patched:
        if what == "log":
            patched.setattr("sightline.reason.train.trainer.TrainLog.__call__", _raising(OSError(errno.ENOSPC, "full")))
        else:
            said = SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
            patched.setattr("transformers.PreTrainedModel.save_pretrained", _raising(said))
        with pytest.raises(UserError, match=r"out.*(?:the disk is full|No space left).*\n.*make room.*--resume"):
            run_training(course, SETTINGS)
    run_training(course, SETTINGS, resume=what == "model")


@pytest.mark.slow
def test_a_limit_of_the_size_of_files_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    course = course_in(tmp_path)
    whole = replace(course, out=tmp_path / "whole")
    run_training(whole, SETTINGS)

    def stopped(entry: Mapping[str, Any]) -> None:
        if entry["step"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_training(course, SETTINGS, tell=stopped)
    settings = "--rate 2e-3 --tokens 512 --full-precision --log-every 1 --keep-every 2 --resume"
    words = (
        f"{sys.executable} -m sightline.reason.train {course.folder} --model glimpse-tiny --out {course.out} {settings}"
    )
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 100; {words}"],
        env={**os.environ, "ACCELERATE_USE_CPU": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"error: {course.out / 'checkpoint.pt'} can't be written: File too large.\n" in done.stderr
    assert "Traceback" not in done.stderr and "unexpected pos" not in done.stderr
    run_training(course, SETTINGS, resume=True)
    assert losses_of(course.out) == losses_of(whole.out)


def _raising(error: Exception) -> Any:
    def fail(*_: object, **__: Any) -> None:
        raise error

    return fail


def _fill_disk(patched: pytest.MonkeyPatch, room: int) -> None:
    """Let no file grow beyond so many bytes, as on a full disk."""

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            if self.tell() + len(data) > room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data)

    patched.setattr(Path, "open", lambda path, mode="r", **_: io.BufferedWriter(Full(path, mode)))


def test_one_training_writes_to_a_folder_at_a_time(tmp_path: Path) -> None:
    with held(tmp_path / "out"), pytest.raises(UserError, match="another training writes here"):
        run_training(course_in(tmp_path), SETTINGS)
    assert run_training(course_in(tmp_path), SETTINGS).totals.steps > 0


@pytest.mark.parametrize("below", ["", "deeper"])
def test_an_out_that_is_a_file_is_said(tmp_path: Path, below: str) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(UserError, match=r"no folder can be made here: .*\n.*choose another --out"):
        run_training(course_in(tmp_path, out=tmp_path / "out" / below), SETTINGS)
    assert (tmp_path / "out").read_text() == "mine"


def test_a_stop_from_the_keyboard_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = course_in(tmp_path).folder, tmp_path / "out"

    def stopped(entry: object) -> None:
        if entry["step"] == 3:  # type: ignore[index]
            raise KeyboardInterrupt

    monkeypatch.setattr("sightline.reason.train.__main__.tell", stopped)
    words = [str(folder), "--model", "glimpse-tiny", "--out", str(out), "--tokens", "512", "--log-every", "1"]
    assert main([*words, "--keep-every", "2"]) == 130
    assert capsys.readouterr().err == (
        f"stopped: 2 steps are saved in {out}; the same command with --resume continues from there.\n"
    )


def test_questions_whose_answers_are_written_down_are_not_asked_again(tmp_path: Path) -> None:
    course = course_in(tmp_path)
    course = replace(course, evals={"colours": read_questions(course.folder)[:1]}, most=2)

    def stopped(entry: Mapping[str, Any]) -> None:
        if "evaluation" in entry:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_training(course, SETTINGS, tell=stopped)
    done = run_training(course, SETTINGS, resume=True)
    assert [entry["stage"] for entry in done.evaluations] == ["easy", "hard"]


def test_questions_that_come_with_a_resume_are_asked_too(tmp_path: Path) -> None:
    course = course_in(tmp_path)
    first, second = read_questions(course.folder)[:2]
    run_training(replace(course, evals={"first": [first]}, most=2), SETTINGS)
    before = losses_of(tmp_path / "out")
    done = run_training(replace(course, evals={"second": [second]}, most=2), SETTINGS, resume=True)
    assert [(entry["stage"], [*entry["evaluation"]]) for entry in done.evaluations] == [
        ("easy", ["first"]),
        ("hard", ["first", "second"]),
    ]
    assert losses_of(tmp_path / "out") == before
    with pytest.raises(UserError, match='other questions were asked as "second" before'):
        run_training(replace(course, evals={"second": [first]}, most=2), SETTINGS, resume=True)


def test_a_training_may_go_on_with_other_lines_and_checkpoints(tmp_path: Path) -> None:
    weights = run_training(course_in(tmp_path), SETTINGS).model / "model.safetensors"
    before, last = weights.read_bytes(), losses_of(tmp_path / "out")[-1][0]
    (tmp_path / "out/checkpoint-before.pt").replace(tmp_path / "out/checkpoint.pt")
    weights.unlink()
    done = run_training(course_in(tmp_path), replace(SETTINGS, log_every=3, keep_every=5), resume=True)
    assert done.totals.steps == last and weights.read_bytes() == before
    with pytest.raises(UserError, match=r"started with other settings: tokens was 512 and is 256\."):
        run_training(course_in(tmp_path), replace(SETTINGS, log_every=7, tokens=256), resume=True)


@pytest.mark.slow
def test_a_kill_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "curriculum"
    folder.mkdir()
    write_curriculum(folder, copies=12)
    assert _command(folder, tmp_path / "whole").wait(600) == 0
    killed = _command(folder, tmp_path / "cut")
    while killed.poll() is None and len(_lines(tmp_path / "cut")) < 4:
        time.sleep(0.02)
    assert killed.poll() is None
    killed.send_signal(signal.SIGKILL)
    killed.wait(60)
    assert _command(folder, tmp_path / "cut", "--resume").wait(600) == 0
    assert losses_of(tmp_path / "cut") == losses_of(tmp_path / "whole")


@pytest.mark.slow
def test_two_processes_do_what_one_does_with_twice_the_batches(tmp_path: Path) -> None:
    folder = tmp_path / "curriculum"
    folder.mkdir()
    write_curriculum(folder, copies=3)
    assert _command(folder, tmp_path / "one", "--together", "2").wait(600) == 0
    two = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    assert _command(folder, tmp_path / "two", before=two).wait(600) == 0
    one, both = losses_of(tmp_path / "one"), losses_of(tmp_path / "two")
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
        "sightline.reason.train",
        str(folder),
        "--model",
        "glimpse-tiny",
        "--out",
        str(out),
    ]
    return subprocess.Popen(
        [*words, *settings, *more], env={**os.environ, "ACCELERATE_USE_CPU": "1"}, stderr=subprocess.DEVNULL
    )
