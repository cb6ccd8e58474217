"""Files on a Ray cluster of one and of two workers: python benchmarks/ray_files.py [--pictures 1200].

`sightline.embed` with `photos` and `sightline.scan` over drawn JPEGs of 0.5 MP, on a local cluster of one node with one
CPU and then of two. The share of linear is t(1) / (2 t(2)), less what a small folder takes, which is starting. It takes
a machine with three idle cores at least: the command itself, with the cache and the corpus, is the third.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

import sightline
from scan import make_pictures
from sightline.models.photos.networks import find_networks

_NODE = {"num_cpus": 1, "object_store_memory": 100 * 2**20}


def on_cluster(nodes: int, work: Callable[[str], None]) -> float:
    """Seconds of the work on so many workers; it is done once before."""
    cluster = Cluster(initialize_head=True, head_node_args={**_NODE, "include_dashboard": False})
    try:
        for _ in range(nodes - 1):
            cluster.add_node(**_NODE)
        cluster.wait_for_nodes()
        started = time.perf_counter()
        work(f"ray:{cluster.address}")
        return time.perf_counter() - started
    finally:
        ray.shutdown()
        cluster.shutdown()


def embed(folder: Path, engine: str) -> None:
    with tempfile.TemporaryDirectory() as workspace:
        sightline.embed(folder, embedder="photos", session=sightline.Session(Path(workspace), engine=engine))


def scan(folder: Path, engine: str) -> None:
    with tempfile.TemporaryDirectory() as workspace:
        sightline.scan(folder, session=sightline.Session(Path(workspace), engine=engine))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pictures", type=int, default=1200)
    count = options.parse_args().pictures
    find_networks(with_head=True)
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder) / "few", Path(folder) / "many"
        make_pictures(few, (816, 612), 8)
        make_pictures(many, (816, 612), count)
        for name, verb in (("embed", embed), ("scan", scan)):
            times = []
            for nodes in (1, 2):
                started = [on_cluster(nodes, partial(verb, to)) for to in (few, many)]
                times.append(started[1] - started[0])  # What starting takes is in both.
            share = times[0] / (2 * times[1])
            load = os.getloadavg()[0]
            print(
                f"{name:<6} {count:,} pictures: {times[0]:.1f} s with one worker, {times[1]:.1f} s with two: "
                f"{share:.2f} of linear (load {load:.0f})"
            )


if __name__ == "__main__":
    main()
