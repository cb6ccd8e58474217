"""The pass rate of a question after some samples: with a uniform prior, Beta(passes + 1, fails + 1).

And whether a model only guesses: then easy and hard say nothing about the questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal, TypeAlias

from sightline.errors import UserError
from sightline.metrics.choices.options import right_option
from sightline.metrics.statistics.distributions import incomplete_beta
from sightline.metrics.statistics.intervals import wilson
from sightline.types import Task, Truth

Bucket: TypeAlias = Literal["easy", "hard"]
LEVEL = 0.95
FEWEST = 4
"""Of fewer questions nothing can be said."""
_NEARLY_ALL = 0.9


def probability_of_at_least(rate: float, passes: int, samples: int) -> float:
    """P(true rate ≥ `rate`) after `passes` of `samples`: 1 for a rate of 0 or less, 0 for a rate of 1 or more."""
    return incomplete_beta(1 - rate, rate, samples - passes + 1, passes + 1)


def credible_interval(passes: int, samples: int) -> tuple[float, float]:
    """The equal-tailed interval of the rate, of level `LEVEL`."""
    outside = (1 - LEVEL) / 2
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


@dataclass(frozen=True, slots=True)
class BucketRule:
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
            raise UserError(
                f"a pass rate of {self.easy:g} does not separate easy from hard.", "give a rate such as 0.7"
            )
        if self.samples < 1 or self.least < 1:
            raise UserError("no sample at all tells nothing.", "give at least 1, such as 10")

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


@dataclass(frozen=True, slots=True)
class TriedQuestion:
    """One question with options: the share of right answers, and what was chosen how often, where that is known."""

    task: Task
    truth: Truth
    rate: float
    options: Mapping[str, int] = field(default_factory=dict)


def about_guessing(by: str, tried: Sequence[TriedQuestion]) -> tuple[str, ...]:
    """A note where nearly all answers are one letter, or the mean rate can't be told from that of guessing.

    That is so if the lower end of its Wilson interval, with the question as the unit, is not above the mean of
    1 / options. Questions without options are left out.
    """
    tried = [one for one in tried if one.task.kind == "choose" and one.task.options]
    if len(tried) < FEWEST:
        return ()
    if (letter := _only_letter(tried)) is not None:
        said = f"{by} chooses {letter}, whatever is asked: easy are just the questions where {letter} is right"
        return (f"{said}, which says nothing about them",)
    rate, chance = fmean(one.rate for one in tried), fmean(1 / len(one.task.options) for one in tried)
    if wilson(rate, len(tried), LEVEL).low > chance:
        return ()
    return (
        f"{by} can't be told from one that guesses: it is right in {rate:.2f} of its answers, and guessing in "
        f"{chance:.2f}; easy and hard say nothing about the questions then",
    )


def _only_letter(tried: Sequence[TriedQuestion]) -> str | None:
    """The key that nearly all answers give, though it is not the right one of all questions."""
    counts: Counter[str] = Counter()
    for one in tried:
        counts.update(one.options)
    right = {right_option(one.task, one.truth) for one in tried} - {None}
    keys = {option.key for one in tried for option in one.task.options}
    letter, count = max(counts.items(), key=lambda pair: pair[1], default=("", 0))
    return letter if letter in keys and len(right) > 1 and count >= _NEARLY_ALL * counts.total() else None
