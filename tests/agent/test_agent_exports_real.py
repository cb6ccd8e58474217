"""Exported trajectories, read by the tools that they are for; skipped where those are not installed."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from agent_bench import ANA, small_bench
from agent_stand_ins import call, calls, says
from models_server import Answer, Received, serving_in_thread
from sightline import exchange
from sightline.runs.runner import run

pytestmark = pytest.mark.slow


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


def test_harbor_reads_atif(made: Path) -> None:
    trajectories = pytest.importorskip("harbor.models.trajectories", reason="needs pip install harbor (Python 3.12)")
    exchange.export_files("atif", made / "run", made / "atif")
    names = orjson.loads((made / "atif" / "index.json").read_bytes())["trajectories"]
    read = [trajectories.Trajectory.model_validate_json((made / "atif" / name).read_bytes()) for name in names]
    assert [step.source for step in read[0].steps] == ["system", "user", "agent", "agent"]
    assert read[0].steps[2].tool_calls[0].function_name == "ViewPhotos"


def test_ms_swift_reads_training_rows(made: Path) -> None:
    inputs = pytest.importorskip("swift.template.template_inputs", reason="needs pip install ms-swift")
    exchange.export_files("ms-swift", made / "run", made / "train.jsonl")
    rows = [orjson.loads(line) for line in (made / "train.jsonl").read_bytes().splitlines()]
    read = inputs.StdTemplateInputs.from_dict(rows[0])
    assert [message["role"] for message in read.messages] == ["user", "tool_call", "tool", "assistant"]
    assert len(read.images) == sum(message["content"].count("<image>") for message in read.messages) == 1
