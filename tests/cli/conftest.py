"""The real command line, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """`cli("scan", folder, "--json")` → exit code, stdout and stderr; run in `tmp_path` with a plain terminal."""

    def cli(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGHTLINE")}
        return subprocess.run(
            [sys.executable, "-m", "sightline", *map(str, arguments)],
            cwd=tmp_path,
            env=kept | {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1"} | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return cli
