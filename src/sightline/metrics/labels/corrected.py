"""Scores from generated labels, corrected by a drawn sample of people's decisions (prediction-powered inference).

For a target with value m(g) and slopes D(g), predictions g, decisions y and draw weights W (`Draw.weights`), query q is
worth v_q(g) = m_q(g) + Σ_d W_d D_d(g) (y_d − g_d). Its mean over the draw is m_q(y) for linear targets, whatever the
judge got wrong. Two predictions are used: the plain share of relevant pairs (no judge), and the judge's confidence
calibrated by logistic regression (on it and on its mean over the query's pool); both come from decisions about other
folds of queries. The judge's weight λ in [0, 1] mixes them, v_q = (1 − λ) v_q(share) + λ v_q(judge), and is tuned on
the other folds for least variance: a useless judge costs next to nothing. (After PPI++, Angelopoulos et al. 2023, and
PRECISE, AAAI 2026, which corrects from whole queries; here single pairs are drawn.)

The interval is Student's over queries, or over clusters of queries: queries are taken as a sample of queries like
these. Degrees of freedom follow Satterthwaite: the variance of the variance is estimated from the fourth moment,
because few queries carry a decision and these stand for many. p of a difference is the level at which that interval
reaches zero. Scores of one system are skewed: their interval is moved towards the long tail, over clusters by the
inversion of `statistics.clustered`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.metrics.labels.calibration import assign_folds, cross_fit, with_query_mean
from sightline.metrics.labels.targets import Target, with_shared_errors
from sightline.metrics.statistics.clustered import cluster_intervals
from sightline.metrics.statistics.distributions import student_quantile, student_tail
from sightline.metrics.statistics.intervals import RESAMPLES, BootstrapSampling

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

CORRECTED = "prediction-powered"
"""The method of estimates and differences that are corrected."""
LEAST_DECISIONS = 20
"""With fewer decisions no correction is attempted."""
LEAST_CLUSTERS = 5
FEW_DECISIONS = 50


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """Pairs of the pools of `queries` queries.

    `query` numbers each pair's query from 0; `judge` holds what the judge said as one feature or several (log odds
    from `confidence_feature`, a grade); `people` the decisions from 0 to 1, NaN where there is none; `draw` the
    weights of the draw, 0 where a pair was not drawn; `clusters` the cluster of each query, None where queries stand
    alone.
    """

    query: Codes
    judge: Floats
    people: Floats
    draw: Floats
    queries: int
    clusters: Codes | None = None


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected score, or a difference of two, with its interval.

    `unbiased` is False for targets that are corrected to first order only. `judge_weight` is λ, averaged over folds;
    `without_judge` is the half-width that the same decisions give without the judge. `undecided`: drawn, no decision.
    `low` and `high` stay within what the metric can be; the mean need not. `p` is that of no difference, two-sided:
    below 1 − level exactly where zero lies outside of the interval.
    """

    mean: float
    low: float
    high: float
    half_width: float
    queries: int
    decisions: int
    undecided: int
    judge_weight: float
    without_judge: float
    df: float
    unbiased: bool
    warnings: tuple[str, ...] = ()
    level: float = 0.95
    method: str = CORRECTED
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Worth:
    """What each query is worth in one metric: of one system's a score is made, of two systems' their difference.

    `plain` is v_q(share) and `change` is v_q(judge) − v_q(share); `reach` is W · D of each decided pair. It is kept
    with the scores, so that runs can be compared without the benchmark.
    """

    plain: tuple[float, ...]
    change: tuple[float, ...]
    reach: tuple[float, ...]
    undecided: int = 0
    linear: bool = True

    def less(self, other: Worth) -> Worth:
        """This system less the other: pairs that both found alike cancel."""
        plain, change, reach = (
            tuple(mine - theirs for mine, theirs in zip(*columns, strict=True))
            for columns in ((self.plain, other.plain), (self.change, other.change), (self.reach, other.reach))
        )
        return Worth(plain, change, reach, self.undecided, self.linear and other.linear)


