"""What workers share, without Ray: one journal, one budget, one set of limits, also when a worker dies."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ray_desk import PickledDesk, link

from sightline.calls.budget import Budget
from sightline.calls.cluster_worker import CoordinatorLink, RemoteBudget, RemoteJournal, RemoteLimiter
from sightline.calls.coordinator import Coordinator, UnknownWorkerError
from sightline.calls.journal import EndpointHistory, Journal
from sightline.calls.journal_tables import Call
from sightline.calls.rate_limit import RateLimits
from sightline.errors import StoppedError, UserError
from sightline.types import ChatReply, Failure
from virtual_time import run_virtual

KEY = b"k" * 32


def call(text: str, key: bytes = KEY) -> Call:
    return Call(key, "test", "vllm/m", "http://x", 1.0, ChatReply(text), usd=0.5)


@asynccontextmanager
async def two_workers(
    workspace: Path, budget: Budget | None = None
) -> AsyncIterator[tuple[Coordinator, CoordinatorLink, CoordinatorLink]]:
    coordinator = Coordinator(workspace, budget)
    try:
        yield coordinator, link(coordinator, "a"), link(coordinator, "b")
    finally:
        await coordinator.close()


def run(main: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(main(), 30))


async def still_waits(task: asyncio.Task[object]) -> bool:
    await asyncio.wait((task,), timeout=0.05)
    return not task.done()


# --- the journal ---------------------------------------------------------------------------------------------------


def test_a_reply_is_acknowledged_when_it_is_on_disk_and_then_known_to_all(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (_, a, b):
            first, second = RemoteJournal(a), RemoteJournal(b)
            assert await first.seek(KEY, fresh=False) is None
            await first.record(call("yes"))
            with Journal(tmp_path) as other:
                found = other.find(KEY)
            assert isinstance(found, ChatReply) and found.text == "yes"
            assert await second.seek(KEY, fresh=False) == found
            assert await second.seek(KEY, fresh=True) is None

    run(main)


@pytest.mark.parametrize("result", [ChatReply("yes"), Failure("timeout", "too slow", True)])
def test_equal_requests_of_two_workers_are_one_call(tmp_path: Path, result: ChatReply | Failure) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (_, a, b):
            first, second = RemoteJournal(a), RemoteJournal(b)
            assert await first.seek(KEY, fresh=False) is None
            waiting = asyncio.create_task(second.seek(KEY, fresh=False))
            assert await still_waits(waiting)
            await first.record(Call(KEY, "test", "vllm/m", "http://x", 1.0, result))
            assert await waiting == result
            first.leave(KEY)  # As a caller does in any case: it must not touch what is of others.

    run(main)


def test_what_is_known_from_before_comes_over_the_wire(tmp_path: Path) -> None:
    given_up = Call(b"g" * 32, "test", "vllm/m", "http://x", 1.0, Failure("server-error", "HTTP 500", True), attempts=6)

    async def main() -> None:
        async with two_workers(tmp_path) as (_, a, b):
            assert await RemoteJournal(b).past("http://x", "vllm/m", "test", 6) == EndpointHistory(False, frozenset())
            await RemoteJournal(a).record(call("yes"))
            await RemoteJournal(a).record(given_up)
            known = await RemoteJournal(b).past("http://x", "vllm/m", "test", 6)
            assert known == EndpointHistory(True, frozenset({given_up.key}))

    run(main)


@pytest.mark.parametrize("how", ["leave", "die"])
def test_when_nothing_comes_of_it_another_asks(tmp_path: Path, how: str) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (coordinator, a, b):
            first, second = RemoteJournal(a), RemoteJournal(b)
            assert await first.seek(KEY, fresh=False) is None
            waiting = asyncio.create_task(second.seek(KEY, fresh=False))
            assert await still_waits(waiting)
            if how == "leave":
                first.leave(KEY)
            else:
                coordinator.bury("a")
            assert await waiting is None
            await second.record(call("by the second"))

    run(main)
    with Journal(tmp_path) as journal:
        found = journal.find(KEY)
        assert isinstance(found, ChatReply) and found.text == "by the second"


def test_nobody_can_leave_what_another_asks(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (_, a, b):
            assert await RemoteJournal(b).seek(KEY, fresh=False) is None
            a.send("leave", KEY)
            waiting = asyncio.create_task(RemoteJournal(a).seek(KEY, fresh=False))
            assert await still_waits(waiting)
            waiting.cancel()

    run(main)


def test_what_a_dying_worker_handed_in_is_written_down(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (coordinator, a, _):
            journal = RemoteJournal(a)
            await journal.seek(KEY, fresh=False)
            recording = asyncio.create_task(journal.record(call("paid")))
            while not coordinator._recording:
                await asyncio.sleep(0)
            coordinator.bury("a")
            recording.cancel()

    run(main)
    with Journal(tmp_path) as journal:
        assert isinstance(journal.find(KEY), ChatReply)


def test_a_journal_that_cannot_be_written_stops_the_worker_with_the_reason(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (coordinator, a, _):
            coordinator._journal._writer._write = _no_room
            with pytest.raises(UserError, match="can't be written"):
                await RemoteJournal(a).record(call("x"))

    run(main)


def _no_room(*_: object) -> None:
    import sqlite3

    raise sqlite3.OperationalError("disk full")


def test_hits_reach_the_ledger(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (_, a, b):
            for journal in (RemoteJournal(a), RemoteJournal(b)):
                journal.count_hit("test", "vllm/m", 0.25)
            await asyncio.gather(a.close(), b.close())

    run(main)
    with Journal(tmp_path) as journal:
        assert journal._reading.execute("SELECT * FROM hits").fetchall() == [("test", "vllm/m", 2, 0.5)]


# --- the budget ----------------------------------------------------------------------------------------------------


def test_a_used_up_budget_stops_everybody_with_the_same_words(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path, Budget(1.0)) as (_, a, b):
            first, second = RemoteBudget(a), RemoteBudget(b)
            await first.reserve(0.8)
            waiting = asyncio.create_task(second.reserve(0.4))
            assert await still_waits(waiting), "the call in flight may cost less than was set aside"
            first.settle(0.8, 0.7)
            with pytest.raises(StoppedError, match=r"budget of \$1.00 is used up: \$0.70 spent on 1 call,") as caught:
                await waiting
            assert caught.value.fix is not None and "--budget" in caught.value.fix
            with pytest.raises(StoppedError):
                await first.reserve(0.1)

    run(main)


def test_what_a_dead_worker_had_begun_counts_as_spent(tmp_path: Path) -> None:
    """Three calls with money set aside, of which only two had leave to be made."""

    async def begin(worker: CoordinatorLink) -> None:
        await RemoteBudget(worker).reserve(0.3)
        await RemoteLimiter(worker, "x", RateLimits.at_once(2)).acquire()

    async def main() -> None:
        async with two_workers(tmp_path, Budget(1.0)) as (coordinator, a, b):
            await RemoteBudget(b).reserve(0.01)
            b.send("settle", 1, 0.01)  # What such calls cost is known: more than one may be in flight.
            calls = [asyncio.create_task(begin(a)) for _ in range(3)]
            await asyncio.wait(calls, timeout=0.1)
            waiting = asyncio.create_task(RemoteBudget(b).reserve(0.2))
            assert await still_waits(waiting)
            coordinator.bury("a")
            await waiting
            assert coordinator.spent.usd == pytest.approx(0.61)
            await asyncio.gather(*calls, return_exceptions=True)

    run(main)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6))
def test_no_budget_is_exceeded_whoever_dies(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    paid = 0.0

    async def work(coordinator: Coordinator, name: str) -> None:
        nonlocal paid
        way = link(coordinator, name)
        purse, gate = RemoteBudget(way), RemoteLimiter(way, "x", None)
        for _ in range(rng.randint(1, 12)):
            usd = rng.choice([0.01, 0.05, 0.2])
            await purse.reserve(usd)
            slot = await gate.acquire()
            cost = usd * rng.random()
            paid += cost
            if rng.random() < 0.15:
                coordinator.bury(name)
                return
            await asyncio.sleep(rng.choice([0, 0.002]))
            gate.release(slot, ok=True)
            purse.settle(usd, cost)

    async def main() -> None:
        coordinator = Coordinator(tmp_path, Budget(1.0))
        ends = await asyncio.gather(*(work(coordinator, f"{n}") for n in range(6)), return_exceptions=True)
        assert all(end is None or isinstance(end, StoppedError) for end in ends)
        spent = (await coordinator.close()).usd
        assert paid - 1e-9 <= spent <= 1.0 + 1e-9

    run(main)


# --- limits --------------------------------------------------------------------------------------------------------


def test_calls_at_once_are_counted_over_all_and_freed_by_a_death(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (coordinator, a, b):
            limits = RateLimits.at_once(2)
            first, second = RemoteLimiter(a, "x", limits), RemoteLimiter(b, "x", limits)
            slot = await first.acquire()
            await first.acquire()
            waiting = [asyncio.create_task(second.acquire()) for _ in range(2)]
            elsewhere = asyncio.create_task(RemoteLimiter(b, "y", limits).acquire())
            await elsewhere
            assert await still_waits(waiting[0])
            first.release(slot, ok=True)
            await waiting[0]
            assert await still_waits(waiting[1])
            coordinator.bury("a")
            await waiting[1]

    run(main)


def test_a_refusal_of_one_worker_slows_all(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (_, a, b):
            limits = RateLimits(start=8, most=8, first_rest=0.0)
            first, second = RemoteLimiter(a, "x", limits), RemoteLimiter(b, "x", limits)
            slots = [await first.acquire() for _ in range(8)]
            assert first.release(slots[0], ok=False, refused=True)
            assert not first.release(slots[1], ok=False, refused=True), "news of before the limit was lowered"
            for slot in slots[2:]:
                first.release(slot, ok=True)
            got = [asyncio.create_task(second.acquire()) for _ in range(8)]
            done, _ = await asyncio.wait(got, timeout=0.2)
            assert len(done) == 4

    run(main)


def test_a_slot_that_nobody_waits_for_any_more_is_given_back(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (_, a, b):
            limits = RateLimits.at_once(1)
            first, second = RemoteLimiter(a, "x", limits), RemoteLimiter(b, "x", limits)
            slot = await first.acquire()
            waiting = asyncio.create_task(second.acquire())
            assert await still_waits(waiting)
            waiting.cancel()
            await asyncio.wait((waiting,))
            first.release(slot, ok=True)
            await first.acquire()

    run(main)


def test_tokens_are_counted_when_a_server_begins_to_say_so(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (_, a, b):
            first, second = RemoteLimiter(a, "x", None), RemoteLimiter(b, "x", None)
            slot = await first.acquire()
            assert not first.counts_tokens
            said = {"limit": "1000", "remaining": "900", "reset": "1s"}
            first.release(slot, ok=True, headers={f"x-ratelimit-{key}-tokens": value for key, value in said.items()})
            await second.acquire()
            await asyncio.sleep(0.02)
            await second.acquire()
            assert second.counts_tokens

    run(main)


def test_requests_a_minute_hold_over_both_workers(tmp_path: Path) -> None:
    """On a clock that jumps: ten minutes of calls, and no 60 seconds hold more than allowed."""
    granted: list[float] = []

    async def ask(gate: RemoteLimiter) -> None:
        for _ in range(150):
            slot = await gate.acquire()
            granted.append(asyncio.get_running_loop().time())
            gate.release(slot, ok=True)

    async def main() -> Coordinator:
        coordinator = Coordinator(tmp_path)
        links = [link(coordinator, name) for name in "ab"]
        await asyncio.gather(*(ask(RemoteLimiter(one, "x", RateLimits(requests_per_minute=30))) for one in links))
        return coordinator

    asyncio.run(run_virtual(main()).close())
    assert len(granted) == 300
    most = max(sum(1 for other in granted if at <= other < at + 60) for at in granted)
    assert 28 <= most <= 30


# --- the way between -----------------------------------------------------------------------------------------------


def test_many_questions_share_a_round_trip(tmp_path: Path) -> None:
    async def main() -> None:
        coordinator = Coordinator(tmp_path)
        desk = PickledDesk(coordinator, "a")
        gate = RemoteLimiter(CoordinatorLink(desk), "x", RateLimits.at_once(1000))
        await asyncio.gather(*(gate.acquire() for _ in range(1000)))
        assert desk.trips == 1
        await coordinator.close()

    run(main)


def test_a_worker_that_was_given_up_can_ask_nothing_more(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path, Budget(1.0)) as (coordinator, a, _):
            purse = RemoteBudget(a)
            await purse.reserve(0.1)
            waiting = asyncio.create_task(purse.reserve(5.0))
            assert await still_waits(waiting)
            coordinator.bury("a")
            with pytest.raises(StoppedError, match="coordinator"):
                await waiting
            with pytest.raises(StoppedError, match="coordinator"):
                await purse.reserve(0.1)
            with pytest.raises(UnknownWorkerError):
                await coordinator.tell("a", [])
            coordinator.bury("a")

    run(main)


def test_a_call_that_was_broken_off_is_written_down_though_nobody_waits(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path) as (_, a, b):
            RemoteJournal(a).record_later(Call(KEY, "test", "vllm/m", "http://x", 1.0, Failure("cancelled", "", True)))
            assert await RemoteJournal(a).seek(KEY, fresh=False) is None
            await asyncio.gather(a.close(), b.close())

    run(main)
    with Journal(tmp_path) as journal:
        assert journal._reading.execute("SELECT failure, usd FROM calls").fetchall() == [("cancelled", None)]


def test_attempts_of_unknown_cost_count_with_what_was_set_aside(tmp_path: Path) -> None:
    async def main() -> None:
        async with two_workers(tmp_path, Budget(1.0)) as (coordinator, a, _):
            purse = RemoteBudget(a)
            await purse.reserve(0.25, "m")
            purse.settle(0.25, None, "m")
            await purse.reserve(0.25, "m")
            assert coordinator.spent == (0.25, 1)

    run(main)
