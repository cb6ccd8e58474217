"""`sightline run`, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Cli
from runs.run_world import coloured
from tiny_clip import write_tiny_clip


def test_run_score_report(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    coloured(tmp_path / "colours")
    write_tiny_clip(tmp_path / "clip")
    spec = "hybrid:embedder=onnx:clip,fusion=rrf"
    done = cli("run", "colours", "--system", spec, "--out", "runs/a", "--json", "--repeat", 2)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["system"] == spec and said["attempts"] == 12 and said["failures"] == {"refused": 2}
    assert said["latency"]["n"] == 10 and said["index_seconds"] > 0
    assert said["left_out"] == {"choose": 3, "answer": 1}
    again = cli("run", "colours", "--system", spec, "--out", "runs/a", "--repeat", 2)
    assert again.returncode == 0 and "12 of them before" in again.stdout
    assert "next: sightline score colours runs/a" in again.stdout
    scored = cli("score", "colours", "runs/a", "--json")
    assert json.loads(scored.stdout)["overall"]["rr@10"]["mean"] > 0.5
    assert cli("report", "runs/a", "--out", "page.html").returncode == 0
    assert "Latency" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--system", "retriver"), 'Did you mean "retriever"?'),
        (("--system", "retriever:depht=3"), 'Did you mean "depth"?'),
        (("--system", "http:url=http://127.0.0.1:9"), "Start the service"),
        (("--system", "oracle", "--repeat", 0), "Must be >= 1"),
        (("--system", "http:url=https://search.example", "--local-only"), "--local-only"),
    ],
)
def test_a_mistake_ends_with_its_fix(cli: Cli, tmp_path: Path, arguments: tuple[object, ...], message: str) -> None:
    coloured(tmp_path / "colours")
    failed = cli("run", "colours", *arguments, "--out", "out")
    assert failed.returncode == 2 and message in failed.stderr and "Traceback" not in failed.stderr
    assert not (tmp_path / "out").exists()


def test_a_limited_run_says_how_many_tasks_it_was_scored_on(cli: Cli, tmp_path: Path) -> None:
    coloured(tmp_path / "colours", tasks=8)
    assert cli("run", "colours", "--system", "oracle", "--out", "out", "--limit", 3).returncode == 0
    scored = cli("score", "colours", "out")
    assert scored.returncode == 0 and "scored on 3 of 8 tasks; the run was limited to 3" in scored.stderr
    told = json.loads(cli("score", "colours", "out", "--json").stdout)
    assert told["overall"]["rr@10"]["n"] == 3 and told["of_tasks"] == 8 and not told["failures"]
    fewer = cli("score", "colours", "out", "--limit", 2)
    assert "scored on 2 of 8 tasks" in fewer.stderr


def test_scores_speak_only_of_the_metrics_asked_for(cli: Cli, tmp_path: Path) -> None:
    coloured(tmp_path / "colours")
    assert cli("run", "colours", "--system", "blind:by=random", "--out", "out").returncode == 0
    everything = cli("score", "colours", "out", "--metrics", "answer")
    assert everything.returncode == 0 and "answer" in everything.stdout
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "colours" / "tasks.jsonl").read_text().splitlines()]
    first_answer = kinds.index("answer")
    assert first_answer > 0
    none = cli("score", "colours", "out", "--metrics", "answer", "--limit", first_answer)
    assert none.returncode == 0, none.stderr
    assert "none of the tasks that were scored is one for answer" in none.stderr
    assert "Traceback" not in none.stderr and "metric" not in none.stdout
    assert "the benchmark doesn't have" not in none.stderr
    some = cli("score", "colours", "out", "--metrics", "rr@10,answer", "--limit", first_answer)
    assert some.returncode == 0 and "rr@10" in some.stdout and "answer " not in some.stdout.splitlines()[-1]
