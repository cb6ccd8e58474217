"""RR, and its mean MRR."""

from __future__ import annotations

from sightline.score.ranked.batch import Floats, RankedBatch
from sightline.score.ranked.formula import Formula, level, ranked_metric
from sightline.score.registry import MetricSpec


@ranked_metric("rr", "mrr")
def reciprocal_rank(spec: MetricSpec) -> Formula:
    """RR@k = 1 / place of the first relevant result, 0 when none is among the first k.

    Never above Success@k. `mrr` is the same value: its mean over tasks is MRR.
    No cut-off: the whole ranking (trec_eval's `recip_rank`).
    """
    rel = level(spec)

    def formula(batch: RankedBatch) -> Floats:
        hits = batch.hits(rel, spec.cutoff)
        first = hits.nth == 0
        return batch.total(hits.query[first], 1 / (hits.rank[first] + 1))

    return formula
