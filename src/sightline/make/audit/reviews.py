"""How many labels are right, from those that people checked: weighted back to all labels, tier by tier."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sightline.score.agreement import krippendorff_alpha
from sightline.score.statistics import estimate, wilson
from sightline.types import Benchmark, Estimate, Relevance, Review

_YES = frozenset({"relevant", "yes", "fits", "true"})
_NO = frozenset({"not relevant", "irrelevant", "no", "does not fit", "false"})
_AGREE = frozenset({"accept", "accepted", "agree", "keep", "right", "correct", "ok"})
_DISAGREE = frozenset({"reject", "rejected", "disagree", "drop", "wrong", "incorrect"})
WITHDRAW = "withdraw"
"""A decision that takes back the same person's last one on the same; lines are never deleted."""
_UNKNOWN_TIER = "unknown"
_RESAMPLES = 2000
_LEVEL = 0.95
_FEW = 10
"""Below this many queries a bootstrap over them can be narrow by luck."""


@dataclass(frozen=True, slots=True)
class LabelQuality:
    """The share of labels that people find right.

    `right` is weighted by how many labels each tier has in all, so that it holds for the benchmark and not only for
    what was checked. `relevant` and `not_relevant` are the same for the two kinds of label. `people_alpha` is how far
    people agree with each other, where several checked the same. `unread` decisions are in words that are not known.
    """

    checked: int
    labels: int
    people: int
    right: Estimate
    by_tier: Mapping[str, Estimate]
    relevant: Estimate
    not_relevant: Estimate
    people_alpha: float | None = None
    wrong: tuple[tuple[str, str], ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)


def decision_of(text: str, is_relevant: bool) -> bool | None:
    """Whether the person finds the picture relevant: said outright, as a grade, or about the label; None if neither."""
    word = re.sub(r"[\s_-]+", " ", text.strip().lower())
    if word.isdigit():
        return int(word) > 0
    if word in _YES or word in _NO:
        return word in _YES
    if word in _AGREE or word in _DISAGREE:
        return is_relevant == (word in _AGREE)
    return None


def standing(reviews: Iterable[Review]) -> tuple[Review, ...]:
    """The decisions that were not taken back, in the order in which they were made."""
    kept: list[Review] = []
    for review in sorted(reviews, key=lambda review: review.when.timestamp()):
        if review.decision.strip().lower() != WITHDRAW:
            kept.append(review)
            continue
        same = review.person, review.task, review.picture
        last = next((one for one in reversed(kept) if (one.person, one.task, one.picture) == same), None)
        if last is not None:
            kept.remove(last)
    return tuple(kept)


def label_quality(benchmark: Benchmark, *, seed: int = 0) -> LabelQuality | None:
    """From the reviews of a benchmark; None where nobody checked a label."""
    labels = {
        (task, picture): grade > 0
        for task, truth in benchmark.truth.items()
        if isinstance(truth, Relevance)
        for picture, grade in truth.grades.items()
    }
    said, unread = _decisions(standing(benchmark.reviews), labels)
    if not said:
        return None
    tiers = {(one.task, one.picture): str(one.tier) for one in benchmark.candidates}
    right = {pair: _majority(votes.values()) == labels[pair] for pair, votes in said.items()}
    tier_of = {pair: tiers.get(pair, _UNKNOWN_TIER) for pair in labels}
    return LabelQuality(
        checked=len(said),
        labels=len(labels),
        people=len({person for votes in said.values() for person in votes}),
        right=stratified(right, tier_of, seed=seed),
        by_tier=_by_tier(right, tier_of, seed),
        relevant=_of_kind(right, {pair: tier for pair, tier in tier_of.items() if labels[pair]}, seed),
        not_relevant=_of_kind(right, {pair: tier for pair, tier in tier_of.items() if not labels[pair]}, seed),
        people_alpha=_between_people(said),
        wrong=tuple(pair for pair, is_right in right.items() if not is_right),
        unread=unread,
    )


