"""AP normalised by min(k, R), as DISBench reports it."""

from __future__ import annotations

import numpy as np

from sightline.score.ranked.average_precision import precision_sum
from sightline.score.ranked.batch import Floats, RankedBatch, ratio
from sightline.score.ranked.formula import Formula, level, ranked_metric
from sightline.score.registry import MetricSpec


@ranked_metric("ap_min", "map_min")
def average_precision_min(spec: MetricSpec) -> Formula:
    """AP_min@k = (1/min(k, R)) Σ_{i ≤ k} rel_i · P@i: 1 is within reach even when R > k.

    AP_min@1 = P@1 = nDCG@1 for binary grades. R = 0: 0. No cut-off: equal to `ap`.
    """
    rel = level(spec)

    def formula(batch: RankedBatch) -> Floats:
        reachable = batch.positives(rel)
        if spec.cutoff is not None:
            reachable = np.minimum(reachable, spec.cutoff)
        return ratio(precision_sum(batch, rel, spec.cutoff), reachable)

    return formula
