"""The rows of the experiment as tables of right and wrong, with intervals; and which arm is better than which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ORDER = (
    *("base", "plain", "full-chain", "mir", "shuffled", "reverse", "anti", "self-paced"),
    *("faded", "faded-mixed", "rehearsed", "long-end"),
)
ALIKE = ("plain", "full-chain", "faded", "faded-mixed")
"""Arms to which it is all the same which questions are easy, and how many of them a stage samples."""
RESAMPLES = 4000
Row = dict[str, Any]
Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Score:
    """A mean and its interval, from seeds and questions drawn again."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.1%} [{self.low:.1%}, {self.high:.1%}]"

    def in_points(self, sign: str = "+") -> str:
        """Of a difference of shares: in percentage points."""
        mean, low, high = (f"{100 * value:{sign}.1f}" for value in (self.mean, self.low, self.high))
        return f"{mean} [{low}, {high}]"


def scored(table: Table) -> Score:
    """Seeds × questions → the mean, with 95 % of the means where both seeds and questions are drawn again."""
    rng = np.random.default_rng(0)
    seeds, questions = table.shape
    means = np.empty(RESAMPLES)
    for at in range(RESAMPLES):
        by_question = table[rng.integers(seeds, size=seeds)].mean(0)
        means[at] = by_question[rng.integers(questions, size=questions)].mean()
    low, high = np.quantile(means, (0.025, 0.975))
    return Score(float(table.mean()), float(low), float(high))


def mode_of(arm: str) -> str:
    """How an arm is asked: as it was taught at the end."""
    return "direct" if arm in ("base", "plain", "faded", "faded-mixed") else "chain"


@dataclass(frozen=True, slots=True)
class Results:
    """What was found, as tables of right (1) and wrong (0): seeds × questions."""

    questions: list[Row]
    runs: list[Row]

    def table(self, arm: str, stage: str = "end", mode: str | None = None) -> Table | None:
        """Of an arm at the end or after a stage; each is asked as it was taught unless a mode is given."""
        mode = mode or mode_of(arm)
        rows = [row for row in self.runs if (row["arm"], row["stage"], row["mode"]) == (arm, stage, mode)]
        if not rows:
            return None
        answers = [question["answer"] for question in self.questions]
        rows.sort(key=lambda row: row["seed"])
        return np.array([[float(a == b) for a, b in zip(row["letters"], answers, strict=False)] for row in rows])

    @property
    def arms(self) -> list[str]:
        return [arm for arm in ORDER if self.table(arm) is not None]

    def last(self, arm: str) -> list[Row]:
        """The lines with which an arm's runs ended."""
        return [row for row in self.runs if row["arm"] == arm and row.get("last")]

    def subtasks(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for place, question in enumerate(self.questions):
            found[question["subtask"]].append(place)
        return found


def settings_of(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The settings that were tried, in their order."""
    found: list[dict[str, Any]] = []
    for row in runs:
        if row["setting"] not in found:
            found.append(row["setting"])
    return found


def rows_of(
    runs: Sequence[dict[str, Any]], setting: Mapping[str, Any], main: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The rows of a setting, with the main setting's for arms to which the two are the same."""
    own = [row for row in runs if row["setting"] == setting]
    there = {row["arm"] for row in own}
    tokens = tokens_of(own)
    if (setting["questions"], setting["rate"]) == (main["questions"], main["rate"]):
        for arm in ALIKE:
            rows = [row for row in runs if row["setting"] == main and row["arm"] == arm]
            if arm not in there and rows and abs(tokens_of(rows) / tokens - 1) < 0.02:
                own += rows
    return own


def tokens_of(rows: Sequence[Mapping[str, Any]]) -> float:
    """What an arm trained on."""
    return float(np.mean([row["tokens"] for row in rows if row.get("last") and row["arm"] != "base"]))


PAIRS = (
    ("plain", "full-chain"),
    *((rival, "mir") for rival in ("plain", "full-chain", "shuffled", "reverse", "anti", "self-paced")),
    *((rival, arm) for arm in ("rehearsed", "long-end") for rival in ("mir", "full-chain")),
    *(("plain", arm) for arm in ("faded", "faded-mixed")),
    ("faded-mixed", "faded"),
)
"""Of which the second is compared with the first."""


def differences(results: Results) -> dict[tuple[str, str], Score]:
    """Who is better than whom, over the same questions and the same seeds."""
    found = {}
    for first, second in PAIRS:
        a, b = results.table(first), results.table(second)
        if a is not None and b is not None:
            seeds = min(len(a), len(b))
            found[first, second] = scored(b[:seeds] - a[:seeds])
    return found


def told(name: str, rival: str, moved: Score) -> str:
    """In words, what an interval says of one arm and its rival."""
    if moved.low > 0:
        return f"{name} beats {rival} by {moved.in_points('')} percentage points."
    if moved.high < 0:
        lost = Score(-moved.mean, -moved.high, -moved.low)
        return f"{name} loses to {rival} by {lost.in_points('')} percentage points."
    named = name if name.startswith("MIR") else name.lower()
    return f"Between {named} and {rival} no difference can be told: {moved.in_points()} points."
