"""`run --plan`: what a run would take, and what it then takes; nobody is asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

import models_server as wire
from agent_bench import small_bench
from agent_stand_ins import says
from sightline.calls.plan import CostPlan, dry_run
from sightline.cli import main
from sightline.runs.runner import run as run_system


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small_bench(tmp_path / "bench")
    return tmp_path


@pytest.fixture
def server() -> Iterator[wire.Server]:
    replies = iter(range(10_000))

    def different(received: wire.Received) -> wire.Answer:
        return says(f"The final answer is: {'AB'[next(replies) // 2 % 2]}.")

    with wire.serving_in_thread(different) as serving:
        yield serving


def price(folder: Path, spec: str, **more: Any) -> CostPlan:
    return dry_run(run_system, folder / "bench", spec, folder / "run", workspace=folder / "ws", **more)


def run(folder: Path, spec: str, out: str = "run", **more: Any) -> None:
    run_system(folder / "bench", spec, folder / out, workspace=folder / "ws", **more)


def calls(plan: CostPlan) -> int:
    return sum(stage.calls for stage in plan.stages)


def test_every_question_is_priced_as_it_is_asked_and_what_is_done_no_more(folder: Path, server: wire.Server) -> None:
    spec = f"chat:model=vllm/stub,base_url={server.base_url}"
    assert calls(price(folder, spec, repeat=3)) == 6  # Such a system does not select.
    assert calls(price(folder, spec, repeat=3, limit=2)) == 3
    assert server.requests == []
    run(folder, spec)
    assert len(server.requests) == 2 and calls(price(folder, spec)) == 0
    again = price(folder, spec, repeat=3)
    assert calls(again) == 4 and again.stages[0].journaled == 0
    # Another folder asks the same, and the journal knows what was said.
    other = dry_run(run_system, folder / "bench", spec, folder / "other", repeat=3, workspace=folder / "ws")
    assert (calls(other), other.stages[0].journaled) == (4, 2)


def test_an_agent_has_a_range_of_turns_within_its_limit(folder: Path, server: wire.Server) -> None:
    spec = f"agent:model=vllm/stub,base_url={server.base_url},tools=ViewPhotos,turns={{}}"
    one, many = (price(folder, spec.format(turns)).stages[0] for turns in (1, 30))
    assert one.calls == 3 and many.calls > 9
    assert many.input.low < many.input.likely < many.input.high
    assert many.basis.startswith("2 to 30 turns each")
    twice = price(folder, spec.format(30), repeat=2).stages[0]
    assert twice.calls == 2 * many.calls and twice.input.high == pytest.approx(2 * many.input.high)
    often = price(folder, spec.format(30), repeat=40).stages[0]  # Of so many, some stand for all.
    assert often.calls == 40 * many.calls and often.input.likely == pytest.approx(40 * many.input.likely, rel=0.05)
    assert server.requests == []


def test_a_verifier_is_priced_where_answers_differ(folder: Path, server: wire.Server) -> None:
    chat = f"chat:model=vllm/stub,base_url={server.base_url}"
    run(folder, chat, "several", repeat=2, concurrency=1)
    run(folder, chat, "once", concurrency=1)
    asked = len(server.requests)
    vote = f"vote:run={folder / 'several'}"
    verified = f"by=verifier,model=vllm/stub,base_url={server.base_url}"
    judged = price(folder, f"{vote},{verified}")
    assert calls(price(folder, f"vote:run={folder / 'once'},{verified}")) == 0  # One answer differs from none.
    assert calls(judged) == 2 and judged.stages[0].stage == "verify"
    assert price(folder, vote).stages == () and len(server.requests) == asked


def test_no_key_and_no_place_is_needed_for_a_plan(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    common = ["--workspace", str(folder / "ws")]
    begin = ["run", str(folder / "bench"), "--system"]
    main([*begin, "chat:model=openai/gpt-5-mini,max_tokens=100", "--plan", "--json", *common])
    told = orjson.loads(capsys.readouterr().out)
    assert told["calls"] == 2 and told["usd"]["high"] > told["usd"]["low"] > 0
    main([*begin, "blind:by=random", "--plan", *common])
    assert "nothing to price" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        main([*begin, "blind:by=random", *common])
    assert stopped.value.code == 2
    assert "--out FOLDER" in capsys.readouterr().err


def test_ablations_have_a_line_for_each_arm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["ablate", str(folder / "bench"), "--model", "openai/gpt-5-mini", "--workspace", str(folder / "ws")]
    main([*asked, "--plan", "--json"])
    stages = {stage["stage"]: stage for stage in orjson.loads(capsys.readouterr().out)["stages"]}
    assert list(stages) == ["whole", "without text", "without pictures", "one picture", "shuffled pictures"]
    assert stages["without pictures"]["input"]["likely"] < stages["whole"]["input"]["likely"]
