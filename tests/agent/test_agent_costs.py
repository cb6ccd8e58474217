"""What an attempt took, also where calls failed or the run was killed: the same figures everywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import models_server as wire
import sightline
from agent_bench import ANA, small_bench
from agent_stand_ins import attempted, call, calls, finder, says
from sightline.agent.settings import AgentSettings, AgentUsage, TaskLimits
from sightline.runs.folder import read_run
from sightline.types import Failure, LedgerEntry, Usage


def test_failed_calls_are_counted(tmp_path: Path) -> None:
    """Every empty reply was paid for: 12 tokens in, 5 out, and nobody knows the price."""
    answered, server, recorder = asyncio.run(attempted(lambda _: says(""), tmp_path))
    each = 17
    assert answered.end.tokens == each * len(server.requests) > 0 and answered.end.usd is None
    turns = recorder.trajectory().turns
    assert [turn.cost.input + turn.cost.output for turn in turns] == [each] * len(turns)
    assert all(turn.failure is not None and turn.failure.usage is None for turn in turns)  # Told once, as the cost.


def test_a_limit_sees_failed_calls(tmp_path: Path) -> None:
    settings = AgentSettings(limits=TaskLimits(tokens=20))
    answered, server, _ = asyncio.run(attempted(lambda _: says(""), tmp_path, settings=settings))
    assert answered.end.forced == "tokens" and len(server.requests) == 3


def test_who_was_not_reached_took_nothing() -> None:
    spent = AgentUsage()
    spent.add(Failure("connection", "nobody there"))
    assert (spent.tokens, spent.unpriced, spent.usd) == (0, 0, 0.0)
    spent.add(Failure("empty", "", usage=Usage(10, output=2), usd=0.5))
    assert (spent.tokens, spent.unpriced, spent.usd) == (12, 0, 0.5)


def test_what_a_failure_took_does_not_tell_it_apart() -> None:
    assert Failure("empty", "x", usage=Usage(1), usd=1.0) == Failure("empty", "x")


def test_the_same_failing_call_ends_the_attempt(tmp_path: Path) -> None:
    answered, server, _ = asyncio.run(attempted(lambda _: calls(call("Nothing", {"q": 1})), tmp_path, [finder()]))
    failure = answered.end.prediction
    assert isinstance(failure, Failure) and failure.kind == "repeated-call" and 'no tool "Nothing"' in failure.message
    assert len(server.requests) == 3 and answered.end.forced is None


def test_other_calls_in_between_are_no_repetition(tmp_path: Path) -> None:
    wrong = calls(call("Nothing", {"q": 1}))
    script = [wrong, wrong, calls(call("ImageSearch")), wrong, wrong, calls(call("Nothing", {"q": 2})), wrong]
    answered, _, _ = asyncio.run(attempted([*script, says("The final answer is: [].")], tmp_path, [finder()]))
    assert answered.final is not None and answered.end.turns == 8


# --- after a kill ----------------------------------------------------------------------------------------------------


def helpful(received: wire.Received) -> wire.Answer:
    used = any(message["role"] == "tool" for message in received.json["messages"])
    return says("The final answer is: B.") if used else calls(call("ViewPhotos", {"photos": [ANA[0]]}))


@pytest.fixture
def server() -> Iterator[wire.Server]:
    with wire.serving_in_thread(helpful) as serving:
        yield serving


def run(folder: Path, server: wire.Server, out: str = "run") -> list[LedgerEntry]:
    """The ledger's rows of models' calls."""
    spec = f"agent:model=vllm/stub,base_url={server.base_url},tools=ViewPhotos,concurrency=1"
    sightline.run(folder / "bench", spec, folder / out, workspace=folder / "ws")
    return [entry for entry in read_run(folder / out).ledger if entry.stage == "agent"]


def cut(path: Path, lines: int) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


def test_calls_of_a_cut_off_attempt_are_in_the_ledger_once(tmp_path: Path, server: wire.Server) -> None:
    small_bench(tmp_path / "bench")
    before = run(tmp_path, server)
    asked = len(server.requests)
    assert len(before) == asked == 6 and not any(entry.from_journal for entry in before)
    # A kill after the calls of the second attempt, before any of it was told: its rows and its prediction are missing.
    for _ in range(2):
        cut(tmp_path / "run" / "predictions.jsonl", 1)
        cut(tmp_path / "run" / "ledger.jsonl", 3)
        after = run(tmp_path, server)
        assert len(server.requests) == asked
        assert [entry.from_journal for entry in after] == [False] * 2 + [True] * 4
        assert sum(entry.tokens_in for entry in after) == sum(entry.tokens_in for entry in before)
    # A kill between the ledger and the prediction: they are told already.
    cut(tmp_path / "run" / "predictions.jsonl", 1)
    assert len(run(tmp_path, server)) == 6


def test_calls_that_another_run_paid_for_are_not_told(tmp_path: Path, server: wire.Server) -> None:
    small_bench(tmp_path / "bench")
    run(tmp_path, server)
    assert run(tmp_path, server, "other") == []
    cut(tmp_path / "other" / "predictions.jsonl", 1)
    assert run(tmp_path, server, "other") == []
