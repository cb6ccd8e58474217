"""Ranking metrics as functions of labels that are known only with some probability.

Each target gives, for a probability of relevance g of every pair, its value for each query and the slope of each pair:
by how much the value changes when the pair turns from not relevant to relevant.

- Linear (`p@k`, `dcg@k`, `ndcg@k`, `r@k`): value Σ w·g with slopes w that don't depend on labels. What is corrected
  with Horvitz-Thompson residuals is unbiased. The normalizers of nDCG and recall are *frozen*: made from what the
  judge said before people decided, and not changed by their decisions. The metric is then not quite the classical
  one; it can exceed 1 for a query whose relevant pictures the judge undercounted. Recall is therefore a ratio of two
  means, that of the system and that of one that finds everything (`whole`).
- Expanded (`success@k`, `rr`, `ap`): value and slopes are those of independent labels, E m(y) with y ~ Bernoulli(g). A
  correction by slopes is of first order: unbiased where calibrated errors within a query are uncorrelated, else biased
  by their products. `with_shared_errors` lets the labels of a query err together, which takes most of that bias away.
- Classical nDCG and recall (normalized by the labels that are being estimated) are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import UserError, did_you_mean
from sightline.metrics.statistics.auc import sigmoid

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Expand = Callable[[Floats], "tuple[Floats, Floats]"]

LINEAR = ("p", "dcg", "ndcg", "r")
EXPANDED = ("success", "rr", "ap")
_ALIASES = {"recall": "r", "hit": "success", "mrr": "rr", "map": "ap"}
_CUT = ("p", "dcg", "ndcg", "success")
"""Metrics that need a cut-off."""
_NODES, _EDGE = 7, 1e-4
_ATTENUATION = 3 * (16 / (15 * math.pi)) ** 2
"""Of a logistic curve averaged over normal errors, as if it were a normal one."""


def target_name(metric: str) -> str | None:
    """What a metric of a score is called here (`recall@100` is `r@100`); None where it can't be corrected."""
    base, at, cutoff = metric.partition("@")
    base = _ALIASES.get(base, base)
    is_known = base in LINEAR + EXPANDED and (cutoff.isdecimal() and int(cutoff) > 0 if at else base not in _CUT)
    return base + at + cutoff if is_known else None


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A metric of one system: `expand(g)` gives its value for each query and the slope of each pair."""

    name: str
    linear: bool
    expand: Expand
    weights: Floats
    """How much each pair can matter, for `informative_rates`: the slope, where it doesn't depend on labels."""
    most: float = math.inf
    """The highest value that the metric can have; frozen normalizers leave it open."""
    whole: Target | None = None
    """Of recall: the same for a system that finds everything, by whose mean it is divided."""


def target(name: str, query: ArrayLike, rank: ArrayLike, queries: int, relevant: ArrayLike | None = None) -> Target:
    """A metric by name (`p@10`, `ndcg@10`, `rr`) over pairs; `rank` is the pair's from 1 on, 0 where it was not found.

    `relevant` is the frozen number of relevant pictures of each query (`frozen_relevant`), for ndcg, r and ap. Results
    that are no pair (never pooled) count as not relevant.
    """
    base, _, cutoff = name.partition("@")
    if base not in LINEAR + EXPANDED or (cutoff and not cutoff.isdecimal()):
        known = ", ".join(LINEAR + EXPANDED)
        raise UserError(f'Metric "{name}" can\'t be corrected.', did_you_mean(base, LINEAR + EXPANDED, f"Use {known}."))
    if base in _CUT and not cutoff:
        raise UserError(f'Metric "{name}" needs a cut-off.', f'write "{base}@10"')
    codes, ranks = np.asarray(query, dtype=np.intp), np.asarray(rank, dtype=np.intp)
    depth = int(cutoff) if cutoff else int(ranks.max(initial=1))
    if depth < 1:
        raise UserError(f'Metric "{name}" has no results to look at.', f'write "{base}@10"')
    frozen = _frozen(name, relevant, queries) if base in ("ndcg", "r", "ap") else np.ones(queries)
    if base in LINEAR:
        found = _linear(name, codes, _weights(base, codes, ranks, depth, frozen), queries)
        whole = _linear(name, codes, 1 / frozen[codes], queries)
        return replace(found, whole=whole, weights=whole.weights, most=1.0) if base == "r" else found
    return _expanded(name, _Grid(codes, ranks, depth, queries), frozen)


def frozen_relevant(query: ArrayLike, probability: ArrayLike, queries: int) -> Floats:
    """The number of relevant pictures of each query as the judge expects it, Σ p over its pool, at least 1."""
    found = np.bincount(np.asarray(query, dtype=np.intp), weights=np.asarray(probability), minlength=queries)
    return np.maximum(1.0, found)


