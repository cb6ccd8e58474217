"""The pictures of a benchmark, as an index takes them in."""

from __future__ import annotations

from pathlib import Path

from sightline.benchmark.files import HEADER
from sightline.io import PathLike
from sightline.retrieval.index.content import Content
from sightline.types import Benchmark


def benchmark_content(benchmark: Benchmark, folder: PathLike | None = None) -> Content:
    """The pictures of a benchmark, each once, whatever number of tasks judge it; nothing of its tasks is taken."""
    return Content(
        benchmark.corpus.pictures.values(),
        benchmark.corpus.groups,
        benchmark.annotations,
        base=None if folder is None else Path(folder).absolute(),
        source=f"benchmark {benchmark.name} {benchmark.version}",
        state=benchmark.checksum,
        origin=None if folder is None else Path(folder).expanduser().absolute() / HEADER,
    )
