"""Rate limits of one endpoint: calls at once, requests and tokens a minute, and a pause when the server asks for one.

Limits are given by the user, or learnt from the headers of replies; the number of calls at once adapts itself.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

from sightline.calls.adaptive_concurrency import AdaptiveLimit
from sightline.models.failures import number_in

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# OpenAI and whoever follows it; Anthropic.
_NAMES = (
    ("requests", "x-ratelimit-{}-requests"),
    ("tokens", "x-ratelimit-{}-tokens"),
    ("requests", "anthropic-ratelimit-requests-{}"),
    ("tokens", "anthropic-ratelimit-tokens-{}"),
)
_HEADERS = tuple((what, name.format("limit"), name.format("remaining"), name.format("reset")) for what, name in _NAMES)
_LONGEST_REST = 60.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """So many requests or tokens are allowed, so many are left, and after `reset` seconds all of them are again."""

    what: Literal["requests", "tokens"]
    limit: float
    remaining: float
    reset: float


def read_allowances(headers: Mapping[str, str], now: datetime | None = None) -> list[Allowance]:
    """Every limit that the headers (names in lower case) state completely."""
    found = []
    for what, limit_name, remaining_name, reset_name in _HEADERS:
        if remaining_name not in headers:
            continue
        limit, remaining = number_in(headers.get(limit_name)), number_in(headers[remaining_name])
        reset = parse_seconds(headers.get(reset_name, ""), now)
        if limit is not None and remaining is not None and reset is not None:
            found.append(Allowance("requests" if what == "requests" else "tokens", limit, remaining, reset))
    return found


def parse_seconds(text: str, now: datetime | None = None) -> float | None:
    """`1m30.5s`, `120ms`, `12` or a time of day (ISO 8601) as seconds from now; None when it is none of these."""
    text = text.strip()
    if (plain := number_in(text)) is not None:
        return plain
    if _DURATION.sub("", text) == "" and text:
        return sum(float(amount) * _SECONDS[unit] for amount, unit in _DURATION.findall(text))
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


class TokenBucket:
    """A token bucket; times are given to it, so that it can be tested without waiting.

    An amount larger than the bucket is let through when the bucket is full, and paid off before the next.
    """

    __slots__ = ("_at", "_capacity", "_level", "_per_second")

    def __init__(self, per_second: float, capacity: float, now: float, level: float | None = None) -> None:
        self._per_second, self._capacity, self._at = per_second, capacity, now
        self._level = capacity if level is None else level

    @classmethod
    def per_minute(cls, amount: float, now: float) -> TokenBucket:
        """Never more than `amount` single units in any 60 seconds: one second's worth at once, the rest spread out."""
        per_second = amount / 61
        return cls(per_second, max(1.0, per_second), now)

    def wait(self, amount: float, now: float) -> float:
        """Seconds until so much may be taken; 0 when it may be now."""
        self._refill(now)
        missing = min(amount, self._capacity) - self._level
        if missing <= 1e-9:
            return 0.0
        return missing / self._per_second if self._per_second > 0 else math.inf

    def take(self, amount: float, now: float) -> None:
        """Take it, down into debt where it must be."""
        self._refill(now)
        self._level -= amount

    def give_back(self, amount: float) -> None:
        """Return what was taken and not used; a negative amount takes more."""
        self._level = min(self._capacity, self._level + amount)

    def learn(self, limit: float, remaining: float, reset_seconds: float, now: float) -> None:
        """Follow what the server says: how many it allows, how many are left, and when all of them will be again."""
        self._refill(now)
        self._capacity = max(1.0, limit)
        self._level = min(self._level, remaining)
        self._per_second = max(limit - remaining, 1.0) / max(reset_seconds, 0.001)

    def _refill(self, now: float) -> None:
        if now > self._at:
            self._level = min(self._capacity, self._level + (now - self._at) * self._per_second)
            self._at = now


