"""A real Ray cluster with two nodes, and a server that counts: deaths, budgets and limits over both workers."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray_stages
from ray_desk import ray_or_skip
from test_calls_kill import asked_since, counting_server, journaled, query

from sightline.calls import ray_map, ray_pool
from sightline.calls.budget import Budget
from sightline.calls.rate_limit import RateLimits
from sightline.calls.stages import StageSpec, run_spread, spread
from sightline.engine.async_map import Mapped
from sightline.engine.cluster import EngineChoice, connect
from sightline.errors import StoppedError, UserError
from sightline.types import Failure

pytestmark = pytest.mark.slow
AT_ONCE = 64
_NODE = {"num_cpus": 1, "object_store_memory": 100 * 2**20}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = ray_or_skip()
    from ray.cluster_utils import Cluster

    ray.shutdown()  # Another test of this process may be connected to a cluster of its own.
    nodes = Cluster(initialize_head=True, head_node_args={**_NODE, "include_dashboard": False})
    nodes.add_node(**_NODE)
    nodes.wait_for_nodes()
    yield nodes
    ray.shutdown()
    nodes.shutdown()


class Work:
    """One run on the cluster: what it asks, who works for it, and what came of it."""

    def __init__(self, cluster: Any, server: str, place: Path) -> None:
        self.engine, self.server, self.workspace, self._pids = (
            f"ray:{cluster.address}",
            server,
            place / "ws",
            place / "pids",
        )
        self._pids.mkdir()
        self.killed: set[int] = set()
        self.done: list[Mapped[int, Any]] = []

    def pids(self) -> set[int]:
        return {int(file.name) for file in self._pids.iterdir()}

    def spec(self, limits: RateLimits) -> StageSpec[int, str]:
        return StageSpec("test", ray_stages.asking, {"url": self.server, "limits": limits, "pids": self._pids})

    async def run(
        self, count: int, limits: RateLimits, do: Callable[[], object] | None = None, when: int = 300, **options: Any
    ) -> None:
        """Ask so many questions; each time that so many more were answered, `do` something to the workers."""
        work = spread(
            range(count), self.spec(limits), self.workspace, engine=self.engine, show_progress=False, **options
        )
        async for pair in work:
            self.done.append(pair)
            if do is not None and len(self.done) % when == 0:
                do()

    def kill_one(self) -> None:
        """One that was not killed before."""
        pid = min(self.pids() - self.killed)
        self.killed.add(pid)
        os.kill(pid, signal.SIGKILL)

    def kill_first(self) -> None:
        if not self.killed:
            self.kill_one()

    def repeats(self) -> int:
        return sum(Counter(asked_since(self.server, 0)).values()) - len(set(asked_since(self.server, 0)))


def answers(count: int) -> list[Mapped[int, str]]:
    return [Mapped(number, f"answer to question {number}") for number in range(count)]


def test_a_killed_worker_costs_at_most_what_it_had_in_flight(
    cluster: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with counting_server(0.1) as server:
        work = Work(cluster, server, tmp_path)
        asyncio.run(work.run(2400, RateLimits.at_once(AT_ONCE), work.kill_first, when=600))
        assert work.done == answers(2400)
        assert work.repeats() <= AT_ONCE, "repeats are what was in flight at the worker that was killed"
        assert len(work.killed) == 1 and len(work.pids()) == 3, "two workers, and one in the place of the dead"
        assert journaled(work.workspace) == {f"question {number}" for number in range(2400)}
        assert query(work.workspace, "PRAGMA integrity_check") == [("ok",)]
        # All of it again, from the journal, by new workers: nothing is asked.
        asked, work.done = len(asked_since(server, 0)), []
        asyncio.run(work.run(2400, RateLimits.at_once(AT_ONCE)))
        assert work.done == answers(2400) and len(asked_since(server, 0)) == asked
    assert capfd.readouterr().out == "", "stdout is for results alone"


def test_a_lost_node_is_survived_by_the_other(cluster: Any, tmp_path: Path) -> None:
    (node,) = (node for node in cluster.list_all_nodes() if not node.head)

    def lose() -> None:
        if node in cluster.list_all_nodes():
            cluster.remove_node(node, allow_graceful=False)

    with counting_server(0.02) as server:
        work = Work(cluster, server, tmp_path)
        try:
            asyncio.run(work.run(2000, RateLimits.at_once(AT_ONCE), lose))
        finally:
            cluster.add_node(**_NODE)
            cluster.wait_for_nodes()
        assert work.done == answers(2000)
        assert work.repeats() <= AT_ONCE


def test_a_budget_holds_over_both_workers_and_a_death(cluster: Any, tmp_path: Path) -> None:
    """Money for 1,000 of 2,400 calls; a killed worker's calls in flight count as paid."""
    budget = Budget.usd(5)
    with counting_server(0.02) as server:
        work = Work(cluster, server, tmp_path)
        with pytest.raises(StoppedError, match=r"budget of \$5.00 is used up") as caught:
            asyncio.run(work.run(2400, RateLimits.at_once(AT_ONCE), work.kill_first, budget=budget))
        assert caught.value.exit_code == 3 and caught.value.fix is not None and "--budget" in caught.value.fix
        asked = len(asked_since(server, 0))
        assert 1000 - AT_ONCE <= asked <= 1000 and 5 - 0.005 < budget.spent <= 5 + 1e-9
        assert [item for item, _ in work.done] == sorted(item for item, _ in work.done)
        assert all(result == f"answer to question {item}" for item, result in work.done)
        assert 300 <= len(work.done) <= asked  # What a dead worker had done may be in the journal alone.
        assert {f"question {item}" for item, _ in work.done} <= journaled(work.workspace)
        # More money, and it goes on where it was.
        work.done = []
        more = Budget.usd(20)
        asyncio.run(work.run(2400, RateLimits.at_once(AT_ONCE), budget=more))
        assert work.done == answers(2400) and len(asked_since(server, 0)) <= 2400 + AT_ONCE
        assert more.spent == pytest.approx(0.005 * (len(asked_since(server, 0)) - asked))


