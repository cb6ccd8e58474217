"""Difficulty from a run that is there: how often its attempts were right, and how many turns they took."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from sightline import bench
from sightline.errors import UserError
from sightline.io import CutOffError, read_jsonl
from sightline.reason.difficulty.guessing import Tried, about_guessing
from sightline.reason.difficulty.making import figures
from sightline.reason.difficulty.posterior import Bucket, Rule
from sightline.reason.difficulty.sampling import Sampled
from sightline.reason.difficulty.storing import Measured, Summary, store
from sightline.run.folder import TRAJECTORIES, read_run
from sightline.score.evaluate import evaluate
from sightline.types import Benchmark, Run

_RIGHT = 1.0
_FEW = 100
"""Resamples of intervals that nobody reads here."""


def measure_by_run(source: Path, run: Path, out: Path, rule: Rule) -> Summary:
    """The attempts of a run (`run --repeat 10`) as samples; right is a full score in the task's first metric."""
    started = time.monotonic()
    benchmark, tried = bench.read(source), read_run(run)
    right = _right(benchmark, tried)
    measured: dict[str, Measured] = {}
    rates: list[Tried] = []
    for task, attempts in right.items():
        answered = [value for value in attempts.values() if value is not None]
        if not answered:
            measured[task] = Measured(None, why_not="no answer")
            continue
        found = Sampled(sum(answered), len(answered), failures={"failed": len(attempts) - len(answered)})
        rates.append(Tried(benchmark.tasks[task], benchmark.truth[task], found.passes / found.replies))
        exact = replace(rule, samples=len(attempts))
        measured[task] = Measured(rule.bucket(found.passes, found.replies), figures(found, exact, tried.system))
    _require(measured, run)
    summary = store(benchmark, source, out, measured, "run")
    notes = about_guessing(tried.system, rates)
    return replace(summary, seconds=round(time.monotonic() - started, 2), notes=notes)


def measure_by_turns(source: Path, run: Path, out: Path, easy_turns: float | None = None) -> Summary:
    """An agent's turns: easy are tasks whose right attempts took at most `easy_turns` in the median.

    Without a number, that is the median over the tasks that were solved. A task that no attempt solved is hard.
    """
    started = time.monotonic()
    benchmark, tried = bench.read(source), read_run(run)
    right, turns = _right(benchmark, tried), turns_of(run)
    took = {
        task: [turns[task, number] for number, value in attempts.items() if value and (task, number) in turns]
        for task, attempts in right.items()
        if any((task, number) in turns for number in attempts)
    }
    _require(took, run)
    solved = [median(counts) for counts in took.values() if counts]
    limit = easy_turns if easy_turns is not None else median(solved) if solved else 0.0
    measured: dict[str, Measured] = {}
    for task, counts in took.items():
        usual = median(counts) if counts else None
        bucket: Bucket = "easy" if usual is not None and usual <= limit else "hard"
        measured[task] = Measured(
            bucket,
            {
                "by": tried.system,
                "turns": usual,
                "attempts": len(right[task]),
                "right": len(counts),
                "easy_up_to": limit,
            },
        )
    summary = store(benchmark, source, out, measured, "turns")
    return replace(summary, seconds=round(time.monotonic() - started, 2))


def turns_of(run: Path) -> dict[tuple[str, int], int]:
    """Turns of each finished attempt, by task and number, from the first and last line of its trajectory."""
    found: dict[tuple[str, int], int] = {}
    for path in sorted((run / TRAJECTORIES).glob("*.jsonl")):
        lines: list[dict[str, Any]] = []
        with suppress(CutOffError):  # What a stop left.
            lines = [row for _, row in read_jsonl(path) if isinstance(row, dict)]
        if lines and lines[0].get("type") == "start" and lines[-1].get("type") == "end":
            found[lines[0]["task"], lines[0]["attempt"]] = lines[-1]["turns"]
    return found


def _right(benchmark: Benchmark, run: Run) -> Mapping[str, Mapping[int, bool | None]]:
    """Whether each attempt at each task was right; None where it failed."""
    found: dict[str, dict[int, bool | None]] = {}
    for row in evaluate(benchmark, run, resamples=_FEW).tasks:
        value = next((value for value in row.values.values() if value is not None), None)
        if row.status != "missing":
            answered = row.status == "answered" and value is not None
            found.setdefault(row.task_id, {})[row.attempt] = (value or 0.0) >= _RIGHT if answered else None
    return found


def _require(found: Mapping[str, object], run: Path) -> None:
    if not found:
        raise UserError(
            f"{run} has no attempts that tell how hard a task is.", "give a run of an agent, or one with --repeat"
        )
