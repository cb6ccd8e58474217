"""The agent `builtin/world` finds more than plain search does, on a life and in phrasings that are new to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "agents.py"


@pytest.mark.world
@pytest.mark.slow
def test_the_agent_beats_plain_search_on_held_out_phrasings(tmp_path: Path) -> None:
    out = tmp_path / "numbers.json"
    options = ["--tasks", "100", "--seed", "90211", "--no-ablations", "--json", str(out)]
    subprocess.run([sys.executable, str(SCRIPT), *options], check=True, cwd=tmp_path, timeout=1800)
    found = orjson.loads(out.read_bytes())
    for name in ("direct retrieval", "hybrid, parsed"):
        assert found["select"][name]["ahead"]["low"] > 0
    assert found["select"]["agent"]["estimate"]["n"] == found["answer"]["agent"]["estimate"]["n"] == 100
    assert found["answer"]["chat, no tools"]["ahead"]["low"] > 0
