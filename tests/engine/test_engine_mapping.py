"""`engine.map`: order, back-pressure, failures as values, faults with the item's name, clean ends."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.engine.async_map import Mapped, Stage, map_async, run_map
from sightline.errors import StoppedError, UserError
from sightline.types import Failure
from virtual_time import run_virtual


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


async def gather(items: object, stage: Stage[int, int], **options: int) -> list[Mapped[int, int]]:
    return [pair async for pair in map_async(items, stage, show_progress=False, **options)]  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 120), st.integers(1, 40), st.integers(1, 60), st.integers(0, 1000))
def test_results_come_in_the_order_of_the_items(count: int, concurrency: int, ahead: int, seed: int) -> None:
    rng = random.Random(seed)
    running = most = drawn = taken = 0

    async def work(number: int) -> int | Failure:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(rng.choice([0, 0.1, 1, 30]))
        running -= 1
        return Failure("odd", "") if number % 2 else number

    def source() -> Iterator[int]:
        nonlocal drawn
        for drawn in range(1, count + 1):
            assert drawn - taken <= ahead + 1
            yield drawn

    async def main() -> None:
        nonlocal taken
        results = map_async(source(), Stage("s", work), concurrency=concurrency, ahead=ahead, show_progress=False)
        async for item, result in results:
            taken += 1
            assert item == taken
            assert result == (Failure("odd", "") if item % 2 else item)
            await asyncio.sleep(rng.choice([0, 0.1]))

    run_virtual(main())
    assert taken == count and most <= min(concurrency, ahead)


def test_a_slow_item_holds_up_no_other_within_reach() -> None:
    async def work(number: int) -> int:
        await asyncio.sleep(100 if number == 0 else 1)
        return number

    async def main() -> float:
        start = asyncio.get_running_loop().time()
        assert len(await gather(range(300), Stage("s", work), concurrency=10, ahead=300)) == 300
        return asyncio.get_running_loop().time() - start

    assert run_virtual(main()) == pytest.approx(100, abs=1)


def test_a_stop_finishes_what_is_under_way_and_yields_it() -> None:
    begun: list[int] = []

    async def work(number: int) -> int:
        begun.append(number)
        await asyncio.sleep(number % 7)
        if number == 25:
            raise StoppedError("the budget is used up")
        return number

    async def main() -> list[int]:
        found: list[int] = []
        with pytest.raises(StoppedError, match="used up"):
            async for item, result in map_async(range(1000), Stage("s", work), concurrency=8, show_progress=False):
                assert item == result
                found.append(item)
        return found

    found = run_virtual(main())
    assert found == [number for number in begun if number != 25] == sorted(found)
    assert len(begun) < 60


def test_a_fault_ends_everything_and_names_the_item() -> None:
    closed = ended = 0

    async def work(number: int) -> int:
        nonlocal ended
        try:
            await asyncio.sleep(1000 if number != 3 else 1)
            raise KeyError("our fault")
        finally:
            ended += 1

    async def close() -> None:
        nonlocal closed
        closed += 1

    async def main() -> None:
        with pytest.raises(KeyError) as fault:
            await gather(range(10), Stage("annotate", work, close), concurrency=5)
        assert fault.value.__notes__ == ["while annotate worked on item 4: 3"]
        assert asyncio.get_running_loop().time() < 1100

    run_virtual(main())
    assert (closed, ended) == (1, 5)


def test_a_fault_in_the_items_is_raised_too() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise ValueError("the items end badly")

    with pytest.raises(ValueError, match="badly"):
        run_virtual(gather(source(), Stage("s", double)))


def test_an_item_that_cannot_be_read_stops_cleanly() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise UserError("line 2 is broken")

    async def main() -> list[int]:
        found: list[int] = []
        with pytest.raises(UserError, match="line 2"):
            async for item, _ in map_async(source(), Stage("s", double), show_progress=False):
                found.append(item)
        return found

    assert run_virtual(main()) == [1]


def test_leaving_early_ends_what_is_under_way() -> None:
    ended = 0

    async def work(number: int) -> int:
        nonlocal ended
        try:
            await asyncio.sleep(0 if number == 0 else 1000)
        finally:
            ended += 1
        return number

    async def main() -> None:
        results = map_async(range(100), Stage("s", work), concurrency=4, show_progress=False)
        assert await anext(results) == (0, 0)
        await results.aclose()
        assert len(asyncio.all_tasks()) == 2, "this test and its time limit"

    run_virtual(main())
    assert 1 < ended <= 6


def test_it_works_without_an_event_loop_and_inside_one() -> None:
    stage = Stage("s", double)
    expected = [(number, 2 * number) for number in range(2000)]
    assert list(run_map(range(2000), stage, show_progress=False)) == expected

    async def main() -> None:
        assert list(run_map(range(2000), stage, show_progress=False)) == expected

    asyncio.run(main())


def test_the_thread_ends_when_the_reader_leaves_or_the_stage_breaks() -> None:
    before = threading.active_count()
    results = run_map(range(10**9), Stage("s", double), show_progress=False)
    assert next(results) == (0, 0)
    results.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before

    async def broken(number: int) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(run_map(range(10), Stage("s", broken), show_progress=False))
    assert threading.active_count() == before


def test_a_reader_that_is_slow_holds_the_work_back() -> None:
    drawn = 0

    def source() -> Iterator[int]:
        nonlocal drawn
        while True:
            drawn += 1
            yield drawn

    results = run_map(source(), Stage("s", double), concurrency=4, show_progress=False)
    for _ in range(10):
        next(results)
    for _ in range(200):
        assert drawn < 600
        threading.Event().wait(0.001)
    results.close()  # type: ignore[attr-defined]


def test_garbage_is_collected_as_before_when_it_is_over() -> None:
    import gc

    before = gc.get_threshold()

    async def main() -> None:
        async for _ in map_async(range(3), Stage("s", double), show_progress=False):
            assert gc.get_threshold()[0] >= 10_000

    asyncio.run(main())
    assert gc.get_threshold() == before
