"""What a query costs beyond its back-end: 109,467 pictures of 54 owners, 512 numbers each, through the Searcher.

    python benchmarks/searcher.py [--rows N] [--backend SPEC]

Vectors are put into the workspace's cache directly, so that no picture is needed. Candidates take turns; medians.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.calls.session import Session
from sightline.models.embedders.vector_cache import VectorCache
from sightline.retrieval.index.build import build_index
from sightline.retrieval.index.content import Content
from sightline.retrieval.searcher import Searcher
from sightline.types import Annotation, Method, Picture, Scope, SearchQuery

DIM, OWNERS, PAGE = 512, 54, 8192
TURNS = 30
NOUNS = ("dog", "cat", "beach", "bridge", "mountain", "bicycle", "market", "temple", "snow", "garden", "boat", "train")


class Made:
    """An embedder of texts whose vectors are drawn once for each text."""

    name, revision, dim = "made", "1", DIM

    def texts(self, batch: Sequence[str]) -> NDArray[np.float32]:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little") for text in batch]
        return np.stack([unit(np.random.default_rng(seed).standard_normal((1, DIM)))[0] for seed in seeds])

    def pictures(self, batch: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        raise NotImplementedError("every picture is in the cache already")


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def key_of(number: int) -> bytes:
    return hashlib.sha256(number.to_bytes(8, "little")).digest()


def fill_cache(workspace: Path, rows: int) -> None:
    """Vectors in clusters, as pictures have them."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((1000, DIM))
    with VectorCache(workspace) as cache:
        for start in range(0, rows, PAGE):
            count = min(PAGE, rows - start)
            vectors = centres[rng.integers(0, 1000, count)] + 0.7 * rng.standard_normal((count, DIM))
            cache.put_many([key_of(start + at) for at in range(count)], unit(vectors), Made())


def pictures(rows: int) -> Iterator[Picture]:
    for number in range(rows):
        yield Picture(
            id=f"{number % OWNERS:02}/IMG_{number:06}.jpg",
            uri=f"file:///pictures/{number}.jpg",
            sha256=key_of(number).hex(),
            taken_at=datetime(2010, 1, 1) + timedelta(hours=number),
            extra={"owner": f"owner-{number % OWNERS:02}"},
        )


def annotations_of(rows: int) -> Iterator[Annotation]:
    for number in range(rows):
        first, second = NOUNS[number % 12], NOUNS[number // 12 % 12]
        yield Annotation(
            f"{number % OWNERS:02}/IMG_{number:06}.jpg", summary=f"a {first} near a {second}", tags=(first,)
        )


def milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=109_467)
    parser.add_argument("--backend", default="exact")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        fill_cache(workspace, given.rows)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        content = Content(pictures(given.rows), annotations=annotations_of(given.rows))
        built = build_index(Session(workspace), content=content, embedder=Made(), backend=given.backend)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"build {given.rows:,} rows: {built.seconds:.1f} s, peak memory {before // 1024} → {after // 1024} MB")
        again = build_index(Session(workspace), content=Content(pictures(given.rows)), embedder=Made())
        print(f"build again, nothing new: {again.seconds:.1f} s")
        print(f"open: {milliseconds(lambda: Searcher.open(workspace, embedder=Made()).close()):.1f} ms")
        with Searcher.open(workspace, embedder=Made()) as searcher:
            compare(searcher)


def compare(searcher: Searcher) -> None:
    assert searcher.pictures is not None
    index, text = searcher.pictures.index, "a dog near a bridge"
    vector = searcher.asker.text(text).vector[None]
    owned = searcher.select(SearchQuery(text, scope=Scope("owner-07"))).rows
    dated = searcher.select(SearchQuery(text, where="time >= 2012 and time < 2013")).rows
    cases: dict[str, Callable[[], object]] = {
        "bare back-end": lambda: index.nearest(vector, 10),
        "Searcher": lambda: searcher.search(SearchQuery(text)),
        "bare back-end, one owner": lambda: index.nearest(vector, 10, owned),
        "Searcher, one owner": lambda: searcher.search(SearchQuery(text, scope=Scope("owner-07"))),
        "bare back-end, one year": lambda: index.nearest(vector, 10, dated),
        "Searcher, one year": lambda: searcher.search(SearchQuery(text, where="time >= 2012 and time < 2013")),
        "Searcher, words": lambda: searcher.search(SearchQuery(text), Method(vectors=False, words=True)),
        "Searcher, hybrid": lambda: searcher.search(SearchQuery(text), Method(words=True)),
        "Searcher, diversity": lambda: searcher.search(SearchQuery(text), Method(diversity=0.3)),
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(TURNS):
        for name, work in cases.items():
            times[name].append(milliseconds(work))
    for name, found in times.items():
        print(f"{name:28} {statistics.median(found):8.2f} ms")
    print(f"automatic threshold, calibrated: {milliseconds(searcher.threshold):.0f} ms")


if __name__ == "__main__":
    main()