def worths(pairs: JudgedPairs, targets: Sequence[Target], *, seed: int = 0) -> list[Worth]:
    """What each query is worth in each target, from one calibration of the judge."""
    weights, undecided = decided_weights(pairs.draw, pairs.people)
    check_enough(weights, "decisions", LEAST_DECISIONS)
    _, fold = _folds(pairs.clusters, pairs.queries, seed)
    features = with_query_mean(pairs.judge, pairs.query, pairs.queries)
    fit = cross_fit(features, pairs.people, weights, fold[pairs.query])
    shared = _shared_variance(pairs, weights, fit.probability)

    def of(metric: Target) -> Worth:
        one = metric if metric.linear else with_shared_errors(metric, shared)
        plain, reach = _worth(pairs, one, weights, fit.base)
        change = _worth(pairs, one, weights, fit.probability)[0] - plain
        columns = [tuple(column.tolist()) for column in (plain, change, reach[weights > 0])]
        return Worth(columns[0], columns[1], columns[2], undecided, one.linear)

    return [of(one) if one.whole is None else _ratio(of(one), of(one.whole)) for one in targets]


def _ratio(part: Worth, whole: Worth) -> Worth:
    """The ratio ρ of two means as one mean, to first order: ρ + (a_q − ρ t_q) / t̄; ρ and t̄ with the judge."""
    a, t = (np.array(one.plain) + np.array(one.change) for one in (part, whole))
    size = max(float(t.mean()), 0.1)
    ratio = min(max(float(a.mean()) / size, 0.0), 1.0)
    plain, change, reach = (
        (np.array(mine) - ratio * np.array(of)) / size
        for mine, of in ((part.plain, whole.plain), (part.change, whole.change), (part.reach, whole.reach))
    )
    return Worth(tuple((ratio + plain).tolist()), tuple(change.tolist()), tuple(reach.tolist()), part.undecided)


def correct(pairs: JudgedPairs, metric: Target, *, level: float = 0.95, seed: int = 0) -> Corrected:
    """The score of one system.

    Unbiased for linear targets, whatever the judge got wrong, but for the slight dependence between folds that a draw
    of fixed size leaves. Other targets are corrected to first order and carry a warning.
    """
    return corrected_score(worths(pairs, (metric,), seed=seed)[0], metric, pairs.clusters, level=level, seed=seed)


def corrected_score(
    worth: Worth, metric: Target, clusters: Codes | None = None, *, level: float = 0.95, seed: int = 0
) -> Corrected:
    """The score that a system's worth on each query gives; the interval stays within what the metric can be."""
    mixed = _mixed(worth, clusters, level, seed)
    low, high = _skewed_ends(mixed, clusters, level, seed)
    return mixed.corrected(max(low, 0.0), min(high, metric.most), metric.name)


def corrected_difference(
    first: Worth, second: Worth, metric: str, clusters: Codes | None = None, *, level: float = 0.95, seed: int = 0
) -> Corrected:
    """Second − first, from what each query is worth to both; clusters and seed must be those of the worths."""
    mixed = _mixed(second.less(first), clusters, level, seed)
    p = 2 * student_tail(abs(mixed.mean) / mixed.error, mixed.df) if mixed.error > 0 else float(mixed.mean == 0)
    found = mixed.corrected(mixed.mean - mixed.half, mixed.mean + mixed.half, metric)
    return replace(found, p=p)


def within(found: Corrected, metric: str, *, difference: bool = False) -> Corrected:
    """As it is shown: mean and interval cut to [0, 1], those of a difference to [-1, 1]; DCG is left as it is.

    A true value in the interval is in the cut one when it is cut too, so coverage stays. Only frozen normalizers make
    true values that need it: nDCG and AP exceed 1 where the labels undercount relevant pictures, which is warned of.
    """
    if metric.partition("@")[0] == "dcg":
        return found
    least = -1.0 if difference else 0.0
    mean, low, high = (min(max(value, least), 1.0) for value in (found.mean, found.low, found.high))
    over = f"{metric} came out at {found.mean:.3f} and is cut to 1; the labels may undercount relevant pictures."
    warnings = (*found.warnings, over) if found.mean > 1 else found.warnings
    return replace(found, mean=mean, low=low, high=high, warnings=warnings)


def _folds(clusters: Codes | None, queries: int, seed: int) -> tuple[Codes, Codes]:
    """The cluster and the fold of each query."""
    codes = np.arange(queries) if clusters is None else np.asarray(clusters)
    return codes, assign_folds(int(codes.max()) + 1, seed=seed)[codes]


