"""How much of what was returned has been judged at all."""

from __future__ import annotations

import numpy as np

from sightline.score.ranked.batch import Floats, RankedBatch, ratio
from sightline.score.ranked.formula import Formula, ranked_metric
from sightline.score.registry import MetricSpec


@ranked_metric("judged", options=(), finds=False)
def judged(spec: MetricSpec) -> Formula:
    """Judged@k = judged among the first k / returned among the first k: one minus the unjudged rate.

    Grade 0 is judged, a negative grade is not (trec_eval's reading). Nothing returned: not defined.
    No cut-off: the whole ranking. With an exact set as truth it is always 1.
    """

    def formula(batch: RankedBatch) -> Floats:
        hits = batch.hits(0, spec.cutoff)
        returned = batch.retrieved if spec.cutoff is None else np.minimum(batch.retrieved, spec.cutoff)
        return np.where(returned > 0, ratio(batch.total(hits.query), returned), np.nan)

    return formula