@dataclass(frozen=True, slots=True)
class RateLimits:
    """What is allowed at one endpoint; the number of calls at once starts at `start` and adapts itself up to `most`."""

    start: int = 32
    most: int = 512
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    first_rest: float = 0.5
    "Most seconds of rest after a refusal without a Retry-After; twice as many after each that follows."

    @classmethod
    def at_once(cls, calls: int) -> RateLimits:
        """So many calls at once from the beginning, and never more; fewer when the server refuses."""
        return cls(start=calls, most=calls)


@dataclass(slots=True)
class CallSlot:
    """Leave to make one call, since `started` (on the event loop's clock), with so many tokens set aside for it."""

    started: float
    tokens: int


class LimiterLike(Protocol):
    """Leave to call one endpoint: a `Limiter`, or one that other processes share."""

    @property
    def counts_tokens(self) -> bool: ...

    async def acquire(self, tokens: int = 0) -> CallSlot: ...

    def give_back(self, slot: CallSlot) -> None: ...

    def release(
        self,
        slot: CallSlot,
        *,
        ok: bool,
        refused: bool = False,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
        tokens: int | None = None,
    ) -> bool: ...


class RateLimiter:
    """Lets calls to one endpoint through, first come first served."""

    def __init__(self, limits: RateLimits | None = None, *, rng: random.Random | None = None) -> None:
        self.limits = limits = limits or RateLimits()
        self.in_flight = 0
        self._adaptive = AdaptiveLimit(limits.start, limits.most)
        self._random = rng or random.Random()
        self._requests: TokenBucket | None = None
        self._tokens: TokenBucket | None = None
        self._learnt: dict[str, TokenBucket] = {}
        self._rest_until = -math.inf
        self._refusals = 0
        self._waiting: deque[tuple[asyncio.Future[CallSlot], int]] = deque()
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

    async def acquire(self, tokens: int = 0) -> CallSlot:
        """Wait for leave to make a call of about so many tokens; every slot has to be released."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._enter(loop)
        now = loop.time()
        if not self._waiting and self.in_flight < self._adaptive.limit and self._seconds_to_wait(tokens, now) == 0:
            return self._grant(tokens, now)
        turn: asyncio.Future[CallSlot] = loop.create_future()
        self._waiting.append((turn, tokens))
        self._admit()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # Granted in the same moment.
                self.give_back(turn.result())
            raise

    def give_back(self, slot: CallSlot) -> None:
        """The call was not made, or was broken off before its tokens were known."""
        for bucket, amount in self._buckets(slot.tokens):
            bucket.give_back(amount)
        self.in_flight -= 1
        self._admit()

    def release(
        self,
        slot: CallSlot,
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
            self._requests = TokenBucket.per_minute(limits.requests_per_minute, now)
        if limits.tokens_per_minute is not None:
            self._tokens = TokenBucket.per_minute(limits.tokens_per_minute, now)

    def _seconds_to_wait(self, tokens: int, now: float) -> float:
        wait = max(0.0, self._rest_until - now)
        for bucket, amount in self._buckets(tokens):
            wait = max(wait, bucket.wait(amount, now))
        return wait

    def _buckets(self, tokens: int) -> Sequence[tuple[TokenBucket, int]]:
        """Every rate that is kept here, with what a call takes of it."""
        if self._requests is None and self._tokens is None and not self._learnt:
            return ()
        given = ((self._requests, 1), (self._tokens, tokens))
        learnt = ((bucket, 1 if what == "requests" else tokens) for what, bucket in self._learnt.items())
        return [(bucket, amount) for bucket, amount in (*given, *learnt) if bucket is not None]

    def _grant(self, tokens: int, now: float) -> CallSlot:
        self.in_flight += 1
        for bucket, amount in self._buckets(tokens):
            bucket.take(amount, now)
        return CallSlot(now, tokens)

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

    def _rest(self, slot: CallSlot, retry_after: float | None, now: float) -> bool:
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
        for said in read_allowances(headers):
            bucket = self._learnt.get(said.what)
            if bucket is None:
                bucket = self._learnt[said.what] = TokenBucket(1.0, said.limit, now, level=said.remaining)
            bucket.learn(said.limit, said.remaining, said.reset, now)
