"""R-precision."""

from __future__ import annotations

from sightline.score.ranked.batch import Floats, RankedBatch, ratio
from sightline.score.ranked.formula import Formula, level, ranked_metric
from sightline.score.registry import MetricSpec


@ranked_metric("rprec", cutoff=False)
def r_precision(spec: MetricSpec) -> Formula:
    """Rprec = relevant among the first R / R, where R is the number of relevant pictures (trec_eval's `Rprec`).

    A ranking shorter than R is not excused. R = 0: 0.
    """
    rel = level(spec)

    def formula(batch: RankedBatch) -> Floats:
        relevant = batch.positives(rel)
        hits = batch.hits(rel)
        return ratio(batch.total(hits.query[hits.rank < relevant[hits.query]]), relevant)

    return formula
