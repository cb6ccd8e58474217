"""The page of the experiment says what the rows say: a win, a tie, a loss, or that nothing can be told."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")
sys.path.insert(0, str(Path(__file__).parents[2] / "training/curriculum"))

import elsewhere
import write_up
from scores import Table

QUESTIONS: list[dict[str, Any]] = [
    {"id": f"q{n}", "subtask": "Motion Detection", "level": n / 400, "answer": "ABCD"[n % 4]} for n in range(400)
]
SETTING = {"questions": 24, "easy_below": 1 / 3, "fraction": 0.4, "rate": 4e-4, "by": "dial"}


def _letters(right: float, count: int, rng: Random) -> str:
    found = (question["answer"] if rng.random() < right else "-" for question in QUESTIONS[:count])
    return "".join(found)


def _rows(shares: dict[str, float], setting: dict[str, Any] = SETTING) -> list[dict[str, Any]]:
    rng = Random(0)
    rows = []
    for arm, right in shares.items():
        for seed in range(3):
            named = {"arm": arm, "seed": seed, "setting": setting}
            if arm in ("mir", "reverse"):
                for stage in ("easy", "stage-1"):
                    rows.append({**named, "stage": stage, "mode": "chain", "letters": _letters(right / 2, 100, rng)})
            for mode in ("direct", "chain"):
                rows.append({**named, "stage": "end", "mode": mode, "letters": _letters(right, 400, rng)})
            rows[-1] |= {"tokens": 12_000_000, "seconds": 30.0, "last": True}
    return rows


def _shares(results: write_up.Results, arm: str) -> Table:
    table = results.table(arm)
    assert table is not None
    return table


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ({"plain": 0.4, "mir": 0.6}, "MIR's curriculum beats plain fine-tuning by"),
        ({"plain": 0.6, "mir": 0.4}, "MIR's curriculum loses to plain fine-tuning by"),
        ({"plain": 0.5, "mir": 0.5}, "Between MIR's curriculum and plain fine-tuning no difference can be told"),
        ({"shuffled": 0.4, "mir": 0.6}, "MIR's curriculum beats its own records in mixed order by"),
        ({"faded-mixed": 0.4, "faded": 0.6}, "Fading the steps out beats its own records in mixed order by"),
        ({"plain": 0.5, "faded": 0.5}, "Between fading the steps out and plain fine-tuning no difference can be told"),
        ({"plain": 0.5, "mir": 0.2}, "Better than guessing are plain; the other arms are not."),
        ({"plain": 0.24, "mir": 0.24}, "No arm can be told from guessing, so nothing follows"),
    ],
)
def test_the_verdict_is_what_the_intervals_say(shares: dict[str, float], said: str) -> None:
    results = write_up.Results(QUESTIONS, _rows(shares))
    assert said in write_up.verdict(results, write_up.differences(results))


def test_an_interval_holds_the_mean_and_narrows_with_questions() -> None:
    table = write_up.Results(QUESTIONS, _rows({"mir": 0.5})).table("mir")
    assert table is not None
    wide, narrow = write_up.scored(table[:, :50]), write_up.scored(table)
    for score in (wide, narrow):
        assert score.low < score.mean < score.high
    assert narrow.high - narrow.low < wide.high - wide.low


def test_an_interval_is_as_wide_as_seeds_differ() -> None:
    table = np.repeat([[0.0], [1.0], [0.5]], 400, 1)
    score = write_up.scored(table)
    assert (score.low, score.mean, score.high) == (pytest.approx(0, abs=0.2), 0.5, pytest.approx(1, abs=0.2))


def test_no_win_is_told_that_the_number_of_settings_does_not_leave(tmp_path: Path) -> None:
    """Three seeds that differ, in four settings: the interval alone would name a winner."""
    rows = []
    for questions, shares in ((24, (0.5, 0.5)), (12, (0.5, 0.5)), (36, (0.5, 0.5)), (48, (0.47, 0.53))):
        setting = {**SETTING, "questions": questions}
        rows += _rows(dict(zip(("plain", "faded"), shares, strict=True)), setting)
    moved = [
        write_up.differences(write_up.Results(QUESTIONS, [r for r in rows if r["setting"] == s]))
        for s in elsewhere.settings_of(rows)
    ]
    assert moved[-1]["plain", "faded"].low > 0
    *_, last = elsewhere.against_plain(rows, QUESTIONS)
    assert "no difference can be told" in last
    assert "uncorrected, the interval does not hold 0" in last


def test_rows_of_another_setting_stand_in_only_with_as_many_tokens() -> None:
    rows = _rows({"full-chain": 0.5, "mir": 0.5})
    other = {**SETTING, "fraction": 1.0}
    for tokens, arms in ((12_000_000, {"mir", "full-chain"}), (15_000_000, {"mir"})):
        varied = [{**row, "tokens": tokens} if "tokens" in row else row for row in _rows({"mir": 0.5}, other)]
        assert {row["arm"] for row in elsewhere.rows_of([*rows, *varied], other, SETTING)} == arms


@pytest.mark.slow
def test_the_page_is_written_with_stages_variants_and_plots(tmp_path: Path) -> None:
    rows = _rows({"base": 0.3, "plain": 0.4, "full-chain": 0.5, "mir": 0.6, "reverse": 0.4})
    rows += _rows({"mir": 0.5}, {**SETTING, "fraction": 1.0})
    rows += _rows({"mir": 0.5, "plain": 0.3, "faded": 0.6}, {**SETTING, "questions": 12})
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "questions.json").write_text(json.dumps(QUESTIONS))
    (tmp_path / "findings.md").write_text("## What we make of it\n\nMuch.\n")
    script = Path(write_up.__file__)
    subprocess.run([sys.executable, script, "--runs", tmp_path, "--docs", tmp_path], check=True, capture_output=True)
    page = (tmp_path / "curriculum-experiment.md").read_text()
    assert "12.00 to 12.00 million tokens" in page
    by_stage = next(line for line in page.splitlines() if line.startswith("| mir | easy "))
    assert "## What we make of it\n\nMuch.\n\n## What was done" in page
    main = write_up.Results(QUESTIONS, [row for row in rows if row["setting"] == SETTING])
    plain, chain, mir = (_shares(main, arm) for arm in ("plain", "full-chain", "mir"))
    assert f"| mir | {mir[:, :134].mean():.1%} [" in page.split("## By difficulty")[1]
    assert f"| plain | {plain.mean():.1%} [" in page.split("## Both ways")[1]
    assert "; stage-1 " in by_stage
    assert "; end " in by_stage
    of_fraction, of_questions = page.splitlines()[-4:-2]
    assert of_fraction.startswith(f"| 24 | 0.33 | 1.0 | 12.0 | {plain.mean():.1%} | {chain.mean():.1%} | ")
    assert re.match(r"\| 12 \| 0.33 \| 0.4 \| 12.0 \| [\d.]+% \| – \| ", of_questions)
    assert "- With 12 questions and 12 million tokens, fading the steps out beats plain fine-tuning by " in page
    for name in ("arms", "stages", "along"):
        assert (tmp_path / f"pictures/curriculum-{name}.png").stat().st_size > 1000


def test_arms_are_drawn_along_what_alone_was_varied() -> None:
    rows = _rows({"plain": 0.5, "mir": 0.5})
    rows += _rows({"plain": 0.3}, {**SETTING, "questions": 12})
    rows += _rows({"mir": 0.4}, {**SETTING, "fraction": 1.0})
    more = _rows({"plain": 0.6}, {**SETTING, "passes": 2.0})
    rows += [{**row, "tokens": 24_000_000} if "tokens" in row else row for row in more]
    by_questions, by_tokens = elsewhere.along(rows, QUESTIONS, SETTING).values()
    assert {arm: sorted(line) for arm, line in by_questions.items()} == {"plain": [12, 24], "mir": [24]}
    assert {arm: sorted(line) for arm, line in by_tokens.items()} == {"plain": [12.0, 24.0], "mir": [12.0]}
