"""The rows of the experiment → docs/curriculum-experiment.md with its plots: tables, intervals, and who wins.

Run: python training/curriculum/write_up.py [--runs FOLDER] [--docs docs]      (Sightline and matplotlib; no torch)
FOLDER has questions.json and runs.jsonl, as experiment.py wrote them; pretrain.json beside them is told of too, and
what findings.md says of it all stands before the tables.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plots import draw_arms, draw_stages

from sightline.score.statistics.paired import paired_difference

ORDER = ("base", "plain", "full-chain", "mir", "shuffled", "reverse", "anti", "self-paced", "rehearsed", "long-end")
MEANING = {
    "base": "no training on these questions; it knows simpler ones with options",
    "plain": "question → conclusion",
    "full-chain": "question → all five steps, in mixed order",
    "mir": "MIR's curriculum: easy first, then one given step less in each of five stages",
    "shuffled": "the same records as `mir`, in mixed order",
    "reverse": "`mir` with its stages backwards",
    "anti": "`mir` with its phases backwards: hard before easy",
    "self-paced": "all five steps; from the easiest fifth to all questions",
    "rehearsed": "`mir`, but half of each stage's records repeat earlier stages",
    "long-end": "`mir`, but its last stage takes as much as the others together",
}
RIVALS = {
    "plain": "plain fine-tuning",
    "full-chain": "the full chain in mixed order",
    "shuffled": "its own records in mixed order",
}
GUESSING = 0.25
RESAMPLES = 4000
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
    """How an arm is asked: as it was taught."""
    return "direct" if arm in ("base", "plain") else "chain"


@dataclass(frozen=True, slots=True)
class Results:
    """What was found, as tables of right (1) and wrong (0): seeds × questions."""

    questions: list[dict[str, Any]]
    runs: list[dict[str, Any]]

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

    def last(self, arm: str) -> list[dict[str, Any]]:
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


def main_table(results: Results) -> str:
    lines = ["| arm | what it is taught | seeds | right | by seed | no option read |", "|---|---|---|---|---|---|"]
    for arm in results.arms:
        table = results.table(arm)
        assert table is not None
        by_seed = ", ".join(f"{value:.1%}" for value in table.mean(1))
        ends = [row for row in results.runs if (row["arm"], row["stage"], row["mode"]) == (arm, "end", mode_of(arm))]
        unread = sum(row["letters"].count("-") for row in ends) / sum(len(row["letters"]) for row in ends)
        lines.append(f"| {arm} | {MEANING[arm]} | {len(table)} | {scored(table)} | {by_seed} | {unread:.1%} |")
    return "\n".join(lines)


def differences(results: Results) -> tuple[str, dict[tuple[str, str], Score]]:
    """Who is better than whom, over the same questions and the same seeds."""
    wanted = [("plain", "full-chain"), ("plain", "mir"), ("full-chain", "mir"), ("shuffled", "mir")]
    wanted += [("reverse", "mir"), ("anti", "mir"), ("self-paced", "mir")]
    wanted += [(rival, arm) for arm in ("rehearsed", "long-end") for rival in ("mir", "full-chain")]
    lines = ["| | difference in percentage points | p |", "|---|---|---|"]
    found = {}
    for first, second in wanted:
        a, b = results.table(first), results.table(second)
        if a is None or b is None:
            continue
        seeds = min(len(a), len(b))
        moved = scored(b[:seeds] - a[:seeds])
        p = paired_difference(a[:seeds].mean(0), b[:seeds].mean(0)).p
        found[first, second] = moved
        lines.append(f"| {second} − {first} | {moved.in_points()} | {_chance(p)} |")
    return "\n".join(lines), found


def _chance(p: float | None) -> str:
    return "–" if p is None else f"{p:.3f}" if p >= 0.001 else "< 0.001"


def subtask_table(results: Results) -> str:
    arms = results.arms
    lines = [f"| subtask | n | {' | '.join(arms)} |", f"|---|---|{'---|' * len(arms)}"]
    for subtask, places in results.subtasks().items():
        tables = [results.table(arm) for arm in arms]
        cells = [f"{table[:, places].mean():.0%}" for table in tables if table is not None]
        lines.append(f"| {subtask} | {len(places)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def level_table(results: Results, easy_below: float) -> str:
    """How much is right of easy and of hard questions."""
    lines = ["| arm | easy | hard |", "|---|---|---|"]
    easy = [place for place, question in enumerate(results.questions) if question["level"] < easy_below]
    hard = [place for place, question in enumerate(results.questions) if question["level"] >= easy_below]
    for arm in results.arms:
        table = results.table(arm)
        assert table is not None
        lines.append(f"| {arm} | {scored(table[:, easy])} | {scored(table[:, hard])} |")
    return "\n".join(lines)


def verdict(results: Results, found: Mapping[tuple[str, str], Score]) -> str:
    """In words, what the intervals say of MIR's curriculum."""
    taught = {arm: table for arm in results.arms if arm != "base" and (table := results.table(arm)) is not None}
    above = [arm for arm, table in taught.items() if scored(table).low > GUESSING]
    if not above:
        return "No arm can be told from guessing, so nothing follows about their order."
    lines = (
        [] if len(above) == len(taught) else [f"Better than guessing are {', '.join(above)}; the other arms are not."]
    )
    for rival, name in RIVALS.items():
        moved = found.get((rival, "mir"))
        if moved is None:
            continue
        if moved.low > 0:
            lines.append(f"MIR's curriculum beats {name} by {moved.in_points('')} percentage points.")
        elif moved.high < 0:
            lost = Score(-moved.mean, -moved.high, -moved.low)
            lines.append(f"MIR's curriculum loses to {name} by {lost.in_points('')} percentage points.")
        else:
            lines.append(f"Between MIR's curriculum and {name} no difference can be told: {moved.in_points()} points.")
    return " ".join(lines)


