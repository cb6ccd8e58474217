"""Training needs none of the core's dependencies; and without its own, the verb says what to install."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

_BLOCKED = """
import sys
sys.modules.update(dict.fromkeys(("pydantic", "orjson", "rich", "cyclopts", "aiohttp", "genai_prices")))
"""


def _python(code: str) -> subprocess.CompletedProcess[str]:
    source = str(Path(__file__).parents[2] / "src")
    words = [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n{code}"]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)


def test_records_are_read_without_the_cores_dependencies() -> None:
    done = _python(f"{_BLOCKED}\nimport sightline.reason.train.records, sightline.reason.train.__main__")
    assert done.returncode == 0, done.stderr


@pytest.mark.world
@pytest.mark.skipif(find_spec("torch") is None, reason="needs sightline[train]")
def test_training_is_possible_without_the_cores_dependencies() -> None:
    done = _python(f"{_BLOCKED}\nimport sightline.reason.train.trainer, sightline_world.choose")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(find_spec("torch") is not None or find_spec("cyclopts") is None, reason="torch is here")
def test_without_torch_the_verb_says_what_to_install(tmp_path: Path) -> None:
    words = f"main(['train', {str(tmp_path)!r}, '--model', 'glimpse', '--out', {str(tmp_path / 'out')!r}])"
    done = _python(f"from sightline.cli.app import main\n{words}")
    assert done.returncode == 2
    assert "pip install 'sightline[train]'" in done.stderr


@pytest.mark.skipif(find_spec("torch") is None, reason="needs sightline[train]")
def test_a_mistake_ends_with_its_fix_and_exit_code_2(tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "sightline.reason.train",
        str(tmp_path),
        "--model",
        "glimpse-tiny",
        "--out",
        str(tmp_path),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2
    assert "no stages.json" in done.stderr
