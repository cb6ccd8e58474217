"""The rows of the experiment → docs/curriculum-experiment.md with its plots: tables, intervals, and who wins.

Run: python training/curriculum/write_up.py --runs FOLDER [--docs docs]        (Sightline and matplotlib; no torch)
FOLDER has questions.json and runs.jsonl, as experiment.py wrote them; pretrain.json beside them is told of too.
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
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sightline.score.statistics.paired import paired_difference

ORDER = ("base", "plain", "full-chain", "mir", "shuffled", "reverse", "anti", "self-paced")
MEANING = {
    "base": "no training on these questions; it knows simpler ones with options",
    "plain": "question → conclusion",
    "full-chain": "question → all five steps, in mixed order",
    "mir": "MIR's curriculum: easy first, then one given step less in each of five stages",
    "shuffled": "the same records as `mir`, in mixed order",
    "reverse": "`mir` with its stages backwards",
    "anti": "`mir` with its phases backwards: hard before easy",
    "self-paced": "all five steps; from the easiest fifth to all questions",
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
    lines = ["| second − first | difference | p |", "|---|---|---|"]
    found = {}
    for first, second in wanted:
        a, b = results.table(first), results.table(second)
        if a is None or b is None:
            continue
        seeds = min(len(a), len(b))
        moved = scored(b[:seeds] - a[:seeds])
        p = paired_difference(a[:seeds].mean(0), b[:seeds].mean(0)).p
        found[first, second] = moved
        said = f"{moved.mean:+.1%} [{moved.low:+.1%}, {moved.high:+.1%}]"
        lines.append(f"| {second} − {first} | {said} | {'–' if p is None else f'{p:.3f}'} |")
    return "\n".join(lines), found


def subtask_table(results: Results) -> str:
    arms = results.arms
    lines = [f"| subtask | n | {' | '.join(arms)} |", f"|---|---|{'---|' * len(arms)}"]
    for subtask, places in results.subtasks().items():
        tables = [results.table(arm) for arm in arms]
        cells = [f"{table[:, places].mean():.0%}" for table in tables if table is not None]
        lines.append(f"| {subtask} | {len(places)} | {' | '.join(cells)} |")
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
            lines.append(f"MIR's curriculum beats {name} by {moved.mean:.1%} [{moved.low:.1%}, {moved.high:.1%}].")
        elif moved.high < 0:
            lines.append(
                f"MIR's curriculum loses to {name} by {-moved.mean:.1%} [{-moved.high:.1%}, {-moved.low:.1%}]."
            )
        else:
            lines.append(
                f"Between MIR's curriculum and {name} no difference can be told: {moved.mean:+.1%} "
                f"[{moved.low:+.1%}, {moved.high:+.1%}]."
            )
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


def draw_arms(results: Results, file: Path) -> None:
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for place, arm in enumerate(results.arms):
        table = results.table(arm)
        assert table is not None
        score = scored(table)
        ends = [[score.mean - score.low], [score.high - score.mean]]
        axes.errorbar([place], [score.mean], yerr=ends, fmt="o", color="black", capsize=4)
        axes.plot([place] * len(table), table.mean(1), "x", color="tab:blue", markersize=5)
    axes.axhline(GUESSING, color="grey", linestyle=":", linewidth=1)
    axes.set_xticks(range(len(results.arms)), results.arms, rotation=20)
    axes.set(ylabel="right", ylim=(0, 1))
    figure.savefig(file, dpi=130)


def draw_stages(scores: Mapping[str, Mapping[str, Score]], file: Path) -> None:
    figure = Figure(figsize=(7.5, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for arm, by_stage in scores.items():
        found = list(by_stage.values())
        x = range(1, len(found) + 1)
        line = axes.plot(x, [score.mean for score in found], marker="o", label=arm)[0]
        axes.fill_between(
            x, [s.low for s in found], [s.high for s in found], color=line.get_color(), alpha=0.12, linewidth=0
        )
    axes.axhline(GUESSING, color="grey", linestyle=":", linewidth=1)
    axes.set(xlabel="after stage", ylabel="right, all by itself", ylim=(0, 1))
    axes.legend(fontsize="small")
    figure.savefig(file, dpi=130)


def page(results: Results, setting: Mapping[str, Any], pretrained: Mapping[str, Any] | None) -> str:
    compared, found = differences(results)
    tokens = [row["tokens"] for arm in results.arms if arm != "base" for row in results.last(arm)]
    seconds = [row["seconds"] for arm in results.arms if arm != "base" for row in results.last(arm)]
    spread = f"{min(tokens) / 1e6:.2f} to {max(tokens) / 1e6:.2f} million tokens" if tokens else "no tokens"
    took = f"{min(seconds):.0f} to {max(seconds):.0f} s" if seconds else ""
    base = ""
    if pretrained is not None:
        base = (
            f" It was pretrained on {pretrained['pictures']:,} pictures of the world "
            f"({pretrained['tokens'] / 1e6:.0f} million tokens of captions and simple questions); on held-out pictures "
            f"it answers {_simple(pretrained['held-out'])}."
        )
    by_stage = "No arm of several stages was asked between them."
    if scores := stage_scores(results):
        by_stage = f"{stage_table(scores)}\n\n![Right after each stage](pictures/curriculum-stages.png)"
    return f"""# Does the order matter? The curriculum experiment

