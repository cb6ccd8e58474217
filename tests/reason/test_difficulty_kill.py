"""`kill -9` while samples are drawn: the next run asks only what was in flight, and the rest."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import models_server as wire
from reason.reason_tools import answering, choose_bench, number_of
from sightline.benchmark.folder import read_benchmark

TASKS, AT_ONCE = 20, 8


def test_killed_in_the_middle(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", TASKS)
    reply = wire.after(0.02, wire.respond_json(wire.chat("Your option: A")))
    with answering(lambda _: reply) as server:
        command = [sys.executable, "-m", "sightline", "difficulty", "bench", "--model", "vllm/stub", "--all-samples"]
        command += ["--base-url", server.base_url, "--max-connections", str(AT_ONCE), "--out", "out"]
        first = subprocess.Popen(command, cwd=tmp_path)
        while first.poll() is None and len(server.requests) < 5 * TASKS:
            time.sleep(0.01)
        first.kill()
        first.wait()
        assert not (tmp_path / "out").exists()
        assert subprocess.run(command, cwd=tmp_path, timeout=120, check=False).returncode == 0
        asked = Counter(map(number_of, server.requests))
    assert len(asked) == TASKS and min(asked.values()) == 10
    # Those on the wire, and those whose replies were being written down.
    assert asked.total() - 10 * TASKS <= 2 * AT_ONCE
    made = read_benchmark(tmp_path / "out")
    assert [name for name, task in made.tasks.items() if task.labels["difficulty"] == ("easy",)] == [
        f"q{number}" for number in range(0, TASKS, 4)
    ]
