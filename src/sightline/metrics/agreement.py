"""Agreement between raters: a judge and a person, or several people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError

Label: TypeAlias = Hashable
Pair: TypeAlias = tuple[Label, Label]
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
Statistic: TypeAlias = Callable[[Sequence[Pair]], float | None]
Floats: TypeAlias = NDArray[np.float64]

_RESAMPLES = 1000
_LEVEL = 0.95


def percent_agreement(first: Sequence[Label], second: Sequence[Label]) -> float | None:
    """Share of equal labels among the items that both labelled (None and NaN are no labels); None if there are none."""
    pairs = _pairs(first, second)
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


def cohen_kappa(first: Sequence[Label], second: Sequence[Label], *, quadratic: bool = False) -> float | None:
    """Cohen's κ = 1 − Σ w·O / Σ w·E over the table O of label pairs; E is the table that the marginals alone give.

    w is 0 on the diagonal and 1 elsewhere; `quadratic` (i − j)², with i and j the places of the labels among those that
    occur, sorted. Items that one rater left out do not count. None if none is left, or
    if both used the same one label throughout: chance alone would then agree on all, and κ is 0/0.
    """
    pairs = _pairs(first, second)
    labels = _ordered({label for pair in pairs for label in pair}, needed=quadratic)
    if len(labels) < 2:
        return None
    place = {label: number for number, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    np.add.at(table, ([place[one] for one, _ in pairs], [place[other] for _, other in pairs]), 1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(pairs)
    apart = np.abs(np.subtract.outer(np.arange(len(labels)), np.arange(len(labels)))).astype(np.float64)
    weight = apart**2 if quadratic else np.sign(apart)
    return 1.0 - float((weight * table).sum() / (weight * expected).sum())


def krippendorff_alpha(ratings: Sequence[Sequence[Label]], level: Level = "nominal") -> float | None:
    """Krippendorff's α = 1 − D_o / D_e: observed over expected disagreement, for any number of raters.

    `ratings` has one row per rater and one column per item; None or NaN is a rating not given. With o the coincidence
    table over all pairs of ratings of one item (each item's weighted by 1 / (its ratings − 1)) and n its marginals,
    D_o = Σ o·δ² and D_e = Σ n_c·n_k·δ² / (n − 1). δ² is 1 for different values ("nominal"), (c − k)² ("interval"),
    or the square of Σ_{c..k} n − (n_c + n_k) / 2 ("ordinal").
    Items with fewer than two ratings do not count. None if none is left, or if only one value occurs (0/0).
    """
    counts, values = _counts(ratings, sort=level != "nominal")
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return None
    per_item = counts.sum(axis=1)
    together = counts.T @ (counts / (per_item - 1)[:, None]) - np.diag((counts / (per_item - 1)[:, None]).sum(axis=0))
    marginals = together.sum(axis=0)
    apart = _distances(values, marginals, level)
    expected = float((np.outer(marginals, marginals) * apart).sum()) / (float(marginals.sum()) - 1)
    return 1.0 - float((together * apart).sum()) / expected if expected > 0 else None


@dataclass(frozen=True, slots=True)
class AgreementMeasure:
    """A measure of agreement and its interval; None for what is not defined."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """How a judge agrees with people over `n` items; `table` counts (judge's label, person's label)."""

    n: int
    left_out: int
    agreement: AgreementMeasure
    kappa: AgreementMeasure
    alpha: AgreementMeasure
    table: Mapping[Pair, int]
    level: float = _LEVEL


def agreement_report(judge_labels: Sequence[Label], human_labels: Sequence[Label]) -> AgreementReport:
    """Percent agreement, Cohen's κ and nominal α of a judge and people, each with an interval.

    Both sequences go over the same items; None is a label not given (by a judge that failed, or not yet by a person).
    """
    pairs = _pairs(judge_labels, human_labels)
    return AgreementReport(
        n=len(pairs),
        left_out=len(judge_labels) - len(pairs),
        agreement=_measured(pairs, lambda drawn: percent_agreement(*_columns(drawn))),
        kappa=_measured(pairs, lambda drawn: cohen_kappa(*_columns(drawn))),
        alpha=_measured(pairs, lambda drawn: krippendorff_alpha(_columns(drawn))),
        table=Counter(pairs),
    )


def percentile_interval(
    pairs: Sequence[Pair], statistic: Statistic, resamples: int = _RESAMPLES, seed: int = 0
) -> tuple[float, float] | None:
    """The middle 95 % of the statistic over resampled items; None if it is not defined for half of them or more."""
    if not pairs:
        return None
    rng = np.random.default_rng(seed)
    found = (statistic([pairs[item] for item in rng.integers(len(pairs), size=len(pairs))]) for _ in range(resamples))
    defined = [value for value in found if value is not None]
    if len(defined) * 2 <= resamples:
        return None
    low, high = np.quantile(defined, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def _measured(pairs: Sequence[Pair], statistic: Statistic) -> AgreementMeasure:
    value = statistic(pairs)
    between = None if value is None else percentile_interval(pairs, statistic)
    return AgreementMeasure(value) if between is None else AgreementMeasure(value, *between)


def _columns(pairs: Sequence[Pair]) -> tuple[list[Label], list[Label]]:
    return [one for one, _ in pairs], [other for _, other in pairs]


def _pairs(first: Sequence[Label], second: Sequence[Label]) -> list[Pair]:
    if len(first) != len(second):
        raise UserError(
            f"The raters gave {len(first)} and {len(second)} labels.",
            "give one label, or None, for each item by each rater",
        )
    return [(one, other) for one, other in zip(first, second, strict=True) if not (_missing(one) or _missing(other))]


def _missing(label: Label) -> bool:
    return label is None or label != label  # NaN is the one value that differs from itself.


def _ordered(labels: set[Label], *, needed: bool) -> list[Label]:
    if not needed:
        return list(labels)
    comparable: set[Any] = set(labels)
    try:
        return sorted(comparable)
    except TypeError as error:
        raise UserError("The labels can't be put in order.", "use numbers, or unweighted κ and nominal α") from error


def _counts(ratings: Sequence[Sequence[Label]], *, sort: bool) -> tuple[Floats, list[Label]]:
    """How often each item got each value, and the values."""
    if len({len(row) for row in ratings}) > 1:
        raise UserError("The raters' rows differ in length.", "give one rating, or None, for each item by each rater")
    given = [(item, label) for row in ratings for item, label in enumerate(row) if not _missing(label)]
    values = _ordered({label for _, label in given}, needed=sort)
    place = {label: number for number, label in enumerate(values)}
    counts = np.zeros((len(ratings[0]) if ratings else 0, len(values)))
    np.add.at(counts, ([item for item, _ in given], [place[label] for _, label in given]), 1)
    return counts, values


def _distances(values: Sequence[Any], marginals: Floats, level: Level) -> Floats:
    """δ² for each pair of values."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "ordinal":
        before = np.cumsum(marginals) - marginals / 2
        squared: Floats = np.subtract.outer(before, before) ** 2
        return squared
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UserError(f'The level "{level}" needs numbers as ratings.', 'use "nominal" or "ordinal"') from error
    return np.asarray(np.subtract.outer(numbers, numbers) ** 2, dtype=np.float64)
