"""What a worker of a cluster does with a shard: the same map as on one machine.

The journal, the budget and the rate limits behind it are those of all workers, kept by the coordinator.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeAlias

from sightline.calls.circuit_breaker import RESUME_HINT
from sightline.calls.coordinator import CoordinatorAnswer, CoordinatorChannel, ShardDone, Stop, WorkerMessage
from sightline.calls.in_flight import LostCall
from sightline.calls.journal import EndpointHistory
from sightline.calls.journal_tables import Call
from sightline.calls.rate_limit import CallSlot, RateLimits
from sightline.calls.stages import StageSpec
from sightline.engine.async_map import GC_THRESHOLDS, Stage, map_async
from sightline.errors import SightlineError, StoppedError
from sightline.types import ChatReply, Failure

_log = logging.getLogger(__name__)
Undo: TypeAlias = tuple[Any, ...]
"""News for the coordinator: a method, and what it is called with."""
_PAID_BY: ContextVar[int] = ContextVar("sightline_paid_by", default=0)
"""Which question set money aside for the call that this task makes: should the worker die, only calls that had leave to
be made count as paid. Budget and rate limiter know nothing of each other, but one task uses both for one call."""


class CoordinatorLink:
    """Carries questions to the coordinator and answers back; what gathers during one round trip shares the next."""

    def __init__(self, channel: CoordinatorChannel) -> None:
        self._channel = channel
        self._numbers = count(1)
        self._out: list[WorkerMessage] = []
        self._work = asyncio.Event()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._undo: dict[int, Undo] = {}
        self._gone: StoppedError | None = None
        self._closing = False
        self._sender = asyncio.create_task(self._send())
        self._listener = asyncio.create_task(self._listen())

    def new_number(self) -> int:
        """For the next question."""
        return next(self._numbers)

    def send(self, method: str, *values: Any, number: int = 0) -> None:
        """Hand in news; it goes out with whatever else there is."""
        self._out.append(WorkerMessage(number, method, values))
        self._work.set()

    async def ask(self, method: str, *values: Any, number: int | None = None, undo: Undo | None = None) -> Any:
        """Hand in a question and wait for its answer; `undo` is sent if it comes when nobody waits any more."""
        if self._gone is not None:
            raise self._gone.again()
        number = number or self.new_number()
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self.send(method, *values, number=number)
        try:
            return await answer
        except asyncio.CancelledError:
            if undo is not None and not answer.cancelled() and answer.exception() is None:
                self.send(*undo)  # Answered in the same moment.
            elif undo is not None:
                self._undo[number] = undo
            raise

    async def close(self) -> None:
        """Hand in what is left, and hang up."""
        self._closing = True
        self._work.set()
        await self._sender
        self._listener.cancel()
        await asyncio.wait((self._listener,))

    async def _send(self) -> None:
        while self._out or not self._closing:
            if not self._out:
                self._work.clear()
                await self._work.wait()
                continue
            messages, self._out = self._out, []
            try:
                self._take(await self._channel.tell(messages))
            except Exception as error:  # Whatever it is: without the coordinator nothing may be asked.
                self._hang_up(error)
                return

    async def _listen(self) -> None:
        while True:
            try:
                self._take(await self._channel.hear())
            except Exception as error:
                self._hang_up(error)
                return

    def _take(self, answers: Sequence[CoordinatorAnswer]) -> None:
        for answer in answers:
            waiting = self._waiting.pop(answer.number)
            if not waiting.done():
                if answer.stop is None:
                    waiting.set_result(answer.value)
                else:
                    waiting.set_exception(answer.stop.error())
            elif (undo := self._undo.pop(answer.number, None)) is not None and answer.stop is None:
                self.send(*undo)

    def _hang_up(self, error: Exception) -> None:
        _log.warning("the coordinator can't be reached: %r", error)
        self._gone = StoppedError(
            f"the coordinator of the workers can't be reached ({type(error).__name__}).", RESUME_HINT
        )
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._gone.again())


class RemoteJournal:
    """The workspace's journal, over the wire: a reply is handed out only when its row is on the driver's disk."""

    def __init__(self, link: CoordinatorLink) -> None:
        self._link = link
        self._ours: set[bytes] = set()

    async def seek(self, key: bytes, *, fresh: bool) -> ChatReply | Failure | None:
        """What is known of a request; None when this worker is to ask it, and others wait for it."""
        known: ChatReply | Failure | None = await self._link.ask("seek", key, fresh, undo=("leave", key))
        if known is None:
            self._ours.add(key)
        return known

    def leave(self, key: bytes) -> None:
        """Let another ask, if we were to ask and did not."""
        if key in self._ours:
            self._ours.remove(key)
            self._link.send("leave", key)

    async def record(self, call: Call) -> None:
        """Keep a call; returns when it is on disk."""
        await self._link.ask("record", call)
        self._ours.discard(call.key)

    def record_later(self, call: Call) -> None:
        """Keep a call that nobody waits for."""
        self._link.send("record", call)

    def sending(self, call: LostCall) -> None:
        """A request is about to be sent; where that can't be noted, the next `seek` says so."""
        self._link.send("sending", call)

    def unpaid(self, key: bytes) -> None:
        """What was sent costs nothing."""
        self._link.send("unpaid", key)

    def count_hit(self, stage: str, model: str, usd: float | None) -> None:
        """A request was answered from the journal."""
        self._link.send("count_hit", stage, model, usd)

    async def past(self, endpoint: str, model: str, stage: str, attempts: int) -> EndpointHistory:
        """What is known of a stage's calls from before."""
        known: EndpointHistory = await self._link.ask("past", endpoint, model, stage, attempts)
        return known


