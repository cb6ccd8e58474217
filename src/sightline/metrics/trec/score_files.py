"""Score TREC files: estimates with intervals, and values by query."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sightline.errors import UserError
from sightline.io.files import PathLike, write_whole
from sightline.metrics.statistics import Column, estimate_columns
from sightline.metrics.trec import read_qrels, score_trec
from sightline.metrics.trec import read_run as read_trec_run
from sightline.types import Estimate


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
