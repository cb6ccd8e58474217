"""The example for GitHub Actions: exit codes that it relies on, options that exist, and the table that it comments."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Cli
from sightline.benchmark.folder import write_benchmark
from sightline.runs.folder import write_run
from sightline.types import Attempt, Benchmark, Corpus, Picture, Ranking, Relevance, Run, Task

EXAMPLE = Path(__file__).parents[1] / "examples" / "github-actions"
TASKS = 40


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A benchmark, a run of the main branch, one that is worse, and one that is the same."""
    tasks = {f"q{n}": Task(f"q{n}", "rank", (f"q{n}",)) for n in range(TASKS)}
    pictures = {name: Picture(name, name) for name in ("a", "b", "c")}
    truth = {task: Relevance({"a": 1, "b": 0, "c": 0}) for task in tasks}
    made = write_benchmark(
        Benchmark("bench", Corpus("c", pictures), tasks, truth, metrics=("ndcg@10",)), tmp_path / "bench"
    )
    for name, wrong in (("main", 5), ("worse", 25), ("same", 5)):
        said = [Ranking(("b", "c", "a") if n < wrong else ("a", "b", "c")) for n in range(TASKS)]
        attempts = tuple(Attempt(f"q{n}", one) for n, one in enumerate(said))
        write_run(Run("bench", name, attempts, made.checksum), tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("candidate", "code", "verdict"), [("worse", 4, "❌ worse"), ("same", 0, "no difference beyond chance")]
)
def test_a_worse_candidate_fails_and_the_table_says_so(
    runs: Path, cli: Cli, candidate: str, code: int, verdict: str
) -> None:
    for name in ("main", candidate):
        assert cli("score", "bench", name).returncode == 0
    done = cli("compare", "main", candidate, "--fail-if-worse", "ndcg@10", "--failures-may-differ", "--json")
    assert done.returncode == code
    (runs / "compare.json").write_text(done.stdout, "utf-8")
    told = subprocess.run(
        [sys.executable, EXAMPLE / "comment.py", runs / "compare.json"],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    ).stdout
    assert told.startswith(f"### Search quality on bench ({TASKS} queries)\n\n| metric | main | {candidate} |")
    assert verdict in told
    pair = json.loads(done.stdout)["pairs"][0]
    assert f"{pair['difference']['mean']:+.3f}" in told


def test_the_example_uses_options_that_exist(cli: Cli) -> None:
    text = (EXAMPLE / "search-quality.yml").read_text("utf-8").replace("\\\n", " ")
    commands = re.findall(r"sightline (run|score|compare) (.*)", text)
    assert {verb for verb, _ in commands} == {"run", "score", "compare"}
    for verb, rest in commands:
        known = cli(verb, "--help").stdout
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in known
