"""The circuit breaker: no ten thousand failures where one message would do."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sightline.calls.circuit_breaker import CircuitBreaker
from sightline.calls.journal import EndpointHistory
from sightline.errors import StoppedError, UserError
from sightline.types import Failure
from virtual_time import run_virtual

BROKEN = Failure("server-error", "m at http://x/v1: HTTP 500, no reason given", retryable=True)
AWAY = Failure("connection", "m at http://x/v1: connection refused", retryable=True)


def now() -> float:
    return asyncio.get_running_loop().time()


def fail(breaker: CircuitBreaker, failure: Failure = AWAY, **more: Any) -> None:
    """An attempt failed; `more` as `Breaker.failed` takes it."""
    usual: dict[str, Any] = {"model": "openai/m", "probe": False, "lowered": False, "retry_after": None, "now": now()}
    breaker.failed(failure, **(usual | more))


@pytest.mark.parametrize(
    ("failure", "error", "says"),
    [
        (Failure("auth", "HTTP 401, no such key"), UserError, "the key is refused. HTTP 401, no such key"),
        (Failure("unknown-model", "HTTP 404"), UserError, 'there is no model "openai/m" at http://x/v1'),
        (Failure("no-credit", "HTTP 402"), StoppedError, "no credit left"),
    ],
)
def test_there_is_no_point_in_asking_on(failure: Failure, error: type[Exception], says: str) -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        fail(breaker, failure)
        with pytest.raises(error, match=says):
            await breaker.ready()

    run_virtual(main())


def test_one_refused_key_among_replies_stops_nobody_but_three_in_a_row_do() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        breaker.replied()
        for _ in range(2):
            fail(breaker, Failure("auth", "HTTP 401"))
        breaker.replied()
        for _ in range(2):
            fail(breaker, Failure("auth", "HTTP 401"))
        assert not await breaker.ready()
        fail(breaker, Failure("auth", "HTTP 401"))
        with pytest.raises(UserError):
            await breaker.ready()

    run_virtual(main())


def test_an_address_where_nobody_is_stops_within_seconds() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        start = now()
        probes = 0
        with pytest.raises(StoppedError, match="does not answer") as stopped:
            while True:
                probe = await breaker.ready()
                probes += probe
                fail(breaker, probe=probe)
        assert 5 <= now() - start < 15 and 2 <= probes <= 5
        assert "connection refused" in stopped.value.message and "--base-url" in (stopped.value.fix or "")

    run_virtual(main())


def test_a_server_that_comes_back_is_asked_on() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        breaker.replied()
        back_at = now() + 20
        sent: list[bool] = []

        async def call() -> None:
            while True:
                probe = await breaker.ready()
                sent.append(now() >= back_at)
                if now() >= back_at:
                    breaker.replied()
                    return
                fail(breaker, probe=probe)
                await breaker.pause(0.1)

        await asyncio.gather(*(call() for _ in range(50)))
        assert not breaker.is_open
        # 50 calls were in flight when it went away; after that only probes went out.
        assert sent.count(False) < 50 + 10

    run_virtual(main())


def test_while_it_is_open_one_probe_is_under_way_at_a_time() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1", patience=1000)
        breaker.replied()
        for _ in range(10):
            fail(breaker)
        assert breaker.is_open
        out = most = 0

        async def call() -> None:
            nonlocal out, most
            for _ in range(5):
                if await breaker.ready():
                    out += 1
                    most = max(most, out)
                    await asyncio.sleep(1)
                    out -= 1
                    fail(breaker, probe=True)

        tasks = [asyncio.create_task(call()) for _ in range(20)]
        await asyncio.sleep(100)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert most == 1

    run_virtual(main())


def test_a_probe_that_was_broken_off_leaves_room_for_the_next() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        breaker.replied()
        for _ in range(10):
            fail(breaker)
        assert await breaker.ready()
        breaker.gave_up()
        assert await breaker.ready()

    run_virtual(main())


def test_refusals_of_one_request_do_not_count_against_the_endpoint() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        for kind in ("content-filter", "length", "bad-picture", "empty", "wrong-schema", "endless") * 30:
            fail(breaker, Failure(kind, ""))
        for _ in range(100):
            fail(breaker, Failure("rate-limited", "", retryable=True), lowered=False)
        assert not await breaker.ready()

    run_virtual(main())


def test_what_was_never_sent_says_nothing_of_the_endpoint() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        for _ in range(10):
            fail(breaker, Failure("bad-picture", ""))
            fail(breaker)
        assert breaker.is_open

    run_virtual(main())


def test_parameters_that_are_never_accepted_stop_after_twenty() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        for _ in range(19):
            fail(breaker, Failure("bad-request", "temperature is not supported"))
        assert not await breaker.ready()
        fail(breaker, Failure("bad-request", "temperature is not supported"))
        with pytest.raises(UserError, match="temperature is not supported"):
            await breaker.ready()

    run_virtual(main())


def test_a_long_retry_after_stops_with_the_time_to_come_back() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        fail(breaker, Failure("rate-limited", "", retryable=True), lowered=True, retry_after=7200.0)
        with pytest.raises(StoppedError, match=r"asks to wait 2\.0 hours"):
            await breaker.ready()

    run_virtual(main())


def test_a_stop_wakes_those_who_pause() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        sleeper = asyncio.create_task(breaker.pause(10_000))
        await asyncio.sleep(1)
        start = now()
        breaker.stop(StoppedError("enough"))
        await sleeper
        assert now() == start

    run_virtual(main())


@pytest.mark.parametrize(
    "kind",
    ["bad-request", "auth", "unknown-model", "bad-picture", "unsupported", "refused", "content-filter", "rate-limited"],
)
def test_whatever_comes_of_a_probe_ends_it(kind: str) -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        breaker.replied()
        for _ in range(10):
            fail(breaker)
        assert breaker.is_open
        assert await breaker.ready()
        waiting = asyncio.create_task(breaker.ready())
        await asyncio.sleep(10)
        assert not waiting.done(), "one probe at a time"
        fail(breaker, Failure(kind, "HTTP 4xx"), probe=True)
        is_probe = await asyncio.wait_for(waiting, 60)
        says_nothing = kind in ("bad-picture", "unsupported", "rate-limited")
        assert is_probe is breaker.is_open is says_nothing, "what a server answered closes it"

    run_virtual(main())


def test_a_server_that_answers_with_errors_is_not_said_to_be_away() -> None:
    async def main() -> None:
        for failure, says in (
            (Failure("server-error", "HTTP 500"), "answers nothing but errors"),
            (AWAY, "does not an"),
        ):
            breaker = CircuitBreaker("http://x/v1")
            for _ in range(10):
                fail(breaker, failure)
            with pytest.raises(StoppedError, match=says) as stopped:
                while True:
                    await breaker.ready()
                    fail(breaker, failure, probe=True)
            assert ("is the server running" in (stopped.value.fix or "")) is (failure is AWAY)

    run_virtual(main())


# --- a server that is well but for what is left ----------------------------------------------------------------------


async def lose_patience(breaker: CircuitBreaker, failure: Failure = BROKEN, **more: Any) -> None:
    """Nothing but errors, until the breaker has waited long enough."""
    for _ in range(10):
        fail(breaker, failure, **more)
    while await breaker.ready(b"first", "first"):
        fail(breaker, failure, probe=True, call=b"first", **more)


def test_thirty_questions_may_fail_before_a_server_that_replied_is_given_up() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        breaker.replied()
        await lose_patience(breaker)
        calls = [b"first", *(f"call {number}".encode() for number in range(29))]
        for call in calls[1:]:
            assert not await breaker.ready(call)
        another = asyncio.create_task(breaker.ready(b"another"))
        await asyncio.sleep(100)
        for call in calls:
            fail(breaker, BROKEN, call=call)
            assert not breaker.holds(call), "it goes on until its attempts are used up"
            assert not another.done()
            breaker.leave(call)
        with pytest.raises(StoppedError, match="now answers nothing but errors") as stopped:
            await another
        assert "run the same command again" in (stopped.value.fix or "")

    run_virtual(main())


def test_calls_of_one_question_are_one_but_not_without_end() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        breaker.replied()
        await lose_patience(breaker)
        for number in range(99):
            assert not await breaker.ready(f"call {number}".encode(), "first")
        waiting = asyncio.create_task(breaker.ready(b"another", "first"))
        await asyncio.sleep(100)
        assert not waiting.done()
        waiting.cancel()

    run_virtual(main())


def test_a_reply_to_one_of_the_last_closes_it() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        breaker.replied()
        await lose_patience(breaker)
        breaker.replied()
        assert not breaker.is_open and not await breaker.ready(b"another")
        for _ in range(10):
            fail(breaker, BROKEN)
        assert await breaker.ready(b"first"), "it is patient again"

    run_virtual(main())


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (AWAY, None),
        (Failure("timeout", "", True), 504),
        (Failure("overloaded", "", True), 503),
        (Failure("server-error", "", True), 502),
        (Failure("server-error", "", True), 522),
    ],
)
def test_a_server_that_is_away_is_given_up_without_failing_at_questions(failure: Failure, status: int | None) -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")
        breaker.replied()
        with pytest.raises(StoppedError):
            await lose_patience(breaker, failure, status=status, lowered=True)
        breaker = CircuitBreaker("http://x/v1")
        breaker.replied()
        await lose_patience(breaker)
        fail(breaker, failure, status=status, call=b"first", lowered=True)
        assert breaker.is_stopped, "also when it goes away at last"

    run_virtual(main())


def test_a_server_that_never_replied_is_given_up_unless_it_did_in_an_earlier_run() -> None:
    async def main() -> None:
        for answered in (True, False):
            breaker = CircuitBreaker("http://x/v1")

            async def past(answered: bool = answered) -> EndpointHistory:
                return EndpointHistory(answered, frozenset())

            for _ in range(10):
                fail(breaker, BROKEN)
            await breaker.look_back(past)
            start = now()
            while not breaker.is_stopped and await breaker.ready(b"first"):
                fail(breaker, BROKEN, probe=True, call=b"first")
            assert breaker.is_stopped is not answered
            assert now() - start < 15

    run_virtual(main())


def test_a_journal_that_takes_long_to_read_is_waited_for() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")

        async def past() -> EndpointHistory:
            await asyncio.sleep(100)
            return EndpointHistory(True, frozenset())

        for _ in range(10):
            fail(breaker, BROKEN)
        looking = asyncio.create_task(breaker.look_back(past))
        await asyncio.sleep(0)
        while await breaker.ready(b"first"):
            fail(breaker, BROKEN, probe=True, call=b"first")
        assert looking.done() and not breaker.is_stopped

    run_virtual(main())


def test_what_was_given_up_in_an_earlier_run_is_neither_held_up_nor_counted() -> None:
    async def main() -> None:
        breaker = CircuitBreaker("http://x/v1")

        async def past() -> EndpointHistory:
            return EndpointHistory(True, frozenset({b"known"}))

        for _ in range(10):
            fail(breaker, BROKEN)
        assert await breaker.ready(b"known"), "nobody knows yet"
        await breaker.look_back(past)
        fail(breaker, BROKEN, probe=True, call=b"known")
        assert not await breaker.ready(b"known")
        assert await breaker.ready(b"another"), "the probe was given back"
        breaker.replied()
        for _ in range(20):
            fail(breaker, BROKEN, call=b"known")
        assert not breaker.is_open
        for _ in range(10):
            fail(breaker, AWAY, call=b"known")
        assert breaker.is_open, "but where nobody answers, it is as all others"

    run_virtual(main())
