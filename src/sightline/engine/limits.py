"""How much is asked of one endpoint: calls at once, requests and tokens a minute, and rest when it asks for it."""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sightline.engine.adaptive import AdaptiveLimit
from sightline.engine.buckets import Bucket
from sightline.engine.headers import allowances

_LONGEST_REST = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What is allowed at one endpoint; the number of calls at once starts at `start` and adapts itself up to `most`."""

    start: int = 32
    most: int = 512
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    first_rest: float = 0.5
    "Most seconds of rest after a refusal without a Retry-After; twice as many after each that follows."

    @classmethod
    def at_once(cls, calls: int) -> Limits:
        """So many calls at once from the beginning, and never more; fewer when the server refuses."""
        return cls(start=calls, most=calls)


@dataclass(frozen=True, slots=True)
class Slot:
    """Leave to make one call, since `started` (on the event loop's clock), with so many tokens set aside for it."""

    started: float
    tokens: int


class Gate(Protocol):
    """Leave to call one endpoint: a `Limiter`, or one that other processes share."""

    @property
    def counts_tokens(self) -> bool: ...

    async def acquire(self, tokens: int = 0) -> Slot: ...

    def give_back(self, slot: Slot) -> None: ...

    def release(
        self,
        slot: Slot,
        *,
        ok: bool,
        refused: bool = False,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
        tokens: int | None = None,
    ) -> bool: ...


class Limiter:
    """Lets calls to one endpoint through, first come first served."""

    def __init__(self, limits: Limits | None = None, *, rng: random.Random | None = None) -> None:
        self.limits = limits = limits or Limits()
        self.in_flight = 0
        self._adaptive = AdaptiveLimit(limits.start, limits.most)
        self._random = rng or random.Random()
        self._requests: Bucket | None = None
        self._tokens: Bucket | None = None
        self._learnt: dict[str, Bucket] = {}
        self._rest_until = -math.inf
        self._refusals = 0
        self._waiting: deque[tuple[asyncio.Future[Slot], int]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def limit(self) -> int:
        """Calls at once that are allowed now."""
        return self._adaptive.limit

    @property
    def counts_tokens(self) -> bool:
        """Does anybody limit tokens here? If not, they need not be estimated."""
        return self.limits.tokens_per_minute is not None or "tokens" in self._learnt

    async def acquire(self, tokens: int = 0) -> Slot:
        """Wait for leave to make a call of about so many tokens; every slot has to be released."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._enter(loop)
        now = loop.time()
        if not self._waiting and self.in_flight < self._adaptive.limit and self._seconds_to_wait(tokens, now) == 0:
            return self._grant(tokens, now)
        turn: asyncio.Future[Slot] = loop.create_future()
        self._waiting.append((turn, tokens))
        self._admit()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # Granted in the same moment.
                self.give_back(turn.result())
            raise

    def give_back(self, slot: Slot) -> None:
        """The call was not made, or was broken off before its tokens were known."""
        for bucket, amount in self._buckets(slot.tokens):
            bucket.give_back(amount)
        self.in_flight -= 1
        self._admit()

    def release(
        self,
        slot: Slot,
        *,
        ok: bool,
        refused: bool = False,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
        tokens: int | None = None,
    ) -> bool:
        """The call ended: what came of it, and the tokens that it took. True when a refusal lowered the limit."""
        assert self._loop is not None
        now = self._loop.time()
        lowered = False
        if ok:
            self._refusals = 0
            self._adaptive.replied(slot.started, self.in_flight, now)
        elif refused:
            lowered = self._rest(slot, retry_after, now)
        if headers:
            self._learn(headers, now)
        if tokens is not None and self.counts_tokens:
            for bucket in (self._tokens, self._learnt.get("tokens")):
                if bucket is not None:
                    bucket.give_back(slot.tokens - tokens)
        self.in_flight -= 1
        self._admit()
        return lowered

    def _enter(self, loop: asyncio.AbstractEventLoop) -> None:
        """Another event loop has another clock; nobody of the last one waits any more."""
        self._loop, self._timer, self._rest_until = loop, None, -math.inf
        self._waiting.clear()
        self._learnt.clear()
        self.in_flight = 0
        now, limits = loop.time(), self.limits
        if limits.requests_per_minute is not None:
            self._requests = Bucket.per_minute(limits.requests_per_minute, now)
        if limits.tokens_per_minute is not None:
            self._tokens = Bucket.per_minute(limits.tokens_per_minute, now)

    def _seconds_to_wait(self, tokens: int, now: float) -> float:
        wait = max(0.0, self._rest_until - now)
        for bucket, amount in self._buckets(tokens):
            wait = max(wait, bucket.wait(amount, now))
        return wait

    def _buckets(self, tokens: int) -> Sequence[tuple[Bucket, int]]:
        """Every rate that is kept here, with what a call takes of it."""
        if self._requests is None and self._tokens is None and not self._learnt:
            return ()
        given = ((self._requests, 1), (self._tokens, tokens))
        learnt = ((bucket, 1 if what == "requests" else tokens) for what, bucket in self._learnt.items())
        return [(bucket, amount) for bucket, amount in (*given, *learnt) if bucket is not None]

    def _grant(self, tokens: int, now: float) -> Slot:
        self.in_flight += 1
        for bucket, amount in self._buckets(tokens):
            bucket.take(amount, now)
        return Slot(now, tokens)

    def _admit(self) -> None:
        """Let through whoever may go now, and come back when the next may."""
        while self._waiting and self.in_flight < self._adaptive.limit:
            assert self._loop is not None
            turn, tokens = self._waiting[0]
            if turn.done():  # Cancelled while it waited.
                self._waiting.popleft()
                continue
            now = self._loop.time()
            wait = self._seconds_to_wait(tokens, now)
            if wait > 0:
                self._come_back(wait)
                return
            self._waiting.popleft()
            turn.set_result(self._grant(tokens, now))

    def _come_back(self, seconds: float) -> None:
        assert self._loop is not None
        if self._timer is not None:
            self._timer.cancel()
        # Clocks tick: a moment more, so that the wait is over when we look again; and look now and then in any case.
        self._timer = self._loop.call_later(min(seconds, 60.0) + 0.001, self._admit)

    def _rest(self, slot: Slot, retry_after: float | None, now: float) -> bool:
        lowered = self._adaptive.refused(slot.started, self.in_flight, now)
        rest = retry_after
        if lowered:
            self._refusals += 1
            if rest is None:
                most = min(_LONGEST_REST, self.limits.first_rest * 2.0 ** min(self._refusals - 1, 20))
                rest = self._random.uniform(0.0, most)
        if rest is not None:
            self._rest_until = max(self._rest_until, now + rest)
        return lowered

    def _learn(self, headers: Mapping[str, str], now: float) -> None:
        for said in allowances(headers):
            bucket = self._learnt.get(said.what)
            if bucket is None:
                bucket = self._learnt[said.what] = Bucket(1.0, said.limit, now, level=said.remaining)
            bucket.learn(said.limit, said.remaining, said.reset, now)
