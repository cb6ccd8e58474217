"""Which share of all relevant pictures the pools hold, with the judge's errors in the estimate.

A judge labels every pooled pair and a draw of pairs from outside the pools. Outside, relevant pictures are rare, so
that a judge who errs in a few percent finds mostly its own errors there: counting what it calls relevant is not
enough. Three estimates, by what is known and what has to be assumed:

- `coverage_by_people`: people decide about a drawn sample of what the judge labelled, inside and outside. Nothing is
  assumed about the judge, who only says where to look. Honest and wide: what nobody saw among hundreds may be there.
- `coverage_by_positives`: people check a draw of what the judge called relevant, inside and outside. If the judge finds
  the same share of the relevant pictures outside as inside (equal sensitivity), that share cancels:
  R_in / (R_in + R_out) = TP_in / (TP_in + TP_out). Much narrower; wrong by as much as the sensitivities differ, as with
  a judge that is of one source with a system that filled the pools.
- `coverage_by_error_rates`: nobody looked at this benchmark, but sensitivity and specificity are known from elsewhere:
  Rogan and Gladen's correction, (apparent share + specificity − 1) / (sensitivity + specificity − 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import UserError
from sightline.metrics.labels.corrected import (
    LEAST_DECISIONS,
    JudgedPairs,
    check_enough,
    correct,
    decided_weights,
)
from sightline.metrics.labels.rare_counts import Total, weighted_count
from sightline.metrics.labels.shares import Share, weighted_share
from sightline.metrics.labels.targets import Target

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.intp]

_DRAWS = 2000
_LEAST_SKILL = 0.1


@dataclass(frozen=True, slots=True)
class Coverage:
    """The share of relevant pictures in the pools, with its interval; `found` and `missed` are the two numbers.

    `assumes` says what the estimate takes for granted, empty for nothing.
    """

    value: float
    low: float
    high: float
    found: float
    missed: float
    decisions: int
    method: str
    assumes: str = ""
    level: float = 0.95


def coverage_by_people(
    pairs: JudgedPairs, outside: ArrayLike, expansion: ArrayLike, *, level: float = 0.95, seed: int = 0
) -> Coverage:
    """R_in / (R_in + R_out): the first corrected as scores are, the second a weighted count of what people found.

    `pairs` are those that the judge labelled; `outside` marks those from outside the pools and `expansion` says how
    many pairs each stands for: 1 in a pool, 1 / rate for a draw from outside. `pairs.draw` are the weights of the
    draw of decisions among them. The number outside has a gamma interval (`weighted_count`), which holds for weighted
    counts near zero, widened for several finds in one query; the ratio follows by Donner and Zou's rule for two
    intervals.
    """
    beyond, stands = np.asarray(outside, dtype=np.bool_), np.asarray(expansion, dtype=np.float64)
    weights, _ = decided_weights(pairs.draw, pairs.people, beyond.astype(np.intp))
    check_enough(np.where(beyond, 0.0, weights), "decisions inside the pools", LEAST_DECISIONS)
    check_enough(np.where(beyond, weights, 0.0), "decisions outside the pools", LEAST_DECISIONS)
    inside = _inside(pairs, ~beyond, stands, weights, level, seed)
    decided = beyond & (weights > 0)
    clusters = pairs.query if pairs.clusters is None else pairs.clusters[pairs.query]
    missed = weighted_count(pairs.people[decided], (weights * stands)[decided], clusters[decided], level)
    low, high = ratio_interval(missed, inside)
    ratio = missed.value / inside.value
    return Coverage(
        1 / (1 + ratio), 1 / (1 + high), 1 / (1 + low), inside.value, missed.value, int((weights > 0).sum()), "people"
    )


def _inside(pairs: JudgedPairs, inside: Bools, stands: Floats, weights: Floats, level: float, seed: int) -> Total:
    """Relevant pairs in the pools, from the mean over queries."""
    kept = JudgedPairs(
        pairs.query[inside],
        pairs.judge[inside],
        pairs.people[inside],
        weights[inside],
        pairs.queries,
        pairs.clusters,
    )
    slopes = stands[inside]

    def expand(g: Floats) -> tuple[Floats, Floats]:
        value = np.bincount(kept.query, weights=slopes * g, minlength=pairs.queries)
        return np.asarray(value, dtype=np.float64), slopes

    found = correct(kept, Target("relevant", True, expand, slopes), level=level, seed=seed)
    least = max(float(np.nansum(np.where(kept.draw > 0, kept.people, 0.0))), 1.0)
    mean = max(found.mean * pairs.queries, least)
    return Total(mean, max(found.low * pairs.queries, least), max(found.high * pairs.queries, mean))


def coverage_by_positives(
    pairs: JudgedPairs,
    says_relevant: ArrayLike,
    outside: ArrayLike,
    expansion: ArrayLike,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> Coverage:
    """TP_in / (TP_in + TP_out) with TP = pairs that the judge calls relevant × the share of them that people confirm.

    Each of 2,000 draws weights queries at random (how many pairs are called relevant) and takes both shares from
    Beta(½ + right, ½ + wrong) at their effective numbers of decisions.
    """
    says, beyond = np.asarray(says_relevant, dtype=np.bool_), np.asarray(outside, dtype=np.bool_)
    stands = np.asarray(expansion, dtype=np.float64)
    clusters = pairs.query if pairs.clusters is None else pairs.clusters[pairs.query]
    weights, _ = decided_weights(pairs.draw, pairs.people, 2 * beyond.astype(np.intp) + says)
    shares = []
    for part, where in ((~beyond, "inside"), (beyond, "outside")):
        kept = part & says & (weights > 0)
        check_enough(
            np.where(kept, weights, 0.0), f"decisions {where} the pools about what the judge calls relevant", 10
        )
        share = weighted_share(pairs.people[kept], (weights * stands)[kept], clusters[kept], level)
        assert share is not None
        shares.append(share)
    sums = _apparent(clusters, says.astype(np.float64), beyond, stands)
    rng = np.random.default_rng((seed, 5))
    drawn = _resampled(sums, rng)
    found, missed = (drawn[:, column] * _beta(share, rng) for column, share in zip((0, 2), shares, strict=True))
    totals = [float(sums[:, column].sum()) * share.value for column, share in zip((0, 2), shares, strict=True)]
    assumes = "the judge finds the same share of the relevant pictures outside the pools as inside"
    return _assembled((found, missed), totals, sum(share.n for share in shares), "positives", assumes, level)


def coverage_by_error_rates(
    query: ArrayLike,
    says_relevant: ArrayLike,
    outside: ArrayLike,
    expansion: ArrayLike,
    sensitivity: Share,
    specificity: Share,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Coverage:
    """Coverage by Rogan and Gladen's correction of what the judge says, with intervals over queries and error rates.

    The rates come with their effective numbers of decisions (`weighted_share`). Each of 2,000 draws weights queries
    at random and takes both rates from Beta(½ + right, ½ + wrong). Refused where the judge is hardly better than
    chance, and where what it says outside the pools contradicts the rates.
    """
    if sensitivity.low + specificity.low - 1 < _LEAST_SKILL:
        raise UserError(
            f"The judge may be no better than chance (sensitivity from {sensitivity.low:.2f}, specificity from "
            f"{specificity.low:.2f} on), so its labels say nothing about coverage.",
            "have people decide about a drawn sample, or use another judge",
        )
    codes = np.asarray(query, dtype=np.intp)
    codes = codes if clusters is None else np.asarray(clusters, dtype=np.intp)[codes]
    sums = _apparent(
        codes, np.asarray(says_relevant, np.float64), np.asarray(outside, np.bool_), np.asarray(expansion, np.float64)
    )
    rng = np.random.default_rng((seed, 5))
    drawn = _rogan_gladen(_resampled(sums, rng), _beta(sensitivity, rng), _beta(specificity, rng))
    if float(np.quantile(drawn[1], (1 + level) / 2)) <= 0:
        raise UserError(
            "The judge calls fewer pictures relevant outside the pools than its specificity allows, so its error rates "
            "from elsewhere do not hold here.",
            "have people decide about a drawn sample from outside the pools",
        )
    values = _rogan_gladen(sums.sum(axis=0)[None], np.array([sensitivity.value]), np.array([specificity.value]))
    assumes = "the judge's sensitivity and specificity from elsewhere hold here, inside the pools and outside"
    decisions = sensitivity.n + specificity.n
    return _assembled(drawn, [float(value[0]) for value in values], decisions, "error-rates", assumes, level)


def _assembled(
    drawn: tuple[Floats, Floats], totals: list[float], decisions: int, method: str, assumes: str, level: float
) -> Coverage:
    shares = drawn[0] / np.maximum(drawn[0] + drawn[1], 1e-9)
    low, high = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2])
    value = totals[0] / max(sum(totals), 1e-9)
    ends = min(float(low), value), max(float(high), value)
    return Coverage(value, *ends, totals[0], totals[1], decisions, method, assumes, level)


def _apparent(codes: Codes, says: Floats, beyond: Bools, stands: Floats) -> Floats:
    """For each cluster: pairs called relevant and all pairs, in the pools; the same outside."""
    count = int(codes.max()) + 1
    columns = [np.where(~beyond, says, 0.0), (~beyond) * 1.0, np.where(beyond, says, 0.0), beyond * 1.0]
    return np.stack([np.bincount(codes, weights=stands * column, minlength=count) for column in columns], axis=1)


def _resampled(sums: Floats, rng: np.random.Generator) -> Floats:
    """Totals with queries weighted at random (Rubin's bootstrap)."""
    weights = rng.standard_exponential((_DRAWS, len(sums)))
    drawn: Floats = (weights / weights.mean(axis=1, keepdims=True)) @ sums
    return drawn


def _beta(rate: Share, rng: np.random.Generator) -> Floats:
    effective = rate.effective if math.isfinite(rate.effective) else float(rate.n)
    return rng.beta(0.5 + rate.value * effective, 0.5 + (1 - rate.value) * effective, size=_DRAWS)


def _rogan_gladen(sums: Floats, sensitivity: Floats, specificity: Floats) -> tuple[Floats, Floats]:
    """Corrected numbers in the pools and outside, from 0 to all."""
    skill = np.maximum(sensitivity + specificity - 1, 1e-3)
    inside, outside = (
        np.clip((sums[:, said] - (1 - specificity) * sums[:, said + 1]) / skill, 0.0, sums[:, said + 1])
        for said in (0, 2)
    )
    return inside, outside


def ratio_interval(top: Total, bottom: Total) -> tuple[float, float]:
    """The interval of top / bottom from the intervals of both (Donner and Zou 2012), for a bottom above zero."""
    product = top.value * bottom.value

    def limit(top_end: float, bottom_end: float, sign: int) -> float:
        scale = bottom_end * (2 * bottom.value - bottom_end)
        inner = product**2 - top_end * scale * (2 * top.value - top_end)
        if scale <= 0:
            return top_end / bottom_end
        return max(0.0, (product + sign * math.sqrt(max(inner, 0.0))) / scale)

    return limit(top.low, bottom.high, -1), limit(top.high, bottom.low, 1)
