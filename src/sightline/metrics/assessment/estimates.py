"""Scores and differences from drawn pairs and people's answers, with intervals that hold while one looks.

Draw t gives X_t = known + Σ c · g, whose mean is the target given everything before. A judge's grades j help as a
control variate: C_t = Σ c · j − (what is left of Σ w · j) has mean zero, and X_t − β_t C_t varies less if the judge is
any good. The weight β_t in [0, 1] is the regression of answers on the judge over the draws *before* t, shrunk towards
0, so that nothing about draw t is used and a judge that knows nothing soon gets no weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.assessment.betting import Bets, anytime_p, interval
from sightline.metrics.assessment.draws import DrawnPairs
from sightline.metrics.assessment.pool import Floats

SHRINK = 4.0
"""A judge's weight is shrunk as if so many draws had shown no relation."""


@dataclass(frozen=True, slots=True)
class Assessed:
    """A score or a difference: mean, interval, and p of the hypothesis that it is zero.

    `judge_weight` is the weight of the judge at the end, `saved` the share of the decisions that the judge made
    unnecessary (0 where it is of no use).
    """

    mean: float
    low: float
    high: float
    p: float
    draws: int
    judge_weight: float = 0.0
    saved: float = 0.0

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def decided_draws(drawn: DrawnPairs, gains: Floats) -> int:
    """How many draws are decided, up to the first that is not: later ones wait for it."""
    known = np.append(np.isfinite(gains), True)[drawn.pairs].all(axis=1)  # −1, no pair, is the last one.
    return len(known) if known.all() else int(np.argmin(known))


def observations(
    drawn: DrawnPairs, gains: Floats, target: int, *, signed: bool, judge: Floats | None = None, judged: float = 0.0
) -> tuple[Bets, Floats]:
    """X_t − β_t C_t with bounds, and β_t.

    `gains` and `judge` are by number of pair, `judge` centered and 0 where it said nothing; `judged` is Σ w · j over
    all pairs. `signed` targets are differences.
    """
    part, worth = drawn.coefficients[:, :, target], drawn.weights[:, :, target]
    answers = np.append(gains, 0.0)[drawn.pairs]
    moved, known = _totals(part, worth, answers)
    low = known - drawn.reach if signed else known
    values, high, weight = known + moved, known + drawn.reach, np.zeros(len(known))
    if judge is not None:
        said, told = _totals(part, worth, np.append(judge, 0.0)[drawn.pairs])
        left = judged - told
        control = said - left
        weight = judge_weights(moved, control, drawn.reach)
        shift, margin = weight * left, weight * drawn.reach
        values, low, high = values - weight * control, low + shift - margin, high + shift + margin
    return Bets(values, low, high), weight


def _totals(part: Floats, worth: Floats, answers: Floats) -> tuple[Floats, Floats]:
    """What each draw says of all that was left, and what was known before it."""
    here = (worth * answers).sum(axis=1)
    return (part * answers).sum(axis=1), np.cumsum(here) - here


def judge_weights(moved: Floats, control: Floats, reach: Floats) -> NDArray[np.float64]:
    """β_t = Σ_{s<t} (Y_s − Ȳ) C_s / (Σ_{s<t} C_s² + shrinkage), within [0, 1]; both in units of R."""
    y, c = moved / np.maximum(reach, 1e-300), control / np.maximum(reach, 1e-300)
    count = np.arange(len(y))
    before = np.cumsum(y) - y
    mean = before / np.maximum(count, 1)
    both, square = np.cumsum((y - mean) * c), np.cumsum(c * c)
    weight = np.append(0.0, both[:-1] / (square[:-1] + SHRINK * 0.25)) if len(y) else np.zeros(0)
    return np.clip(weight, 0.0, 1.0)


def assess_target(
    drawn: DrawnPairs,
    gains: Floats,
    target: int,
    left: float,
    *,
    signed: bool,
    level: float,
    judge: Floats | None = None,
    judged: float = 0.0,
) -> Assessed:
    """The estimate of one target from decided draws; `left` is what the pairs that were not drawn can still add."""
    bets, weight = observations(drawn, gains, target, signed=signed, judge=judge, judged=judged)
    known = float((drawn.weights[:, :, target] * np.append(gains, 0.0)[drawn.pairs]).sum())
    limits = (known - left if signed else known, known + left)
    if not len(bets.values):
        return Assessed(float(np.mean(limits)), *limits, 1.0, 0)
    low, high = interval(bets, level, limits)
    mean = float(np.clip(bets.values.mean(), low, high))
    if judge is None:
        return Assessed(mean, low, high, anytime_p(bets), len(weight))
    plain, _ = observations(drawn, gains, target, signed=signed)
    return Assessed(mean, low, high, anytime_p(bets), len(weight), float(weight[-1]), _saved(plain.values, bets.values))


def _saved(plain: Floats, helped: Floats) -> float:
    """1 − the ratio of variances, at least 0."""
    before = float(plain.var())
    return max(0.0, 1 - float(helped.var()) / before) if before > 0 else 0.0
