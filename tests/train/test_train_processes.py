"""Several processes train as one does that takes as many batches a step; a kill of them all changes nothing either."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from train_tools import course_in, losses_of

ARGUMENTS = ("--full-precision", "--rate", "2e-3", "--tokens", "300", "--log-every", "1", "--keep-every", "2")
TWO = ("torch.distributed.run", "--standalone", "--nproc_per_node", "2", "-m")
ENVIRONMENT = {**os.environ, "ACCELERATE_USE_CPU": "1", "OMP_NUM_THREADS": "1"}


def _curriculum(tmp_path: Path) -> Path:
    """One with an odd number of batches, some of them without pictures: processes differ in what they train."""
    folder = course_in(tmp_path).folder
    for file in folder.glob("*.jsonl"):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        for row in rows[:7]:
            row["images"] = []
            row["messages"][0]["content"] = row["messages"][0]["content"].replace("Look: <image>\n", "")
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def _command(launcher: tuple[str, ...], folder: Path, out: Path, *more: str) -> list[str]:
    training = ["sightline.reason.train", str(folder), "--model", "glimpse-tiny", "--out", str(out), *ARGUMENTS, *more]
    return [sys.executable, "-m", *launcher, *training]


@pytest.mark.slow
def test_two_processes_train_as_one_does_and_go_on_after_a_kill(tmp_path: Path) -> None:
    folder, one, two = _curriculum(tmp_path), tmp_path / "one", tmp_path / "two"
    evaluation = ("--eval", str(folder / "hard.jsonl"), "--answer-tokens", "2")
    alone = _command((), folder, one, "--together", "2", *evaluation)
    subprocess.run(alone, env=ENVIRONMENT, check=True, capture_output=True)
    both = _command(TWO, folder, two, *evaluation)
    killed = subprocess.Popen(both, env=ENVIRONMENT, start_new_session=True, stderr=subprocess.DEVNULL)
    while killed.poll() is None and not (two / "checkpoint.pt").exists():
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    done = subprocess.run([*both, "--resume"], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == f"{two / 'model'}\n"
    steps, losses = zip(*losses_of(one), strict=True)
    steps_of_two, losses_of_two = zip(*losses_of(two), strict=True)
    assert steps_of_two == steps
    assert losses_of_two == pytest.approx(losses, rel=1e-3)
    assert len(set(losses)) == len(losses)