def stratified(
    right: Mapping[tuple[str, str], bool], tier_of: Mapping[tuple[str, str], str], *, seed: int = 0
) -> Estimate:
    """Σ over tiers of (the tier's share of all labels) × (the share of its checked labels that is right).

    Tiers of which nothing was checked are left out of the weights. The interval resamples queries; with few queries it
    is no narrower than Wilson's for as many labels as the weights are worth, which stands alone when all are right.
    """
    sizes = Counter(tier_of.values())
    checked = Counter(tier_of[pair] for pair in right)
    weight = {tier: sizes[tier] / count for tier, count in checked.items()}
    pairs = list(right)
    weights = np.array([weight[tier_of[pair]] for pair in pairs])
    values = np.array([float(right[pair]) for pair in pairs])
    mean = float(np.average(values, weights=weights)) if pairs else 0.0
    worth = float(weights.sum() ** 2 / (weights**2).sum()) if pairs else 0.0
    tasks, at = np.unique(np.array([task for task, _ in pairs], dtype=str), return_inverse=True)
    if not pairs:
        return Estimate(0.0, 0.0, 1.0, 0, 0, None, _LEVEL, "none")
    low, high = wilson(mean, max(1.0, min(worth, _effective(at, values))), _LEVEL)
    method = "wilson"
    if len(tasks) > 1 and 0 < mean < 1:
        lower, upper = _resampled(at, len(tasks), weights, values, seed)
        low, high = (lower, upper) if len(tasks) >= _FEW else (min(low, lower), max(high, upper))
        method = "cluster-bootstrap"
    return Estimate(mean, low, high, len(pairs), 0, mean, _LEVEL, method)


def _effective(at: np.typing.NDArray[np.intp], values: np.typing.NDArray[np.float64]) -> float:
    """Labels of one query that all come out the same say no more than a query each."""
    return float(len(values) if 0 < values.mean() < 1 else len(np.unique(at)))


def _resampled(
    at: np.typing.NDArray[np.intp],
    tasks: int,
    weights: np.typing.NDArray[np.float64],
    values: np.typing.NDArray[np.float64],
    seed: int,
) -> tuple[float, float]:
    sums = np.bincount(at, weights * values, minlength=tasks)
    sizes = np.bincount(at, weights, minlength=tasks)
    drawn = np.random.default_rng(seed).integers(tasks, size=(_RESAMPLES, tasks))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def _decisions(
    reviews: Sequence[Review], labels: Mapping[tuple[str, str], bool]
) -> tuple[dict[tuple[str, str], dict[str, bool]], dict[str, int]]:
    """For each checked label what each person found; of several decisions of one person the last counts."""
    said: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    unread: Counter[str] = Counter()
    for review in reviews:
        if review.picture is None or (review.task, review.picture) not in labels:
            continue
        pair = review.task, review.picture
        found = decision_of(review.decision, labels[pair])
        if found is None:
            unread[review.decision] += 1
        else:
            said[pair][review.person] = found
    return dict(said), dict(unread)


def _majority(votes: Iterable[bool]) -> bool:
    given = list(votes)
    return sum(given) * 2 > len(given)


def _by_tier(
    right: Mapping[tuple[str, str], bool], tier_of: Mapping[tuple[str, str], str], seed: int
) -> dict[str, Estimate]:
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for pair, is_right in right.items():
        found[tier_of[pair]].append((pair[0], float(is_right)))
    return {
        tier: estimate(
            [value for _, value in values], clusters=[task for task, _ in values], proportion=True, seed=seed
        )
        for tier, values in sorted(found.items())
    }


def _of_kind(right: Mapping[tuple[str, str], bool], tier_of: Mapping[tuple[str, str], str], seed: int) -> Estimate:
    return stratified({pair: value for pair, value in right.items() if pair in tier_of}, tier_of, seed=seed)


def _between_people(said: Mapping[tuple[str, str], Mapping[str, bool]]) -> float | None:
    people = sorted({person for votes in said.values() for person in votes})
    rows = [[votes.get(person) for votes in said.values()] for person in people]
    return krippendorff_alpha(rows) if len(rows) > 1 else None