def _worth(pairs: JudgedPairs, one: Target, weights: Floats, g: Floats) -> tuple[Floats, Floats]:
    """v_q, and how far each decision reaches: W · D."""
    residuals = np.where(weights > 0, np.nan_to_num(pairs.people) - g, 0.0)
    value, slopes = one.expand(g)
    reach = slopes * weights
    return value + np.bincount(pairs.query, weights=reach * residuals, minlength=pairs.queries), reach


def _shared_variance(pairs: JudgedPairs, weights: Floats, g: Floats) -> float:
    """By how much the log odds of a query's labels err together: Σ r_i r_j / Σ v_i v_j over decided pairs of a query.

    r = y − g and v = g(1−g): cov(y_i, y_j) ≈ σ² v_i v_j. Few queries have two decisions, so it is drawn towards 1, as
    if that had been seen once, and stays between 0 and 9.
    """
    known = weights > 0
    query, residuals, spread = pairs.query[known], (pairs.people - g)[known], (g * (1 - g))[known]
    seen, possible = (float(np.sum(np.bincount(query, weights=of) ** 2) - of @ of) for of in (residuals, spread))
    return min(max((seen + 1) / (possible + 1), 0.0), 9.0)


def _least(reach: Floats, queries: int) -> float:
    """The least variance that is believed: that of n decisions of which one and a half went the other way.

    Where all decisions agree with the predictions, nothing else keeps the interval from vanishing.
    """
    rare = 1.5 / (len(reach) + 1)
    return rare * (1 - rare) * float(reach @ reach) / queries**2


def decided_weights(draw: Floats, people: Floats, strata: Codes | None = None) -> tuple[Floats, int]:
    """Weights of the decided pairs, and how many drawn ones are undecided: these are taken to be like the others.

    With `strata` only like others of their stratum.
    """
    drawn, decided = draw > 0, (draw > 0) & np.isfinite(people)
    codes = np.zeros(len(draw), dtype=np.intp) if strata is None else strata
    all_, known = (np.bincount(codes, weights=np.where(kept, draw, 0.0)) for kept in (drawn, decided))
    factor = np.divide(all_, known, out=np.zeros_like(all_), where=known > 0)
    return np.where(decided, draw * factor[codes], 0.0), int(drawn.sum() - decided.sum())


def check_enough(weights: Floats, what: str, least: int) -> None:
    """Refuse a correction from too few decisions."""
    found = int((weights > 0).sum())
    if found < least:
        raise UserError(
            f"People made {found} {what} of the draw; a correction needs at least {least}.",
            f"have {least - found} more of the drawn pairs judged",
        )


def _warnings(name: str, linear: bool, decisions: int) -> tuple[str, ...]:
    found = []
    if not linear:
        found.append(
            f"{name} is corrected to first order: the interval may hold the truth less often than it says. "
            "Have whole queries judged for an exact correction."
        )
    if decisions < FEW_DECISIONS:
        found.append(f"{decisions} decisions are few; from {FEW_DECISIONS} on intervals hold as stated.")
    return tuple(found)


def _mixed(worth: Worth, clusters: Codes | None, level: float, seed: int) -> _Mixed:
    codes, fold = _folds(clusters, len(worth.plain), seed)
    reach = np.array(worth.reach)
    least = _least(reach, len(worth.plain))
    found = _Mixed.tuned(
        np.array(worth.plain), np.array(worth.change), fold, codes, level, least, None if worth.linear else 1.0
    )
    return replace(found, decisions=len(reach), undecided=worth.undecided, linear=worth.linear)


@dataclass(frozen=True, slots=True, eq=False)
class _Mixed:
    """Each query's value with the judge mixed in, and Student's interval of their mean."""

    values: Floats
    error: float
    df: float
    half: float
    judge_weight: float
    without_judge: float
    level: float
    decisions: int = 0
    undecided: int = 0
    linear: bool = True

    @classmethod
    def tuned(
        cls,
        plain: Floats,
        change: Floats,
        fold: Codes,
        codes: Codes,
        level: float,
        least: float,
        weight_given: float | None = None,
    ) -> _Mixed:
        """Mix in the judge, with the weight that other folds show to be best; `least` is the least variance."""
        weight = np.empty(len(plain))
        for number in np.unique(fold):
            tuned = judge_weight(plain[fold != number], change[fold != number])
            weight[fold == number] = tuned if weight_given is None else weight_given
        values = plain + weight * change
        error, df = standard_error(values, codes, least)
        half = student_quantile((1 + level) / 2, df) * error
        without, _ = t_half_width(plain, codes, level, least)
        return cls(values, error, df, half, float(weight.mean()), without, level)

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    def corrected(self, low: float, high: float, name: str) -> Corrected:
        return Corrected(
            self.mean,
            low,
            high,
            self.half,
            len(self.values),
            self.decisions,
            self.undecided,
            self.judge_weight,
            self.without_judge,
            self.df,
            self.linear,
            _warnings(name, self.linear, self.decisions),
            self.level,
        )


