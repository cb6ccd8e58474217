"""Does who was asked only guess? Then easy and hard say nothing about the questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from sightline.reason.difficulty.posterior import LEVEL
from sightline.score.choices.right import right_option
from sightline.types import Task, Truth

FEWEST = 4
"""Of fewer questions nothing can be said."""
_NEARLY_ALL = 0.9


@dataclass(frozen=True, slots=True)
class Tried:
    """One question with options: the share of right answers, and what was chosen how often, where that is known."""

    task: Task
    truth: Truth
    rate: float
    options: Mapping[str, int] = field(default_factory=dict)


def about_guessing(by: str, tried: Sequence[Tried]) -> tuple[str, ...]:
    """A note where nearly all answers are one letter, or the mean rate can't be told from that of guessing.

    That is so if the lower end of its Wilson interval, with the question as the unit, is not above the mean of
    1 / options. Questions without options are left out.
    """
    from sightline.score.statistics.intervals import wilson

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


def _only_letter(tried: Sequence[Tried]) -> str | None:
    """The key that nearly all answers give, though it is not the right one of all questions."""
    counts: Counter[str] = Counter()
    for one in tried:
        counts.update(one.options)
    right = {right_option(one.task, one.truth) for one in tried} - {None}
    keys = {option.key for one in tried for option in one.task.options}
    letter, count = max(counts.items(), key=lambda pair: pair[1], default=("", 0))
    return letter if letter in keys and len(right) > 1 and count >= _NEARLY_ALL * counts.total() else None
