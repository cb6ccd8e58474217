"""Scan, embed, index and run on a Ray cluster of two nodes, one of which is lost in the middle of the work.

Nothing is missing afterwards, and nothing was paid twice.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray_stages
from ray_desk import ray_or_skip
from test_calls_kill import asked_since, counting_server

import sightline
from make_tools import colour_config, describing, seeing
from models_server import Received
from pictures import random_picture
from sightline.benchmark.folder import write_benchmark
from sightline.calls.file_map import file_map
from sightline.calls.rate_limit import RateLimits
from sightline.calls.session import CallOptions
from sightline.calls.stages import StageSpec, run_spread
from sightline.engine.worker_pool import Died
from sightline.errors import StoppedError, UserError
from sightline.types import Answer
from tiny_clip import write_tiny_clip

pytestmark = pytest.mark.slow
_NODE = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
_PICTURES = 600


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = ray_or_skip()
    from ray.cluster_utils import Cluster

    ray.shutdown()
    with pytest.MonkeyPatch.context() as patch:  # What reads files is imported by processes of the workers'.
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
        nodes = Cluster(initialize_head=True, head_node_args={**_NODE, "include_dashboard": False})
        nodes.add_node(**_NODE)
        nodes.wait_for_nodes()
        yield nodes
        ray.shutdown()
        nodes.shutdown()


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    for number in range(_PICTURES):
        random_picture(number, (320, 240)).save(folder / f"{number:03}.jpg")
    (folder / "bad.jpg").write_bytes((folder / "000.jpg").read_bytes()[:900])
    return folder


@contextmanager
def losing_a_node(cluster: Any, when: Callable[[], bool]) -> Iterator[list[bool]]:
    """The node that is not the head's goes as soon as `when` is true; the list says so afterwards."""
    (node,) = (node for node in cluster.list_all_nodes() if not node.head)
    lost: list[bool] = []

    def watch() -> None:
        for _ in range(6000):
            if when():
                cluster.remove_node(node, allow_graceful=False)
                lost.append(True)
                return
            time.sleep(0.01)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield lost
        thread.join()
    finally:
        cluster.add_node(**_NODE)
        cluster.wait_for_nodes()


def rows(path: Path, table: str) -> int:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            count: int = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return count
    except sqlite3.OperationalError:
        return 0


def test_a_scan_survives_a_lost_node(cluster: Any, photos: Path, tmp_path: Path) -> None:
    there = sightline.Session(tmp_path / "ws", engine=f"ray:{cluster.address}")
    database = tmp_path / "ws" / "corpus.sqlite"
    with losing_a_node(cluster, lambda: 0 < rows(database, "pictures") < _PICTURES) as lost:
        summary = sightline.scan(photos, session=there)
    assert lost and summary.pictures == _PICTURES and summary.skipped == {"truncated": 1}
    here = sightline.Session(tmp_path / "local")
    sightline.scan(photos, session=here)
    found = [
        {name: (one.sha256, one.phash, one.width) for name, one in sightline.load(place).pictures.items()}  # type: ignore[union-attr]
        for place in (tmp_path / "ws", tmp_path / "local")
    ]
    assert found[0] == found[1]


def test_vectors_survive_a_lost_node(cluster: Any, photos: Path, tmp_path: Path) -> None:
    embedder = f"onnx:{write_tiny_clip(tmp_path / 'clip')}"
    there = sightline.Session(tmp_path / "ws", engine=f"ray:{cluster.address}")
    database = tmp_path / "ws" / "vectors.sqlite"
    with losing_a_node(cluster, lambda: 0 < rows(database, "vectors") < _PICTURES) as lost:
        embedded = sightline.embed(photos, embedder=embedder, session=there)
    local = sightline.embed(photos, embedder=embedder, workspace=tmp_path / "local")
    assert lost and list(embedded.ids) == list(local.ids) and len(embedded.ids) == _PICTURES
    assert np.array_equal(embedded.vectors, local.vectors)
    assert embedded.left_out == local.left_out
    again = sightline.embed(photos, embedder=embedder, session=there)
    assert again.from_cache == _PICTURES
    shutil.rmtree(tmp_path / "ws")
    assert sightline.index(photos, embedder=embedder, session=there).pictures == _PICTURES
    assert sightline.search("a red picture", session=there)


