"""`kill -9` and Ctrl-C at any moment: no task that is kept is run again, and none is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runs.run_world import coloured
from sightline.runs.folder import read_run

SCRIPT = Path(__file__).with_name("run_to_be_killed.py")
TASKS = 60


def kept(folder: Path) -> set[str]:
    return {attempt.task_id for attempt in read_run(folder).attempts} if (folder / "run.json").is_file() else set()


def start(benchmark: Path, out: Path, quick: int = TASKS) -> subprocess.Popen[bytes]:
    """A run that ends by itself only if all that is left is quick."""
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(benchmark), str(out), str(quick)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_lost_and_nothing_kept_is_run_twice(how: signal.Signals, tmp_path: Path) -> None:
    benchmark, out = coloured(tmp_path / "colours", tasks=TASKS), tmp_path / "run"
    for begun_before_the_end in (7, 12, 19):
        before = kept(out)
        process = start(benchmark, out, begun_before_the_end)
        assert process.stdout is not None
        begun = [process.stdout.readline().decode().strip() for _ in range(begun_before_the_end)]
        os.kill(process.pid, how)
        begun += process.communicate()[0].decode().split()
        assert not before & set(begun) and len(begun) == len(set(begun))
        now = kept(out)
        assert before < now <= before | set(begun)
        # At most those that were under way are missing.
        assert len(before | set(begun)) - len(now) <= 4
    before = kept(out)
    process = start(benchmark, out)
    begun = process.communicate()[0].decode().split()
    assert process.returncode == 0 and set(begun) == {f"t{number:03}" for number in range(TASKS)} - before
    run = read_run(out)
    assert sorted(attempt.task_id for attempt in run.attempts) == sorted(f"t{number:03}" for number in range(TASKS))