def _skewed_ends(mixed: _Mixed, clusters: Codes | None, level: float, seed: int) -> tuple[float, float]:
    """The interval of one system's score, moved towards the long tail.

    Over queries by half of Edgeworth's shift s a (2q² + 1), with a = skewness of the mean / 6: where relevant pictures
    are rare, a draw that holds few of them gives a low mean and a small error. (The whole shift holds less often,
    because the skewness of few decisions is rough.) Over clusters it is the interval that scores without correction
    have, or Student's where clusters are too few for that.
    """
    moved = mixed.values - mixed.mean
    spread = float(moved @ moved)
    low, high = mixed.mean - mixed.half, mixed.mean + mixed.half
    if spread <= 0:
        return low, high
    if clusters is not None:
        sampling = BootstrapSampling(level, seed, RESAMPLES)
        _, dense = np.unique(clusters, return_inverse=True)
        found = cluster_intervals(mixed.values[:, None], dense, sampling)[0]
        return (low, high) if found is None else (found.low, found.high)
    quantile = mixed.half / mixed.error
    shift = mixed.error * float((moved**3).sum()) / spread**1.5 / 12 * (2 * quantile**2 + 1)
    return min(low + shift, mixed.mean), max(high + shift, mixed.mean)


def judge_weight(plain: Floats, change: Floats) -> float:
    """The λ in [0, 1] with the least variance of plain + λ · change: −Cov / Var, zero where nothing changes."""
    if len(plain) < 2:
        return 0.0
    moved = change - change.mean()
    spread = float(moved @ moved)
    return 0.0 if spread <= 0 else min(1.0, max(0.0, -float((plain - plain.mean()) @ moved) / spread))


def t_half_width(values: Floats, codes: Codes, level: float, least: float = 0.0) -> tuple[float, float]:
    """Half-width of Student's interval of the mean over clusters, and its degrees of freedom (`standard_error`)."""
    error, df = standard_error(values, codes, least)
    return student_quantile((1 + level) / 2, df) * error, df


def standard_error(values: Floats, codes: Codes, least: float = 0.0) -> tuple[float, float]:
    """The standard error of the mean over clusters, and its degrees of freedom.

    With e_c the sum of (v − v̄) over the n_c of n queries in cluster c, V = Σ e_c² / (1 − n_c/n) / n², which is unbiased
    for independent queries. Degrees of freedom: 2 / (relative variance of V) = 2C / (κ − 1), κ the kurtosis of
    e_c / √n_c, at most (Σ n_c)² / Σ n_c² − 1. V is at least `least`.
    """
    sizes = np.bincount(codes).astype(np.float64)
    sizes = sizes[sizes > 0]
    if len(sizes) < LEAST_CLUSTERS:
        raise UserError(
            f"There are {len(sizes)} clusters; an interval over clusters needs at least {LEAST_CLUSTERS}.",
            "add queries from other clusters",
        )
    n = len(values)
    _, dense = np.unique(codes, return_inverse=True)
    sums = np.bincount(dense, weights=values - values.mean())
    squares = sums**2 / (1 - sizes / n)
    total = float(squares.sum())
    most = float(n**2 / (sizes @ sizes)) - 1
    if total <= 0:
        return math.sqrt(least), max(1.0, most)
    scaled = sums**2 / sizes
    kurtosis = len(sizes) * float(scaled @ scaled) / float(scaled.sum()) ** 2
    df = max(1.0, min(most, 2 * len(sizes) / max(kurtosis - 1, 1e-9)))
    return math.sqrt(max(total / n**2, least)), df
