"""Knowing when there is nothing to find."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sightline.score.sets.overlap import overlap
from sightline.types import Failure, PictureSet, Prediction, Truth


@dataclass(frozen=True, slots=True)
class Abstention:
    """How often a system rightly returned nothing. A failure is neither an answer nor an abstention.

    `tasks`: all of them; `empty`: those with nothing to find; `abstained`: those answered with nothing; `right`: both;
    `false_answers`: something returned where there is nothing; `failures`: no prediction at all.
    Each measure is None when nothing is under its fraction line.
    """

    tasks: int
    empty: int
    abstained: int
    right: int
    false_answers: int
    failures: int

    @property
    def precision(self) -> float | None:
        """right / abstained."""
        return self.right / self.abstained if self.abstained else None

    @property
    def recall(self) -> float | None:
        """right / empty."""
        return self.right / self.empty if self.empty else None

    @property
    def f1(self) -> float | None:
        """2 · right / (abstained + empty)."""
        size = self.abstained + self.empty
        return 2 * self.right / size if size else None

    @property
    def false_answer_rate(self) -> float | None:
        """false_answers / empty."""
        return self.false_answers / self.empty if self.empty else None


def abstention(pairs: Iterable[tuple[Truth, Prediction]]) -> Abstention:
    """Count abstentions over many tasks, from each one's truth and prediction."""
    tasks = empty = abstained = right = false_answers = failures = 0
    for truth, prediction in pairs:
        failed = isinstance(prediction, Failure)
        sets = overlap(truth, PictureSet(()) if failed else prediction)
        tasks += 1
        failures += failed
        empty += sets.true == 0
        if not failed:
            abstained += sets.predicted == 0
            right += sets.predicted == 0 and sets.true == 0
            false_answers += sets.predicted > 0 and sets.true == 0
    return Abstention(tasks, empty, abstained, right, false_answers, failures)
