"""Options of verbs that ask models: a price before, a cap during, no key where nothing is sent; at real servers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batch_server import batch_world
from models_server import Answer, Received, respond_json, serving_in_thread
from pictures import random_picture
from sightline.cli.app import main

Cli = Callable[..., subprocess.CompletedProcess[str]]
PRICES = '[prices.models."vllm/m"]\ninput = 1000\noutput = 2000\n'
REQUESTS = [{"id": f"q{number}", "prompt": f"question {number}"} for number in range(5)]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process, with no key and a price list."""
    monkeypatch.chdir(tmp_path)
    for name in ("SIGHTLINE_WORKSPACE", "OPENAI_API_KEY", "OPENAI_BASE_URL", "VLLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_PROXY", "*")
    (tmp_path / "sightline.toml").write_text(PRICES)

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


def embedding(request: Received) -> Answer:
    """A vector for each input, at seven tokens each."""
    inputs = request.json.get("input", [None])
    data = [{"index": place, "embedding": [1.0, place]} for place in range(len(inputs))]
    return respond_json({"data": data, "usage": {"prompt_tokens": 7 * len(inputs), "total_tokens": 7 * len(inputs)}})


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def embed(cli: Cli, url: str, *options: object) -> subprocess.CompletedProcess[str]:
    who = () if "--embedder" in options else ("--embedder", "vllm/m")
    return cli("embed", "texts", "t.txt", *who, "--base-url", url, "--out", "t.npz", *options)


