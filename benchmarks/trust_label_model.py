"""Labels from several judges: a latent-class model (Dawid and Skene 1979) with people's decisions as anchors.

Every pair has one true class; judge j says v with probability π_j[c, v] when the class is c, independently of the other
judges. EM alternates between each pair's class probabilities and the tables π_j with the prior. A decision by a person
fixes the pair's class. Which pairs people saw may depend on what judges said, not on anything else about the pair.

The model can't see errors that judges share: it takes agreement for truth. With anchors that is measured (`shared`);
without them it is an assumption, and the result says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import UserError
from sightline.metrics.labels.shares import Share, weighted_share

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

NONE = -1
"""No vote, or no decision."""
LEAST_OVERLAP = 30
"""Pairs with three votes from which on judges alone can be told apart."""
LEAST_ANCHORS = 10
"""Decisions of each kind from which on error rates come from people alone."""
_STEPS, _TOLERANCE, _SMOOTHING = 500, 1e-9, 0.01


@dataclass(frozen=True, slots=True, eq=False)
class JudgeErrors:
    """A judge's table P(says v | class c), and its error rates at "relevant or not", each with an interval.

    `source` is "people" where enough decisions allow it to be counted, else "model". None: never observed.
    """

    name: str
    confusion: Floats
    sensitivity: Share | None
    specificity: Share | None
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class SharedErrors:
    """Two judges' errors on pairs that people decided: φ is the correlation, with the interval of a bootstrap."""

    first: str
    second: str
    phi: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, eq=False)
class LabelModel:
    """`probability[i, c]` of each class for each pair. Without `identified` it is only the share of votes."""

    probability: Floats
    prior: Floats
    judges: tuple[JudgeErrors, ...]
    shared: tuple[SharedErrors, ...]
    anchors: int
    identified: bool
    warnings: tuple[str, ...]

    @property
    def relevant(self) -> Floats:
        """The probability that a pair is relevant, grade 1 or more."""
        found: Floats = self.probability[:, 1:].sum(axis=1)
        return found


