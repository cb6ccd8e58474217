"""Score TREC files: estimates with intervals, and values by query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sightline.display import Table, quiet
from sightline.english import counted
from sightline.errors import UserError, did_you_mean
from sightline.io.files import PathLike, as_path, csv_bytes, write_whole
from sightline.metrics.registry import split_names
from sightline.metrics.statistics.estimates import Column, estimate_columns
from sightline.metrics.tables import estimates_html, estimates_text
from sightline.metrics.trec.files import read_qrels
from sightline.metrics.trec.files import read_run as read_trec_run
from sightline.metrics.trec.scoring import score_trec as score_tables
from sightline.types import Estimate

_GEOMETRIC = "gm_map"
"""The geometric mean of AP over queries, each at least `_LEAST`, as trec_eval has it; a query's own value is its AP."""
_LEAST = 0.00001
_SCORED_AS = {_GEOMETRIC: "map", "set_recall": "recall"}
"""Names that mean something else for a file of rankings: what a run returned is its set."""
DEFAULT = ("ndcg@10", "map", "rr", "p@10", "recall@100")


@dataclass(frozen=True, slots=True, repr=False)
class TrecResult(Table[dict[str, Any]]):
    """Estimates by the metric names as given, and what there was to notice in the files; a row for each query."""

    estimates: Mapping[str, Estimate]
    queries: int
    missing_queries: int
    unknown_queries: int
    duplicates: int
    unjudged_rate: float | None
    per_query: Mapping[str, Mapping[str, float]]

    def __getitem__(self, metric: str) -> Estimate:
        """The estimate of a metric over all queries."""
        if metric not in self.estimates:
            known = f"They hold {', '.join(self.estimates)}."
            raise UserError(f"{metric!r} is not among these scores.", did_you_mean(str(metric), self.estimates, known))
        return self.estimates[metric]

    def to_json(self) -> dict[str, Any]:
        """What `score trec --json` prints: the estimates by metric."""
        return {name: asdict(found) for name, found in self.estimates.items()}

    def records(self) -> list[dict[str, Any]]:
        """One record for each query, with a value for each metric."""
        return [{"query": query, **values} for query, values in self.per_query.items()]

    def __str__(self) -> str:
        return f"{estimates_text(self.estimates)}\n  {self._counts()}"

    def _rows(self) -> Sequence[dict[str, Any]]:
        return self.records()

    def _counts(self) -> str:
        unjudged = "" if self.unjudged_rate is None else f"{self.unjudged_rate:.1%} of the results unjudged"
        return (
            f"{self.queries:,} queries, {self.missing_queries:,} of them not in the run; "
            f"{self.unknown_queries:,} queries of the run are not in the qrels; "
            f"{self.duplicates:,} repeated documents; {unjudged}"
        )

    def _line(self) -> str:
        name, found = next(iter(self.estimates.items()))
        return f"{name} {found}, {counted(self.queries, 'query', 'queries')}"

    def _blocks(self) -> Iterable[str]:
        yield estimates_html(self.estimates)
        yield quiet(self._counts())


def score_trec(
    qrels: PathLike,
    run: PathLike,
    metrics: str | Sequence[str] = DEFAULT,
    *,
    intersection: bool = False,
    level: float = 0.95,
    seed: int = 0,
    per_query: PathLike | None = None,
) -> TrecResult:
    """Score a TREC run against TREC qrels, straight from the files (.gz too).

    Parameters
    ----------
    qrels:
        A file with lines of: query 0 document relevance.
    run:
        A file with lines of: query Q0 document rank score tag.
    metrics:
        Names such as "ndcg@10" or trec_eval's own ("ndcg_cut_10"), in a list or separated by commas; also "gm_map".
    intersection:
        Score only the queries that the run has; otherwise the others count as zero, and as failures.
    level:
        The level of the intervals.
    seed:
        Makes the intervals repeatable.
    per_query:
        Also write a CSV file with a row for each query.

    Returns
    -------
    TrecResult
        `result["ndcg@10"]` is an estimate; `result.to_pandas()` has a row for each query.

    Examples
    --------
    >>> _ = sightline.export_files("trec-qrels", "bench", "qrels.txt")
    >>> _ = sightline.export_files("trec-run", "run", "run.txt")
    >>> sightline.score_trec("qrels.txt", "run.txt", "ndcg@10")["ndcg@10"].failures
    0
    """
    names = split_names(metrics)
    if not names:
        raise UserError("no metric was given.", "for example --metrics ndcg@10,map,rr@10")
    found = score_tables(
        read_qrels(as_path(qrels, "a file of qrels")),
        read_trec_run(as_path(run, "a file of a TREC run")),
        tuple(dict.fromkeys(_SCORED_AS.get(name, name) for name in names)),
        intersection=intersection,
    )
    if not found.queries:
        raise UserError(f"there is no query to score in {qrels} and {run}.", "check the files")
    failures = np.logical_not(found.answered)
    values = {name: found.values[_SCORED_AS.get(name, name)] for name in names}
    columns = {name: Column.of(values[name], failures) for name in names if name != _GEOMETRIC}
    if _GEOMETRIC in names:
        columns[_GEOMETRIC] = Column.of(np.log(np.maximum(values[_GEOMETRIC], _LEAST)), None)
    estimates = estimate_columns(columns, level=level, seed=seed)
    if _GEOMETRIC in names:
        estimates[_GEOMETRIC] = _geometric(estimates[_GEOMETRIC], int(failures.sum()))
    result = TrecResult(
        estimates={name: estimates[name] for name in names},
        queries=len(found.queries),
        missing_queries=found.missing_queries,
        unknown_queries=found.unknown_queries,
        duplicates=found.duplicates,
        unjudged_rate=found.unjudged_rate,
        per_query={
            query: {name: float(values[name][row]) for name in names} for row, query in enumerate(found.queries)
        },
    )
    if per_query is not None:
        write_whole(as_path(per_query, "a CSV file"), csv_bytes(result.records(), ("query", *result.estimates)))
    return result


def _geometric(of_logarithms: Estimate, failures: int) -> Estimate:
    """The geometric mean and its interval, from those of the logarithms."""
    mean, low, high = (math.exp(value) for value in (of_logarithms.mean, of_logarithms.low, of_logarithms.high))
    return replace(of_logarithms, mean=mean, low=low, high=high, failures=failures, answered=None)
