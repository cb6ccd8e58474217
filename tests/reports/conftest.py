"""Folders of a benchmark with scored runs, made once; tests that change something copy them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reports.report_samples import Folders, write_all
from sightline.scoring import score


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """Four scored runs on one benchmark; not to be written to."""
    benchmark, runs = write_all(tmp_path_factory.mktemp("made"))
    for run in runs:
        score(benchmark, run)
    return Folders(benchmark, runs)


@pytest.fixture
def copied(made: Folders, tmp_path: Path) -> Folders:
    """The same, to be changed; dates of files are kept."""
    shutil.copytree(made.benchmark.parent, tmp_path / "copy")
    return Folders(tmp_path / "copy" / "harbour", [tmp_path / "copy" / "runs" / run.name for run in made.runs])
