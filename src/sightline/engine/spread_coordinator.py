"""One place for what all workers share: the journal, the budget, and the limits of each endpoint.

It holds the same objects that a run on one machine uses, and works them for the workers; so what holds there (no call
paid twice, no budget exceeded, no rate broken) holds over all workers. A worker hands in what has gathered since its
last message, so that many calls share a round trip.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sightline.engine.budget import Budget
from sightline.engine.journal import Call, Journal
from sightline.engine.limits import Limiter, Slot
from sightline.engine.spread_wire import (
    Acquire,
    Answer,
    GiveBack,
    Hit,
    Leave,
    LookBack,
    Message,
    Record,
    Release,
    Reserve,
    Seek,
    Settle,
    Stop,
)
from sightline.errors import SightlineError
from sightline.types import ChatReply, Failure


class UnknownWorkerError(Exception):
    """A worker that was given up wrote again: it has to end."""


class Spent(NamedTuple):
    """Money, and on how many calls."""

    usd: float
    calls: int


class _Member:
    """One worker: answers that wait for it, and what it holds, to be taken back should it die."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.news = asyncio.Event()
        self.being_told = 0
        self.waiting: set[asyncio.Task[None]] = set()
        self.slots: dict[int, tuple[Limiter, Slot]] = {}
        self.reserved: dict[int, Reserve] = {}
        self.begun: set[int] = set()  # What money was set aside for, and may have been asked.
        self.asking: set[bytes] = set()

    def answer(self, answer: Answer) -> None:
        self.answers.append(answer)
        if not self.being_told:  # Else it goes out with what `tell` returns.
            self.news.set()

    def take(self) -> list[Answer]:
        taken, self.answers = self.answers, []
        self.news.clear()
        return taken


class Coordinator:
    """Answers the workers, one event loop for all; made on that loop."""

    def __init__(self, workspace: Path, budget: Budget | None = None) -> None:
        self._journal = Journal(workspace)
        self._budget = budget
        self._limiters: dict[str, Limiter] = {}
        self._members: dict[str, _Member] = {}
        self._recording: set[asyncio.Task[None]] = set()

    @property
    def spent(self) -> Spent:
        """What was spent until now."""
        return Spent(0.0, 0) if self._budget is None else Spent(self._budget.spent, self._budget.calls)

    def admit(self, worker: str) -> None:
        """A worker begins; each needs a name of its own, also one that takes the place of another."""
        self._members[worker] = _Member()

    async def tell(self, worker: str, messages: Sequence[Message]) -> list[Answer]:
        """Take in messages; returns the answers that are there already."""
        member = self._member(worker)
        member.being_told += 1
        for message in messages:
            self._take_in(member, message)
        await asyncio.sleep(0)  # Lets every question take its first step, which most often answers it.
        member.being_told -= 1
        return member.take()

    async def hear(self, worker: str) -> list[Answer]:
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
            for number, asked in member.reserved.items():
                self._budget.settle(asked.usd, None if number in member.begun else 0.0, asked.about)
        for key in tuple(member.asking):
            self._leave(member, key)
        member.news.set()  # Whoever listens for it learns that it is gone.

    async def close(self) -> Spent:
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

    def _take_in(self, member: _Member, message: Message) -> None:
        match message:
            case Seek(number, key, fresh):
                self._begin(member, number, self._seek(member, key, fresh))
            case Record(number, call):
                task = asyncio.get_running_loop().create_task(self._record(member, number, call))
                self._recording.add(task)
                task.add_done_callback(self._recording.discard)
            case Reserve(number):
                self._begin(member, number, self._reserve(member, message))
            case LookBack(number, endpoint, model, stage, attempts):
                self._begin(member, number, self._journal.past(endpoint, model, stage, attempts))
            case Acquire(number):
                self._begin(member, number, self._acquire(member, message))
            case Settle(number, spent):
                self._settle(member, number, spent)
            case Release(number, ok, refused, retry_after, headers, tokens):
                limiter, slot = member.slots.pop(number)
                limiter.release(slot, ok=ok, refused=refused, retry_after=retry_after, headers=headers, tokens=tokens)
            case GiveBack(number):
                limiter, slot = member.slots.pop(number)
                limiter.give_back(slot)
            case Leave(key):
                self._leave(member, key)
            case Hit(stage, model, usd):
                self._journal.count_hit(stage, model, usd)

    def _begin(self, member: _Member, number: int, answer: Awaitable[Any]) -> None:
        """Answer a question when its answer is there, and meanwhile go on."""
        task = asyncio.get_running_loop().create_task(_answered(member, number, answer))
        member.waiting.add(task)
        task.add_done_callback(member.waiting.discard)

    # --- the journal ---------------------------------------------------------------------------------------------

    async def _seek(self, member: _Member, key: bytes, fresh: bool) -> ChatReply | Failure | None:
        """What is known; if nothing is, this worker is the one who asks."""
        known = await self._journal.seek(key, fresh=fresh)
        if known is None:
            member.asking.add(key)
        return known

    async def _record(self, member: _Member, number: int, call: Call) -> None:
        """Not to be cancelled by the worker's death: what it handed in was paid for."""
        try:
            await self._journal.record(call)
        except SightlineError as error:
            answer = Answer(number, stop=Stop.of(error))
        else:
            answer = Answer(number)
        if number:
            self._leave(member, call.key)
            member.answer(answer)

    def _leave(self, member: _Member, key: bytes) -> None:
        if key in member.asking:
            member.asking.remove(key)
            self._journal.leave(key)

    # --- the budget and the limits -------------------------------------------------------------------------------

    async def _reserve(self, member: _Member, question: Reserve) -> None:
        if self._budget is not None:
            await self._budget.reserve(question.usd, question.about)
            member.reserved[question.number] = question

    def _settle(self, member: _Member, number: int, spent: float | None) -> None:
        if self._budget is not None:
            member.begun.discard(number)
            asked = member.reserved.pop(number)
            self._budget.settle(asked.usd, spent, asked.about)

    async def _acquire(self, member: _Member, question: Acquire) -> bool:
        limiter = self._limiters.get(question.endpoint)
        if limiter is None:
            limiter = self._limiters[question.endpoint] = Limiter(question.limits)
        slot = await limiter.acquire(question.tokens)
        member.slots[question.number] = (limiter, slot)
        if question.paid_by:
            member.begun.add(question.paid_by)
        return limiter.counts_tokens


async def _answered(member: _Member, number: int, answer: Awaitable[Any]) -> None:
    try:
        member.answer(Answer(number, await answer))
    except SightlineError as error:
        member.answer(Answer(number, stop=Stop.of(error)))
