"""Success, also called hit rate."""

from __future__ import annotations

from sightline.score.ranked.batch import Floats, RankedBatch
from sightline.score.ranked.formula import Formula, level, ranked_metric
from sightline.score.registry import MetricSpec


@ranked_metric("success", "hit")
def success(spec: MetricSpec) -> Formula:
    """Success@k = 1 when a relevant result is among the first k, else 0 (trec_eval's `success`).

    R = 0: 0. No cut-off: the whole ranking.
    """
    rel = level(spec)

    def formula(batch: RankedBatch) -> Floats:
        hits = batch.hits(rel, spec.cutoff)
        return batch.total(hits.query[hits.nth == 0])

    return formula