def test_a_plan_of_texts_asks_nobody(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("".join(f"text number {number:03d}\n" for number in range(100)))
    with serving_in_thread(embedding) as server:
        done = embed(cli, server.base_url, "--plan")
        assert done.returncode == 0, done.stderr
        assert "embed   2 calls   775 tokens in   0 out   $0.78 (0.62–1.03)" in done.stdout
        assert "nothing has been spent · start it with --budget" in done.stdout
        assert embed(cli, server.base_url, "--limit", 60).returncode == 0
        asked = len(server.requests)
        planned = json.loads(embed(cli, server.base_url, "--plan", "--json").stdout)
        assert (planned["calls"], planned["stages"][0]["journaled"]) == (1, 60)
        assert set(planned["usd"]) == {"likely", "low", "high"}
        assert len(server.requests) == asked
        assert embed(cli, server.base_url).returncode == 0
        assert "embed   0 calls, 100 answered already" in embed(cli, server.base_url, "--plan").stdout
        other = ("--embedder", "vllm/other")
        assert "price unknown" in embed(cli, server.base_url, "--plan", *other).stdout


def test_a_plan_of_pictures_asks_nobody_and_needs_no_key(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for number in range(3):
        random_picture(number, (64, 32)).save(tmp_path / "photos" / f"{number}.png")
    options = ("photos", "--out", "v.npz", "--plan")
    with serving_in_thread(embedding) as server:
        done = cli("embed", "pictures", *options, "--embedder", "vllm/m", "--base-url", server.base_url)
        assert done.returncode == 0 and "3 calls" in done.stdout, done.stderr
        assert server.requests == []
    far = cli("embed", "texts", "sightline.toml", "--embedder", "openai/text-embedding-3-small", *options[1:])
    assert far.returncode == 0 and "1 call " in far.stdout and "under $0.0001" in far.stdout, far.stderr
    blind = cli("embed", "pictures", *options, "--embedder", "openai/text-embedding-3-small")
    assert blind.returncode == 2 and "embeds texts only" in blind.stderr
    assert not (tmp_path / "v.npz").exists()


def test_a_budget_stops_with_3_and_what_was_paid_for_is_there(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("".join(f"text number {number:03d}\n" for number in range(100)))
    with serving_in_thread(embedding) as server:
        few = ("--option", "texts_per_request=10", "--max-connections", 1)
        done = embed(cli, server.base_url, "--budget", "0.25usd", *few)
        assert done.returncode == 3 and "The budget of $0.25 is used up" in done.stderr, done.stderr
        assert "30 vectors are in t.npz" in done.stderr and "larger --budget" in done.stderr
        with np.load(tmp_path / "t.npz") as found:
            assert found["ids"].tolist() == [str(number) for number in range(1, 31)]
        assert len(server.requests) == 3
        assert embed(cli, server.base_url, "--budget", "5usd", *few).returncode == 0
        assert len(server.requests) == 10, "what was paid for is not paid for again"
        with np.load(tmp_path / "t.npz") as found:
            assert len(found["ids"]) == 100


def test_a_budget_stops_pictures_as_well(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for number in range(6):
        random_picture(number, (64, 32)).save(tmp_path / "photos" / f"{number}.png")
    with serving_in_thread(embedding) as server:
        arguments = (
            "embed", "pictures", "photos", "--embedder", "vllm/m", "--base-url", server.base_url, "--out", "v.npz",
            "--max-connections", 1,
        )  # fmt: skip
        done = cli(*arguments, "--budget", "0.02usd", "--json")
        assert done.returncode == 3 and done.stdout == "" and "vectors are in v.npz" in done.stderr, done.stderr
        with np.load(tmp_path / "v.npz") as found:
            assert 0 < len(found["ids"]) == len(server.requests) < 6
        assert cli(*arguments).returncode == 0
        assert len(server.requests) == 6


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--budget", "five"), '"five" is not an amount in dollars'),
        (("--max-connections", "0"), "max-connections"),
        (("--embedder", "photos", "--base-url", "URL"), "photos asks no server, so it has no address"),
        (("--local-only", "--base-url", "http://10.0.0.1/v1"), "--local-only allows no call"),
        (("--embedder", "openai/x"), "Set it, or use --embedder photos (free, on this machine), or --base-url http"),
        (("--embedder", "vllm/other", "--budget", "1usd", "--base-url", "URL"), "The price of vllm/other is not known"),
    ],
)
def test_mistakes_get_a_fix(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    (tmp_path / "t.txt").write_text("text\n")
    with serving_in_thread(embedding) as server:
        words = [server.base_url if word == "URL" else word for word in arguments]
        embedder = () if "--embedder" in words else ("--embedder", "vllm/m")
        done = cli("embed", "texts", "t.txt", "--out", "t.npz", *embedder, *words)
        assert done.returncode == 2 and says in done.stderr, done.stderr
        assert server.requests == []


# --- batches -------------------------------------------------------------------------------------------------


def test_making_and_reading_a_batch_needs_no_key_and_submitting_says_what_to_do(cli: Cli, tmp_path: Path) -> None:
    requests = write(tmp_path / "requests.jsonl", REQUESTS)
    made = cli("batch", "make", requests, "--model", "openai/gpt-5-mini", "--out", "job")
    assert made.returncode == 0 and "at https://api.openai.com/v1" in made.stdout, made.stderr
    lines = [json.loads(line) for line in (tmp_path / "job" / "shard-0000.jsonl").read_text().splitlines()]
    body = {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}
    rows = [
        {"id": "r", "custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}} for line in lines
    ]
    write(tmp_path / "out.jsonl", rows)
    parsed = cli("batch", "parse", "job", "--from", "out.jsonl", "--local-only")
    assert parsed.returncode == 0 and "5 of 5 answered" in parsed.stdout, parsed.stderr
    cli("batch", "make", requests, "--model", "openai/gpt-5", "--out", "other")
    sent = cli("batch", "submit", "other")
    assert sent.returncode == 2
    assert sent.stderr.splitlines() == [
        "error: OPENAI_API_KEY is not set, so openai/gpt-5 can't be asked.",
        "  Set it, or make the job again with --model vllm/MODEL, or --base-url http://localhost:8000/v1 for your own "
        "server",
    ]


def test_a_batch_has_its_plan_and_its_cap(cli: Cli, tmp_path: Path) -> None:
    requests = write(tmp_path / "requests.jsonl", REQUESTS)
    make = ("batch", "make", requests, "--model", "openai/gpt-5-mini", "--max-tokens", 100, "--out", "job")
    planned = cli(*make, "--plan")
    assert planned.returncode == 0 and "batch   5 calls" in planned.stdout and "by batch: $" in planned.stdout
    assert not (tmp_path / "job").exists()
    dear = cli(*make, "--budget", "0.0001usd")
    assert dear.returncode == 3 and "The job of 5 calls may cost up to $0.0005" in dear.stderr, dear.stderr
    assert not (tmp_path / "job").exists()
    assert cli(*make, "--budget", "1usd").returncode == 0
    own = ("batch", "make", requests, "--out", "own", "--budget", "0.1usd", "--max-tokens", 10)
    unknown = cli(*own, "--model", "vllm/other")
    assert unknown.returncode == 2 and "in a batch is not known" in unknown.stderr
    assert cli(*own, "--model", "vllm/m").returncode == 3
    assert cli(*own, "--model", "vllm/m", "--price-factor", 0.5).returncode == 0
    nobody = cli("batch", "make", requests, "--out", "x")
    assert nobody.returncode == 2 and "--model openai/gpt-5-mini" in nobody.stderr
    other = cli("batch", "make", requests, "--model", "anthropic/x", "--out", "x")
    assert other.returncode == 2 and "anthropic/x has no OpenAI-style batches" in other.stderr


def test_live_calls_after_a_batch_stop_at_the_budget_with_their_results(cli: Cli, tmp_path: Path) -> None:
    long = [{"id": f"q{number}", "prompt": f"{number}" * 380} for number in range(5)]
    requests = write(tmp_path / "requests.jsonl", long)
    with batch_world(polls=("in_progress",) * 1000, work=lambda _: None) as world:
        cli(
            "batch", "make", requests, "--model", "vllm/m", "--base-url", world.base_url, "--out", "job",
            "--max-tokens", 10,
        )  # fmt: skip
        assert cli("batch", "submit", "job").returncode == 0
        waiting = ("batch", "wait", "job", "--every", "0.05s", "--deadline", "0s", "--then-live")
        done = cli(*waiting, "--budget", "0.3usd", "--max-connections", 1)  # Twelve cents a call.
        assert done.returncode == 3 and "The budget of $0.30 is used up" in done.stderr, done.stderr
        found = [json.loads(line) for line in (tmp_path / "job" / "results.jsonl").read_text().splitlines()]
        answered = [row["id"] for row in found if "text" in row]
        assert len(found) == 5 and 0 < len(answered) == len(world.live) < 5
        assert cli(*waiting).returncode == 0
        assert len(world.live) == 5


def test_private_pictures_in_a_batch_are_announced(cli: Cli, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    random_picture(1, (20, 10)).save(tmp_path / "a.png")
    requests = write(tmp_path / "requests.jsonl", [{"id": "p", "prompt": "What?", "pictures": ["a.png"]}])
    with batch_world(polls=()) as world:
        far = world.base_url.replace("127.0.0.1", "0.0.0.0")
        made = cli("batch", "make", requests, "--model", "vllm/m", "--base-url", far, "--out", "job")
        assert made.returncode == 0 and caplog.messages == []
        refused = cli("batch", "submit", "job", "--local-only")
        assert refused.returncode == 2 and "--local-only allows no call" in refused.stderr and world.files == {}
        sent = cli("batch", "submit", "job")
        assert sent.returncode == 0, sent.stderr
        assert "the pictures of job are sent to 0.0.0.0" in sent.stderr
        assert "are sent to" not in cli("batch", "submit", "job").stderr
