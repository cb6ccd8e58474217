"""What is known of a pass rate after some samples: with a uniform prior, Beta(passes + 1, fails + 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline.errors import UserError

Bucket: TypeAlias = Literal["easy", "hard"]
LEVEL = 0.95


def probability_of_at_least(rate: float, passes: int, samples: int) -> float:
    """P(true rate ≥ `rate`) after `passes` of `samples`: the binomial sum P(Bin(samples + 1, rate) ≤ passes).

    1 for a rate of 0 or less, 0 for a rate of 1 or more.
    """
    if rate <= 0:
        return 1.0
    if rate >= 1:
        return 0.0
    tosses, yes, no = samples + 1, math.log(rate), math.log1p(-rate)
    terms = (math.exp(_log_choose(tosses, k) + k * yes + (tosses - k) * no) for k in range(passes + 1))
    return min(1.0, math.fsum(terms))


def credible_interval(passes: int, samples: int, level: float = LEVEL) -> tuple[float, float]:
    """The equal-tailed interval of the rate; (0, 1) up to rounding by `level` where nothing was sampled."""
    outside = (1 - level) / 2
    return _quantile(outside, passes, samples), _quantile(1 - outside, passes, samples)


def _quantile(share: float, passes: int, samples: int) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if 1 - probability_of_at_least(middle, passes, samples) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


@dataclass(frozen=True, slots=True)
class Rule:
    """How often a question is asked, when that is enough, and from which raw pass rate on it is easy.

    Enough is when P(rate ≥ `easy`) is above `sure` or below 1 - `sure`, after at least `least` samples; with
    `early` off it is when all `samples` are there.
    """

    samples: int = 10
    easy: float = 0.7
    least: int = 3
    sure: float = 0.99
    early: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.easy < 1:
            raise UserError(f"a pass rate of {self.easy:g} tells no easy from hard.", "give a rate such as 0.7")
        if self.samples < 1 or self.least < 1:
            raise UserError("no sample at all tells nothing.", "give a number from 1 on, such as 10")

    def is_clear(self, passes: int, samples: int) -> bool:
        """Can sampling stop here?"""
        if samples >= self.samples:
            return True
        if not self.early or samples < self.least:
            return False
        chance = probability_of_at_least(self.easy, passes, samples)
        return chance > self.sure or chance < 1 - self.sure

    def more(self, passes: int, samples: int) -> int:
        """The fewest further samples after which it could be clear: so many may be asked at once, none is wasted."""
        for count in range(self.samples - samples + 1):
            if self.is_clear(passes + count, samples + count) or self.is_clear(passes, samples + count):
                return count
        return 0

    def bucket(self, passes: int, samples: int) -> Bucket:
        """By the raw rate passes / samples, never by the posterior."""
        return "easy" if passes / samples >= self.easy else "hard"
