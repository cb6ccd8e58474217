"""bpref: how often a relevant picture comes before the judged non-relevant ones."""

from __future__ import annotations

import numpy as np

from sightline.score.ranked.batch import Floats, RankedBatch, ratio
from sightline.score.ranked.formula import Formula, level, ranked_metric
from sightline.score.registry import MetricSpec


@ranked_metric("bpref", options=("rel",), cutoff=False)
def bpref(spec: MetricSpec) -> Formula:
    """bpref = (1/R) Σ over relevant results of 1 − min(n, R) / min(N, R) (trec_eval's `bpref`).

    n: judged non-relevant results above it; N: judged non-relevant pictures in all; a result with n = 0 gives 1.
    Unjudged results are skipped. R = 0: 0. With an exact set as truth, N is what was returned outside of it.
    trec_eval divides in single precision, so the two agree to 1e-6 and not to 1e-9.
    """
    rel = level(spec)

    def formula(batch: RankedBatch) -> Floats:
        relevant = batch.positives(rel)
        bound = np.minimum(np.diff(batch.pool_offsets) - relevant, relevant)
        # Among judged results alone, place − nth is the number of non-relevant ones above.
        hits = batch.condensed().hits(rel)
        above = np.minimum(hits.rank - hits.nth, relevant[hits.query]).astype(np.float64)
        return ratio(batch.total(hits.query, 1 - ratio(above, bound[hits.query])), relevant)

    return formula
