"""The limiter: first come first served, rests when it is asked to, keeps rates, and never gets stuck."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.calls.rate_limit import CallSlot, RateLimiter, RateLimits
from virtual_time import run_virtual


def now() -> float:
    return asyncio.get_running_loop().time()


async def calls(limiter: RateLimiter, count: int, seconds: float = 1.0, tokens: int = 0) -> list[float]:
    """Make so many calls as fast as the limiter lets them; when each began."""
    began: list[float] = []

    async def call() -> None:
        slot = await limiter.acquire(tokens)
        began.append(now())
        await asyncio.sleep(seconds)
        limiter.release(slot, ok=True)

    await asyncio.gather(*(call() for _ in range(count)))
    return began


def test_never_more_at_once_than_allowed_and_in_order() -> None:
    async def main() -> None:
        limiter = RateLimiter(RateLimits.at_once(3))
        order: list[int] = []
        most = 0

        async def call(number: int) -> None:
            nonlocal most
            slot = await limiter.acquire()
            order.append(number)
            most = max(most, limiter.in_flight)
            await asyncio.sleep(random.random())
            limiter.release(slot, ok=True)

        await asyncio.gather(*(call(number) for number in range(40)))
        assert order == list(range(40)) and most == 3 and limiter.in_flight == 0

    run_virtual(main())


def test_requests_per_minute_are_kept() -> None:
    began = run_virtual(calls(RateLimiter(RateLimits(start=100, most=100, requests_per_minute=120)), 300, seconds=0.01))
    for first in began:
        assert sum(first <= time < first + 60 - 1e-6 for time in began) <= 120
    assert began[-1] - began[0] < 300 / 120 * 60 * 1.05


def test_tokens_per_minute_are_kept_and_unused_ones_come_back() -> None:
    async def main() -> float:
        limiter = RateLimiter(RateLimits(start=100, most=100, tokens_per_minute=6100))
        start = now()
        for _ in range(20):
            slot = await limiter.acquire(1000)
            limiter.release(slot, ok=True, tokens=100)
        return now() - start

    # 20 × 1,000 tokens would take 200 s; 20 × 100 take 20.
    assert run_virtual(main()) == pytest.approx(20, abs=15)


def test_a_retry_after_lets_the_whole_endpoint_rest() -> None:
    async def main() -> None:
        limiter = RateLimiter(RateLimits.at_once(8))
        slots = [await limiter.acquire() for _ in range(8)]
        start = now()
        lowered = [limiter.release(slot, ok=False, refused=True, retry_after=30.0) for slot in slots]
        assert lowered == [True] + [False] * 7 and limiter.limit == 4
        await limiter.acquire()
        assert 30 <= now() - start < 31

    run_virtual(main())


def test_refusals_without_retry_after_rest_longer_and_longer() -> None:
    async def main() -> list[float]:
        limiter = RateLimiter(RateLimits.at_once(64), rng=random.Random(1))
        rests = []
        for _ in range(12):
            slot = await limiter.acquire()
            start = now()
            limiter.release(slot, ok=False, refused=True)
            limiter.give_back(await limiter.acquire())
            rests.append(now() - start)
        return rests

    rests = run_virtual(main())
    assert max(rests[:2]) <= 1.01 and max(rests) > 10 and max(rests) <= 60.01


def test_what_the_server_says_of_its_limits_is_kept() -> None:
    def headers(remaining: int, reset: str) -> Mapping[str, str]:
        names = ("limit", "remaining", "reset")
        return {f"x-ratelimit-{n}-requests": v for n, v in zip(names, ("60", str(remaining), reset), strict=True)}

    async def main() -> None:
        limiter = RateLimiter(RateLimits.at_once(10))
        limiter.release(await limiter.acquire(), ok=True, headers=headers(1, "59s"))
        start = now()
        await limiter.acquire()
        assert now() == start
        await limiter.acquire()
        assert now() - start == pytest.approx(1.0, abs=0.1)

    run_virtual(main())


def test_tokens_are_counted_only_when_somebody_limits_them() -> None:
    async def main() -> None:
        limiter = RateLimiter()
        assert not limiter.counts_tokens
        said = {f"x-ratelimit-{name}-tokens": "1000" for name in ("limit", "remaining")} | {
            "x-ratelimit-reset-tokens": "1s"
        }
        limiter.release(await limiter.acquire(), ok=True, headers=said)
        assert limiter.counts_tokens

    run_virtual(main())


def test_a_limiter_works_in_one_event_loop_after_another() -> None:
    limiter = RateLimiter(RateLimits(start=2, most=2, requests_per_minute=600))
    for _ in range(3):
        assert len(run_virtual(calls(limiter, 20))) == 20


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 20),
    st.sampled_from([None, 30.0, 600.0]),
    st.sampled_from([None, 5000.0]),
)
def test_it_never_gets_stuck(seed: int, at_once: int, requests: float | None, tokens: float | None) -> None:
    """Cancelled waits, broken calls, refusals with and without Retry-After: in the end everybody had a turn."""
    rng = random.Random(seed)

    async def one(limiter: RateLimiter) -> str:
        slot: CallSlot = await limiter.acquire(rng.randrange(0, 300))
        try:
            await asyncio.sleep(rng.random())
        except asyncio.CancelledError:
            limiter.give_back(slot)
            raise
        what = rng.random()
        if what < 0.1:
            limiter.give_back(slot)
            return "broken"
        if what < 0.3:
            after = rng.choice([None, 2.0])
            limiter.release(slot, ok=False, refused=True, retry_after=after)
            return "refused"
        limiter.release(slot, ok=what < 0.9, tokens=rng.randrange(0, 300))
        return "ok"

    async def main() -> None:
        limiter = RateLimiter(RateLimits(at_once, 20, requests, tokens), rng=rng)
        tasks = [asyncio.create_task(one(limiter)) for _ in range(60)]
        for task in rng.sample(tasks, 15):
            await asyncio.sleep(rng.random() * 0.2)
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        cut_short = sum(isinstance(result, asyncio.CancelledError) for result in done)
        assert cut_short <= 15 and limiter.in_flight == 0
        assert len(await calls(limiter, 5)) == 5

    run_virtual(main())
