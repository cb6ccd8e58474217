"""The rows of the experiment → docs/curriculum-experiment.md with its plots: tables, intervals, and who wins.

Run: python training/curriculum/write_up.py [--runs FOLDER] [--docs docs]      (Sightline and matplotlib; no torch)
FOLDER has questions.json and runs.jsonl, as experiment.py wrote them; pretrain.json beside them is told of too, and
what findings.md says of it all stands before the tables.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elsewhere import against_plain, along, varied_table
from plots import draw_along, draw_arms, draw_stages
from scores import RESAMPLES, Results, Score, differences, mode_of, rests_on, scored, settings_of, told

from sightline.metrics.statistics.significance import holm

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
    "faded": "all five steps at first, then one less in each stage; half of all tokens answer at once",
    "faded-mixed": "the same records as `faded`, in mixed order",
}
NAMES = {"mir": "MIR's curriculum", "faded": "Fading the steps out"}
RIVALS = {
    "plain": "plain fine-tuning",
    "full-chain": "the full chain in mixed order",
    "shuffled": "its own records in mixed order",
    "faded-mixed": "its own records in mixed order",
}
GUESSING = 0.25
HOW = """- A win or a loss is named where p stays below 0.05 after Holm's correction, over the pairs below or over the
  settings of `faded` − `plain`. p comes from Student's t over seeds and questions, which three seeds leave few degrees
  of freedom; the intervals are not corrected."""


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


def compared_table(found: Mapping[tuple[str, str], Score]) -> str:
    lines = ["| | difference in percentage points |", "|---|---|"]
    lines += [f"| {second} − {first} | {moved.in_points()} |" for (first, second), moved in found.items()]
    return "\n".join(lines)


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


def ways_table(results: Results) -> str:
    """How each arm does both ways, though it was taught but one of them to the end."""
    lines = [
        "| arm | answering at once | writing all five steps | that, against full-chain |",
        "|---|---|---|---|",
    ]
    rival = results.table("full-chain", mode="chain")
    for arm in results.arms:
        direct, chain = (results.table(arm, mode=mode) for mode in ("direct", "chain"))
        assert direct is not None and chain is not None
        comparable = rival is not None and rival.shape == chain.shape and arm != "full-chain"
        moved = scored(chain - rival).in_points() if comparable else "–"
        lines.append(f"| {arm} | {scored(direct)} | {scored(chain)} | {moved} |")
    return "\n".join(lines)


def verdict(results: Results, found: Mapping[tuple[str, str], Score]) -> str:
    """In words, what the intervals say of MIR's curriculum, and of the one that fades steps out."""
    taught = {arm: table for arm in results.arms if arm != "base" and (table := results.table(arm)) is not None}
    above = [arm for arm, table in taught.items() if scored(table).low > GUESSING]
    if not above:
        return "No arm can be told from guessing, so nothing follows about their order."
    lines = (
        [] if len(above) == len(taught) else [f"Better than guessing are {', '.join(above)}; the other arms are not."]
    )
    corrected = dict(zip(found, holm([moved.p for moved in found.values()]), strict=True))
    lines += [
        told(NAMES[arm], RIVALS[rival], found[pair], corrected[pair], rests_on(results, *pair))
        for arm in NAMES
        for rival in RIVALS
        if (pair := (rival, arm)) in found
    ]
    return "\n".join(f"- {line}" for line in lines)


def stage_scores(results: Results) -> dict[str, dict[str, Score]]:
    """For each arm of several stages: how much is right after each, asked all by itself; after the last, in full."""
    found: dict[str, dict[str, Score]] = {}
    for arm in results.arms:
        rows = [row for row in results.runs if row["arm"] == arm and row["stage"] != "end"]
        if rows and mode_of(arm) == "chain":  # To answer at once is taught by a last stage alone.
            stages = [*dict.fromkeys(row["stage"] for row in rows), "end"]
            tables = {stage: results.table(arm, stage) for stage in stages}
            found[arm] = {stage: scored(table) for stage, table in tables.items() if table is not None}
    return found


def stage_table(scores: Mapping[str, Mapping[str, Score]]) -> str:
    lines = ["| arm | right after each stage |", "|---|---|"]
    for arm, by_stage in scores.items():
        cells = "; ".join(f"{stage} {score}" for stage, score in by_stage.items())
        lines.append(f"| {arm} | {cells} |")
    return "\n".join(lines)


def page(
    results: Results,
    setting: Mapping[str, Any],
    pretrained: Mapping[str, Any] | None,
    others: Sequence[str],
    findings: str,
) -> str:
    found = differences(results)
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
        asked = min(len(row["letters"]) for row in results.runs)
        by_stage = f"Between stages {asked:,} of the questions are asked, of all arms but `mir` with one seed; "
        by_stage += "at the end all.\n\n"
        by_stage += f"{stage_table(scores)}\n\n![Right after each stage](pictures/curriculum-stages.png)"
    return f"""# Does the order matter? The curriculum experiment

This page is written by `training/curriculum/write_up.py` from the rows of `training/curriculum/experiment.py`.

{verdict(results, found)}
{"".join(f"- {line}{chr(10)}" for line in others)}{HOW}

{findings}## What was done

A small vision-language model (Glimpse, 24 million parameters; [training](training.md)) starts each time from the same
weights.{base} Each arm then trains on {spread} ({took}) from the same {setting["questions"]:,} questions of the
world's twelve subtasks, by the plans that `sightline curriculum` ships (and `faded-mixed`, `rehearsed` and `long-end`,
which are for this experiment alone). Questions of the lowest {setting["easy_below"]:.0%} of the world's difficulty dial
are easy, the others hard; a stage samples {setting["fraction"]:.0%} of the hard ones. All arms train at the rate
{setting["rate"]:g}, which falls in the last fifth; of three rates it was the best for plain, on questions asked nowhere
else, and had the lowest loss for the full chain.

{len(results.questions):,} held-out questions, drawn from another seed, are then asked; nothing is given, and the most
likely token is taken each time. Answers are taught and read in the words of their options, and by their letters where
options are pictures. An answer that names no option counts as wrong; how many did is told. Guessing gets 25 %.

Intervals hold 95 % of the means where seeds and questions are both drawn again ({RESAMPLES:,} times), each for itself:
of so many comparisons one in twenty would be off by chance. Three seeds are few, so they are rather too narrow.

## All arms

{main_table(results)}

![Right by arm; crosses are seeds](pictures/curriculum-arms.png)

## Compared

{compared_table(found)}

## Both ways

Each arm is asked as it was taught in the end; here each is asked both ways. Differences are in percentage points.

{ways_table(results)}

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
    text = page(results, setting, about, against_plain(runs, questions), findings)
    if len(settings_of(runs)) > 1:
        draw_along(along(runs, questions, setting), GUESSING, pictures / "curriculum-along.png")
        text += varied_table(runs, questions, setting)
    (chosen.docs / "curriculum-experiment.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
