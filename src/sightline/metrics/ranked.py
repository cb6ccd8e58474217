"""Ranked metrics, one formula each: P, recall, success, RR, R-precision, AP, nDCG, RBP, bpref, judged, diversity.

To add one, write a function from a `MetricSpec` to a formula over a `RankedBatch` and decorate it with `ranked_metric`.
"""

from __future__ import annotations

import numpy as np

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.ranked_batch import Floats, Ints, RankedBatch, order_of, places, ratio
from sightline.metrics.ranked_formula import Formula, check, choice, level, ranked_metric
from sightline.metrics.registry import Metric, MetricSpec, register
from sightline.types import Prediction, Truth

# 2 ** 1024 is no longer a double.
_MAX_EXPONENTIAL_GRADE = 1000


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


@ranked_metric("recall", "r")
def recall(spec: MetricSpec) -> Formula:
    """Recall@k = relevant among the first k / R, where R counts all relevant pictures, returned or not.

    R = 0: 0, as trec_eval (`recall`). No cut-off: the whole ranking (trec_eval's `set_recall`).
    """
    rel = level(spec)
    return lambda batch: ratio(batch.total(batch.hits(rel, spec.cutoff).query), batch.positives(rel))


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


@ranked_metric("rr", "mrr")
def reciprocal_rank(spec: MetricSpec) -> Formula:
    """RR@k = 1 / place of the first relevant result, 0 when none is among the first k.

    Never above Success@k. `mrr` is the same value: its mean over tasks is MRR.
    No cut-off: the whole ranking (trec_eval's `recip_rank`).
    """
    rel = level(spec)

    def formula(batch: RankedBatch) -> Floats:
        hits = batch.hits(rel, spec.cutoff)
        first = hits.nth == 0
        return batch.total(hits.query[first], 1 / (hits.rank[first] + 1))

    return formula


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


def precision_sum(batch: RankedBatch, rel: int, cutoff: int | None) -> Floats:
    """Σ over the relevant results among the first k of the precision at their place."""
    hits = batch.hits(rel, cutoff)
    return batch.total(hits.query, (hits.nth + 1) / (hits.rank + 1))


@ranked_metric("ap", "map")
def average_precision(spec: MetricSpec) -> Formula:
    """AP@k = (1/R) Σ_{i ≤ k} rel_i · P@i, where R is the number of relevant pictures, returned or not.

    `map` is the same value: its mean over tasks is MAP. R = 0: 0, as trec_eval (`map`, `map_cut`).
    No cut-off: the whole ranking.
    """
    rel = level(spec)
    return lambda batch: ratio(precision_sum(batch, rel, spec.cutoff), batch.positives(rel))


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
