"""How different the first results are from one another."""

from __future__ import annotations

import numpy as np

from sightline.score.context import Context
from sightline.score.ranked.batch import order_of
from sightline.score.ranked.formula import check
from sightline.score.registry import Metric, MetricSpec, register
from sightline.types import Prediction, Truth


@register("diversity", kinds=("rank", "select"))
def diversity(spec: MetricSpec) -> Metric:
    """Diversity@k = 1 − mean cosine over all pairs of the first k results, from `context.vectors`.

    It ignores the truth. Results without a vector, or with a vector of length zero, are left out after the cut;
    fewer than two left: not defined. A picture returned twice counts once. Between 0 and 2. No cut-off: all.
    """
    check(spec, (), cutoff=True)

    def metric(truth: Truth, prediction: Prediction, context: Context) -> float | None:
        vectors = context.vectors or {}
        top = list(dict.fromkeys(order_of(prediction)))[: spec.cutoff]
        rows = [np.asarray(vectors[picture], np.float64) for picture in top if picture in vectors]
        units = [row / length for row in rows if (length := np.linalg.norm(row)) > 0]
        n = len(units)
        if n < 2:
            return None
        # The sum of all cosines is |Σ u|²; n of them are each vector with itself.
        total = np.sum(units, axis=0)
        return float(1 - (total @ total - n) / (n * (n - 1)))

    return metric
