"""`kill -9` while a data set is built: nothing is half published, and the next one takes away what was left."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from make_publishing import make_project
from sightline.cli import main
from sightline.io import locks

pytest.importorskip("pyarrow")
KILLED = """
import os, signal, sys
from sightline.cli import main
from sightline.authoring.dataset import folder, pictures

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

moments = {"prepare.lessen": (pictures, "subset_benchmark"), "folder.card_file": (folder, "card_file")}
setattr(*moments[sys.argv[1]], killed)
main(sys.argv[2:])
"""


@pytest.mark.skipif(not locks.HAS_FLOCK, reason="there are no locks here")
@pytest.mark.parametrize("moment", ["prepare.lessen", "folder.card_file"])
def test_a_killed_publish_leaves_nothing_that_the_next_does_not_take_away(moment: str, tmp_path: Path) -> None:
    project = make_project(tmp_path, pictures=6, queries=2, pool=4)
    command = [
        "make", "publish", "--dry-run", "--yes", "--out", str(project.folder), "--config", str(project.config_path),
        "--workspace", str(project.workspace),
    ]  # fmt: skip
    before = {path.name for path in project.folder.iterdir()}
    killed = subprocess.run([sys.executable, "-c", KILLED, moment, *command], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    left = {path.name for path in project.folder.iterdir()} - before
    assert left and all(name.startswith(".sightline-") for name in left)
    assert any(path.suffix == ".jpg" for name in left for path in (project.folder / name).glob("*"))
    main(command)
    now = {path.name for path in project.folder.iterdir()} - before
    assert now == {"dataset", "published_ids.jsonl", ".written.json"}