def stage_scores(results: Results) -> dict[str, dict[str, Score]]:
    """For each arm of several stages: how much is right after each, asked all by itself; after the last, in full."""
    found: dict[str, dict[str, Score]] = {}
    for arm in results.arms:
        rows = [row for row in results.runs if row["arm"] == arm and row["stage"] != "end"]
        if rows:
            stages = [*dict.fromkeys(row["stage"] for row in rows), "end"]
            tables = {stage: results.table(arm, stage, rows[0]["mode"]) for stage in stages}
            found[arm] = {stage: scored(table) for stage, table in tables.items() if table is not None}
    return found


def stage_table(scores: Mapping[str, Mapping[str, Score]]) -> str:
    lines = ["| arm | right after each stage |", "|---|---|"]
    for arm, by_stage in scores.items():
        cells = "; ".join(f"{stage} {score}" for stage, score in by_stage.items())
        lines.append(f"| {arm} | {cells} |")
    return "\n".join(lines)


def page(results: Results, setting: Mapping[str, Any], pretrained: Mapping[str, Any] | None, findings: str) -> str:
    compared, found = differences(results)
    tokens = [row["tokens"] for arm in results.arms if arm != "base" for row in results.last(arm)]
    seconds = [row["seconds"] for arm in results.arms if arm != "base" for row in results.last(arm)]
    spread = f"{min(tokens) / 1e6:.2f} to {max(tokens) / 1e6:.2f} million tokens" if tokens else "no tokens"
    took = f"{min(seconds):.0f} to {max(seconds):.0f} s" if seconds else ""
    base = ""
    if pretrained is not None:
        base = (
            f" It was pretrained on {pretrained['pictures']:,} pictures of the world "
            f"(captions and simple questions, the last {pretrained['tokens'] / 1e6:.0f} million tokens of it with "
            f"options too); on held-out pictures it answers {_simple(pretrained['held-out'])}."
        )
    by_stage = "No arm of several stages was asked between them."
    if scores := stage_scores(results):
        by_stage = f"{stage_table(scores)}\n\n![Right after each stage](pictures/curriculum-stages.png)"
    return f"""# Does the order matter? The curriculum experiment

This page is written by `training/curriculum/write_up.py` from the rows of `training/curriculum/experiment.py`.

{verdict(results, found)}

{findings}## What was done

A small vision-language model (Glimpse, 24 million parameters; [training](training.md)) starts each time from the same
weights.{base} Each arm then trains on {spread} ({took}) from the same {setting["questions"]:,} questions of the
world's twelve subtasks, by the plans that `sightline curriculum` ships. Questions of the lowest
{setting["easy_below"]:.0%} of the world's difficulty dial are easy, the others hard; a stage samples
{setting["fraction"]:.0%} of the hard ones. All arms train at the rate {setting["rate"]:g}, which falls in the last
fifth; of three rates it was the best for plain and for the full chain, on questions that are asked nowhere else.

{len(results.questions):,} held-out questions, drawn from another seed, are then asked; nothing is given, and the most
likely token is taken each time. Answers are taught and read in the words of their options, and by their letters where
options are pictures. An answer that names no option counts as wrong; how many did is told. Guessing gets 25 %.

Intervals hold 95 % of the means where seeds and questions are both drawn again ({RESAMPLES:,} times). p is of a paired
randomisation test over questions, with the mean over seeds for each.

## All arms

{main_table(results)}

![Right by arm; crosses are seeds](pictures/curriculum-arms.png)

## Compared

{compared}

## By stage

{by_stage}

## By difficulty

{level_table(results, setting["easy_below"])}

## By subtask

{subtask_table(results)}
"""


