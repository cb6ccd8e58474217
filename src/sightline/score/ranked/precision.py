"""P: precision."""

from __future__ import annotations

from sightline.score.ranked.batch import Floats, RankedBatch, ratio
from sightline.score.ranked.formula import Formula, level, ranked_metric
from sightline.score.registry import MetricSpec


@ranked_metric("p")
def precision(spec: MetricSpec) -> Formula:
    """P@k = relevant among the first k / k: a ranking shorter than k is not excused (trec_eval's `P`).

    No cut-off: relevant / returned (trec_eval's `set_P`), 0 when nothing was returned.
    `set_precision@k` divides by what was returned among the first k.
    """
    rel = level(spec)

    def formula(batch: RankedBatch) -> Floats:
        found = batch.total(batch.hits(rel, spec.cutoff).query)
        return ratio(found, batch.retrieved) if spec.cutoff is None else found / spec.cutoff

    return formula
