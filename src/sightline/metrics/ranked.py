"""Ranked metrics, one formula each: P, recall, success, RR, R-precision, AP, nDCG, RBP, ERR, bpref, judged, diversity.

To add one, write a function from a `MetricSpec` to a formula over a `RankedBatch` and decorate it with `ranked_metric`.
"""

from __future__ import annotations

import numpy as np

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.ranked_batch import Bools, Floats, Ints, RankedBatch, order_of, places, ratio
from sightline.metrics.ranked_formula import Formula, check, choice, level, ranked_metric
from sightline.metrics.registry import Metric, MetricSpec, register
from sightline.types import Prediction, Truth

# 2 ** 1024 is no longer a double.
_MAX_EXPONENTIAL_GRADE = 1000
_INFAP_EPSILON = 0.00001


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


@ranked_metric("infap", options=("rel",), cutoff=False)
def inferred_average_precision(spec: MetricSpec) -> Formula:
    """infAP = (1/R) Σ over relevant results of 1/i + (i−1)/i · (pooled above / (i−1)) · (r + ε) / (r + n + 2ε).

    For pools of which only a sample was judged (trec_eval's `infAP`): the rest of the pool has a negative grade. r and
    n: relevant and non-relevant results above place i; ε = 0.00001. With nothing sampled and nothing unjudged it is AP.
    R = 0: 0.
    """
    rel = level(spec)

    def formula(batch: RankedBatch) -> Floats:
        query, here = batch.owners(), batch.grades >= rel
        pooled = places(query, len(batch))  # Of the pool, above each.
        relevant, judged = (_above(flags, batch.offsets, query) for flags in (here, batch.grades >= 0))
        share = (relevant + _INFAP_EPSILON) / (judged + 2 * _INFAP_EPSILON)
        gains = (1 + pooled * share) / (batch.ranks + 1)
        return ratio(batch.total(query[here], gains[here]), batch.positives(rel))

    return formula


def _above(flags: Bools, offsets: Ints, query: Ints) -> Ints:
    """How many flags are set above each result, among those of its query."""
    running = np.concatenate(([0], np.cumsum(flags, dtype=np.int64)))
    return running[:-1] - running[offsets[:-1]][query]


def interpolated_precision(batch: RankedBatch, rel: int, recall: float) -> Floats:
    """The highest precision at any place where so much of the relevant is found; trec_eval rounds R · recall up."""
    hits, needed = batch.hits(rel), np.floor(batch.positives(rel) * recall + 0.9)
    enough = hits.nth + 1 >= needed[hits.query]
    found = np.zeros(len(batch))
    np.maximum.at(found, hits.query[enough], (hits.nth[enough] + 1) / (hits.rank[enough] + 1))
    return found


@ranked_metric("iprec", options=("recall", "rel", "unjudged"), cutoff=False)
def interpolated_precision_at(spec: MetricSpec) -> Formula:
    """iprec(recall=0.1): the highest precision at any place with at least that recall (trec_eval's `iprec_at_recall`).

    0 where the ranking never gets there. R = 0: 0.
    """
    rel, given = level(spec), spec.options.get("recall", "0.5")
    try:
        recall = float(given)
    except ValueError:
        recall = -1.0
    if not 0 <= recall <= 1:
        raise UserError(f'metric "iprec": recall={given} is not a share.', "give a number from 0 to 1")
    return lambda batch: interpolated_precision(batch, rel, recall)


@ranked_metric("11pt_avg", cutoff=False)
def eleven_point_average(spec: MetricSpec) -> Formula:
    """The mean of `iprec` at recall 0, 0.1, …, 1 (trec_eval's `11pt_avg`). R = 0: 0."""
    rel = level(spec)
    return lambda batch: np.mean([interpolated_precision(batch, rel, tenth / 10) for tenth in range(11)], axis=0)


@ranked_metric("utility", options=("rel", "unjudged"), finds=False)
def utility(spec: MetricSpec) -> Formula:
    """Relevant results minus all others among the first k; no cut-off: the whole ranking (trec_eval's `utility`).

    It has no upper limit, and is negative where most of what was returned does not fit.
    """
    rel = level(spec)

    def formula(batch: RankedBatch) -> Floats:
        returned = batch.retrieved if spec.cutoff is None else np.minimum(batch.retrieved, spec.cutoff)
        return 2 * batch.total(batch.hits(rel, spec.cutoff).query) - returned

    return formula


@ranked_metric("err", options=("max", "unjudged"))
def expected_reciprocal_rank(spec: MetricSpec) -> Formula:
    """ERR@k = Σ_{i ≤ k} (1/i) · s_i · Π_{j < i} (1 − s_j), where s = (2^grade − 1) / 2^max is the chance of stopping.

    `max` is the highest grade that there can be: 3 when not given, as in graded judgments here; gdeval has 4.
    Unjudged results stop nobody. Depends on the ranking alone. No cut-off: the whole ranking.
    """
    given = spec.options.get("max", "3")
    if not given.isdecimal() or not 1 <= int(given) <= _MAX_EXPONENTIAL_GRADE:
        raise UserError(f'metric "err": max={given} is not a grade.', "give a whole number from 1: err(max=4)")
    top = int(given)

    def formula(batch: RankedBatch) -> Floats:
        hits = batch.hits(1, spec.cutoff)
        grade = batch.grades[(batch.grades >= 1) & _among(batch, spec.cutoff)]
        if grade.size and grade.max() > top:
            raise UserError(f"grade {grade.max()} is above err(max={top}).", f"use err(max={grade.max()})")
        stop = _exponential(grade) / 2.0**top
        total, still = np.zeros(len(batch)), np.ones(len(batch))
        order = np.argsort(hits.nth, kind="stable")
        for part in np.split(order, np.cumsum(np.bincount(hits.nth))[:-1]):  # The first of every query, then the next.
            query = hits.query[part]
            total[query] += still[query] * stop[part] / (hits.rank[part] + 1)
            still[query] *= 1 - stop[part]
        return total

    return formula


def _among(batch: RankedBatch, cutoff: int | None) -> Bools:
    return np.ones(batch.ranks.size, np.bool_) if cutoff is None else batch.ranks < cutoff


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
