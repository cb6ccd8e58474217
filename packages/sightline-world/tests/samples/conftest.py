"""One set of samples for all tests of this folder."""

from __future__ import annotations

import pytest

from sightline.types import Benchmark
from sightline_world.samples import Samples, sample_benchmark, write_samples


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    return write_samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="session")
def benchmark_of_samples(samples: Samples) -> Benchmark:
    return sample_benchmark(samples)