def ideal_dcg(relevant: ArrayLike, k: int) -> Floats:
    """Σ_{i≤R} 1 / log₂(i + 1) for R relevant pictures, at most k; the last one by its fraction."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    wanted = np.asarray(relevant, dtype=np.float64)
    taken = np.clip(wanted[:, None] - np.arange(k), 0, 1)
    ideal: Floats = taken @ discounts
    return ideal


def _frozen(name: str, relevant: ArrayLike | None, queries: int) -> Floats:
    if relevant is None:
        raise UserError(
            f'Metric "{name}" needs normalizers that were frozen before people decided.',
            "pass relevant=frozen_relevant(...)",
        )
    given = np.asarray(relevant, dtype=np.float64)
    if given.shape != (queries,) or not np.all(given > 0):
        raise UserError("Frozen numbers of relevant pictures must be above 0, one for each query.", "check relevant")
    return given


def _weights(base: str, codes: Codes, ranks: Codes, depth: int, frozen: Floats) -> Floats:
    inside = (ranks >= 1) & (ranks <= depth)
    if base == "p":
        return np.where(inside, 1 / depth, 0.0)
    if base == "r":
        return np.where(inside, 1 / frozen[codes], 0.0)
    discounted = np.where(inside, 1 / np.log2(np.maximum(ranks, 1) + 1), 0.0)
    return discounted if base == "dcg" else discounted / ideal_dcg(frozen, depth)[codes]


def _linear(name: str, codes: Codes, weights: Floats, queries: int) -> Target:
    def expand(g: Floats) -> tuple[Floats, Floats]:
        return np.asarray(np.bincount(codes, weights=weights * g, minlength=queries), dtype=np.float64), weights

    return Target(name, True, expand, weights, 1.0 if name.startswith("p@") else math.inf)


def with_shared_errors(metric: Target, variance: float) -> Target:
    """The expected value where the log odds of all labels of a query are off by one normal error of this variance.

    E m(y) = Σ_u w_u m(p(u)), logit p(u) = c · logit g + σ u over Gauss-Hermite nodes u, with c = √(1 + 0.346 σ²) so
    that the mean of p(u) stays near g. Slopes are averaged alike.
    """
    sigma = math.sqrt(variance)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)

    def expand(g: Floats) -> tuple[Floats, Floats]:
        odds = math.sqrt(1 + _ATTENUATION * variance) * np.log(np.clip(g, _EDGE, 1 - _EDGE) / np.clip(1 - g, _EDGE, 1))
        parts = [metric.expand(sigmoid(odds + sigma * node)) for node in nodes]
        value, slopes = (np.average(of, axis=0, weights=weights) for of in zip(*parts, strict=True))
        return value, slopes

    return replace(metric, expand=expand)


class _Grid:
    """Pairs as a table of queries × ranks; zero where a result is no pair."""

    def __init__(self, codes: Codes, ranks: Codes, depth: int, queries: int) -> None:
        self.inside = (ranks >= 1) & (ranks <= depth)
        self.where = (codes[self.inside], ranks[self.inside] - 1)
        self.shape = (queries, depth)

    def table(self, g: Floats) -> Floats:
        found = np.zeros(self.shape)
        found[self.where] = g[self.inside]
        return found

    def pairs(self, table: Floats) -> Floats:
        found = np.zeros(len(self.inside))
        found[self.inside] = table[self.where]
        return found


def _expanded(name: str, grid: _Grid, relevant: Floats) -> Target:
    formula = {"success": _success, "rr": _reciprocal_rank, "ap": _average_precision}[name.partition("@")[0]]

    def expand(g: Floats) -> tuple[Floats, Floats]:
        value, slopes = formula(grid.table(g), relevant)
        return value, grid.pairs(slopes)

    falling = np.broadcast_to(1 / np.arange(1, grid.shape[1] + 1), grid.shape)
    return Target(name, False, expand, grid.pairs(falling), math.inf if name.startswith("ap") else 1.0)


def _success(g: Floats, _: Floats) -> tuple[Floats, Floats]:
    """1 − Π(1 − g); the slope of a pair is that none of the others is relevant."""
    before, after = _none_before(g), _none_before(g[:, ::-1])[:, ::-1]
    none = before[:, -1] * (1 - g[:, -1])
    return 1 - none, before * after


def _reciprocal_rank(g: Floats, _: Floats) -> tuple[Floats, Floats]:
    """Σ_i (1/i) g_i Π_{j<i}(1 − g_j); a pair's slope is Π_{j<i}(1 − g_j) · (1/i − what is to be had after it)."""
    before = _none_before(g)
    later = np.zeros(len(g))
    slopes = np.empty_like(g)
    for place in range(g.shape[1] - 1, -1, -1):
        slopes[:, place] = before[:, place] * (1 / (place + 1) - later)
        later = g[:, place] / (place + 1) + (1 - g[:, place]) * later
    return later, slopes


def _average_precision(g: Floats, relevant: Floats) -> tuple[Floats, Floats]:
    """Σ_i g_i (1 + Σ_{j<i} g_j) / (i · R) with R frozen."""
    places = np.arange(1, g.shape[1] + 1)
    earlier = np.cumsum(g, axis=1) - g
    share = g / places
    later = share.sum(axis=1, keepdims=True) - np.cumsum(share, axis=1)
    slopes = ((1 + earlier) / places + later) / relevant[:, None]
    return (share * (1 + earlier)).sum(axis=1) / relevant, slopes


def _none_before(g: Floats) -> Floats:
    """The probability that nothing above a place is relevant."""
    passed = np.cumprod(1 - g, axis=1)
    return np.concatenate([np.ones((len(g), 1)), passed[:, :-1]], axis=1)