def label_model(
    votes: ArrayLike,
    people: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    clusters: ArrayLike | None = None,
    draw: ArrayLike | None = None,
    classes: int = 2,
    level: float = 0.95,
    resamples: int = 200,
    seed: int = 0,
) -> LabelModel:
    """Fit the model to `votes` (pairs × judges, classes 0, 1, …, −1 for none) and decisions `people` (−1 for none).

    `clusters` (the query of each pair) are what the bootstrap resamples; `draw` are the weights of the draw of
    decisions. With fewer than three judges and no decisions nothing tells right from wrong: `identified` is False,
    judges have no error rates, and the probability is the share of votes.
    """
    table, known = _checked(votes, people, classes)
    named = tuple(names) if names is not None else tuple(f"judge {number + 1}" for number in range(table.shape[1]))
    codes = np.arange(len(table)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    anchors = int((known != NONE).sum())
    overlap = int(((table != NONE).sum(axis=1) >= 3).sum())
    if not anchors and overlap < LEAST_OVERLAP:
        return _unidentified(table, classes, overlap)
    patterns = _Patterns.of(table, known, classes)
    fitted = patterns.fit(np.bincount(patterns.of_pair).astype(np.float64), patterns.start())
    spread = _bootstrap(patterns, fitted, codes, resamples, seed)
    weights = np.ones(len(table)) if draw is None else np.asarray(draw, dtype=np.float64)
    evidence = _Evidence(table, known, weights, codes, level)
    judges = tuple(
        evidence.judge(number, name, fitted.confusion[number], spread[:, number]) for number, name in enumerate(named)
    )
    shared = evidence.shared(named, seed)
    return LabelModel(
        patterns.posterior(fitted)[patterns.of_pair],
        fitted.prior,
        judges,
        shared,
        anchors,
        True,
        _warnings(anchors, table.shape[1], shared),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    prior: Floats
    confusion: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Patterns:
    """Pairs with the same votes and decision are alike: EM runs over these, however many pairs there are."""

    votes: Codes
    known: Codes
    of_pair: Codes
    classes: int

    @classmethod
    def of(cls, table: Codes, known: Codes, classes: int) -> _Patterns:
        rows, place = np.unique(np.column_stack([table, known]), axis=0, return_inverse=True)
        return cls(rows[:, :-1], rows[:, -1], place.reshape(-1), classes)

    def start(self) -> Floats:
        """Shares of votes, and decisions: where EM begins. Judges are thus taken to be right more often than wrong."""
        said = np.stack([(self.votes == value).sum(axis=1) for value in range(self.classes)], axis=1).astype(np.float64)
        said[said.sum(axis=1) == 0] = 1.0
        return self._anchored(said / said.sum(axis=1, keepdims=True))

    def fit(self, counts: Floats, start: Floats, smoothing: float = _SMOOTHING, steps: int = _STEPS) -> _Fit:
        """EM over weighted patterns, until probabilities move by less than 1e-9."""
        chances = start
        fitted = self._maximize(chances, counts, smoothing)
        for _ in range(steps):
            before, chances = chances, self.posterior(fitted)
            fitted = self._maximize(chances, counts, smoothing)
            if np.abs(chances - before).max() < _TOLERANCE:
                break
        return fitted

    def posterior(self, fitted: _Fit) -> Floats:
        """P(class | votes, decision) of each pattern."""
        with np.errstate(divide="ignore"):
            logs = np.log(fitted.confusion)
            total = np.broadcast_to(np.log(fitted.prior), (len(self.votes), self.classes)).copy()
        for judge in range(self.votes.shape[1]):
            said = self.votes[:, judge]
            total[said != NONE] += logs[judge][:, said[said != NONE]].T
        chances = np.exp(total - total.max(axis=1, keepdims=True))
        return self._anchored(chances / chances.sum(axis=1, keepdims=True))

    def _maximize(self, chances: Floats, counts: Floats, smoothing: float) -> _Fit:
        mass = chances * counts[:, None]
        values = np.arange(self.classes)
        said = (self.votes[:, :, None] == values).astype(np.float64)
        table = np.einsum("pc,pjv->jcv", mass, said) + smoothing
        total = table.sum(axis=2, keepdims=True)
        # A class that nobody is in says nothing about a judge.
        confusion = np.divide(table, total, out=np.full_like(table, 1 / self.classes), where=total > 0)
        prior = mass.sum(axis=0) + smoothing
        return _Fit(prior / prior.sum(), confusion)

    def _anchored(self, chances: Floats) -> Floats:
        fixed = self.known != NONE
        chances[fixed] = np.eye(self.classes)[self.known[fixed]]
        return chances


def _bootstrap(patterns: _Patterns, fitted: _Fit, codes: Codes, resamples: int, seed: int) -> Floats:
    """Tables of each judge (resample × judge × class × said) over resampled queries, each fit begun at the whole's."""
    count = int(codes.max()) + 1
    occurs = np.zeros((count, len(patterns.known)))
    np.add.at(occurs, (codes, patterns.of_pair), 1.0)
    rng = np.random.default_rng((seed, 3))
    start = patterns.posterior(fitted)
    found = []
    for _ in range(resamples):
        drawn = np.bincount(rng.integers(count, size=count), minlength=count).astype(np.float64)
        found.append(patterns.fit(drawn @ occurs, start, steps=50).confusion)
    return np.array(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Evidence:
    """What people's decisions say about judges."""

    table: Codes
    known: Codes
    draw: Floats
    codes: Codes
    level: float

    def judge(self, number: int, name: str, confusion: Floats, spread: Floats) -> JudgeErrors:
        seen = (self.known != NONE) & (self.table[:, number] != NONE) & (self.draw > 0)
        right, wrong = seen & (self.known > 0), seen & (self.known == 0)
        if min(int(right.sum()), int(wrong.sum())) >= LEAST_ANCHORS:
            said = self.table[:, number] > 0
            return JudgeErrors(name, confusion, self._share(said, right), self._share(~said, wrong), "people")
        rates = self._by_model(confusion, spread, int((self.table[:, number] != NONE).sum()))
        return JudgeErrors(name, confusion, *rates, "model")

    def _share(self, hits: NDArray[np.bool_], kept: NDArray[np.bool_]) -> Share | None:
        return weighted_share(hits[kept], self.draw[kept], self.codes[kept], self.level)

    def _by_model(self, confusion: Floats, spread: Floats, n: int) -> tuple[Share, Share]:
        ends = [(1 - self.level) / 2, (1 + self.level) / 2]
        found = []
        for part in (_sensitivity, _specificity):
            value = float(part(confusion))
            low, high = np.quantile([float(part(one)) for one in spread], ends)
            found.append(Share(value, min(float(low), value), max(float(high), value), n, float("nan"), self.level))
        return found[0], found[1]

    def shared(self, names: Sequence[str], seed: int, resamples: int = 1000) -> tuple[SharedErrors, ...]:
        """φ of each two judges' errors within the true class, averaged over classes: zero if errors are independent."""
        found = []
        rng = np.random.default_rng((seed, 4))
        # All intervals together hold at the level: an alarm about one of ten pairs of judges must not be luck.
        tail = (1 - self.level) / max(1, len(names) * (len(names) - 1))
        for one in range(len(names)):
            for other in range(one + 1, len(names)):
                seen = (self.known != NONE) & (self.table[:, one] != NONE) & (self.table[:, other] != NONE)
                if int(seen.sum()) < LEAST_ANCHORS:
                    continue
                both = np.column_stack([self.table[seen, one], self.table[seen, other]]) > 0
                truth = self.known[seen] > 0
                values = [_phi(both[at], truth[at]) for at in rng.integers(len(truth), size=(resamples, len(truth)))]
                low, high = np.quantile(values, [tail, 1 - tail])
                phi = _phi(both, truth)
                found.append(SharedErrors(names[one], names[other], phi, float(low), float(high), int(seen.sum())))
        return tuple(found)


def _phi(said: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Correlation of what two judges said after the mean of each true class is taken away."""
    left = said.astype(np.float64)
    for value in (False, True):
        here = truth == value
        if here.any():
            left[here] -= left[here].mean(axis=0)
    size = np.sqrt((left**2).sum(axis=0))
    return float(left[:, 0] @ left[:, 1] / (size[0] * size[1])) if size.all() else 0.0


def _sensitivity(confusion: Floats) -> float:
    """P(says relevant | relevant), over grades alike."""
    return float(1 - confusion[1:, 0].mean())


def _specificity(confusion: Floats) -> float:
    return float(confusion[0, 0])


def _warnings(anchors: int, judges: int, shared: tuple[SharedErrors, ...]) -> tuple[str, ...]:
    if not anchors:
        return (
            "No person decided about any pair. Error rates assume that the judges err independently and are right more "
            "often than wrong; shared errors would go unseen. Have a drawn sample of pairs judged by people.",
        )
    return tuple(
        f"{one.first} and {one.second} share errors (correlation {one.phi:.2f} [{one.low:.2f}, {one.high:.2f}], "
        f"{one.n} decisions): probabilities of the model are too sure. Calibrate them with people's decisions."
        for one in shared
        if judges > 1 and one.low > 0
    )


def _unidentified(table: Codes, classes: int, overlap: int) -> LabelModel:
    patterns = _Patterns.of(table, np.full(len(table), NONE, dtype=np.intp), classes)
    chances = patterns.start()[patterns.of_pair]
    warning = (
        f"Error rates can't be estimated: no person decided about any pair, and only {overlap} pairs have votes of "
        f"three judges ({LEAST_OVERLAP} are needed). Have a drawn sample of pairs judged by people."
    )
    return LabelModel(chances, chances.mean(axis=0), (), (), 0, False, (warning,))


def _checked(votes: ArrayLike, people: ArrayLike | None, classes: int) -> tuple[Codes, Codes]:
    table = np.asarray(votes, dtype=np.intp)
    table = table[:, None] if table.ndim == 1 else table
    known = np.full(len(table), NONE, dtype=np.intp) if people is None else np.asarray(people, dtype=np.intp)
    if classes < 2 or not len(table) or known.shape != (len(table),):
        raise UserError(
            "A label model needs pairs, two classes or more, and one decision or −1 for each pair.", "check"
        )
    if min(table.min(), known.min()) < NONE or max(table.max(), known.max()) >= classes:
        raise UserError(f"Votes and decisions must be from 0 to {classes - 1}, or −1 for none.", "check the grades")
    return table, known
