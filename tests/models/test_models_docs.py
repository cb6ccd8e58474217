"""The programs on our pages run as they stand; what is only a part of one is marked `<!-- fragment -->`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("models.md", "engine.md", "embedders.md", "batches.md")
_FENCE = re.compile(r"(<!-- fragment -->\n)?```python\n(.*?)```", re.DOTALL)


def programs() -> list[tuple[str, str]]:
    found = []
    for name in PAGES:
        for number, (fragment, code) in enumerate(_FENCE.findall((DOCS / name).read_text(encoding="utf-8")), 1):
            if not fragment:
                found.append((f"{name} {number}", code))
    return found


def test_every_page_has_one() -> None:
    assert {name.partition(" ")[0] for name, _ in programs()} == set(PAGES)


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in programs()])
def test_it_runs(code: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
