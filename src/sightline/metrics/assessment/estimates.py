"""Scores and differences from drawn pairs and people's answers, with intervals that hold while one looks.

Draw t gives X_t = known + Σ c · g, whose mean is the target given everything before. A judge's grades help as a control
variate: with h the gain that they predict, C_t = Σ c · h − (what is left of Σ w · h) has mean zero, and X_t − β_t · C_t
varies less if the judge is any good. Both h (logistic regression of answers on the judge's log odds and on their mean
over the query) and β_t (regression of answers on the control, shrunk, within [0, 1]) come from draws *before* t: the
mean stays what it is, whatever the judge got wrong, and a judge that knows nothing soon gets no weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sightline.metrics.assessment.betting import Bets, anytime_p, interval
from sightline.metrics.assessment.draws import DrawnPairs
from sightline.metrics.assessment.pool import Codes, Floats
from sightline.metrics.labels.calibration import fit_calibrator

_FIRST = 16
"""The judge is calibrated after so many draws, and again whenever there are half as many more."""
_TRUST, _TRUSTED_FOR = 0.5, 2.0
"""The weight of a judge before anything is known of it, and how slowly that is forgotten."""


@dataclass(frozen=True, slots=True)
class Assessed:
    """A score or a difference: mean, interval, and p of the hypothesis that it is zero.

    `deviation` is the standard deviation of a draw. `saved` is the share of decisions that a judge made unnecessary: 0
    without one, or where it is of no use. `unasked` is how far the interval reaches up, and down, for what no
    decision can tell: what results on queries on which the other system failed are worth.
    """

    mean: float
    low: float
    high: float
    p: float
    draws: int
    deviation: float
    saved: float = 0.0
    unasked: tuple[float, float] = (0.0, 0.0)

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    @property
    def at_most(self) -> float:
        """The largest size that is possible, apart from what no decision can tell."""
        up, down = self.unasked
        return max(self.high - up, -self.low - down)


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What a model said of the first pairs: features by pair, and weights (pairs × targets)."""

    features: Floats
    weights: Floats

    def predict(self, pairs: Codes, gains: Floats) -> Floats:
        """The gain of each pair less the mean gain, from answers about `pairs`; 0 where the judge said nothing.

        Before there is an answer, what the judge states is believed.
        """
        known = pairs[(pairs >= 0) & (pairs < len(self.features))]
        if len(known):
            fitted = fit_calibrator(self.features[known], gains[known]).predict(self.features)
            center = float(gains[known].mean())
        else:
            fitted = 1 / (1 + np.exp(-self.features[:, 0]))
            center = float(fitted.mean())
        return np.concatenate([fitted - center, np.zeros(len(gains) + 1 - len(fitted))])


def observations(drawn: DrawnPairs, gains: Floats, target: int, *, signed: bool, judge: Judge | None = None) -> Bets:
    """X_t − β_t · C_t with bounds. `gains` are by number of pair; `signed` targets are differences."""
    part, worth = drawn.coefficients[:, :, target], drawn.weights[:, :, target]
    answers = np.append(gains, 0.0)[drawn.pairs]  # Number −1, no pair, is the last one.
    moved, told = (part * answers).sum(axis=1), (worth * answers).sum(axis=1)
    known = np.cumsum(told) - told
    low = known - drawn.reach if signed else known
    bets = Bets(known + moved, low, known + drawn.reach)
    if judge is None:
        return bets
    control, left, span = _controls(drawn, gains, target, judge)
    weight = _weights(moved / drawn.reach, control / drawn.reach)
    shift, margin = weight * left, weight * span * drawn.reach
    return Bets(bets.values - weight * control, low + shift - margin, bets.high + shift + margin)


def _controls(drawn: DrawnPairs, gains: Floats, target: int, judge: Judge) -> tuple[Floats, Floats, Floats]:
    """C_t, what is left of Σ w · h, and the range of h, each as predicted from the draws before."""
    part, worth = drawn.coefficients[:, :, target], drawn.weights[:, :, target]
    control, left, span = np.zeros((3, len(part)))
    first, last = 0, _FIRST
    while first < len(part):
        h = judge.predict(drawn.pairs[:first].ravel(), gains)
        here = slice(first, last)
        told = (worth * h[drawn.pairs]).sum(axis=1)
        # A sum, not a dot product: over 10,000 pairs that starts threads, which wait for each other on a busy machine.
        whole = (judge.weights[:, target] * h[: len(judge.weights)]).sum()
        left[here] = (whole - np.cumsum(told) + told)[here]
        control[here] = (part * h[drawn.pairs]).sum(axis=1)[here] - left[here]
        span[here] = h.max() - h.min()
        first, last = last, last * 3 // 2
    return control, left, span


def _weights(moved: Floats, control: Floats) -> Floats:
    """β_t = (Σ_{s<t} (Y_s − Ȳ) · C_s + a · b) / (Σ_{s<t} C_s² + a), within [0, 1], with a prior of b = ½ for a = 2."""
    mean = (np.cumsum(moved) - moved) / np.maximum(np.arange(len(moved)), 1)
    both, square = (moved - mean) * control, control**2
    found = (np.cumsum(both) - both + _TRUST * _TRUSTED_FOR) / (np.cumsum(square) - square + _TRUSTED_FOR)
    return np.clip(found, 0.0, 1.0)


def assess_target(
    drawn: DrawnPairs,
    gains: Floats,
    target: int,
    left: float,
    *,
    signed: bool,
    level: float,
    judge: Judge | None = None,
    unasked: tuple[float, float] = (0.0, 0.0),
) -> Assessed:
    """The estimate of one target from decided draws; `left` is what the pairs that were not drawn can still add.

    `unasked` is what results that nobody is asked about can add, and take away. The interval holds whatever they are
    worth; the mean takes them to be as good as the others of their side.
    """
    known = float((drawn.weights[:, :, target] * np.append(gains, 0.0)[drawn.pairs]).sum())
    limits = (known - left if signed else known, known + left)
    up, down = unasked
    if not len(drawn.pairs):
        low, high = limits[0] - down, limits[1] + up
        return Assessed((low + high) / 2, low, high, 1.0, 0, left / 2, unasked=unasked)
    plain = observations(drawn, gains, target, signed=signed)
    bets = plain if judge is None else observations(drawn, gains, target, signed=signed, judge=judge)
    low, high = interval(bets, level, limits)
    mean, deviation, before = float(np.clip(bets.values.mean(), low, high)), bets.values.std(), plain.values.std()
    saved = max(0.0, 1 - float(deviation / before) ** 2) if before > 0 else 0.0
    is_open = limits[0] - down <= 0 <= limits[1] + up  # Else what is left can't change the sign any more.
    p = anytime_p(bets, -up, down) if is_open else 0.0
    mean += _worth(drawn, gains, target, 1) * up - _worth(drawn, gains, target, -1) * down
    return Assessed(mean, low - down, high + up, p, len(drawn.pairs), float(deviation), saved, unasked)


def _worth(drawn: DrawnPairs, gains: Floats, target: int, side: int) -> float:
    """The mean gain of the pairs that speak for one side."""
    found = gains[drawn.pairs[drawn.weights[:, :, target] * side > 0]]
    return float(found.mean()) if len(found) else 0.0
