"""Time for an attempt: what takes longer is ended, and nothing else; a stop by somebody else stays one."""

from __future__ import annotations

import asyncio

import pytest

from sightline.models.http import Deadline

SHORT, LONG = 0.02, 600.0


async def hang(deadline: Deadline) -> None:
    with deadline.watch():
        await asyncio.Event().wait()


def test_what_takes_too_long_is_ended_and_can_go_on() -> None:
    async def main() -> int:
        with pytest.raises(TimeoutError):
            await hang(Deadline(SHORT))
        await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    assert asyncio.run(main()) == 0


def test_what_is_done_in_time_is_let_be_and_the_clock_stops() -> None:
    async def main() -> Deadline:
        deadline = Deadline(SHORT)
        with deadline.watch():
            await asyncio.sleep(0)
        while deadline._timer is not None:
            await asyncio.sleep(SHORT)
        return deadline

    assert not asyncio.run(main())._watched


def test_only_those_that_are_late_are_ended() -> None:
    async def main() -> None:
        deadline = Deadline(LONG)
        early = [asyncio.ensure_future(hang(deadline)) for _ in range(3)]
        await asyncio.sleep(0)
        for watched in deadline._watched:
            watched.began -= LONG
        late = asyncio.ensure_future(hang(deadline))
        await asyncio.sleep(0)
        deadline._look(asyncio.get_running_loop())
        found = await asyncio.gather(*early, return_exceptions=True)
        assert [type(one) for one in found] == [TimeoutError] * 3 and not late.done()
        late.cancel()
        with pytest.raises(asyncio.CancelledError):
            await late

    asyncio.run(main())


def test_silence_is_ended_and_told_from_a_long_time() -> None:
    async def main() -> tuple[bool, bool]:
        silent, slow = Deadline(LONG, quiet=SHORT).watch(), Deadline(SHORT, quiet=LONG).watch()
        for watched in (silent, slow):
            with pytest.raises(TimeoutError), watched:
                await asyncio.Event().wait()
        return silent.was_quiet, slow.was_quiet

    assert asyncio.run(main()) == (True, False)


def test_silence_counts_from_the_last_word_and_not_while_connecting() -> None:
    async def main() -> list[bool]:
        deadline = Deadline(LONG, quiet=LONG / 4, connecting=LONG / 4)
        tasks = [asyncio.ensure_future(hang(deadline)) for _ in range(3)]
        await asyncio.sleep(0)
        connecting, spoke, silent = deadline._watched
        connecting.began -= LONG / 3
        connecting.heard_at -= LONG / 3
        spoke.began -= LONG / 2
        spoke.heard()
        silent.began -= LONG / 2
        silent.heard_at -= LONG / 2
        deadline._look(asyncio.get_running_loop())
        found = [silent not in deadline._watched, spoke in deadline._watched, connecting in deadline._watched]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return found

    assert asyncio.run(main()) == [True] * 3


def test_a_fault_inside_comes_through() -> None:
    async def main() -> None:
        with Deadline(LONG).watch():
            raise KeyError("x")

    with pytest.raises(KeyError):
        asyncio.run(main())


@pytest.mark.parametrize("also_late", [False, True])
def test_a_stop_by_somebody_else_is_no_timeout(also_late: bool) -> None:
    async def main() -> None:
        deadline = Deadline(LONG)
        task = asyncio.ensure_future(hang(deadline))
        await asyncio.sleep(0)
        for watched in (*deadline._watched,) if also_late else ():
            watched.end()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not deadline._watched

    asyncio.run(main())
