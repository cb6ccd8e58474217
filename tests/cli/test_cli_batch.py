"""`sightline batch`: from a file of requests to answers, in real processes, also when they are killed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from batch_server import BatchWorld, Row, answer, batch_world
from command_line import Cli
from pictures import random_picture
from sightline.cli.app import main
from sightline.io.workspace import default_workspace

REQUESTS = [{"id": f"q{number}", "prompt": f"question {number}"} for number in range(5)]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The command line in this process: a batch takes many commands, and only what is killed needs a process."""
    monkeypatch.chdir(tmp_path)
    for name in ("SIGHTLINE_WORKSPACE", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def cli(*arguments: object) -> subprocess.CompletedProcess[str]:
        code = 0
        capsys.readouterr()
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return subprocess.CompletedProcess([*map(str, arguments)], code, said.out, said.err)

    return cli


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def make(cli: Any, world: BatchWorld, tmp_path: Path, *options: object) -> Path:
    requests = write(tmp_path / "requests.jsonl", REQUESTS)
    done = cli(
        "batch", "make", requests, "--model", "vllm/m", "--base-url", world.base_url, "--out", "job",
        "--max-requests", 2, *options,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tmp_path / "job"


def start(tmp_path: Path, *arguments: object) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIGHTLINE")}
    return subprocess.Popen(
        [sys.executable, "-m", "sightline", *map(str, arguments)],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_while_held(world: BatchWorld, hold: str, tmp_path: Path, *arguments: object) -> None:
    """Start a command, and kill it while the server holds an answer back."""
    world.hold, world.held = hold, threading.Event()
    process = start(tmp_path, *arguments)
    try:
        assert world.held.wait(60)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    world.hold = ""


def calls() -> list[tuple[Any, ...]]:
    database = sqlite3.connect(default_workspace() / "journal.sqlite")
    try:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return database.execute("SELECT stage, task, failure FROM calls ORDER BY task").fetchall()
    finally:
        database.close()


def test_the_whole_way(cli: Cli, tmp_path: Path) -> None:
    with batch_world(polls=("in_progress",)) as world:
        random_picture(1, (20, 10)).save(tmp_path / "a.png")
        schema = {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}
        row = {"id": "p", "prompt": "What colour?", "system": "Be brief.", "pictures": ["a.png"], "schema": schema}
        requests = write(tmp_path / "requests.jsonl", [*REQUESTS, row])
        made = cli(
            "batch", "make", requests, "--model", "vllm/m", "--base-url", world.base_url, "--out", "job",
            "--max-requests", 4, "--max-tokens", 9, "--stage", "probe", "--price-factor", 0.5, "--json",
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        assert [shard["requests"] for shard in json.loads(made.stdout)["shards"]] == [4, 2]
        lines = [json.loads(line) for line in (tmp_path / "job" / "shard-0001.jsonl").read_text().splitlines()]
        body = lines[1]["body"]
        assert body["messages"][0] == {"role": "system", "content": "Be brief."} and body["max_tokens"] == 9
        assert body["messages"][1]["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")
        assert body["response_format"]["json_schema"]["schema"] == schema
        for verb, says in (
            ("parse", "is not submitted"),
            ("wait", "are not submitted"),
            ("retry", "has not been read"),
        ):
            early = cli("batch", verb, "job")
            assert early.returncode == 2 and says in early.stderr, early.stderr
        sent = cli("batch", "submit", "job", "--json")
        assert {row["status"] for row in json.loads(sent.stdout)["batches"]} == {"validating"}
        early = cli("batch", "parse", "job")
        assert early.returncode == 2 and "has not ended" in early.stderr
        assert not (tmp_path / "job" / "results.jsonl").exists()
        waited = cli("batch", "wait", "job", "--every", "0.05s")
        assert waited.returncode == 0 and "2 of 2 batches have ended" in waited.stdout
        assert cli("batch", "download", "job").returncode == 0
        parsed = cli("batch", "parse", "job")
        assert parsed.returncode == 0, parsed.stderr
        assert "5 of 6 answered, 1 failed (1 wrong-schema)" in parsed.stdout
        assert "the price of 6 calls" in parsed.stderr
        found = [json.loads(line) for line in (tmp_path / "job" / "results.jsonl").read_text().splitlines()]
        assert [row["id"] for row in found] == ["q0", "q1", "q2", "q3", "q4", "p"]
        assert found[0]["text"] == "re: question 0" and found[0]["usd"] is None
        listed = cli("batch", "list", "--json")
        assert [row["parsed"] for row in json.loads(listed.stdout)["batches"]] == [True, True]
        assert "1 request in 1 file for" in cli("batch", "retry", "job").stdout
        assert len(calls()) == 6 and calls()[0][:2] == ("probe", "p")


@pytest.mark.parametrize("hold", ["POST /v1/batches", "POST /v1/files"])
def test_kill_during_submit_submits_nothing_twice(cli: Cli, tmp_path: Path, hold: str) -> None:
    with batch_world() as world:
        make(cli, world, tmp_path)
        for _ in range(2):
            kill_while_held(world, hold, tmp_path, "batch", "submit", "job")
        done = cli("batch", "submit", "job")
        assert done.returncode == 0, done.stderr
        shards = [batch["metadata"]["sightline_shard"] for batch in world.batches.values()]
        assert sorted(shards) == [f"shard-000{number}.jsonl" for number in range(3)]
        assert len(world.files) == 3
        assert cli("batch", "submit", "job").returncode == 0
        assert len(world.batches) == 3


def test_kill_during_download_loses_and_repeats_nothing(cli: Cli, tmp_path: Path) -> None:
    with batch_world(polls=()) as world:
        make(cli, world, tmp_path)
        assert cli("batch", "submit", "job").returncode == 0
        assert cli("batch", "wait", "job", "--every", "0.05s").returncode == 0
        second = sorted(batch["output_file_id"] for batch in world.batches.values())[1]
        path = f"/v1/files/{second}/content"
        kill_while_held(world, f"half {path}", tmp_path, "batch", "download", "job")
        early = cli("batch", "parse", "job")
        assert early.returncode == 2 and "are not here" in early.stderr
        world.requests.clear()
        assert cli("batch", "download", "job").returncode == 0
        assert sum(one[1].endswith("/content") for one in world.requests) < 3  # The first is not fetched again.
        parsed = cli("batch", "parse", "job")
        assert "5 of 5 answered, 0 failed" in parsed.stdout
        assert cli("batch", "parse", "job").returncode == 0
        assert [row[1:] for row in calls()] == [(f"q{number}", None) for number in range(5)]


def test_expired_then_retried_merges_without_duplicates(cli: Cli, tmp_path: Path) -> None:
    def half(row: Row) -> Row | None:
        return answer(row) if row["custom_id"] in ("q0", "q3") else None

    with batch_world(polls=(), end="expired", work=half) as world:
        make(cli, world, tmp_path)
        assert cli("batch", "submit", "job").returncode == 0
        waited = cli("batch", "wait", "job", "--every", "0.05s")
        assert waited.returncode == 0 and "expired" in waited.stderr and "batch retry" in waited.stderr
        assert cli("batch", "download", "job").returncode == 0
        assert "2 of 5 answered, 3 failed (3 expired)" in cli("batch", "parse", "job").stdout
        world.end, world.work = "completed", answer
        assert cli("batch", "retry", "job").returncode == 0
        assert cli("batch", "submit", "job").returncode == 0
        assert cli("batch", "wait", "job", "--every", "0.05s").returncode == 0
        assert cli("batch", "download", "job").returncode == 0
        assert "5 of 5 answered, 0 failed" in cli("batch", "parse", "job").stdout
        rows = (tmp_path / "job" / "results.jsonl").read_text().splitlines()
        assert [json.loads(row)["id"] for row in rows] == [row["id"] for row in REQUESTS]


def test_a_deadline_stops_with_3_and_then_live_asks_for_the_rest(cli: Cli, tmp_path: Path) -> None:
    with batch_world(polls=("in_progress",) * 1000, work=lambda _: None) as world:
        make(cli, world, tmp_path)
        assert cli("batch", "submit", "job").returncode == 0
        late = cli("batch", "wait", "job", "--every", "0.05s", "--deadline", "0.1s")
        assert late.returncode == 3 and "3 of 3 batches have not ended" in late.stderr
        done = cli("batch", "wait", "job", "--every", "0.05s", "--deadline", "0s", "--then-live")
        assert done.returncode == 0, done.stderr
        assert "5 of 5 answered, 0 failed" in done.stdout and "5 asked for live" in done.stderr
        assert len(world.live) == 5


def test_cancel_ends_a_wait(cli: Cli, tmp_path: Path) -> None:
    with batch_world(polls=("in_progress",) * 1000) as world:
        make(cli, world, tmp_path)
        assert cli("batch", "submit", "job").returncode == 0
        assert "cancelling" in cli("batch", "cancel", "job").stdout
        waited = cli("batch", "wait", "job", "--every", "0.05s")
        assert waited.returncode == 0 and "3 of 3 batches have ended" in waited.stdout


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": "a"}, '"prompt" must be a text'),
        ({"id": 1, "prompt": "x"}, '"id" must be a text'),
        ({"id": "a", "prompt": "x", "picture": "b"}, 'unknown field "picture"'),
        ({"id": "a", "prompt": "x", "pictures": "b"}, "must be a list"),
        ({"id": "a", "prompt": "x", "schema": "b"}, "must be a JSON schema"),
    ],
)
def test_a_wrong_line_is_named(cli: Cli, tmp_path: Path, row: dict[str, Any], says: str) -> None:
    requests = write(tmp_path / "requests.jsonl", [REQUESTS[0], row])
    done = cli("batch", "make", requests, "--model", "vllm/m", "--out", "job")
    assert done.returncode == 2 and says in done.stderr and "requests.jsonl, line 2" in done.stderr
    assert not (tmp_path / "job").exists()


def test_mistakes_get_a_fix(cli: Cli, tmp_path: Path) -> None:
    requests = write(tmp_path / "requests.jsonl", REQUESTS)
    for arguments, says in (
        (("make", requests, "--model", "anthropic/x", "--out", "job"), "anthropic"),
        (("make", requests, "--model", "openai/x", "--out", "job", "--local-only"), "--local-only"),
        (("submit", "nowhere"), "is not a batch job"),
        (("wait", "nowhere", "--every", "soon"), "is not a time"),
    ):  # fmt: skip
        done = cli("batch", *arguments)
        assert done.returncode == 2 and says in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    assert f"no batches in {default_workspace()}" in cli("batch", "list").stdout
    assert not default_workspace().exists()
    made = cli("batch", "make", requests, "--model", "vllm/m", "--base-url", "http://127.0.0.1:9/v1", "--out", "job")
    assert made.returncode == 0


def test_a_budget_for_a_job_is_a_promise_or_refused(cli: Any, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [*REQUESTS, {"id": "p", "prompt": "What is it?", "pictures": ["none.jpg"]}]
    requests = write(tmp_path / "requests.jsonl", rows)
    make = ("batch", "make", requests, "--model", "openai/gpt-5-mini", "--out", "job")
    planned = cli(*make, "--plan")
    assert "5 calls" in planned.stdout and "the most is unknown: set --max-tokens" in planned.stdout
    assert "1 more will fail and cost nothing: their pictures can't be read" in planned.stdout
    unlimited = json.loads(cli(*make, "--plan", "--json").stdout)
    assert unlimited["usd"]["high"] is None and unlimited["stages"][0]["unreadable"] == 1
    refused = cli(*make, "--budget", "1000usd")
    assert refused.returncode == 2 and "--max-tokens" in refused.stderr and not (tmp_path / "job").exists()
    ambiguous = cli(*make, "--budget", "1,000usd", "--max-tokens", 100)
    assert ambiguous.returncode == 2 and "may mean 1.000 or 1000 dollars" in ambiguous.stderr
    assert cli(*make, "--budget", "0.0001usd", "--max-tokens", 100).returncode == 3
    assert cli(*make, "--budget", "1usd", "--max-tokens", 100).returncode == 0
