"""Difficulty from a run that is there: how often its attempts were right, and how many turns they took."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from sightline import bench
from sightline.english import counted
from sightline.errors import UserError
from sightline.io import CutOffError, read_jsonl
from sightline.reason.difficulty.guessing import Tried, about_guessing
from sightline.reason.difficulty.making import figures
from sightline.reason.difficulty.posterior import Bucket, Rule
from sightline.reason.difficulty.sampling import UNFINISHED, Sampled
from sightline.reason.difficulty.storing import Measured, Summary, store
from sightline.run.folder import TRAJECTORIES, read_run
from sightline.score.evaluate import evaluate
from sightline.score.measure import WRONG_FORM
from sightline.types import Benchmark, Run

_RIGHT = 1.0
_FEW = 100
"""Resamples of intervals that nobody reads here."""
_CAME = UNFINISHED | {"unparsed", "repeated-call", "wrong-schema", "bad-prediction", WRONG_FORM}
"""Failed attempts that brought a reply, if no answer: they did not pass. Of all others nothing came."""
_SERVICES = frozenset({"http", "retriever"})
"""Kinds of system whose `refused` is a service that did not take the question, not a model that would not answer."""


@dataclass(frozen=True, slots=True)
class _Try:
    """One attempt: was it right, did anything come of it, and why it failed, if it did."""

    right: bool
    came: bool
    failure: str | None


class _Tried(NamedTuple):
    """The attempts at each task, by number; and the tasks that no metric of the benchmark scores."""

    tries: Mapping[str, Mapping[int, _Try]]
    unscored: Mapping[str, Measured]


def measure_by_run(source: Path, run: Path, out: Path, rule: Rule) -> Summary:
    """The attempts of a run (`run --repeat 10`) as samples; right is a full score in the task's first metric."""
    started = time.monotonic()
    benchmark, tried = bench.read(source), read_run(run)
    tries, unscored = _read(benchmark, tried)
    measured = dict(unscored)
    samples = {task: _sampled(attempts) for task, attempts in tries.items()}
    rates: list[Tried] = []
    for task, found in samples.items():
        if not found.replies:
            measured[task] = Measured(None, why_not="no answer")
            continue
        rates.append(Tried(benchmark.tasks[task], benchmark.truth[task], found.passes / found.replies))
        exact = replace(rule, samples=len(tries[task]))
        measured[task] = Measured(rule.bucket(found.passes, found.replies), figures(found, exact, tried.system))
    _require(measured, run)
    summary = store(benchmark, source, out, measured, "run")
    notes = (*_about_missing(list(samples.values())), *about_guessing(tried.system, rates))
    return replace(summary, seconds=round(time.monotonic() - started, 2), notes=notes)


def measure_by_turns(source: Path, run: Path, out: Path, easy_turns: float | None = None) -> Summary:
    """An agent's turns: easy are tasks whose right attempts took at most `easy_turns` in the median.

    Without a number, that is the median over the tasks that were solved. A task that no attempt solved is hard.
    """
    started = time.monotonic()
    benchmark, tried = bench.read(source), read_run(run)
    (tries, unscored), turns = _read(benchmark, tried), turns_of(run)
    took = {
        task: [turns[task, number] for number, one in attempts.items() if one.right and (task, number) in turns]
        for task, attempts in tries.items()
        if any((task, number) in turns for number in attempts)
    }
    _require(took, run)
    solved = [median(counts) for counts in took.values() if counts]
    limit = easy_turns if easy_turns is not None else median(solved) if solved else 0.0
    measured = dict(unscored)
    for task, counts in took.items():
        usual = median(counts) if counts else None
        bucket: Bucket = "easy" if usual is not None and usual <= limit else "hard"
        measured[task] = Measured(
            bucket,
            {
                "by": tried.system,
                "turns": usual,
                "attempts": len(tries[task]),
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


def _read(benchmark: Benchmark, run: Run) -> _Tried:
    scores = evaluate(benchmark, run, resamples=_FEW)
    came = _CAME - {"refused"} if run.parameters.get("kind") in _SERVICES else _CAME
    tries: dict[str, dict[int, _Try]] = {}
    unscored: dict[str, Measured] = {}
    for row in scores.tasks:
        value = next((value for value in row.values.values() if value is not None), None)
        if row.status == "missing":
            continue
        if value is None:
            unscored[row.task_id] = Measured(None, why_not=f"not scored by {', '.join(scores.metrics)}")
            continue
        answered = row.failure is None
        tries.setdefault(row.task_id, {})[row.attempt] = _Try(
            answered and value >= _RIGHT, answered or row.failure in came, row.failure
        )
    return _Tried(tries, {task: one for task, one in unscored.items() if task not in tries})


def _sampled(tries: Mapping[int, _Try]) -> Sampled:
    """Attempts as samples."""
    came = [one for one in tries.values() if one.came]
    return Sampled(
        passes=sum(one.right for one in came),
        replies=len(came),
        unfinished=dict(Counter(one.failure for one in came if one.failure is not None)),
        failures=dict(Counter(one.failure for one in tries.values() if one.failure is not None and not one.came)),
    )


def _about_missing(samples: Sequence[Sampled]) -> Iterator[str]:
    """Of how many tasks a part of the attempts brought nothing."""
    short = [one for one in samples if one.failures and one.replies]
    if short:
        many = counted(len(short), "task has", "tasks have")
        fewest = min(one.replies for one in short)
        yield f"{many} fewer samples than attempts (the fewest {fewest:,}), for nothing came of the others"


def _require(found: Mapping[str, object], run: Path) -> None:
    if not found:
        raise UserError(
            f"{run} has no attempts that tell how hard a task is.", "give a run of an agent, or one with --repeat"
        )
