"""R: recall."""

from __future__ import annotations

from sightline.score.ranked.batch import ratio
from sightline.score.ranked.formula import Formula, level, ranked_metric
from sightline.score.registry import MetricSpec


@ranked_metric("recall", "r")
def recall(spec: MetricSpec) -> Formula:
    """Recall@k = relevant among the first k / R, where R counts all relevant pictures, returned or not.

    R = 0: 0, as trec_eval (`recall`). No cut-off: the whole ranking (trec_eval's `set_recall`).
    """
    rel = level(spec)
    return lambda batch: ratio(batch.total(batch.hits(rel, spec.cutoff).query), batch.positives(rel))
