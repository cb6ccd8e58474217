"""The example for GitHub Actions: exit codes that it relies on, options that exist, and the table that it comments."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from command_line import Cli, plain_environment
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


SERVICE = """
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Search(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        first = ["b", "c", "a"] if int(asked["query"][1:]) < WRONG else ["a", "b", "c"]
        said = json.dumps({"hits": [{"id": one, "score": 1 - at / 10} for at, one in enumerate(first)]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(said)

HTTPServer(("127.0.0.1", PORT), Search).serve_forever()
"""


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "git", "curl", "timeout"))), reason="needs bash, git and curl")
def test_the_workflow_runs_as_it_is(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its own shell steps, in a repository whose pull request makes the search worse."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    tools, repository = tmp_path_factory.mktemp("tools"), tmp_path_factory.mktemp("repository")
    (tools / "sightline").write_text(f'#!/bin/sh\nexec {sys.executable} -m sightline "$@"\n')
    (tools / "sightline").chmod(0o755)
    environment = plain_environment(
        PATH=f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        RUNNER_TEMP=str(tmp_path_factory.mktemp("runner")),
        GITHUB_BASE_REF="main",
        GITHUB_OUTPUT=str(tools / "output"),
        SIGHTLINE_WORKSPACE=str(tools / "workspace"),
    )

    def bash(script: str) -> None:
        command = ["bash", "-e", "-o", "pipefail", "-c", script]
        done = subprocess.run(
            command, cwd=repository, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr

    shutil.copytree(runs / "bench", repository / "bench")
    (repository / "start_search.sh").write_text(f"#!/bin/sh\nexec {sys.executable} search.py\n")
    (repository / "start_search.sh").chmod(0o755)
    who = "git -c user.name=a -c user.email=a@example.org"
    for wrong, branch in ((5, "main"), (25, "change")):
        (repository / "search.py").write_text(SERVICE.replace("WRONG", str(wrong)).replace("PORT", str(port)))
        init = f"git init -q -b main && git remote add origin {repository}" if branch == "main" else "true"
        bash(f"{init}; git checkout -q -B {branch}; git add -A; {who} commit -qm {branch}; git fetch -q origin")
    steps = re.findall(
        r"^        run: \|\n((?:          .*\n|\n)+)", (EXAMPLE / "search-quality.yml").read_text("utf-8"), re.M
    )
    run, compare = (textwrap.dedent(step).replace("localhost:8000", f"127.0.0.1:{port}") for step in steps[:2])
    bash(run)
    bash(compare)
    assert (tools / "output").read_text() == "code=4\n"
    pair = json.loads((repository / "compare.json").read_text("utf-8"))["pairs"][0]
    assert (pair["first"], pair["second"], pair["metric"]) == ("main", "candidate", "ndcg@10")
