"""Difficulty by runs that were made before: their attempts as samples, and the turns that an agent took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reason.reason_tools import as_json, choose_bench, mixed_bench
from sightline.benchmark.folder import read_benchmark
from sightline.errors import UserError
from sightline.reason.difficulty.labels import DifficultySummary
from sightline.reason.difficulty.pass_rate import BucketRule
from sightline.reason.difficulty.pipeline import measure_by_run, measure_by_turns, turns_of
from sightline.runs.folder import write_run
from sightline.types import Attempt, Choice, Failure, Json, Run, Text


def write_attempts(folder: Path, chosen: dict[str, list[str | None]]) -> None:
    made = read_benchmark(folder / "bench")
    attempts = tuple(
        Attempt(task, Failure("timeout", "late") if key is None else Choice(key), number)
        for task, keys in chosen.items()
        for number, key in enumerate(keys)
    )
    write_run(Run("small", "agent", attempts, made.checksum), folder / "run")


def test_the_attempts_of_a_run_are_samples_too(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 4)
    write_attempts(tmp_path, {"q0": ["A"] * 4, "q1": ["B", "B", None, "A"], "q2": [None, None]})
    done = measure_by_run(tmp_path / "bench", tmp_path / "run", tmp_path / "out", BucketRule())
    assert (done.tasks, done.easy, done.hard, dict(done.unmeasured)) == (3, 1, 1, {"no answer": 1})
    assert done.choices == 2
    kept: Any = read_benchmark(tmp_path / "out").tasks["q1"].extra["difficulty"]
    assert isinstance(kept, dict) and kept["run"]["passes"] == 2 and kept["run"]["samples"] == 3
    assert kept["run"]["stopped_early"] is False
    choose_bench(tmp_path / "other", 5)
    with pytest.raises(UserError, match='holds another benchmark "small": 1 task'):
        measure_by_run(tmp_path / "bench", tmp_path / "run", tmp_path / "other", BucketRule())
    assert len(read_benchmark(tmp_path / "other").tasks) == 5


def failing(folder: Path, kinds: list[str], parameters: dict[str, Json] | None = None) -> DifficultySummary:
    """A run that is right once at q0, and else fails in these ways."""
    made = read_benchmark(folder / "bench")
    failed = (Attempt("q0", Failure(kind, "why"), number) for number, kind in enumerate(kinds, 1))
    attempts = (Attempt("q0", Choice("A")), *failed)
    write_run(Run("small", "it", attempts, made.checksum, parameters or {}), folder / "run")
    return measure_by_run(folder / "bench", folder / "run", folder / "out", BucketRule())


def test_an_attempt_that_was_cut_off_did_not_pass_either(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1)
    done = failing(tmp_path, ["length", "unparsed", "refused", "timeout", "server-error"])
    assert (done.easy, done.hard) == (0, 1)
    assert done.notes == ("1 task has fewer samples than attempts (the fewest 4), for nothing came of the others",)
    kept: Any = read_benchmark(tmp_path / "out").tasks["q0"].extra["difficulty"]
    assert isinstance(kept, dict) and kept["pass_rate"] == 0.25
    assert kept["run"]["unfinished"] == {"length": 1, "unparsed": 1, "refused": 1}
    assert kept["run"]["no_reply"] == {"timeout": 1, "server-error": 1}


def test_a_service_that_refuses_a_question_is_no_model_that_does(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1)
    assert failing(tmp_path, ["refused"] * 3, {"kind": "chat"}).hard == 1
    assert failing(tmp_path, ["refused"] * 3, {"kind": "http"}).easy == 1


def test_attempts_that_the_metric_does_not_score_were_answered(tmp_path: Path) -> None:
    made = mixed_bench(tmp_path / "bench", 1)
    attempts = (Attempt("q0", Choice("A")), Attempt("free", Text("12 km")))
    write_run(Run("small", "it", attempts, made.checksum), tmp_path / "run")
    done = measure_by_run(tmp_path / "bench", tmp_path / "run", tmp_path / "out", BucketRule())
    assert (done.easy, dict(done.unmeasured)) == (1, {"not scored by accuracy": 1})
    (tmp_path / "run" / "trajectories").mkdir()
    for task in ("q0", "free"):
        lines = [{"type": "start", "task": task, "attempt": 0}, {"type": "end", "turns": 2}]
        path = tmp_path / "run" / "trajectories" / f"{task}.jsonl"
        path.write_text("".join(f"{as_json(line)}\n" for line in lines))
    done = measure_by_turns(tmp_path / "bench", tmp_path / "run", tmp_path / "turns")
    assert (done.easy, done.hard, dict(done.unmeasured)) == (1, 0, {"not scored by accuracy": 1})


def test_turns_of_an_agent(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 4)
    write_attempts(tmp_path, {"q0": ["A", "A"], "q1": ["B", "A"], "q2": ["A"], "q3": ["D"]})
    turns = {("q0", 0): 2, ("q0", 1): 4, ("q1", 0): 9, ("q1", 1): 1, ("q2", 0): 1, ("q3", 0): 3}
    (tmp_path / "run" / "trajectories").mkdir()
    for (task, number), count in turns.items():
        lines = [{"type": "start", "task": task, "attempt": number}, {"type": "end", "turns": count}]
        path = tmp_path / "run" / "trajectories" / f"{task}{f'@{number}' if number else ''}.jsonl"
        path.write_text("".join(f"{as_json(line)}\n" for line in lines))
    (tmp_path / "run" / "trajectories" / "q9.jsonl").write_text('{"type": "start", "task": "q9", "attempt": 0}\n{"ty')
    assert turns_of(tmp_path / "run") == turns
    done = measure_by_turns(tmp_path / "bench", tmp_path / "run", tmp_path / "out")
    made = read_benchmark(tmp_path / "out")
    # Solved in 3, 9 and 3 turns, so up to 3 is easy; the third was never solved.
    assert {name: task.labels["difficulty"][0] for name, task in made.tasks.items()} == {
        "q0": "easy",
        "q1": "hard",
        "q2": "hard",
        "q3": "easy",
    }
    kept: Any = made.tasks["q2"].extra["difficulty"]
    assert kept["turns"]["turns"] is None and done.measure == "turns"
    strict = measure_by_turns(tmp_path / "bench", tmp_path / "run", tmp_path / "out", easy_turns=2)
    assert strict.easy == 0


def test_a_run_that_tells_nothing_is_refused(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1)
    write_attempts(tmp_path, {"q0": ["A"]})
    with pytest.raises(UserError, match="no attempts that tell"):
        measure_by_turns(tmp_path / "bench", tmp_path / "run", tmp_path / "out")


def test_a_run_that_only_guesses_is_told_of(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 8)
    write_attempts(tmp_path, {f"q{number}": ["A"] for number in range(8)})
    done = measure_by_run(tmp_path / "bench", tmp_path / "run", tmp_path / "out", BucketRule())
    assert "agent can't be told from one that guesses" in done.notes[0]
