"""Score a run, and compare runs: on folders or on values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.benchmark.folder import read_benchmark
from sightline.io.files import PathLike
from sightline.metrics.clusters import AUTO
from sightline.metrics.evaluation import evaluate, metric_names
from sightline.metrics.scores import SCORES_FILE, Scores, read_scores, write_scores
from sightline.runs.folder import TRAJECTORIES, read_run
from sightline.types import Benchmark, Run

if TYPE_CHECKING:
    from sightline.metrics.comparison import Comparison


def score(
    benchmark: PathLike | Benchmark,
    run: PathLike | Run,
    metrics: Sequence[str] | None = None,
    *,
    level: float = 0.95,
    seed: int = 0,
    cluster_by: str | None = AUTO,
    allow_other_version: bool = False,
    limit: int | None = None,
) -> Scores:
    """Score a run on its benchmark; a run given as a folder gets its `scores.json` and `per_task.csv`.

    An agent's run also gets `attribution.json`: why each picture was missed, and which error each attempt made.

    What is written always holds the benchmark's own metrics too. A run that was limited to some tasks is scored on
    those alone. With `limit` only the first tasks are scored, and nothing is written.
    """
    made_of = benchmark if isinstance(benchmark, Benchmark) else read_benchmark(Path(benchmark).expanduser())
    run = run if isinstance(run, Run) else Path(run).expanduser()
    keep = not isinstance(run, Run) and limit is None
    if keep and metrics is not None:
        metrics = tuple(dict.fromkeys((*metrics, *metric_names(made_of))))
    attempts = run if isinstance(run, Run) else read_run(run)
    scores = evaluate(
        made_of,
        attempts,
        metrics,
        level=level,
        seed=seed,
        cluster_by=cluster_by,
        allow_other_version=allow_other_version,
        limit=limit,
    )
    if keep and not isinstance(run, Run):
        write_scores(scores, run)
        if (run / TRAJECTORIES).is_dir():
            from sightline.agent.attribution import attribute_folder

            attribute_folder(run, made_of)
    return scores


def compare(
    runs: Sequence[PathLike | Scores],
    metrics: Sequence[str] | None = None,
    *,
    benchmark: PathLike | Benchmark | None = None,
    allow_failures_differ: bool = False,
    level: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Compare runs that were scored (or are now, where `benchmark` is given); the first is the baseline."""
    from sightline.metrics.comparison import compare as compare_scores

    scores = [run if isinstance(run, Scores) else _scores_of(run, benchmark) for run in runs]
    systems = [found.system for found in scores]
    names = systems if len(set(systems)) == len(systems) else [_name(run) for run in runs]
    return compare_scores(
        scores, metrics, names=names, allow_failures_differ=allow_failures_differ, level=level, seed=seed
    )


def _scores_of(run: PathLike, benchmark: PathLike | Benchmark | None) -> Scores:
    folder = Path(run).expanduser()
    if benchmark is not None and not (folder / SCORES_FILE).is_file():
        return score(benchmark, folder)
    return read_scores(folder)


def _name(run: PathLike | Scores) -> str:
    return run.system if isinstance(run, Scores) else Path(run).expanduser().resolve().name
