"""A run that was limited on purpose is scored on its own tasks, and says how many of all they are."""

from __future__ import annotations

from pathlib import Path

import pytest

import sightline
from runs.run_world import Scripted, coloured
from sightline.benchmark.folder import read_benchmark
from sightline.errors import UserError
from sightline.metrics.scores import SCORES_FILE, read_scores
from sightline.runs.folder import read_run
from sightline.runs.runner import run
from sightline.types import Failure, Ranking, Task


def found(task: Task) -> Ranking | Failure:
    return Failure("timeout", "no reply") if task.id.endswith("1") else Ranking(("ana/red.png",))


def test_tasks_beyond_the_limit_are_no_failures(tmp_path: Path) -> None:
    folder = coloured(tmp_path / "bench", tasks=12)
    run(folder, Scripted(found), tmp_path / "run", limit=5)
    scores = sightline.score(folder, tmp_path / "run")
    assert scores.overall["rr@10"].n == 5 and scores.failures == {"timeout": 1}
    assert scores.notes[0] == "scored on 5 of 12 tasks; the run was limited to 5"
    assert read_scores(tmp_path / "run") == scores and scores.of_tasks == 12
    fewer = sightline.score(folder, tmp_path / "run", limit=2)
    assert fewer.overall["rr@10"].n == 2 and fewer.notes[0].startswith("scored on 2 of 12 tasks")
    assert read_scores(tmp_path / "run") == scores  # With a limit of the scoring's own nothing is written.


def test_a_limit_is_never_taken_back(tmp_path: Path) -> None:
    folder, out = coloured(tmp_path / "bench", tasks=6), tmp_path / "run"
    run(folder, Scripted(found), out, limit=2)
    sightline.score(folder, out)
    run(folder, Scripted(found), out, limit=4)
    assert not (out / SCORES_FILE).exists()
    run(folder, Scripted(found), out, limit=3)
    assert read_run(out).limits["limit"] == 4 and sightline.score(folder, out).overall["rr@10"].n == 4
    run(folder, Scripted(found), out)
    run(folder, Scripted(found), out, limit=1)
    assert read_run(out).limits["limit"] is None
    assert sightline.score(folder, out).overall["rr@10"].n == 6


def test_metrics_of_kinds_beyond_the_limit_are_left_out(tmp_path: Path) -> None:
    folder = coloured(tmp_path / "bench")
    tasks = read_benchmark(folder).tasks
    first = next(iter(tasks.values()))
    run(folder, Scripted(found), tmp_path / "run", limit=1)
    scores = sightline.score(folder, tmp_path / "run")
    assert {row.kind for row in scores.tasks} == {first.kind} and scores.of_tasks == len(tasks)
    assert scores.metrics and all(scores.overall[name].n for name in scores.metrics)


def test_only_equal_limits_are_compared(tmp_path: Path) -> None:
    folder = coloured(tmp_path / "bench", tasks=6)
    for name, limit in (("a", 4), ("b", 4), ("c", None)):
        run(folder, Scripted(found), tmp_path / name, limit=limit)
        sightline.score(folder, tmp_path / name)
    assert sightline.compare([tmp_path / "a", tmp_path / "b"]).pairs[0].difference.mean == 0
    with pytest.raises(UserError, match="same tasks: scripted on 4, scripted on 6") as refused:
        sightline.compare([tmp_path / "a", tmp_path / "c"])
    assert "--limit" in str(refused.value.fix)
