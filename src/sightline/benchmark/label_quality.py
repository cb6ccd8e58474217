"""How many labels are right, from those that people checked: weighted back to all labels, tier by tier."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sightline.benchmark.review_decisions import (
    ANSWER,
    OPTION,
    WHOLE,
    BenchmarkLabels,
    Pair,
    Votes,
    decision_of,
    is_about_the_label,
    is_note,
    labels_of,
    left_out_labels,
    settled,
    standing,
    still_drawn,
    votes_of,
)
from sightline.english import counted
from sightline.metrics.labels.shares import weighted_share
from sightline.metrics.statistics.estimates import estimate
from sightline.metrics.statistics.intervals import wilson
from sightline.types import Benchmark, Estimate, PictureSet, Relevance, Review

_LEVEL = 0.95
NOTHING = Estimate(0.0, 0.0, 1.0, 0, 0, None, _LEVEL, "none")
"""Of nothing that was checked."""
_RELEVANT = ", relevant"
"""How the names of strata end whose labels said relevant."""
FEWEST = 20
"""With fewer decisions no share of right labels is stated."""
WIDEST = 0.5
"""An interval of a share that is wider says nothing."""


def no_interval(share: Estimate) -> str | None:
    """Why there is no interval to show; None where there is one."""
    return share.no_interval or ("too few to say" if share.high - share.low > WIDEST else None)


def as_mended(
    before: Mapping[Pair, bool],
    now: Mapping[Pair, bool],
    tier_of: Mapping[Pair, str],
    sizes: Mapping[str, int],
    *,
    by_lot: bool = False,
) -> Estimate:
    """The share of all labels that is right now: checked ones as they are, the rest by how right they were when made.

    Labels that people have mended are right, but say nothing of those that nobody looked at: these are as good as the
    checked ones were `before`. Without any change this is `stratified`, unless all that was checked was drawn `by_lot`.
    `sizes` are how many labels each tier has, checked or not.
    """
    if before == now and not by_lot:
        return stratified(now, tier_of, sizes=sizes)
    tiers = {tier_of[pair] for pair in before}
    seen = Counter(tier_of[pair] for pair in now)
    rest = Counter({tier: left for tier in tiers if (left := sizes.get(tier, 0) - seen[tier]) > 0})
    whole = rest.total() + len(now)
    if not rest:
        guess = replace(NOTHING, high=0.0, method="all")
    elif by_lot:
        guess = undrawn_share(before, tier_of, rest)
    else:
        guess = stratified(before, tier_of, sizes=rest)
    low, mean, high = (
        (sum(now.values()) + rest.total() * share) / max(1, whole) for share in (guess.low, guess.mean, guess.high)
    )
    return Estimate(mean, low, high, len(now), 0, mean, _LEVEL, guess.method)


def undrawn_share(right: Mapping[Pair, bool], tier_of: Mapping[Pair, str], rest: Mapping[str, int]) -> Estimate:
    """The share that is right of labels that were not drawn, from those that were drawn one by one within strata.

    Σ W_h p_h, with W_h the share of stratum h in all that was not drawn, and p_h the share that is right of the n_h
    drawn. Its variance is Σ W_h² q_h (1 − q_h) (1 / n_h + 1 / R_h), with q_h = (n_h p_h + 1) / (n_h + 2) and R_h labels
    that were not drawn; the interval is Wilson's for as many labels as have this variance. It does not matter which
    labels belong to one query, because labels were drawn and not queries.
    """
    found: dict[str, list[bool]] = defaultdict(list)
    for pair, value in right.items():
        if rest.get(tier_of[pair], 0) > 0:
            found[tier_of[pair]].append(value)
    n, hits, left = (
        np.array(column, np.float64)
        for column in zip(*((len(held), sum(held), rest[tier]) for tier, held in found.items()), strict=True)
    )
    weight, near = left / left.sum(), (hits + 1) / (n + 2)
    mean, middle = float(weight @ (hits / n)), float(weight @ near)
    variance = float(weight**2 @ (near * (1 - near) * (1 / n + 1 / left)))
    low, high = wilson(mean, max(1.0, middle * (1 - middle) / variance), _LEVEL)
    return Estimate(mean, low, high, int(n.sum()), 0, mean, _LEVEL, "wilson")


def stratified(
    right: Mapping[Pair, bool],
    tier_of: Mapping[Pair, str],
    *,
    sizes: Mapping[str, int] | None = None,
    among: Container[Pair] | None = None,
) -> Estimate:
    """Σ over tiers of (the tier's share of all labels) × (the share of its checked labels that is right).

    `sizes` are those of the tiers where they are not all labels of `tier_of`. With `among`, of these pairs alone, each
    still with its tier's weight. Tiers of which nothing was checked are left out of the weights. The interval is
    Wilson's for as many labels as the weights and the variance between queries are worth.
    """
    known = {pair: value for pair, value in right.items() if pair in tier_of}
    sizes = Counter(tier_of.values()) if sizes is None else sizes
    checked = Counter(tier_of[pair] for pair in known)
    weight = {tier: sizes.get(tier, 0) / count for tier, count in checked.items()}
    pairs = [pair for pair in known if weight[tier_of[pair]] > 0 and (among is None or pair in among)]
    if not pairs:
        return NOTHING
    found = weighted_share(
        [known[pair] for pair in pairs],
        [weight[tier_of[pair]] for pair in pairs],
        np.array([task for task, _ in pairs], dtype=str),
        _LEVEL,
    )
    return (
        NOTHING
        if found is None
        else Estimate(found.value, found.low, found.high, found.n, 0, found.value, _LEVEL, "wilson")
    )


@dataclass(frozen=True, slots=True)
class LabelQuality:
    """The share of labels that people find right.

    `right` is weighted by how many labels each stratum (tier, relevant or not) has in all, so that it holds for the
    benchmark and not only for what was checked. `relevant` and `not_relevant` are the same for the two kinds of label,
    and `truly_relevant` is the share of all labels whose picture people find relevant. `people_alpha` is how far people
    agree with each other, where several checked the same; `disputed` labels, on which as many say yes as say no, count
    as not checked. `in_sight` counts decisions about a label that was seen. `unread` decisions are in unknown words.
    """

    checked: int
    labels: int
    people: int
    right: Estimate
    by_tier: Mapping[str, Estimate]
    relevant: Estimate
    not_relevant: Estimate
    truly_relevant: Estimate
    people_alpha: float | None = None
    disputed: int = 0
    in_sight: int = 0
    wrong: tuple[Pair, ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)

    @property
    def needed(self) -> int:
        """How many more decisions a share of right labels takes; 0 where there are enough."""
        return max(0, min(FEWEST, self.labels) - self.checked)


@dataclass(frozen=True, slots=True)
class QueryReviews:
    """What people decided about queries as a whole; `kept` is the share of those decided on that they accept."""

    queries: int
    accepted: int
    rejected: int
    disputed: int
    waiting: int
    kept: Estimate


@dataclass(frozen=True, slots=True)
class CheckedLabels:
    """All that people say of a benchmark, each kind of truth counted as what it is.

    `labels` are graded pictures of rank tasks; `sets` the pictures in and beside the sets of select tasks, `exact` how
    many of these sets are right as a whole; `answers` the answers, options and descriptions. None where nobody looked.
    """

    labels: LabelQuality | None = None
    sets: LabelQuality | None = None
    exact: Estimate | None = None
    answers: LabelQuality | None = None
    queries: QueryReviews | None = None

    @property
    def main(self) -> LabelQuality | None:
        """The figure of a benchmark that has one kind of task; else the first that there is."""
        return self.labels or self.sets or self.answers

    def named(self) -> dict[str, LabelQuality]:
        """Those that there are, by what was checked."""
        each = {"labels": self.labels, "pictures of sets": self.sets, "answers": self.answers}
        return {name: found for name, found in each.items() if found is not None}


def check_labels(benchmark: Benchmark, *, labels: BenchmarkLabels | None = None, by_lot: bool = False) -> CheckedLabels:
    """What the reviews of a benchmark say about each kind of its truth, and about its queries.

    `labels` are those of the benchmark, where they are known already: no review changes them. `by_lot`: all that was
    decided on was drawn.
    """
    everything, reviews = labels or labels_of(benchmark), standing(benchmark.reviews)
    votes, own = (votes_of(reviews, benchmark, everything.now, resolved=resolved) for resolved in (True, False))
    rank = {task for task, truth in benchmark.truth.items() if isinstance(truth, Relevance)}
    select = {task for task, truth in benchmark.truth.items() if isinstance(truth, PictureSet)}

    def of(tasks: Iterable[str]) -> LabelQuality | None:
        kept = frozenset(tasks)
        said = [review for review in reviews if review.task in kept]
        of_kind = everything.of(kept)
        found = _quality(of_kind, votes, said, by_lot, _left_out(benchmark) if kept == rank else {})
        alpha = _between_people({pair: given for pair, given in own.items() if pair in of_kind.now})
        return None if found is None else replace(found, people_alpha=alpha)

    return CheckedLabels(
        of(rank),
        of(select),
        _exact(everything.of(select), votes, select),
        of(set(benchmark.truth) - rank - select),
        _queries(select | {task for task, picture in votes if picture == WHOLE and task in rank}, votes),
    )


def label_quality(benchmark: Benchmark) -> LabelQuality | None:
    """The share of right labels of a benchmark's main kind of truth; None where nobody checked one."""
    return check_labels(benchmark).main


def precision_as_made(benchmark: Benchmark, labels: BenchmarkLabels, drawn: Iterable[Pair]) -> Estimate | None:
    """The share that was right of labels that said relevant, before people corrected any or left queries out.

    `drawn` are labels by lot that people decided on. Of rank tasks; None where there are none.
    """
    votes = votes_of(standing(benchmark.reviews), benchmark, labels.now)
    asked = [pair for pair in drawn if pair in labels.before and isinstance(benchmark.truth[pair[0]], Relevance)]
    found = {pair: settled(votes[pair], 1) == (labels.before[pair] > 0) for pair in asked}
    gone = _left_out(benchmark)
    stratum = {**{pair: labels.stratum[pair] for pair in found}, **{pair: pair[1] for pair in gone}}
    right = {pair: is_so for pair, is_so in {**found, **gone}.items() if stratum[pair].endswith(_RELEVANT)}
    sizes = {name: size for name, (_, size) in still_drawn(benchmark).items()} or Counter(
        labels.stratum[pair] for pair in labels.before
    )
    return as_mended(right, right, stratum, sizes, by_lot=True) if right else None


def _left_out(benchmark: Benchmark) -> dict[Pair, bool]:
    """Whether drawn labels of queries that people left out were right; the second of a pair is the stratum."""
    found = left_out_labels(benchmark).items()
    return {(f"{at} of {name}", name): at < right for name, (right, count) in found for at in range(count)}


def _quality(
    labels: BenchmarkLabels,
    votes: Votes,
    said: Iterable[Review],
    by_lot: bool,
    gone: Mapping[Pair, bool],
) -> LabelQuality | None:
    seen = {pair: given for pair, given in votes.items() if pair in labels.now}
    found = {pair: is_so for pair, given in seen.items() if (is_so := settled(given, 1)) is not None}
    about, unread = _wordings(said, labels.now)
    if not found:
        return None
    before = {pair: is_so == (labels.before[pair] > 0) for pair, is_so in found.items() if pair in labels.before}
    now = {pair: is_so == (labels.now[pair] > 0) for pair, is_so in found.items()}
    sizes = Counter(labels.stratum.values())
    of_relevant = Counter(labels.stratum[pair] for pair, grade in labels.now.items() if grade > 0)
    made, stratum = {**before, **gone}, {**labels.stratum, **{pair: pair[1] for pair in gone}}

    def share(relevant: bool) -> Estimate:
        return as_mended(
            {pair: value for pair, value in made.items() if stratum[pair].endswith(_RELEVANT) == relevant},
            {pair: value for pair, value in now.items() if (labels.now[pair] > 0) == relevant},
            stratum,
            of_relevant if relevant else sizes - of_relevant,
            by_lot=by_lot,
        )

    quality = LabelQuality(
        checked=len(found),
        labels=len(labels.now),
        people=len({person for given in seen.values() for person in given}),
        right=as_mended(made, now, stratum, sizes, by_lot=by_lot),
        by_tier=_by_tier(before, now, labels, sizes),
        relevant=share(True),
        not_relevant=share(False),
        truly_relevant=stratified(found, labels.stratum, sizes=sizes),
        disputed=len(seen) - len(found),
        in_sight=about,
        wrong=tuple(pair for pair, is_right in now.items() if not is_right),
        unread=unread,
    )
    if not quality.needed:
        return quality
    lacking = f"{counted(quality.needed, 'more decision is', 'more decisions are')} needed"
    return replace(quality, right=replace(quality.right, reason=lacking))


def _exact(labels: BenchmarkLabels, votes: Votes, tasks: Iterable[str]) -> Estimate | None:
    """How many sets are right as a whole, of those of which people have decided on every picture."""
    members: dict[str, list[Pair]] = defaultdict(list)
    for pair in {**labels.now, **{pair: 0 for pair in votes if pair[1] != WHOLE}}:
        members[pair[0]].append(pair)
    before, now = {}, {}
    for task in tasks:
        found = {pair: settled(votes.get(pair, {}), 1) for pair in members[task]}
        if found and None not in found.values():
            before[task, WHOLE] = all(bool(is_so) == (labels.before.get(pair, 0) > 0) for pair, is_so in found.items())
            now[task, WHOLE] = all(bool(is_so) == (labels.now.get(pair, 0) > 0) for pair, is_so in found.items())
    sets = {(task, WHOLE): "set" for task in tasks}
    return as_mended(before, now, sets, {"set": len(sets)}) if now else None


def _queries(tasks: Collection[str], votes: Votes) -> QueryReviews | None:
    """Accepted or rejected as a whole; of answers that is their label, so they are not counted here."""
    whole = {task: given for (task, picture), given in votes.items() if picture == WHOLE and task in tasks}
    if not whole:
        return None
    found = {task: settled(given, 1) for task, given in whole.items()}
    decided = [float(is_so) for is_so in found.values() if is_so is not None]
    kept = estimate(decided, proportion=True) if decided else NOTHING
    accepted, rejected = int(sum(decided)), int(len(decided) - sum(decided))
    return QueryReviews(len(tasks), accepted, rejected, len(found) - len(decided), len(tasks) - len(found), kept)


def _wordings(said: Iterable[Review], labels: Mapping[Pair, int]) -> tuple[int, dict[str, int]]:
    """How many decisions are about a label that was seen, and those in words that are not known."""
    about, unread = 0, Counter[str]()
    for review in said:
        if (review.task, review.picture or WHOLE) not in labels or review.decision.startswith((OPTION, ANSWER)):
            continue
        about += is_about_the_label(review.decision)
        if decision_of(review.decision, True) is None and not is_note(review.decision):
            unread[review.decision] += 1
    return about, dict(unread)


def _by_tier(
    before: Mapping[Pair, bool],
    now: Mapping[Pair, bool],
    labels: BenchmarkLabels,
    sizes: Mapping[str, int],
) -> dict[str, Estimate]:
    """By tier, each of its two strata with its size."""
    found: dict[str, Estimate] = {}
    for tier in sorted({labels.tier[pair] for pair in now}):
        was, is_now = ({pair: each[pair] for pair in each if labels.tier[pair] == tier} for each in (before, now))
        found[tier] = as_mended(was, is_now, labels.stratum, sizes)
    return found


def _between_people(said: Votes) -> float | None:
    people = sorted({person for votes in said.values() for person in votes})
    rows = [[votes.get(person) for votes in said.values()] for person in people]
    if len(rows) < 2:
        return None
    from sightline.metrics.agreement import krippendorff_alpha  # Mostly one person checks, if any.

    return krippendorff_alpha(rows)