This page is written by `training/curriculum/write_up.py` from the rows of `training/curriculum/experiment.py`.

{verdict(results, found)}

## What was done

A small vision-language model (Glimpse, 24 million parameters; [training](training.md)) starts each time from the same
weights.{base} Each arm then trains on {spread} ({took}) from the same {setting["questions"]:,} questions of the
world's twelve subtasks, by the plans that `sightline curriculum` ships. Questions of the lowest
{setting["easy_below"]:.0%} of the world's difficulty dial are easy, the others hard; a stage samples
{setting["fraction"]:.0%} of the hard ones. The learning rate is {setting["rate"]:g} for all arms and stages.
{len(results.questions):,} held-out questions, drawn from another seed, are then asked; nothing is given, and the most
likely token is taken each time. Answers are taught and read in the words of their options, and by their letters where
options are pictures. Guessing gets 25 %.

Intervals hold 95 % of the means where seeds and questions are both drawn again ({RESAMPLES:,} times). p is of a paired
randomisation test over questions, with the mean over seeds for each.

## All arms

{main_table(results)}

![Right by arm; crosses are seeds](pictures/curriculum-arms.png)

## Compared

{compared}

## By stage

{by_stage}

## By subtask

{subtask_table(results)}
"""


def _simple(scores: Mapping[str, Mapping[str, float]]) -> str:
    """How well the base answers the simple questions of which an answer is right or wrong as a whole."""
    asked = {"what": "what is at a place", "left": "which is farther left", "near": "which is lower"}
    return ", ".join(f"{words} in {scores[kind]['whole']:.0%}" for kind, words in asked.items() if kind in scores)


def variants(runs: Sequence[Mapping[str, Any]], questions: list[dict[str, Any]], main: Mapping[str, Any]) -> str:
    """Where the setting was varied: how MIR's curriculum stands against its rivals in each."""
    others = [setting for setting in settings_of(runs) if setting != main]
    if not others:
        return ""
    lines = [
        "| questions | easy below | fraction | rate | mir − full-chain | mir − plain |",
        "|---|---|---|---|---|---|",
    ]
    for setting in [dict(main), *others]:
        results = Results(questions, [dict(row) for row in runs if row["setting"] in (setting,)])
        _, found = differences(results)
        cells = [
            f"{found[rival, 'mir'].mean:+.1%} [{found[rival, 'mir'].low:+.1%}, {found[rival, 'mir'].high:+.1%}]"
            if (rival, "mir") in found
            else "–"
            for rival in ("full-chain", "plain")
        ]
        values = f"{setting['questions']:,} | {setting['easy_below']:.2f} | {setting['fraction']} | {setting['rate']:g}"
        lines.append(f"| {values} | {' | '.join(cells)} |")
    return "\n## When it differs\n\n" + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True)
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
    draw_arms(results, pictures / "curriculum-arms.png")
    if scores := stage_scores(results):
        draw_stages(scores, pictures / "curriculum-stages.png")
    text = page(results, setting, about) + variants(runs, questions, setting)
    (chosen.docs / "curriculum-experiment.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
