"""nDCG: normalised discounted cumulative gain."""

from __future__ import annotations

import numpy as np

from sightline.errors import UserError
from sightline.score.ranked.batch import Floats, Ints, RankedBatch, places, ratio
from sightline.score.ranked.formula import Formula, choice, ranked_metric
from sightline.score.registry import MetricSpec

# 2 ** 1024 is no longer a double.
_MAX_EXPONENTIAL_GRADE = 1000


@ranked_metric("ndcg", options=("gain", "unjudged"))
def ndcg(spec: MetricSpec) -> Formula:
    """DCG@k / ideal DCG@k, with DCG@k = Σ_{i ≤ k} gain(grade_i) / log2(i + 1).

    The ideal ranks **all** judged pictures by grade, returned or not, and is cut at k too. Gain is the grade
    (`gain=linear`, trec_eval's) or 2^grade − 1 (`gain=exp`). Unjudged and negative grades gain nothing.
    Nothing with a grade above 0: 0, as trec_eval. No cut-off: the whole ranking.
    """
    exponential = choice(spec, "gain", ("linear", "exp")) == "exp"

    def formula(batch: RankedBatch) -> Floats:
        ideal = np.repeat(np.arange(len(batch)), np.diff(batch.pool_offsets))
        got = _dcg(batch, batch.owners(), batch.ranks, batch.grades)
        best = _dcg(batch, ideal, places(ideal, len(batch)), batch.pool)
        return ratio(got, best)

    def _dcg(batch: RankedBatch, query: Ints, rank: Ints, grade: Ints) -> Floats:
        keep = grade > 0
        if spec.cutoff is not None:
            keep &= rank < spec.cutoff
        gain = _exponential(grade[keep]) if exponential else grade[keep].astype(np.float64)
        return batch.total(query[keep], gain / np.log2(rank[keep] + 2))

    return formula


def _exponential(grade: Ints) -> Floats:
    if grade.size and grade.max() > _MAX_EXPONENTIAL_GRADE:
        raise UserError(
            f"grade {grade.max()} is too high for an exponential gain.", "use the linear gain, or lower grades"
        )
    return np.exp2(grade) - 1
