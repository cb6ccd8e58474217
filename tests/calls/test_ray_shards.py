"""A worker's shards, without Ray: order, failures as values, what a stop leaves, and what several workers share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import ray_stages
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ray_desk import PickledDesk
from test_calls_kill import asked_since, counting_server, journaled

from sightline.calls.budget import Budget
from sightline.calls.cluster_worker import ShardRunner, _Room
from sightline.calls.coordinator import Coordinator, ShardDone, Stop
from sightline.calls.rate_limit import RateLimits
from sightline.calls.ray_map import _Plan, _shards
from sightline.calls.stages import SharedServices, StageSpec
from sightline.engine.async_map import Stage
from sightline.errors import MissingExtraError, SightlineError, StoppedError, UserError
from sightline.types import Failure
from virtual_time import run_virtual


def runner(coordinator: Coordinator, name: str, spec: StageSpec[int, Any], at_once: int = 8) -> ShardRunner:
    return ShardRunner(spec, PickledDesk(coordinator, name), has_budget=True, at_once=at_once)


def run(main: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(main(), 60))


def test_results_come_with_the_place_of_their_item_and_failures_keep_their_names(tmp_path: Path) -> None:
    async def main() -> None:
        coordinator = Coordinator(tmp_path)
        worker = runner(coordinator, "a", StageSpec("s", ray_stages.failing))
        done = await worker.run(101, [1, 2, 3, 3])
        failure = Failure("content-filter", "no 3", True)
        assert done == ShardDone([(0, 1), (1, 2), (2, failure), (3, failure)])
        await worker.close()
        await coordinator.close()

    run(main)


def limping(shared: SharedServices, begun: dict[int, int]) -> Stage[int, int]:
    """Notes which items were begun, and beside how many others; a `UserError` at item 5."""
    running = 0

    async def work(number: int) -> int:
        nonlocal running
        begun[number] = running
        running += 1
        await asyncio.sleep(0.005)
        running -= 1
        if number == 5:
            raise UserError("five is not allowed.", "leave it out")
        return number

    return Stage("limping", work)


def test_a_stop_finishes_what_is_under_way_and_begins_nothing_new(tmp_path: Path) -> None:
    async def main() -> None:
        coordinator = Coordinator(tmp_path)
        begun: dict[int, int] = {}
        worker = runner(coordinator, "a", StageSpec("s", limping, {"begun": begun}), at_once=4)
        first, second = await asyncio.gather(worker.run(1, list(range(8))), worker.run(9, list(range(8, 40))))
        assert max(begun.values()) == 3
        assert first.stop == second.stop == Stop("user", "five is not allowed.", "leave it out")
        assert [*first.results, *((place + 8, result) for place, result in second.results)] == [
            (number, number) for number in sorted(begun) if number != 5
        ]
        assert 5 in begun and len(begun) < 20
        await coordinator.close()

    run(main)


def test_shards_end_one_after_the_other(tmp_path: Path) -> None:
    """Twenty shards of ten items, in a worker that can do ten items at a time: the first is not held up by the last."""
    begun: dict[int, int] = {}
    begun_at_first_end = 0

    async def main() -> None:
        nonlocal begun_at_first_end
        coordinator = Coordinator(tmp_path)
        worker = runner(coordinator, "a", StageSpec("s", limping, {"begun": begun}), at_once=10)
        firsts = range(100, 300, 10)
        shards = [asyncio.create_task(worker.run(first, list(range(first, first + 10)))) for first in firsts]
        await asyncio.wait(shards, return_when=asyncio.FIRST_COMPLETED)
        begun_at_first_end = len(begun)
        await asyncio.gather(*shards)
        assert sorted(begun) == list(range(100, 300))
        await coordinator.close()

    run(main)
    assert begun_at_first_end < 100


def test_a_place_that_is_given_in_the_moment_of_giving_up_is_not_lost() -> None:
    async def main() -> None:
        room = _Room(1)

        async def visit() -> None:
            async with room.place(1):
                await asyncio.sleep(1)

        async with room.place(0):
            impatient = asyncio.create_task(visit())
            await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.wait((impatient,))
        await asyncio.wait_for(visit(), 5)

    run_virtual(main())


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 5), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.booleans()), max_size=40))
def test_room_is_never_overfull_and_never_lost(size: int, visits: list[tuple[int, int, bool]]) -> None:
    inside = 0

    async def main() -> None:
        room = _Room(size)

        async def visit(number: int, stay: int) -> None:
            nonlocal inside
            async with room.place(number):
                inside += 1
                assert inside <= size
                try:
                    await asyncio.sleep(stay)
                finally:
                    inside -= 1

        tasks = [asyncio.create_task(visit(number, stay)) for number, stay, _ in visits]
        for task, (_, stay, impatient) in zip(tasks, visits, strict=True):
            if impatient:
                asyncio.get_running_loop().call_later(stay, task.cancel)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert not any(task.exception() for task in tasks if not task.cancelled())
        async with AsyncExitStack() as stack:  # All places are there again.
            for number in range(size):
                await stack.enter_async_context(room.place(number))

    run_virtual(main())


def test_halted_by_the_driver_a_worker_begins_nothing_new(tmp_path: Path) -> None:
    async def main() -> None:
        coordinator = Coordinator(tmp_path)
        worker = runner(coordinator, "a", StageSpec("s", ray_stages.failing))
        stop = Stop("stopped", "enough.", None)
        worker.halt(stop)
        assert await worker.run(1, [1, 2]) == ShardDone([], stop)
        await coordinator.close()

    run(main)


def test_a_fault_names_the_item(tmp_path: Path) -> None:
    async def main() -> None:
        coordinator = Coordinator(tmp_path)
        worker = runner(coordinator, "a", StageSpec("s", ray_stages.breaking, {"at": 7}))
        with pytest.raises(ZeroDivisionError) as caught:
            await worker.run(65, [6, 7, 8])
        assert "(66, 7)" in caught.value.__notes__[0]
        await coordinator.close()

    run(main)


def test_two_workers_share_calls_budget_and_journal(tmp_path: Path) -> None:
    """500 calls, each asked by both workers at the same time, with money for 300 of them."""

    async def main() -> None:
        with counting_server(0.01) as server:
            spec = StageSpec("test", ray_stages.asking, {"url": server, "limits": RateLimits.at_once(32)})
            coordinator = Coordinator(tmp_path, Budget(1.5))
            workers = [runner(coordinator, name, spec, at_once=64) for name in "ab"]
            shards = [list(range(start, start + 50)) for start in range(0, 500, 50)]
            done = await asyncio.gather(*(worker.run(shard[0], shard) for shard in shards for worker in workers))
            for worker in workers:
                await worker.close()
            spent = await coordinator.close()
            asked = asked_since(server, 0)
        assert len(asked) == len(set(asked)) == 300 and journaled(tmp_path) == set(asked)
        assert spent.usd == pytest.approx(1.5) and spent.calls == 300
        assert any(shard.stop is not None and "budget" in shard.stop.message for shard in done)
        for number, shard in enumerate(done):
            for place, result in shard.results:
                assert result == f"answer to question {shards[number // 2][place]}"
        assert sum(len(shard.results) for shard in done) == 600

    run(main)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UserError("a", "b"), UserError),
        (MissingExtraError("x", "ray"), UserError),
        (StoppedError("a"), StoppedError),
        (SightlineError("a", "b"), SightlineError),
    ],
)
def test_an_expected_end_crosses_the_wire_with_its_words(error: SightlineError, kind: type[SightlineError]) -> None:
    came = Stop.of(error).error()
    assert type(came) is kind and (came.message, came.fix) == (error.message, error.fix)


# --- how items are cut ---------------------------------------------------------------------------------------------


class _Unstopped:
    stop: Stop | None = None


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 200), st.integers(1, 40))
def test_shards_hold_every_item_once_in_order(count: int, size: int) -> None:
    shards = list(_shards(iter(range(1, count + 1)), size, _Unstopped()))  # type: ignore[arg-type]
    assert [item for shard in shards for item in shard.items] == list(range(1, count + 1))
    assert all(shard.first == shard.items[0] and len(shard.items) <= size for shard in shards)
    assert len(shards) == -(-count // size)


def test_what_comes_before_an_unreadable_item_is_done() -> None:
    def source() -> object:
        yield from (1, 2, 3, 4, 5)
        raise UserError("line 6 is broken.", "mend it")

    shards = _shards(source(), 4, _Unstopped())  # type: ignore[arg-type]
    assert [next(shards).items, next(shards).items] == [[1, 2, 3, 4], [5]]
    with pytest.raises(UserError, match="line 6"):
        next(shards)


def test_after_a_stop_nothing_is_drawn() -> None:
    pool = _Unstopped()
    shards = _shards(iter(range(100)), 10, pool)  # type: ignore[arg-type]
    next(shards)
    pool.stop = Stop("stopped", "enough.", None)
    assert list(shards) == []


def test_a_short_list_is_for_all_workers_and_a_long_one_in_handy_pieces() -> None:
    assert _Plan.of(4, 640, 20) == _Plan(workers=4, size=2, at_once=160, shards_each=160)
    assert _Plan.of(4, 640, 10**6) == _Plan(workers=4, size=32, at_once=160, shards_each=10)
    assert _Plan.of(2, 1, None).shards_each == 2 and _Plan.of(3, 640, 0).size == 1
