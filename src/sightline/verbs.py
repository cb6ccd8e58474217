"""The verbs as functions: each does what its command does, on paths or on values, and returns what it found."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sightline import bench
from sightline.agent.attribution import attribute_folder
from sightline.errors import UserError
from sightline.io import PathLike, write_whole
from sightline.lazy import later
from sightline.report.boards import write_leaderboard
from sightline.report.leaderboard import Leaderboard, build_leaderboard
from sightline.report.write import Format, write_report
from sightline.run import read_run
from sightline.score.clusters import AUTO
from sightline.score.compare import Comparison
from sightline.score.compare import compare as compare_scores
from sightline.score.evaluate import evaluate, metric_names
from sightline.score.scores import SCORES_FILE, Scores, read_scores, write_scores
from sightline.score.statistics import Column, estimate_columns
from sightline.score.trec import read_qrels, score_trec
from sightline.score.trec import read_run as read_trec_run
from sightline.search.find import search as search
from sightline.types import Benchmark, Estimate, Run

if TYPE_CHECKING:
    from sightline.make.making import make as make
    from sightline.run.runner import run as run

# Loaded when first used: whoever only scores needs no search engine.
_LATER = {"make": "sightline.make.making", "run": "sightline.run.runner"}
__getattr__, __dir__ = later(__name__, _LATER)


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
    made_of = benchmark if isinstance(benchmark, Benchmark) else bench.read(benchmark)
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
    scores = [run if isinstance(run, Scores) else _scores_of(run, benchmark) for run in runs]
    systems = [found.system for found in scores]
    names = systems if len(set(systems)) == len(systems) else [_name(run) for run in runs]
    return compare_scores(
        scores, metrics, names=names, allow_failures_differ=allow_failures_differ, level=level, seed=seed
    )


def _scores_of(run: PathLike, benchmark: PathLike | Benchmark | None) -> Scores:
    if benchmark is not None and not (Path(run) / SCORES_FILE).is_file():
        return score(benchmark, run)
    return read_scores(run)


def _name(run: PathLike | Scores) -> str:
    return run.system if isinstance(run, Scores) else Path(run).resolve().name


def report(sources: Sequence[PathLike], out: PathLike, *, format: Format | None = None) -> Path:  # noqa: A002
    """Write one page (HTML or Markdown, by the suffix of `out` unless given) over runs and benchmarks; its path."""
    return write_report(sources, out, format=format).path


def leaderboard(folder: PathLike, metric: str | None = None, *, out: PathLike | None = None) -> Leaderboard:
    """Rank all runs below a folder by benchmark, and write the boards into it or into `out`."""
    return write_leaderboard(build_leaderboard(folder, metric), out)


@dataclass(frozen=True, slots=True)
class TrecResult:
    """Estimates by the metric names as given, and what there was to notice in the files."""

    estimates: Mapping[str, Estimate]
    queries: int
    missing_queries: int
    unknown_queries: int
    duplicates: int
    unjudged_rate: float | None
    per_query: Mapping[str, Mapping[str, float]]


def score_trec_files(
    qrels: PathLike,
    run: PathLike,
    metrics: Sequence[str],
    *,
    intersection: bool = False,
    level: float = 0.95,
    seed: int = 0,
) -> TrecResult:
    """Score TREC files; a query that the run lacks counts as zero, and as a failure, unless `intersection`."""
    if not metrics:
        raise UserError("no metric was given.", "for example --metrics ndcg@10,map,rr@10")
    found = score_trec(read_qrels(Path(qrels)), read_trec_run(Path(run)), metrics, intersection=intersection)
    if not found.queries:
        raise UserError(f"there is no query to score in {qrels} and {run}.", "check the files")
    failures = np.logical_not(found.answered)
    columns = {name: Column.of(values, failures) for name, values in found.values.items()}
    estimates = estimate_columns(columns, level=level, seed=seed)
    per_query = {
        query: {name: float(values[row]) for name, values in found.values.items()}
        for row, query in enumerate(found.queries)
    }
    return TrecResult(
        estimates=estimates,
        queries=len(found.queries),
        missing_queries=found.missing_queries,
        unknown_queries=found.unknown_queries,
        duplicates=found.duplicates,
        unjudged_rate=found.unjudged_rate,
        per_query=per_query,
    )


def write_per_query(result: TrecResult, path: PathLike) -> None:
    """A CSV file with a row for each query, whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["query", *result.estimates])
    writer.writerows([query, *values.values()] for query, values in result.per_query.items())
    write_whole(path, text.getvalue().encode())