class RemoteBudget:
    """The budget of all workers."""

    def __init__(self, link: CoordinatorLink) -> None:
        self._link = link

    async def reserve(self, usd: float, about: str = "") -> None:
        """Set money aside; raises when the budget is used up."""
        number = self._link.new_number()
        await self._link.ask("reserve", usd, about, number=number, undo=("settle", number, 0.0))
        _PAID_BY.set(number)

    def settle(self, usd: float, spent: float | None, about: str = "") -> None:
        """The attempt is over, which this task set money aside for."""
        self._link.send("settle", _PAID_BY.get(), spent)
        _PAID_BY.set(0)


@dataclass(slots=True)
class RemoteSlot(CallSlot):
    """Leave to make one call, by the number of the question that it answers."""

    number: int


class RemoteLimiter:
    """The limits of one endpoint for all workers."""

    def __init__(self, link: CoordinatorLink, endpoint: str, limits: RateLimits | None) -> None:
        self._link, self._endpoint, self._limits = link, endpoint, limits
        self._cut_at = -math.inf
        self.counts_tokens = limits is not None and limits.tokens_per_minute is not None

    async def acquire(self, tokens: int = 0) -> CallSlot:
        """Wait for leave to make a call."""
        number = self._link.new_number()
        values = (self._endpoint, self._limits, tokens, _PAID_BY.get())
        self.counts_tokens = await self._link.ask("acquire", *values, number=number, undo=("give_back", number))
        return RemoteSlot(asyncio.get_running_loop().time(), tokens, number)

    def give_back(self, slot: CallSlot) -> None:
        """The call was not made."""
        assert isinstance(slot, RemoteSlot)
        self._link.send("give_back", slot.number)

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
        """The call ended. True for the first refusal since the last one that was, as this worker sees it."""
        assert isinstance(slot, RemoteSlot)
        told = {name: value for name, value in (headers or {}).items() if "ratelimit" in name}
        outcome = {"ok": ok, "refused": refused, "retry_after": retry_after, "headers": told or None, "tokens": tokens}
        self._link.send("release", slot.number, outcome)
        if not refused or slot.started <= self._cut_at:
            return False
        self._cut_at = asyncio.get_running_loop().time()
        return True


class RemoteServices:
    """What all workers share, as a stage's factory gets it on a worker."""

    def __init__(self, link: CoordinatorLink, *, has_budget: bool) -> None:
        self._link = link
        self.journal = RemoteJournal(link)
        self.budget = RemoteBudget(link) if has_budget else None
        self.loop = asyncio.get_running_loop()

    def limiter(self, endpoint: str, limits: RateLimits | None = None) -> RemoteLimiter:
        """The limits of an endpoint; who names it first sets them for all."""
        return RemoteLimiter(self._link, endpoint, limits)


class _Room:
    """Room for so many items at once; the earliest item goes first, so that shards end one after the other.

    Otherwise all shards of a worker would end at the same time, and whoever reads in order would wait for all of them.
    """

    def __init__(self, size: int) -> None:
        self._free = size
        self._tickets = count()  # Futures can't be compared.
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def place(self, number: int) -> AsyncIterator[None]:
        """Wait for a place, and give it back at the end of the block."""
        if self._free:
            self._free -= 1
        else:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heappush(self._waiting, (number, next(self._tickets), turn))
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():  # Given in the same moment.
                    self._give_back()
                raise
        try:
            yield
        finally:
            self._give_back()

    def _give_back(self) -> None:
        while self._waiting:
            *_, turn = heappop(self._waiting)
            if not turn.done():  # Else it was cancelled while it waited.
                turn.set_result(None)
                return
        self._free += 1


class ShardRunner:
    """One stage in one process, for any number of shards at once; made on the event loop that it works on."""

    def __init__(
        self, spec: StageSpec[Any, Any], channel: CoordinatorChannel, *, has_budget: bool, at_once: int
    ) -> None:
        gc.set_threshold(*GC_THRESHOLDS)  # What a map does while it runs; here some map always does.
        self._link = CoordinatorLink(channel)
        self._stage = spec.build(RemoteServices(self._link, has_budget=has_budget))
        self._room = _Room(at_once)
        self._stop: Stop | None = None

    async def run(self, first: int, items: Sequence[Any]) -> ShardDone:
        """Work on a shard, whose first item has that number; what stops it is told together with what was done."""
        numbered = list(enumerate(items, first))
        results: list[tuple[int, Any]] = []
        stage = Stage(self._stage.name, self._work)
        try:
            async for (number, _), result in map_async(numbered, stage, concurrency=len(items), show_progress=False):
                results.append((number - first, result))
        except SightlineError as stopped:
            return ShardDone(results, Stop.of(stopped))
        return ShardDone(results)

    def halt(self, stop: Stop) -> None:
        """Begin nothing new: another worker was stopped."""
        self._stop = self._stop or stop

    async def close(self) -> None:
        """Close the stage, and hang up."""
        if self._stage.close is not None:
            await self._stage.close()
        await self._link.close()

    async def _work(self, numbered: tuple[int, Any]) -> Any | Failure:
        number, item = numbered
        async with self._room.place(number):
            if self._stop is not None:
                raise self._stop.error()
            try:
                return await self._stage.function(item)
            except SightlineError as stopped:
                self.halt(Stop.of(stopped))
                raise
