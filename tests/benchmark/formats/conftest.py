"""One set of samples, with their pictures, for all tests of this folder."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from sightline.types import Benchmark


@pytest.fixture(scope="session")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """The sample benchmark, with tasks of every kind."""
    pytest.importorskip("sightline_world", reason="needs sightline-world")
    from sightline_world.samples import sample_benchmark, write_samples

    return sample_benchmark(write_samples(tmp_path_factory.mktemp("samples")))


@pytest.fixture(autouse=True)
def _own_cache_of_datasets(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the real `datasets` library remembers of another test's files must not answer for this one's."""
    if request.node.get_closest_marker("slow") and find_spec("datasets") is not None:
        monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "datasets-cache")