def test_a_run_survives_a_lost_node_and_pays_once(cluster: Any, tmp_path: Path) -> None:
    tasks = {f"t{number}": f"question {number}" for number in range(400)}
    benchmark = sightline.Benchmark.from_tables(["a.jpg"], tasks, {name: Answer(text) for name, text in tasks.items()})
    bench = tmp_path / "bench"
    write_benchmark(benchmark, bench)
    with counting_server(0.05) as server:
        there = sightline.Session(tmp_path / "ws", engine=f"ray:{cluster.address}", base_url=f"{server}/v1")
        spec, out = "chat:model=vllm/m,concurrency=16", tmp_path / "run"
        with losing_a_node(cluster, lambda: 50 < len(asked_since(server, 0)) < 300) as lost:
            done = sightline.run(bench, spec, out, session=there)
        asked = asked_since(server, 0)
        assert lost and done.attempts == 400 and not done.failures
        assert len(asked) - len(set(asked)) <= 16, "repeats are what was in flight at the node that was lost"
        paid = Counter(entry.task_id for entry in sightline.load(out, sightline.Run).ledger if entry.stage != "attempt")
        assert set(paid) == set(tasks)
        sightline.run(bench, spec, tmp_path / "again", session=there)
        assert len(asked_since(server, 0)) == len(asked), "the journal answers"


def test_annotating_survives_a_lost_node_and_pays_once(cluster: Any, photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "some"
    folder.mkdir()
    for path in sorted(photos.glob("0*.jpg")):
        shutil.copy(path, folder)
    count = len(list(folder.iterdir()))

    def slowly(received: Received) -> dict[str, Any]:
        time.sleep(0.1)
        return describing("red")

    with seeing(slowly) as server:
        calls = CallOptions(base_url=server.base_url, limits=RateLimits.at_once(8))
        session = sightline.Session(tmp_path / "ws", colour_config(), calls, f"ray:{cluster.address}")
        with losing_a_node(cluster, lambda: 10 < len(server.requests) < count) as lost:
            made = sightline.make(folder, "annotate", session=session)
        assert lost and made.stages[1].counts["annotated"] == count
        assert count <= len(server.requests) <= count + 8, "repeats are what was in flight at the node that was lost"
        asked = len(server.requests)
        again = sightline.make(folder, "annotate", out=tmp_path / "again", session=session)
        assert again.stages[1].counts["annotated"] == count and len(server.requests) == asked, "the journal answers"


def test_each_worker_has_a_gpu_of_its_own_where_there_are_any(cluster: Any, tmp_path: Path) -> None:
    """The GPUs are only said to be there: what Ray gives to a worker is seen without any."""
    spec = StageSpec("gpu", ray_stages.gpu_of_worker, gpu=True)
    engine = f"ray:{cluster.address}"
    assert {one.result for one in run_spread(range(4), spec, tmp_path, engine=engine, concurrency=4)} <= {""}
    node = cluster.add_node(**{**_NODE, "num_cpus": 2}, num_gpus=2)
    try:
        cluster.wait_for_nodes()
        seen = Counter(one.result for one in run_spread(range(12), spec, tmp_path, engine=engine, concurrency=2))
        assert seen.keys() == {"0", "1"}
    finally:
        cluster.remove_node(node)


def test_what_can_not_go_elsewhere_is_refused(cluster: Any, tmp_path: Path) -> None:
    there = sightline.Session(tmp_path / "ws", engine=f"ray:{cluster.address}")
    benchmark = sightline.Benchmark.from_tables(["a.jpg"], {"q": "x"}, {"q": ["a.jpg"]})
    with pytest.raises(UserError, match="no other machine can open"):
        sightline.run(benchmark, "blind:by=random", tmp_path / "run", session=there)


def test_a_file_that_kills_costs_itself_and_a_missing_folder_stops(cluster: Any, tmp_path: Path) -> None:
    read = file_map(sightline.Session(tmp_path / "ws", engine=f"ray:{cluster.address}"))
    jobs = [ray_stages.FileJob(str(tmp_path / str(number)).encode()) for number in range(40)]
    found = dict(read(ray_stages.read_deadly, jobs, workers=1, chunk=8))
    assert [job for job in jobs if isinstance(found[job], Died)] == [jobs[7]]
    assert [found[job] for job in jobs if job != jobs[7]] == [job.path for job in jobs if job != jobs[7]]
    with pytest.raises(StoppedError, match=r"/nowhere is not on .*, a machine of the cluster"):
        list(read(ray_stages.read_deadly, [ray_stages.FileJob(b"/nowhere/1.jpg")], workers=1, chunk=4))
