"""A corpus of 10,000, 100,000 and 1,000,000 pictures, on one machine: time and memory of each step, in one table.

Run: python benchmarks/scale.py [--files 10000,100000,1000000] [--folder PLACE]. The pictures are small drawn JPEGs (2
to 4 GB on disk for a million), no two the same. They are scanned (which groups them), scanned again with nothing
changed, and indexed with vectors that are given (512 random numbers each), and the index is searched by vectors of its
own. Each size runs in a process of its own; memory is the most that this process and its workers held.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

import sightline
from sightline.corpus.store import CorpusStore
from sightline.models.embedders.vector_cache import VectorCache
from sightline.models.protocols import Pixels, Vectors

DIM, PAGE = 512, 8192


class Given:
    """An embedder whose vectors lie in the workspace; it makes those of words up."""

    name, revision, dim = "given", "1", DIM

    def pictures(self, batch: Sequence[Pixels]) -> Vectors:
        raise AssertionError("every vector was given")

    def texts(self, batch: Sequence[str]) -> Vectors:
        return vectors(len(batch), len(batch[0]))


def vectors(count: int, seed: int) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, DIM), dtype=np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def draw(folder: Path, count: int) -> None:
    """Small JPEGs, a thousand in a folder."""
    rng = np.random.default_rng(1)
    for number in range(count):
        if number % 1000 == 0:
            (place := folder / f"{number // 1000:04}").mkdir(parents=True)
        coarse = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8))
        file = io.BytesIO()
        coarse.resize((64, 48), Image.Resampling.BICUBIC).save(file, "JPEG", quality=80)
        (place / f"{number:07}.jpg").write_bytes(file.getvalue())


def steps(folder: Path, workspace: Path, backend: str) -> Iterator[tuple[str, float]]:
    """Each step, and how long it took."""

    def timed(name: str, started: float) -> tuple[str, float]:
        return name, time.perf_counter() - started

    started = time.perf_counter()
    count = sightline.scan(folder, workspace=workspace).pictures
    yield timed("scan", started)
    started = time.perf_counter()
    assert sightline.scan(folder, workspace=workspace).pictures == count
    yield timed("again", started)
    embedder = Given()
    with CorpusStore(workspace) as store:
        keys = [row[0] for row in store.database.execute("SELECT DISTINCT sha256 FROM pictures")]
    cache = VectorCache(workspace)
    for at in range(0, len(keys), PAGE):
        cache.put_many(keys[at : at + PAGE], vectors(len(keys[at : at + PAGE]), at), embedder)
    cache.close()
    started = time.perf_counter()
    assert sightline.index(embedder=embedder, backend=backend, workspace=workspace).pictures == count
    yield timed("index", started)
    with sightline.Session(workspace) as session:
        for name in ("first search", "search"):
            started = time.perf_counter()
            assert len(sightline.search(name, embedder=embedder, k=10, session=session)) == 10
            yield timed(name, started)


def measured(folder: Path, workspace: Path, backend: str) -> dict[str, float]:
    found = dict(steps(folder, workspace, backend))
    own, worker = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    held = sum(path.stat().st_size for path in workspace.rglob("*") if path.is_file()) / 2**20
    return {**found, "own": own, "worker": worker, "disk": held}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--files", default="10000,100000,1000000")
    options.add_argument("--folder", type=Path, help="where the pictures are drawn; a temporary folder when not given")
    options.add_argument("--backend", default="exact:quantised")
    options.add_argument("--one", nargs=2, type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        folder, workspace = chosen.one
        print(json.dumps(measured(folder, workspace, chosen.backend)))
        return
    cores = len(os.sched_getaffinity(0))
    heads = "pictures", "scan s", "again s", "index s", "first s", "search ms", "MB (own + workers)", "disk MB", "load"
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=chosen.folder) as scratch:
        for count in map(int, chosen.files.split(",")):
            folder = Path(scratch) / f"pictures-{count}"
            draw(folder, count)
            line = [
                sys.executable,
                __file__,
                "--one",
                str(folder),
                f"{scratch}/ws-{count}",
                "--backend",
                chosen.backend,
            ]
            found = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
            memory = f"{found['own']:.0f} + {cores} × {found['worker']:.0f}"
            print(
                f"| {count:,} | {found['scan']:.1f} | {found['again']:.1f} | {found['index']:.1f} "
                f"| {found['first search']:.2f} | {1000 * found['search']:.0f} | {memory} | {found['disk']:,.0f} "
                f"| {os.getloadavg()[0]:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
