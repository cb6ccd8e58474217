"""What logs of other tools need beside a run: the benchmark that it was made on, a time, and places of pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sightline.benchmark.formats.base import FormatOptions
from sightline.benchmark.formats.dataset_folder import limited
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.metrics.attempt_scores import kinds_scored
from sightline.metrics.evaluation import evaluate, within_limit
from sightline.metrics.scores import Scores
from sightline.types import Benchmark, Run

OURS = "sightline"
"""The key under which a log of another tool holds all of a prediction."""


@dataclass(frozen=True, slots=True)
class RunWithScores:
    """A run, the benchmark that it was made on, and its scores: all over the same tasks."""

    run: Run
    benchmark: Benchmark
    scores: Scores


def scored(run: Run, options: FormatOptions, what: str) -> RunWithScores:
    """The run's attempts at the tasks of the benchmark, as far as the limit goes; `what` also holds the questions."""
    if options.benchmark is None:
        raise UserError(f"{what} holds the questions too.", "add --benchmark BENCH, the one that the run was made on")
    benchmark = limited(within_limit(options.benchmark, run), options)
    kinds = {task.kind for task in benchmark.tasks.values()}
    metrics = tuple(name for name in benchmark.metrics if kinds_scored(name, kinds))
    attempts = tuple(attempt for attempt in run.attempts if attempt.task_id in benchmark.tasks)
    made = replace(run, attempts=attempts)
    return RunWithScores(made, benchmark, evaluate(benchmark, made, metrics))


def made_at(options: FormatOptions) -> datetime:
    """The time of the log: now, as a run has none of its own, or what option `created` says."""
    given = options.extra.get("created")
    try:
        moment = datetime.now(UTC).replace(microsecond=0) if given is None else datetime.fromisoformat(given)
    except ValueError:
        raise UserError(f'--option created="{given}" is not a time.', "for example created=2026-11-15T10:00") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def picture_place(benchmark: Benchmark, picture: str, options: FormatOptions) -> str:
    """The path of a picture on this machine, or its address elsewhere."""
    uri = benchmark.corpus.pictures[picture].uri
    path = picture_path(uri, options.pictures or Path())
    return uri if path is None else str(path.absolute())
