"""The number of calls at once finds what a server can take, and follows it."""

from __future__ import annotations

import heapq
import random
from collections import deque
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.calls.adaptive_concurrency import AdaptiveLimit


@dataclass
class Server:
    """Takes `capacity` calls at a time; more are refused at once, or wait in line."""

    capacity: int
    refuses: bool
    seconds: float = 1.0
    spread: float = 0.0
    seed: int = 0
    done: int = 0
    refused: int = 0
    now: float = 0.0
    _heap: list[tuple[float, int, float, bool]] = field(default_factory=list)
    _line: deque[tuple[int, float]] = field(default_factory=deque)
    _running: int = 0
    _in_flight: int = 0
    _rest_until: float = 0.0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def run(self, limit: AdaptiveLimit, until: float) -> float:
        """Keep the limit's worth of calls in flight; the rate of replies as a share of what the server could give."""
        began, before, number = self.now, self.done, 0
        while self.now < until:
            while self._in_flight < limit.limit and self.now >= self._rest_until:
                number += 1
                self._in_flight += 1
                self._arrive(number)
            if not self._heap:
                self.now = self._rest_until
                continue
            self.now, _, started, ok = heapq.heappop(self._heap)
            self._finish(limit, started, ok)
        return (self.done - before) * self.seconds / (self.capacity * (self.now - began))

    def _arrive(self, number: int) -> None:
        if self._running < self.capacity:
            self._begin(number, self.now)
        elif self.refuses:
            heapq.heappush(self._heap, (self.now + 0.005, number, self.now, False))
        else:
            self._line.append((number, self.now))

    def _begin(self, number: int, started: float) -> None:
        self._running += 1
        factor = self._random.lognormvariate(-(self.spread**2) / 2, self.spread) if self.spread else 1.0
        heapq.heappush(self._heap, (self.now + self.seconds * factor, number, started, True))

    def _finish(self, limit: AdaptiveLimit, started: float, ok: bool) -> None:
        if ok:
            self._running -= 1
            self.done += 1
            limit.replied(started, self._in_flight, self.now)
            while self._line and self._running < self.capacity:
                self._begin(*self._line.popleft())
        else:
            self.refused += 1
            if limit.refused(started, self._in_flight, self.now):
                self._rest_until = self.now + self._random.uniform(0, 0.5)
        self._in_flight -= 1


cases = settings(max_examples=12, deadline=None)


@cases
@given(st.integers(1, 300), st.floats(0.0, 1.0), st.integers(0, 99))
def test_it_converges_near_what_a_server_accepts(capacity: int, spread: float, seed: int) -> None:
    server = Server(capacity, refuses=True, spread=spread, seed=seed)
    limit = AdaptiveLimit(start=16, most=1024)
    server.run(limit, until=150)
    refused = server.refused
    assert server.run(limit, until=350) > (0.6 if capacity >= 5 else 0.5)
    assert limit.limit <= 1.5 * capacity + 2
    assert server.refused - refused < 0.1 * server.done + 100


@cases
@given(st.integers(8, 200), st.floats(0.0, 0.8), st.integers(0, 99))
def test_it_stops_growing_where_more_only_waits_in_line(capacity: int, spread: float, seed: int) -> None:
    server = Server(capacity, refuses=False, spread=spread, seed=seed)
    limit = AdaptiveLimit(start=8, most=100_000)
    assert server.run(limit, until=200) > 0.5
    assert server.run(limit, until=400) > 0.75
    assert limit.limit <= 8 * capacity + 32


@cases
@given(st.integers(2, 60), st.integers(2, 10), st.booleans())
def test_it_follows_a_server_that_gets_stronger_or_weaker(capacity: int, factor: int, weaker_first: bool) -> None:
    sizes = (capacity, capacity * factor) if weaker_first else (capacity * factor, capacity)
    server = Server(sizes[0], refuses=True)
    limit = AdaptiveLimit(start=16, most=1024)
    server.run(limit, until=150)
    server.capacity = sizes[1]
    server.run(limit, until=400)
    assert server.run(limit, until=600) > (0.65 if sizes[1] >= 5 else 0.5)


@cases
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(1, 2000)), max_size=300), st.integers(1, 64))
def test_it_is_always_at_least_one_and_at_most_the_most(news: list[tuple[bool, int, int]], most: int) -> None:
    limit = AdaptiveLimit(start=32, most=most)
    now = 0.0
    for ok, age, in_flight in news:
        now += 1.0
        before = limit.limit
        if ok:
            limit.replied(now - age, in_flight, now)
            assert limit.limit >= before or limit.limit >= before / 2
        elif limit.refused(now - age, in_flight, now):
            assert limit.limit <= max(1, before // 2)
        assert 1 <= limit.limit <= most


def test_refusals_of_calls_that_were_on_their_way_halve_only_once() -> None:
    limit = AdaptiveLimit(start=64, most=64)
    assert limit.refused(started=1.0, in_flight=64, now=2.0)
    assert [limit.refused(started=1.5, in_flight=64, now=2.1) for _ in range(63)] == [False] * 63
    assert limit.limit == 32
    assert limit.refused(started=2.5, in_flight=32, now=3.0)
    assert limit.limit == 16


def test_it_doubles_while_that_helps() -> None:
    server = Server(10_000, refuses=True)
    limit = AdaptiveLimit(start=16, most=512)
    server.run(limit, until=8)
    assert limit.limit == 512


def test_it_learns_nothing_when_there_is_little_to_do() -> None:
    limit = AdaptiveLimit(start=32, most=512)
    for number in range(1000):
        limit.replied(float(number), in_flight=3, now=number + 1.0)
    assert limit.limit == 32
