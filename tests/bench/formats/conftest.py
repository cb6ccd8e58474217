"""One set of samples, with their pictures, for all tests of this folder."""

from __future__ import annotations

import pytest

from sightline.samples import sample_benchmark, write_samples
from sightline.types import Benchmark


@pytest.fixture(scope="session")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """The sample benchmark, with tasks of every kind."""
    return sample_benchmark(write_samples(tmp_path_factory.mktemp("samples")))
