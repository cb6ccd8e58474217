"""A worker's side of what all workers share: a journal, a budget and limits that are kept by the coordinator."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

from sightline.engine.journal import Call, Past
from sightline.engine.limits import Limits, Slot
from sightline.engine.spread_wire import (
    GO_ON,
    Acquire,
    Answer,
    Desk,
    GiveBack,
    Hit,
    Leave,
    LookBack,
    Message,
    News,
    Question,
    Record,
    Release,
    Reserve,
    Seek,
    Settle,
)
from sightline.errors import StoppedError
from sightline.types import ChatReply, Failure

_log = logging.getLogger(__name__)
Undo: TypeAlias = Callable[[], News]
_PAID_BY: ContextVar[int] = ContextVar("sightline_paid_by", default=0)
"""Which question set money aside for the call that this task makes: should the worker die, only calls that had leave to
be made count as paid. A purse and a gate know nothing of each other, but one task uses both for one call."""


class Link:
    """Carries questions to the coordinator and answers back; what gathers during one round trip shares the next."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._numbers = count(1)
        self._out: list[Message] = []
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

    def send(self, message: Message) -> None:
        """Hand in news; it goes out with whatever else there is."""
        self._out.append(message)
        self._work.set()

    async def ask(self, question: Question, undo: Undo | None = None) -> Any:
        """Hand in a question and wait for its answer; `undo` is sent if it comes when nobody waits any more."""
        if self._gone is not None:
            raise StoppedError(self._gone.message, self._gone.fix)
        answer = self._waiting[question.number] = asyncio.get_running_loop().create_future()
        self.send(question)
        try:
            return await answer
        except asyncio.CancelledError:
            if undo is not None and not answer.cancelled() and answer.exception() is None:
                self.send(undo())  # Answered in the same moment.
            elif undo is not None:
                self._undo[question.number] = undo
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
                self._take(await self._desk.tell(messages))
            except Exception as error:  # Whatever it is: without the coordinator nothing may be asked.
                self._hang_up(error)
                return

    async def _listen(self) -> None:
        while True:
            try:
                self._take(await self._desk.hear())
            except Exception as error:
                self._hang_up(error)
                return

    def _take(self, answers: Sequence[Answer]) -> None:
        for answer in answers:
            waiting = self._waiting.pop(answer.number)
            if not waiting.done():
                if answer.stop is None:
                    waiting.set_result(answer.value)
                else:
                    waiting.set_exception(answer.stop.error())
            elif (undo := self._undo.pop(answer.number, None)) is not None and answer.stop is None:
                self.send(undo())

    def _hang_up(self, error: Exception) -> None:
        _log.warning("the coordinator can't be reached: %r", error)
        self._gone = StoppedError(f"the coordinator of the workers can't be reached ({type(error).__name__}).", GO_ON)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(StoppedError(self._gone.message, self._gone.fix))


class SharedJournal:
    """The workspace's journal, over the wire: a reply is handed out only when its row is on the driver's disk."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._ours: set[bytes] = set()

    async def seek(self, key: bytes, *, fresh: bool) -> ChatReply | Failure | None:
        """What is known of a request; None when this worker is to ask it, and others wait for it."""
        known: ChatReply | Failure | None = await self._link.ask(
            Seek(self._link.new_number(), key, fresh), undo=lambda: Leave(key)
        )
        if known is None:
            self._ours.add(key)
        return known

    def leave(self, key: bytes) -> None:
        """Let another ask, if we were to ask and did not."""
        if key in self._ours:
            self._ours.remove(key)
            self._link.send(Leave(key))

    async def record(self, call: Call) -> None:
        """Keep a call; returns when it is on disk."""
        await self._link.ask(Record(self._link.new_number(), call))
        self._ours.discard(call.key)

    def record_later(self, call: Call) -> None:
        """Keep a call that nobody waits for."""
        self._link.send(Record(0, call))

    def count_hit(self, stage: str, model: str, usd: float | None) -> None:
        """A request was answered from the journal."""
        self._link.send(Hit(stage, model, usd))

    async def past(self, endpoint: str, model: str, stage: str, attempts: int) -> Past:
        """What is known of a stage's calls from before."""
        known: Past = await self._link.ask(LookBack(self._link.new_number(), endpoint, model, stage, attempts))
        return known


class SharedPurse:
    """The budget of all workers."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def reserve(self, usd: float, about: str = "") -> None:
        """Set money aside; raises when the budget is used up."""
        number = self._link.new_number()
        await self._link.ask(Reserve(number, usd, about), undo=lambda: Settle(number, 0.0))
        _PAID_BY.set(number)

    def settle(self, usd: float, spent: float | None, about: str = "") -> None:
        """The attempt is over, which this task set money aside for."""
        self._link.send(Settle(_PAID_BY.get(), spent))
        _PAID_BY.set(0)


@dataclass(frozen=True, slots=True)
class SharedSlot(Slot):
    """Leave to make one call, by the number of the question that it answers."""

    number: int


class SharedGate:
    """The limits of one endpoint for all workers."""

    def __init__(self, link: Link, endpoint: str, limits: Limits | None) -> None:
        self._link, self._endpoint, self._limits = link, endpoint, limits
        self._cut_at = -math.inf
        self.counts_tokens = limits is not None and limits.tokens_per_minute is not None

    async def acquire(self, tokens: int = 0) -> Slot:
        """Wait for leave to make a call."""
        number = self._link.new_number()
        question = Acquire(number, self._endpoint, self._limits, tokens, _PAID_BY.get())
        self.counts_tokens = await self._link.ask(question, undo=lambda: GiveBack(number))
        return SharedSlot(asyncio.get_running_loop().time(), tokens, number)

    def give_back(self, slot: Slot) -> None:
        """The call was not made."""
        assert isinstance(slot, SharedSlot)
        self._link.send(GiveBack(slot.number))

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
        """The call ended. True for the first refusal since the last one that was, as this worker sees it."""
        assert isinstance(slot, SharedSlot)
        told = {name: value for name, value in (headers or {}).items() if "ratelimit" in name}
        self._link.send(Release(slot.number, ok, refused, retry_after, told or None, tokens))
        if not refused or slot.started <= self._cut_at:
            return False
        self._cut_at = asyncio.get_running_loop().time()
        return True


class SharedThere:
    """What all workers share, as a stage's factory gets it on a worker."""

    def __init__(self, link: Link, *, has_budget: bool) -> None:
        self._link = link
        self.journal = SharedJournal(link)
        self.budget = SharedPurse(link) if has_budget else None

    def limiter(self, endpoint: str, limits: Limits | None = None) -> SharedGate:
        """The limits of an endpoint; who names it first sets them for all."""
        return SharedGate(self._link, endpoint, limits)