def _simple(scores: Mapping[str, Mapping[str, float]]) -> str:
    """How well the base answers the simple questions of which an answer is right or wrong as a whole."""
    asked = {
        "what": "what is at a place",
        "left": "which is farther left",
        "near": "which is lower",
        "choose what": "which of four options is at a place",
        "choose picture": "in which of four pictures a thing is",
    }
    return ", ".join(f"{words} in {scores[kind]['whole']:.0%}" for kind, words in asked.items() if kind in scores)


def variants(runs: Sequence[Mapping[str, Any]], questions: list[dict[str, Any]], main: Mapping[str, Any]) -> str:
    """Where the setting was varied: how MIR's curriculum stands against its rivals in each."""
    others = [setting for setting in settings_of(runs) if setting != main]
    if not others:
        return ""
    lines = [
        "| questions | easy below | fraction | rate | passes | mir − full-chain | mir − plain |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting in [dict(main), *others]:
        results = Results(questions, [dict(row) for row in runs if row["setting"] in (setting,)])
        _, found = differences(results)
        cells = [
            found[rival, "mir"].in_points() if (rival, "mir") in found else "–" for rival in ("full-chain", "plain")
        ]
        values = [f"{setting['questions']:,}", f"{setting['easy_below']:.2f}", str(setting["fraction"])]
        values += [f"{setting['rate']:g}", f"{setting.get('passes', 1):g}"]
        lines.append(f"| {' | '.join([*values, *cells])} |")
    return "\n## When it differs\n\n" + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, default=Path("training/curriculum/results"))
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    chosen = parser.parse_args()
    questions = json.loads((chosen.runs / "questions.json").read_text())
    runs = [json.loads(line) for line in (chosen.runs / "runs.jsonl").read_text().splitlines()]
    setting = settings_of(runs)[0]
    results = Results(questions, [row for row in runs if row["setting"] == setting])
    pretrained = chosen.runs / "pretrain.json"
    about = json.loads(pretrained.read_text()) if pretrained.exists() else None
    pictures = chosen.docs / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    ends = {arm: table for arm in results.arms if (table := results.table(arm)) is not None}
    scores = {arm: (scored(table), table.mean(1)) for arm, table in ends.items()}
    draw_arms(scores, GUESSING, pictures / "curriculum-arms.png")
    if by_stage := stage_scores(results):
        draw_stages(by_stage, GUESSING, pictures / "curriculum-stages.png")
    read = chosen.runs / "findings.md"
    findings = f"{read.read_text().strip()}\n\n" if read.exists() else ""
    text = page(results, setting, about, findings) + variants(runs, questions, setting)
    (chosen.docs / "curriculum-experiment.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
