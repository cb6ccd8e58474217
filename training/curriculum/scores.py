"""The rows of the experiment as tables of right and wrong, with intervals; and which arm is better than which."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.statistics.distributions import student_tail

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
    """A mean and its interval, from seeds and questions drawn again; of a difference also a p value."""

    mean: float
    low: float
    high: float
    p: float = 1.0

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
    return Score(float(table.mean()), float(low), float(high), p_of_mean(table))


def p_of_mean(table: Table) -> float:
    """Is a mean over seeds and questions, both drawn at random, 0? Student's t; few seeds leave few degrees."""
    seeds, questions = table.shape
    if seeds < 2:
        return 1.0
    by_seed, by_question, mean = table.mean(1), table.mean(0), float(table.mean())
    rest = table - by_seed[:, None] - by_question + mean
    of_seeds, of_questions = questions * by_seed.var(ddof=1), seeds * by_question.var(ddof=1)
    of_rest = float((rest**2).sum()) / ((seeds - 1) * (questions - 1))
    variance = max(of_seeds + of_questions - of_rest, of_questions, of_rest)
    if variance == 0:
        return float(mean == 0)
    parts = ((of_seeds, seeds - 1), (of_questions, questions - 1), (of_rest, (seeds - 1) * (questions - 1)))
    freedom = max(seeds - 1, (of_seeds + of_questions - of_rest) ** 2 / sum(part**2 / free for part, free in parts))
    return 2 * student_tail(abs(mean) / math.sqrt(variance / table.size), freedom)


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


LEVEL = 0.05


def told(name: str, rival: str, moved: Score, p: float, rests_on: Sequence[str] = ()) -> str:
    """In words, what is left of a difference after `p` is corrected, and when any one subtask is left out."""
    named = name if name.startswith("MIR") else name[0].lower() + name[1:]
    if p >= LEVEL:
        kept = (
            "" if moved.low <= 0 <= moved.high else f"; uncorrected, the interval does not hold 0 (corrected p {_p(p)})"
        )
        return f"Between {named} and {rival} no difference can be told: {moved.in_points()} points{kept}."
    said = "beats" if moved.mean > 0 else "loses to"
    size = moved if moved.mean > 0 else Score(-moved.mean, -moved.high, -moved.low)
    alone = f", which rests on {' or '.join(rests_on)}: without it the interval holds 0" if rests_on else ""
    return f"{name} {said} {rival} by {size.in_points('')} percentage points (corrected p {_p(p)}){alone}."


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.2g}"


def rests_on(results: Results, first: str, second: str) -> list[str]:
    """The subtasks without which a difference of two arms can't be told from none."""
    a, b = results.table(first), results.table(second)
    if a is None or b is None:
        return []
    seeds = min(len(a), len(b))
    moved = b[:seeds] - a[:seeds]
    of_subtasks = results.subtasks() if len(results.subtasks()) > 1 else {}
    left = {name: scored(np.delete(moved, places, axis=1)) for name, places in of_subtasks.items()}
    return [name for name, score in left.items() if score.low <= 0 <= score.high]