def test_requests_a_minute_are_counted_over_both_workers(cluster: Any, tmp_path: Path) -> None:
    with counting_server(0.001) as server:
        work = Work(cluster, server, tmp_path)
        started = time.perf_counter()
        asyncio.run(work.run(160, RateLimits(requests_per_minute=1220)))
        # 20 at once, then 20 a second: a worker with limits of its own would make it in half the time.
        assert time.perf_counter() - started >= (160 - 20) / 20
        assert work.done == answers(160) and len(work.pids()) == 2


def test_failures_cross_with_their_names(cluster: Any, tmp_path: Path) -> None:
    async def main() -> list[Mapped[int, Any]]:
        spec = StageSpec("s", ray_stages.failing)
        return [pair async for pair in spread(range(100), spec, tmp_path, engine=f"ray:{cluster.address}")]

    expected = [Mapped(n, n if n % 3 else Failure("content-filter", f"no {n}", True)) for n in range(100)]
    assert asyncio.run(main()) == expected
    spec = StageSpec("s", ray_stages.failing)
    assert list(run_spread(iter(range(100)), spec, tmp_path, engine=f"ray:{cluster.address}")) == expected


def test_one_program_works_on_one_cluster(cluster: Any) -> None:
    asyncio.run(connect(EngineChoice("ray", cluster.address)))
    asyncio.run(connect(EngineChoice("ray")))
    with pytest.raises(UserError, match=f"works on the Ray cluster at {cluster.address} already"):
        asyncio.run(connect(EngineChoice("ray", "127.0.0.1:1")))


async def _all(work: AsyncIterator[Any]) -> list[Any]:
    return [pair async for pair in work]


