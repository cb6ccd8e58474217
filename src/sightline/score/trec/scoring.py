"""From qrels and a run to a value for each query and metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.score.ranked import formula
from sightline.score.ranked.batch import Bools, Floats
from sightline.score.trec.files import TrecQrels, TrecRun
from sightline.score.trec.match import match


@dataclass(frozen=True, slots=True)
class TrecScores:
    """Values by metric name as given, one for each query in `queries` (sorted by id), and what there was to notice.

    `answered` is False for a query that the run doesn't have: its values are 0. `unknown_queries` are in the run but
    not in the qrels, and ignored. `duplicates` counts repeated documents in the run (the best-ranked stays) and
    `repeated_judgments` those in the qrels. `unjudged_rate` is the share of the answered queries' results that has
    no judgment, None when there are no results.
    """

    queries: tuple[str, ...]
    values: Mapping[str, Floats]
    answered: Bools
    missing_queries: int
    unknown_queries: int
    duplicates: int
    repeated_judgments: int
    results: int
    unjudged_rate: float | None

    def mean(self, metric: str) -> float:
        """The mean over all queries; 0 when there are none."""
        values = self.values[metric]
        return float(values.mean()) if values.size else 0.0


def score_trec(
    qrels: TrecQrels,
    run: TrecRun,
    metrics: Sequence[str],
    *,
    intersection: bool = False,
    threads: int | None = None,
) -> TrecScores:
    """Score a run by trec_eval's rules; a query missing from the run counts as zero unless `intersection`."""
    formulas = {name: formula(name) for name in metrics}
    found = match(qrels.table, run.table, threads=threads)
    batch, answered = found.batch, found.answered
    names = qrels.queries
    rows = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    if intersection:
        rows = rows[answered[rows]]
    results = int(batch.retrieved.sum())
    return TrecScores(
        queries=tuple(names[row] for row in rows),
        values={name: np.where(answered, compute(batch), 0.0)[rows] for name, compute in formulas.items()},
        answered=answered[rows],
        missing_queries=int(np.count_nonzero(~answered)),
        unknown_queries=found.unknown_queries,
        duplicates=found.duplicates,
        repeated_judgments=qrels.duplicates,
        results=results,
        unjudged_rate=1 - batch.ranks.size / results if results else None,
    )
