"""RBP: rank-biased precision."""

from __future__ import annotations

import numpy as np

from sightline.errors import UserError
from sightline.score.ranked.batch import Floats, RankedBatch
from sightline.score.ranked.formula import Formula, level, ranked_metric
from sightline.score.registry import MetricSpec


@ranked_metric("rbp", options=("p", "rel", "unjudged"))
def rank_biased_precision(spec: MetricSpec) -> Formula:
    """RBP@k = (1 − p) Σ_{i ≤ k} rel_i · p^(i − 1), with patience p (`rbp(p=0.8)`, the default).

    Binary by `rel`. It depends on the ranking alone, not on R: 0 when nothing relevant was returned, and 1 only
    in the limit of an endless relevant ranking. No cut-off: the whole ranking.
    """
    rel, patience = level(spec), _patience(spec.options.get("p", "0.8"))

    def formula(batch: RankedBatch) -> Floats:
        hits = batch.hits(rel, spec.cutoff)
        return batch.total(hits.query, (1 - patience) * np.power(patience, hits.rank))

    return formula


def _patience(given: str) -> float:
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise UserError(f'metric "rbp": p={given} is not a patience.', "give a number between 0 and 1: rbp(p=0.8)")
    return value
