"""A folder is opened by what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.benchmark.folder import write_benchmark
from sightline.errors import UserError
from sightline.exchange import load
from sightline.runs.folder import write_run
from sightline.types import Benchmark, Corpus, Run


def test_a_benchmark_and_a_run_are_told_apart(tmp_path: Path) -> None:
    written = write_benchmark(Benchmark("b", Corpus("c"), {}, {}), tmp_path / "b")
    run = Run("b", "system", ())
    write_run(run, tmp_path / "r")
    assert load(tmp_path / "b") == written
    assert load(str(tmp_path / "r")) == run


def test_anything_else_is_refused_with_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no benchmark\.json and no run\.json"):
        load(tmp_path)
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "nowhere"):
        with pytest.raises(UserError, match="is not a folder"):
            load(path)
