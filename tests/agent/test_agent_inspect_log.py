"""An agent's run as a log of inspect_ai: what was said, done and seen, as the tool's own reader has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_bench import ANA, small_bench
from agent_stand_ins import call, calls, says
from models_server import Answer, Received, serving_in_thread
from sightline import exchange
from sightline.runs.runner import run


def looks_once(received: Received) -> Answer:
    used = any(message["role"] == "tool" for message in received.json["messages"])
    return says(f"The final answer is: [{ANA[0]}].") if used else calls(call("ViewPhotos", {"photos": [ANA[0]]}))


@pytest.fixture
def made(tmp_path: Path) -> Path:
    small_bench(tmp_path / "bench")
    with serving_in_thread(looks_once) as server:
        spec = f"agent:model=vllm/stub,base_url={server.base_url},tools=ViewPhotos"
        run(tmp_path / "bench", spec, tmp_path / "run", workspace=tmp_path / "ws", limit=1)
    return tmp_path


def exported(made: Path, suffix: str) -> Path:
    path = made / f"log{suffix}"
    exchange.export_files("inspect", made / "run", path, benchmark=made / "bench")
    return path


def test_messages_and_events_hold_what_the_agent_did(made: Path) -> None:
    (sample,) = json.loads(exported(made, ".json").read_text())["samples"]
    assert [message["role"] for message in sample["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    (called,) = sample["messages"][2]["tool_calls"]
    assert (called["function"], called["arguments"]) == ("ViewPhotos", {"photos": [ANA[0]]})
    (picture,) = [part for part in sample["messages"][3]["content"] if part["type"] == "image"]
    data = sample["attachments"][picture["image"].removeprefix("attachment://")]
    assert data.startswith("data:image/")
    assert [event["event"] for event in sample["events"]] == ["model", "tool", "model"]
    assert [len(event["input"]) for event in sample["events"] if event["event"] == "model"] == [2, 4]
    assert list(sample["attachments"].values()).count(data) == 1, "however often it was shown"
    assert [event["timestamp"] for event in sample["events"]] == sorted(
        event["timestamp"] for event in sample["events"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_the_real_reader_shows_what_the_agent_did(made: Path, suffix: str) -> None:
    log: Any = pytest.importorskip("inspect_ai.log", reason="the interop extra has the real reader")
    found = log.read_eval_log(str(exported(made, suffix)), resolve_attachments=True)
    (sample,) = found.samples
    assert [message.role for message in sample.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert sample.messages[2].tool_calls[0].function == "ViewPhotos"
    assert [part.image[:11] for part in sample.messages[3].content if part.type == "image"] == ["data:image/"]
    first, tool, last = sample.events
    assert (first.event, tool.event, last.event) == ("model", "tool", "model")
    assert tool.function == "ViewPhotos" and tool.id == first.output.message.tool_calls[0].id
    assert last.output.completion == sample.messages[-1].text
    assert "ViewPhotos" in [spec.name for spec in first.tools]
