"""What a verb returns in Python is what its command prints: `str(result)` as text, `to_json()` with `--json`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import sightline
from sightline.calls.plan import CostPlan
from sightline.cli.app import main
from sightline.errors import UserError
from small_folders import make_folders, make_history, make_workspace

MODEL = "openai/gpt-5-mini"
_TIME = re.compile(r"\d+\.\d+ s\b")
CALLS: dict[str, tuple[list[str], Callable[[], object]]] = {
    "power": (["--difference", "0.05", "--sd", "0.3"], lambda: sightline.power(difference=0.05, sd=0.3)),
    "split": (
        ["questions", "--out", "parts", "--parts", "train=3,test=1"],
        lambda: sightline.split("questions", "parts", parts={"train": 3, "test": 1}),
    ),
    "steps": (["questions", "--check"], lambda: sightline.check_steps("questions")),
    "curriculum": (
        ["reasoned", "--plan", "full-chain", "--out", "course", "--seed", "3"],
        lambda: sightline.curriculum("reasoned", "full-chain", "course", seed=3),
    ),
    "difficulty": (
        ["questions", "--by", "run", "--run", "tried", "--out", "measured"],
        lambda: sightline.difficulty("questions", "measured", by="run", run="tried"),
    ),
}
PLANS: dict[str, tuple[list[str], Callable[[], object]]] = {
    "think": (
        ["pictures", "--teacher", MODEL, "--verifier", "openai/gpt-5", "--seed", "1", "--max-tokens", "50"],
        lambda: sightline.dry_run(
            sightline.think, "pictures", teachers=MODEL, verifier="openai/gpt-5", seed=1, max_tokens=50
        ),
    ),
    "steps": (
        ["questions", "--model", MODEL, "--limit", "3"],
        lambda: sightline.dry_run(sightline.steps, "questions", model=MODEL, limit=3),
    ),
    "difficulty": (
        ["questions", "--model", MODEL, "--samples", "5"],
        lambda: sightline.dry_run(sightline.difficulty, "questions", model=MODEL, samples=5),
    ),
    "ablate": (
        ["questions", "--model", MODEL, "--without", "one picture", "--max-tokens", "50"],
        lambda: sightline.dry_run(sightline.ablate, "questions", model=MODEL, without=["one picture"], max_tokens=50),
    ),
    "mine": (
        ["history", "--model", MODEL, "--queries", "10"],
        lambda: sightline.dry_run(sightline.mine, model=MODEL, queries=10, workspace="history"),
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGHTLINE_WORKSPACE", "ws")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    make_folders(tmp_path)
    return tmp_path


def _tried(folder: Path) -> None:
    """A run on the questions that answers the first two rightly, and each of them twice."""
    from sightline.runs.folder import write_run
    from sightline.types import Attempt, Choice, Run

    made = sightline.load(folder / "questions")
    assert isinstance(made, sightline.Benchmark)
    attempts = tuple(
        Attempt(f"q{number}", Choice("A" if number < 2 else "B"), again) for number in range(4) for again in range(2)
    )
    write_run(Run(made.name, "some", attempts, made.checksum), folder / "tried")


def _timeless(value: object) -> object:
    return {**value, "seconds": None} if isinstance(value, dict) else _TIME.sub("- s", str(value))


@pytest.mark.parametrize("verb", CALLS)
def test_a_result_is_what_the_command_prints(verb: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _tried(folder)
    arguments, call = CALLS[verb]
    main([verb, *arguments])
    printed = capsys.readouterr().out
    main([verb, *arguments, "--json"])
    told = json.loads(capsys.readouterr().out)
    done = call()
    assert _timeless(printed) == _timeless(f"{done}\n")
    assert _timeless(told) == _timeless(json.loads(json.dumps(done.to_json())))  # type: ignore[attr-defined]
    assert "\n" not in repr(done) and len(repr(done)) < 180
    assert done._repr_html_().startswith("<div")  # type: ignore[attr-defined]


@pytest.mark.parametrize("verb", PLANS)
def test_a_dry_run_is_what_the_plan_prints(verb: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_workspace(folder)
    make_history(folder)
    before = sorted(path for path in folder.rglob("*") if "ws" not in path.parts and "history" not in path.parts)
    arguments, call = PLANS[verb]
    main([verb, *arguments, "--plan"])
    printed = capsys.readouterr().out
    main([verb, *arguments, "--plan", "--json"])
    told = json.loads(capsys.readouterr().out)
    plan = call()
    assert isinstance(plan, CostPlan) and len(plan) == len(plan.records()) == len(told["stages"])
    assert printed == f"{plan}\n" and told["calls"] > 0
    assert "\n" not in repr(plan) and "<table>" in plan._repr_html_()
    assert told == json.loads(json.dumps(plan.to_json()))
    after = sorted(path for path in folder.rglob("*") if "ws" not in path.parts and "history" not in path.parts)
    assert after == before, "nothing is written"


def test_notes_of_a_plan_are_no_part_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pictures" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    main(["think", "pictures", "--teacher", MODEL, "--plan", "--json"])
    said = capsys.readouterr()
    assert json.loads(said.out)["calls"] == 12
    assert said.err.startswith("note: 1 file skipped: ")


def test_difficulty_from_a_run_has_nothing_to_price(folder: Path) -> None:
    _tried(folder)
    with pytest.raises(UserError, match="asks nobody"):
        sightline.dry_run(sightline.difficulty, "questions", "measured", by="run", run="tried")
    assert not (folder / "measured").exists()
