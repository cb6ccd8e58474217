"""AP, and its mean MAP."""

from __future__ import annotations

from sightline.score.ranked.batch import Floats, RankedBatch, ratio
from sightline.score.ranked.formula import Formula, level, ranked_metric
from sightline.score.registry import MetricSpec


def precision_sum(batch: RankedBatch, rel: int, cutoff: int | None) -> Floats:
    """Σ over the relevant results among the first k of the precision at their place."""
    hits = batch.hits(rel, cutoff)
    return batch.total(hits.query, (hits.nth + 1) / (hits.rank + 1))


@ranked_metric("ap", "map")
def average_precision(spec: MetricSpec) -> Formula:
    """AP@k = (1/R) Σ_{i ≤ k} rel_i · P@i, where R is the number of relevant pictures, returned or not.

    `map` is the same value: its mean over tasks is MAP. R = 0: 0, as trec_eval (`map`, `map_cut`).
    No cut-off: the whole ranking.
    """
    rel = level(spec)
    return lambda batch: ratio(precision_sum(batch, rel, spec.cutoff), batch.positives(rel))
