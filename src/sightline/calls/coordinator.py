"""One place for what all workers of a cluster share: the journal, the budget, and the rate limits of each endpoint.

It holds the same objects that a run on one machine uses, and works them for the workers; so what holds there (no call
paid twice, no budget exceeded, no rate broken) holds over all workers. A worker sends what has gathered since its last
message, so that many calls share a round trip. Messages are tuples, because there are several for each call, and these
are the quickest to pickle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sightline.calls.budget import Budget
from sightline.calls.in_flight import LostCall
from sightline.calls.journal import EndpointHistory, Journal
from sightline.calls.journal_tables import Call
from sightline.calls.rate_limit import CallSlot, RateLimiter, RateLimits
from sightline.errors import SightlineError, StoppedError, UserError
from sightline.types import ChatReply, Failure


class WorkerMessage(NamedTuple):
    """A method of the coordinator and what it is called with; number 0 waits for no answer."""

    number: int
    method: str
    values: tuple[Any, ...]


class Stop(NamedTuple):
    """A `SightlineError` on its way: of which kind it is, and what it says."""

    kind: str
    message: str
    fix: str | None

    @classmethod
    def of(cls, error: SightlineError) -> Stop:
        kind = "user" if isinstance(error, UserError) else "stopped" if isinstance(error, StoppedError) else "fault"
        return cls(kind, error.message, error.fix)

    def error(self) -> SightlineError:
        """The error again; a new one each time, because a traceback is added where it is raised."""
        kinds: dict[str, type[SightlineError]] = {"user": UserError, "stopped": StoppedError}
        return kinds.get(self.kind, SightlineError)(self.message, self.fix)


class CoordinatorAnswer(NamedTuple):
    """To the question of this number."""

    number: int
    value: Any = None
    stop: Stop | None = None


class ShardDone(NamedTuple):
    """What came of a shard: results by the place of their item in it; not of all items when it was stopped."""

    results: Sequence[tuple[int, Any | Failure]]
    stop: Stop | None = None


class CoordinatorChannel(Protocol):
    """The coordinator, as one worker reaches it."""

    async def tell(self, messages: Sequence[WorkerMessage]) -> Sequence[CoordinatorAnswer]:
        """Hand in messages; returns the answers that are there already."""

    async def hear(self) -> Sequence[CoordinatorAnswer]:
        """Wait for answers that took longer."""


class UnknownWorkerError(Exception):
    """A worker that was given up wrote again: it has to end."""


class BudgetSpent(NamedTuple):
    """Money, and on how many calls."""

    usd: float
    calls: int


class _Member:
    """One worker: answers that wait for it, and what it holds, to be taken back should it die."""

    def __init__(self) -> None:
        self.answers: list[CoordinatorAnswer] = []
        self.news = asyncio.Event()
        self.being_told = 0
        self.waiting: set[asyncio.Task[None]] = set()
        self.slots: dict[int, tuple[RateLimiter, CallSlot]] = {}
        self.reserved: dict[int, tuple[float, str]] = {}
        self.begun: set[int] = set()  # What money was set aside for, and may have been asked.
        self.asking: set[bytes] = set()

    def answer(self, answer: CoordinatorAnswer) -> None:
        self.answers.append(answer)
        if not self.being_told:  # Else it goes out with what `tell` returns.
            self.news.set()

    def take(self) -> list[CoordinatorAnswer]:
        taken, self.answers = self.answers, []
        self.news.clear()
        return taken


class Coordinator:
    """Answers the workers, one event loop for all; made on that loop."""

    def __init__(self, workspace: Path, budget: Budget | None = None) -> None:
        self._journal = Journal(workspace)
        self._budget = budget
        self._limiters: dict[str, RateLimiter] = {}
        self._members: dict[str, _Member] = {}
        self._recording: set[asyncio.Task[None]] = set()
        self._questions: dict[str, Callable[..., Awaitable[Any]]] = {
            "seek": self._seek,
            "past": self._past,
            "record": self._record,
            "reserve": self._reserve,
            "acquire": self._acquire,
        }
        self._news: dict[str, Callable[..., None]] = {
            "leave": self._leave,
            "sending": self._sending,
            "unpaid": self._unpaid,
            "count_hit": self._count_hit,
            "settle": self._settle,
            "release": self._release,
            "give_back": self._give_back,
        }

    @property
    def spent(self) -> BudgetSpent:
        """What was spent until now."""
        return BudgetSpent(0.0, 0) if self._budget is None else BudgetSpent(self._budget.spent, self._budget.calls)

    def admit(self, worker: str) -> None:
        """A worker begins; each needs a name of its own, also one that takes the place of another."""
        self._members[worker] = _Member()

    async def tell(self, worker: str, messages: Sequence[WorkerMessage]) -> list[CoordinatorAnswer]:
        """Take in messages; returns the answers that are there already."""
        member = self._member(worker)
        member.being_told += 1
        for message in messages:
            self._take_in(member, message)
        await asyncio.sleep(0)  # Lets every question take its first step, which most often answers it.
        member.being_told -= 1
        return member.take()

    async def hear(self, worker: str) -> list[CoordinatorAnswer]:
        """Wait for answers that took longer."""
        member = self._member(worker)
        while not member.answers:
            await member.news.wait()
            self._member(worker)
        return member.take()

    def bury(self, worker: str) -> None:
        """A worker died: others get what it held.

        Calls that it had begun may have been paid for: they stay counted in all rates, and their money is taken as
        spent. What it handed in before is written down. Safe to call twice.
        """
        member = self._members.pop(worker, None)
        if member is None:
            return
        for task in member.waiting:
            task.cancel()
        for limiter, slot in member.slots.values():
            limiter.release(slot, ok=False)
        if self._budget is not None:
            for number, (usd, about) in member.reserved.items():
                self._budget.settle(usd, None if number in member.begun else 0.0, about)
        for key in tuple(member.asking):
            self._leave(member, key)
        member.news.set()  # Whoever listens for it learns that it is gone.

    async def close(self) -> BudgetSpent:
        """Write down all that was handed in; no more messages after this."""
        for worker in tuple(self._members):
            self.bury(worker)
        await asyncio.gather(*self._recording, return_exceptions=True)
        await asyncio.to_thread(self._journal.close)
        return self.spent

    def _member(self, worker: str) -> _Member:
        if (member := self._members.get(worker)) is None:
            raise UnknownWorkerError(worker)
        return member

    def _take_in(self, member: _Member, message: WorkerMessage) -> None:
        number, method, values = message
        if (question := self._questions.get(method)) is not None:
            # What was handed in is not to be cancelled by the worker's death: it was paid for.
            tasks = self._recording if method == "record" else member.waiting
            task = asyncio.get_running_loop().create_task(_answered(member, number, question(member, number, *values)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        else:
            self._news[method](member, *values)

    # --- the journal ---------------------------------------------------------------------------------------------

    async def _seek(self, member: _Member, _: int, key: bytes, fresh: bool) -> ChatReply | Failure | None:
        """What is known; if nothing is, this worker is the one who asks."""
        known = await self._journal.seek(key, fresh=fresh)
        if known is None:
            member.asking.add(key)
        return known

    async def _past(self, _: _Member, __: int, *values: Any) -> EndpointHistory:
        return await self._journal.past(*values)

    async def _record(self, member: _Member, number: int, call: Call) -> None:
        try:
            await self._journal.record(call)
        finally:
            if number:
                self._leave(member, call.key)

    def _leave(self, member: _Member, key: bytes) -> None:
        if key in member.asking:
            member.asking.remove(key)
            self._journal.leave(key)

    def _sending(self, _: _Member, call: LostCall) -> None:
        with suppress(SightlineError):  # Its worker hears of it when it seeks the next.
            self._journal.sending(call)

    def _unpaid(self, _: _Member, key: bytes) -> None:
        self._journal.unpaid(key)

    def _count_hit(self, _: _Member, *values: Any) -> None:
        self._journal.count_hit(*values)

    # --- the budget and the limits -------------------------------------------------------------------------------

    async def _reserve(self, member: _Member, number: int, usd: float, about: str) -> None:
        if self._budget is not None:
            await self._budget.reserve(usd, about)
            member.reserved[number] = (usd, about)

    def _settle(self, member: _Member, number: int, spent: float | None) -> None:
        """What money was set aside for, by the question of this number, cost so much; None: nobody knows."""
        if self._budget is not None:
            member.begun.discard(number)
            usd, about = member.reserved.pop(number)
            self._budget.settle(usd, spent, about)

    async def _acquire(
        self, member: _Member, number: int, endpoint: str, limits: RateLimits | None, tokens: int, paid_by: int
    ) -> bool:
        """Leave to make a call, and whether tokens are counted there.

        `paid_by` is the number of the question that set money aside for it, 0 when none was.
        """
        limiter = self._limiters.get(endpoint)
        if limiter is None:
            limiter = self._limiters[endpoint] = RateLimiter(limits)
        slot = await limiter.acquire(tokens)
        member.slots[number] = (limiter, slot)
        if paid_by:
            member.begun.add(paid_by)
        return limiter.counts_tokens

    def _release(self, member: _Member, number: int, outcome: Mapping[str, Any]) -> None:
        limiter, slot = member.slots.pop(number)
        limiter.release(slot, **outcome)

    def _give_back(self, member: _Member, number: int) -> None:
        limiter, slot = member.slots.pop(number)
        limiter.give_back(slot)


async def _answered(member: _Member, number: int, answer: Awaitable[Any]) -> None:
    """Hand out the answer to a question when it is there."""
    try:
        found = CoordinatorAnswer(number, await answer)
    except SightlineError as error:
        found = CoordinatorAnswer(number, stop=Stop.of(error))
    if number:
        member.answer(found)
