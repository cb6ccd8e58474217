"""`sightline world`, as a user types it; and the built-in embedder on what it draws."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Cli


def test_a_benchmark_that_can_be_run_and_scored(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    made = cli("world", "bench", "--pictures", 40, "--tasks", 4, "--size", "320x240", "--seed", 3)
    assert made.returncode == 0, made.stderr
    assert "tasks: 4 rank, 4 select, 4 answer, 4 describe" in made.stdout
    assert cli("validate", "bench").returncode == 0
    ran = cli("run", "bench", "--system", "retriever:embedder=world", "--out", "run", "--json")
    assert ran.returncode == 0, ran.stderr
    scored = json.loads(cli("score", "bench", "run", "--json").stdout)
    assert scored["overall"]["rr@10"]["mean"] > 0.3


def test_the_built_in_model_ranks_again(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    made = cli("world", "bench", "--pictures", 20, "--tasks", 2, "--kind", "rank", "--size", "320x240", "--seed", 3)
    assert made.returncode == 0, made.stderr
    ask = ("search", "a dog", "--in", "bench/world/pictures", "--embedder", "world", "--depth", 10, "-k", 5, "--json")
    again = cli(*ask, "--rerank", "builtin/world")
    assert again.returncode == 0 and "failed" not in again.stderr, again.stderr
    ran = cli(
        "run", "bench", "--system", "hybrid:embedder=world,rerank=builtin/world,depth=10", "--out", "run", "--json"
    )
    assert ran.returncode == 0 and json.loads(ran.stdout)["failures"] == {}, ran.stdout


def test_lives_alone(cli: Cli, tmp_path: Path) -> None:
    arguments = ("world", "lives", "--pictures", 3, "--owners", 2, "--tasks", 0, "--size", "160x120", "--json")
    said = json.loads(cli(*arguments).stdout)
    assert len(said["owners"]) == 2 and said["tasks"] == {}
    pictures = sorted((tmp_path / "lives" / "pictures").rglob("*.*"))
    assert len(pictures) == 6
    before = [path.stat().st_mtime_ns for path in pictures]
    assert cli(*arguments).returncode == 0
    assert [path.stat().st_mtime_ns for path in pictures] == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--size", "big"), "Write it as 640x480"),
        (("--size", "47x48"), "from 48x48 to 4096x4096"),
        (("--size", "100000x100000"), "from 48x48 to 4096x4096"),
        (("--tasks", "-1"), "Must be >= 0"),
        (("--owners", "0"), "Ask for at least 1"),
    ],
)
def test_wrong_wishes(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    done = cli("world", "bench", *arguments)
    assert done.returncode == 2 and message in done.stderr


def test_other_things_are_left_alone(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    done = cli("world", "mine", "--pictures", 3)
    assert done.returncode == 2 and "holds other things" in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


@pytest.mark.slow
def test_the_smallest_pictures_can_be_drawn(cli: Cli) -> None:
    made = cli("world", "lives", "--pictures", 400, "--tasks", 0, "--size", "48x48", "--seed", 1)
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize(("kind", "system"), [("answer", "chat:model=builtin/world"), ("rank", "retriever:")])
def test_the_next_step_is_one_for_its_tasks(cli: Cli, kind: str, system: str) -> None:
    made = cli("world", "bench", "--pictures", 30, "--tasks", 2, "--kind", kind, "--size", "160x120", "--seed", 3)
    assert made.returncode == 0, made.stderr
    assert f"next: sightline run bench --system {system}" in made.stdout


def test_help_shows_only_what_means_something(cli: Cli) -> None:
    assert "--empty-kind" not in cli("world", "--help").stdout


def test_ask_takes_the_embedder_of_the_model_and_says_that_it_is_rule_based(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    made = cli("world", "W", "--pictures", 12, "--tasks", 1, "--size", "320x240", "--seed", 3)
    assert made.returncode == 0, made.stderr
    asked = cli("ask", "find a dog", "--in", "W/world/pictures", "--model", "builtin/world", "--workspace", "ws")
    assert asked.returncode == 0, asked.stderr
    assert "builtin/world is rule-based" in asked.stderr
    (manifest,) = (tmp_path / "ws" / "indexes").rglob("*.json")
    assert json.loads(manifest.read_text())["embedder"]["name"] == "world"
