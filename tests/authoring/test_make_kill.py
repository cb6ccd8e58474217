"""`kill -9` in the middle of annotating: what was answered is not asked again, and no file is half written."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from make_tools import COLOURS, colour_of, describing, draw, picture_in, rows, seeing
from models_server import Received

PICTURES = 12
CONFIG = f"""
[annotate]
model = "vllm/seer"
flags = ["is_warm"]
vocabulary = {[*COLOURS, "plain", "flat"]}
min_tags = 2
[annotate.taxonomy]
colour = {list(COLOURS)}
"""


ANSWERED = 5
"""So many calls are answered and journaled when the process is killed; the next one is under way."""


def journaled(workspace: Path) -> int:
    """Answers that are in the journal, as another process sees it."""
    path = workspace / "journal.sqlite"
    if not path.is_file():
        return 0
    with closing(sqlite3.connect(path)) as journal:
        try:
            count: int = journal.execute("SELECT count(*) FROM calls WHERE reusable = 1").fetchone()[0]
        except sqlite3.OperationalError:  # Its tables are being made.
            return 0
        return count


def test_a_killed_run_is_taken_up(tmp_path: Path) -> None:
    draw(tmp_path / "pictures", *([*COLOURS] * 3))
    (tmp_path / "sightline.toml").write_text(CONFIG)
    (tmp_path / ".sightline").mkdir()
    killed = threading.Event()

    def reply(request: Received) -> Any:
        data = picture_in(request)
        assert data is not None
        if len(server.requests) > ANSWERED:
            killed.wait(60)  # Under way when the process is killed.
        return describing(colour_of(data))

    with seeing(reply) as server:
        command = [
            sys.executable, "-m", "sightline", "make", "annotate", "--base-url", server.base_url, "--out", "project",
            "--max-connections", "1",
        ]  # fmt: skip
        first = subprocess.Popen([*command, "pictures"], cwd=tmp_path, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while (journaled(tmp_path / ".sightline") < ANSWERED) and time.monotonic() < deadline:
            time.sleep(0.02)
        first.kill()
        first.wait()
        before = len(server.requests)
        killed.set()
        assert journaled(tmp_path / ".sightline") == ANSWERED
        assert not (tmp_path / "project" / "annotations.jsonl").exists()
        again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert again.returncode == 0, again.stderr
        assert len(server.requests) - before == PICTURES - ANSWERED, "what the journal has is not asked again"
    found = rows(tmp_path / "project" / "annotations.jsonl")
    assert len({row["image_id"] for row in found}) == len(found) == PICTURES
