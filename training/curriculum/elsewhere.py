"""Where the setting was varied: how the two curricula stand against their rivals in each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from scores import Results, Row, Score, differences, rests_on, rows_of, scored, settings_of, tokens_of, told

from sightline.metrics.statistics.significance import holm

VARIED = ("plain", "full-chain", "mir", "faded", "faded-mixed")
BY = {"dial": "", "model": " by models"}
"""What tells how hard a question is."""
DIFFER = {
    ("full-chain", "mir"): "mir − full-chain",
    ("plain", "faded"): "faded − plain",
    ("faded-mixed", "faded"): "faded − faded-mixed",
}
Lines = dict[str, dict[float, Score]]
"""For each arm how it does at each amount of something."""


def against_plain(runs: Sequence[Row], questions: list[Row]) -> list[str]:
    """In words, how fading the steps out stands against plain fine-tuning, corrected for the number of settings."""
    tried = [[row for row in runs if row["setting"] == setting] for setting in settings_of(runs)]
    by_setting = [(Results(questions, own), own) for own in tried]
    found = [(each, own, differences(each).get(("plain", "faded"))) for each, own in by_setting]
    compared = [(each, own, moved) for each, own, moved in found if moved is not None]
    lines = []
    corrected = holm([moved.p for _, _, moved in compared])
    for (each, own, moved), p in zip(compared, corrected, strict=True):
        if own is tried[0]:  # The page's table of pairs has it.
            continue
        said = told("Fading the steps out", "plain fine-tuning", moved, p, rests_on(each, "plain", "faded"))
        there = f"{own[0]['setting']['questions']:,} questions and {tokens_of(own) / 1e6:.0f} million tokens"
        lines.append(f"With {there}, {said[0].lower()}{said[1:]}")
    return lines


def varied_table(runs: Sequence[Row], questions: list[Row], main: Mapping[str, Any]) -> str:
    """Each setting that was tried, with the arms that were tried in it."""
    lines = [
        f"| questions | easy below | fraction | million tokens | {' | '.join([*VARIED, *DIFFER.values()])} |",
        f"|---|---|---|---|{'---|' * (len(VARIED) + len(DIFFER))}",
    ]
    for setting in settings_of(runs):
        rows = rows_of(runs, setting, main)
        results = Results(questions, rows)
        found = differences(results)
        line = f"{setting['easy_below']:.2f}{BY[setting['by']]}"
        values = [f"{setting['questions']:,}", line, str(setting["fraction"])]
        values += [f"{tokens_of([row for row in rows if row['setting'] == setting]) / 1e6:.1f}"]
        values += ["–" if (table := results.table(arm)) is None else f"{table.mean():.1%}" for arm in VARIED]
        values += [found[pair].in_points() if pair in found else "–" for pair in DIFFER]
        lines.append(f"| {' | '.join(values)} |")
    about = (
        "Differences are in percentage points. Which questions are easy, and how many of the hard ones a stage "
        "samples, is all the same to all arms but `mir`: theirs stand for both."
    )
    plot = "![Right by the number of questions, and by tokens](pictures/curriculum-along.png)"
    return f"\n## When it differs\n\n{about}\n\n" + "\n".join(lines) + f"\n\n{plot}\n"


def along(runs: Sequence[Row], questions: list[Row], main: Mapping[str, Any]) -> dict[str, Lines]:
    """How arms do as one thing grows, while the rest is as in the experiment itself: questions, and tokens."""
    usual = tokens_of([row for row in runs if row["setting"] == main])
    found: dict[str, Lines] = {
        f"questions ({usual / 1e6:.0f} million tokens)": defaultdict(dict),
        f"million tokens ({main['questions']:,} questions)": defaultdict(dict),
    }
    by_questions, by_tokens = found.values()
    for setting in settings_of(runs):
        if any(setting[name] != main[name] for name in ("easy_below", "fraction", "rate", "by")):
            continue
        rows = [row for row in runs if row["setting"] == setting]
        tokens = tokens_of(rows)
        for arm in VARIED:
            table = Results(questions, rows).table(arm)
            if table is None:
                continue
            if abs(tokens / usual - 1) < 0.02:
                by_questions[arm][setting["questions"]] = scored(table)
            if setting["questions"] == main["questions"]:
                by_tokens[arm][tokens / 1e6] = scored(table)
    return found