def bad(cluster: Any, place: Path, factory: Any, **arguments: Any) -> None:
    spec = StageSpec("s", factory, arguments)
    asyncio.run(_all(spread(range(50), spec, place, engine=f"ray:{cluster.address}")))


def test_a_bad_stage_is_told_clearly(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there are no weights here") as caught:
        bad(cluster, tmp_path, ray_stages.in_need)
    assert caught.value.fix == "put them there"
    with pytest.raises(TypeError, match=r"not_a_stage returned a str and not an engine\.Stage"):
        bad(cluster, tmp_path, ray_stages.not_a_stage)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        bad(cluster, tmp_path, ray_stages.failing, colour="red")
    with pytest.raises(ZeroDivisionError, match="breaking worked on item"):
        bad(cluster, tmp_path, ray_stages.breaking, at=17)
    with pytest.raises(UserError, match="is not a function of a module"):
        bad(cluster, tmp_path, lambda shared: shared)


def test_an_item_that_kills_every_worker_stops_the_work_and_is_named(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(StoppedError, match=r"5 workers died while they worked on items \d+ to \d+") as caught:
        bad(cluster, tmp_path, ray_stages.deadly, at=30)
    assert caught.value.fix is not None and "kept" in caught.value.fix


def test_without_its_coordinator_the_work_stops(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    coordinators = []

    class Watched(ray_pool.RayPool):
        def __init__(self, ray: Any, coordinator: Any, *rest: Any, **options: Any) -> None:
            super().__init__(ray, coordinator, *rest, **options)
            coordinators.append(coordinator)

    def kill() -> None:
        ray_or_skip().kill(coordinators[0])

    monkeypatch.setattr(ray_map, "RayPool", Watched)
    with counting_server(0.02) as server:
        work = Work(cluster, server, tmp_path)
        with pytest.raises(StoppedError, match="coordinator"):
            asyncio.run(work.run(2400, RateLimits.at_once(AT_ONCE), kill))
        assert {f"question {item}" for item, _ in work.done} <= journaled(work.workspace)


def test_ctrl_c_keeps_what_was_answered_and_ends_the_workers(tmp_path: Path) -> None:
    code = """
import asyncio, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import ray_stages
from sightline.calls.rate_limit import RateLimits
from sightline.calls.stages import StageSpec, spread

async def main(url, place):
    arguments = {"url": url, "limits": RateLimits.at_once(32), "pids": place / "pids"}
    spec = StageSpec("test", ray_stages.asking, arguments)
    async for item, _ in spread(range(10**9), spec, place / "ws", engine="ray", workers=2):
        os.write(1, f"{item}\\n".encode())

asyncio.run(main(sys.argv[2], Path(sys.argv[3])))
"""
    (tmp_path / "pids").mkdir()
    with counting_server(0.02) as server, (tmp_path / "out").open("wb") as out:
        command = [sys.executable, "-c", code, str(Path(__file__).parent), server, str(tmp_path)]
        environment = {key: value for key, value in os.environ.items() if key != "RAY_ADDRESS"}
        client = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True, env=environment)
        while len(asked_since(server, 0)) < 400:
            assert client.poll() is None
            time.sleep(0.02)
        client.send_signal(signal.SIGINT)
        _, errors = client.communicate(timeout=30)
        assert client.returncode != 0 and "KeyboardInterrupt" in errors
        asked = len(asked_since(server, 0))
        time.sleep(0.3)
        assert len(asked_since(server, 0)) == asked, "nobody asks on"
    got = [int(line) for line in (tmp_path / "out").read_text().split()]
    saved = journaled(tmp_path / "ws")
    assert got == list(range(len(got))) and {f"question {item}" for item in got} <= saved and len(saved) >= 300
    assert query(tmp_path / "ws", "PRAGMA integrity_check") == [("ok",)]
    assert not any(_runs(int(file.name)) for file in (tmp_path / "pids").iterdir())


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{pid}/status").read_text()
