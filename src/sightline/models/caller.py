"""A chat model that can be trusted with money: journal, circuit breaker, budget and limits around one transport."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import replace

from sightline.engine.breaker import Breaker
from sightline.engine.budget import Purse
from sightline.engine.foresight import NOTHING, Estimate, Foresight
from sightline.engine.journal import Call, CallKeeper, Journal, Past
from sightline.engine.keys import UnreadablePictureError, has_pictures_on_disk, request_key
from sightline.engine.limits import Gate, Limiter, Limits, Slot
from sightline.engine.plan import StagePlan, plan_stage
from sightline.engine.prices import Prices
from sightline.engine.purposes import asks_afresh, current_task, note_reuse
from sightline.engine.retry import OVERLOADS, Retry
from sightline.errors import SightlineError
from sightline.models.course import BROKEN_OFF, NOT_KNOWN, Course, cost_of
from sightline.models.protocols import Outcome, Transport, wire_of
from sightline.types import ChatReply, ChatRequest, Failure


class Caller:
    """Asks through a transport; a request that was answered before is answered from the journal, and costs nothing.

    A call that fails comes back as a `Failure`. `StoppedError` and `UserError` are raised only when there is no point
    in asking on: the budget is used up or can't be kept, or the endpoint is down, refuses the key or has no such model.
    """

    def __init__(
        self,
        transport: Transport,
        journal: CallKeeper,
        limits: Limits | Gate | None = None,
        budget: Purse | None = None,
        prices: Prices | None = None,
        *,
        name: str | None = None,
        stage: str = "chat",
        fresh: bool = False,
        retry: Retry | None = None,
        breaker: Breaker | None = None,
        journal_as: str | None = None,
    ) -> None:
        """`journal_as` stands for the endpoint in the journal's keys: for a server whose address changes."""
        self.name = name or transport.endpoint
        self._transport, self._journal, self._budget = transport, journal, budget
        self._limiter = Limiter(limits) if limits is None or isinstance(limits, Limits) else limits
        self._prices = prices or Prices()
        self._stage, self._fresh = stage, fresh
        self._retry = retry or Retry()
        self._breaker = breaker or Breaker(transport.endpoint)
        self._journal_as = transport.endpoint if journal_as is None else journal_as
        self._wire = wire_of(transport)
        self._foresight = Foresight()

    def for_stage(self, stage: str, *, fresh: bool | None = None) -> Caller:
        """The same endpoint, limits and budget, for other work."""
        return Caller(
            self._transport,
            self._journal,
            self._limiter,
            self._budget,
            self._prices,
            name=self.name,
            stage=stage,
            fresh=self._fresh if fresh is None else fresh,
            retry=self._retry,
            breaker=self._breaker,
            journal_as=self._journal_as,
        )

    def plan(self, requests: Iterable[ChatRequest], calls: int | None = None) -> StagePlan:
        """What this stage would take, asking nobody: from its requests, or from a sample when there will be `calls`."""
        journal = self._journal if isinstance(self._journal, Journal) else None
        return plan_stage(
            self._stage,
            requests,
            prices=self._prices,
            journal=journal,
            endpoint=self._journal_as,
            wire=self._wire,
            calls=calls,
            fresh=self._fresh,
        )

    async def close(self) -> None:
        """Close the transport; the journal belongs to whoever opened it."""
        await self._transport.close()

    async def reply(self, request: ChatRequest) -> ChatReply | Failure:
        """Answer from the journal, or ask; two equal requests at once are one call."""
        try:
            key = await self._key(request)
        except UnreadablePictureError as error:
            return Failure("bad-picture", str(error))
        except TypeError as error:  # What JSON can't hold, such as half of a surrogate pair.
            return Failure("bad-request", f"the request can't be written as JSON: {error}")
        known = await self._journal.seek(key, fresh=self._fresh or asks_afresh())
        if known is not None:
            note_reuse(key)
            return self._from_journal(request, known)
        try:
            return await self._ask(key, request)
        finally:
            self._breaker.leave(key)
            self._journal.leave(key)

    async def _key(self, request: ChatRequest) -> bytes:
        if has_pictures_on_disk(request):
            return await asyncio.to_thread(request_key, request, self._journal_as, self._wire)
        return request_key(request, self._journal_as, self._wire)

    def _from_journal(self, request: ChatRequest, result: ChatReply | Failure) -> ChatReply | Failure:
        usd = result.usd if isinstance(result, ChatReply) else None
        self._journal.count_hit(self._stage, request.model, usd)
        return result if result.from_journal else replace(result, from_journal=True)

    async def _ask(self, key: bytes, request: ChatRequest) -> ChatReply | Failure:
        """Ask, and write down what came of it, whatever it was: also what was broken off may have been paid for."""
        course = Course(self._foresee(request))
        try:
            await self._attempts(key, request, course)
        except SightlineError:
            if course.attempts:
                await self._journal.record(self._call(key, request, course))
            raise
        except BaseException:
            if course.attempts:
                self._journal.record_later(self._call(key, request, replace(course, result=BROKEN_OFF)))
            raise
        if isinstance(course.result, ChatReply):
            course.result = replace(course.result, usd=course.usd, seconds=course.seconds, attempts=course.attempts)
        else:
            course.result = replace(
                course.result, usage=course.usage or NOT_KNOWN, usd=course.usd, partial=course.partial
            )
        await self._journal.record(self._call(key, request, course))
        if isinstance(course.result, Failure):
            self._breaker.raise_if_stopped()
        return course.result

    def _call(self, key: bytes, request: ChatRequest, course: Course) -> Call:
        return Call(
            key=key,
            stage=self._stage,
            task=current_task(),
            model=request.model,
            endpoint=self._transport.endpoint,
            sample=request.sample,
            at=time.time(),
            seconds=course.seconds,
            attempts=max(1, course.attempts),
            usage=course.usage or NOT_KNOWN,
            usd=course.usd,
            at_least=0.0 if course.usd is not None else course.known_usd,
            result=course.result,
        )

    def _foresee(self, request: ChatRequest) -> Estimate:
        """Tokens and dollars to set aside for an attempt; nothing is counted that nobody limits."""
        if self._budget is None and not self._limiter.counts_tokens:
            return NOTHING
        tariff = None if self._budget is None else self._prices.needed(request.model, self._stage)
        return self._foresight.of(request, tariff)

    async def _attempts(self, key: bytes, request: ChatRequest, course: Course) -> None:
        while True:
            outcome = await self._attempt(key, request, course)
            if isinstance(outcome.result, ChatReply):
                return
            failure = outcome.result
            if self._breaker.is_open and failure.kind == "server-error":
                await self._breaker.look_back(lambda: self._past(request.model))
            if self._breaker.is_stopped or not self._retry.again(failure, course.failed, course.refused):
                return
            if failure.kind not in OVERLOADS:  # After a refusal the limiter lets the whole endpoint rest.
                await self._breaker.pause(self._retry.pause(course.failed, outcome.retry_after))

    async def _past(self, model: str) -> Past:
        return await self._journal.past(self._transport.endpoint, model, self._stage, self._retry.attempts)

    async def _turn(self, key: bytes, tokens: int) -> tuple[Slot, bool]:
        """Leave to make a call, and whether it goes out as a probe; the endpoint may go away while we wait for it."""
        while True:
            probe = self._breaker.blocks and await self._breaker.ready(key, current_task())
            try:
                slot = await self._limiter.acquire(tokens)
            except BaseException:
                if probe:
                    self._breaker.gave_up()
                raise
            if probe or not self._breaker.holds(key):
                return slot, probe
            self._limiter.give_back(slot)

    async def _attempt(self, key: bytes, request: ChatRequest, course: Course) -> Outcome:
        """One attempt in its turn, with money set aside for it, and settled as soon as it is over."""
        estimate = course.estimate
        about = "" if self._budget is None else f"{self._transport.endpoint} {request.model}"
        if self._budget is not None:
            await self._budget.reserve(estimate.usd, about)
        usd: float | None = 0.0
        try:
            slot, probe = await self._turn(key, estimate.tokens)
            usd = None  # From here on it may be billed.
            try:
                outcome = await self._sent(request, slot, probe)
                usd = cost_of(outcome, self._prices.tariff(request.model, self._stage))
            finally:
                course.charge(usd)
        finally:
            if self._budget is not None:
                self._budget.settle(estimate.usd, usd, about)
        course.seconds = asyncio.get_running_loop().time() - slot.started
        self._note(key, request, course, outcome, slot, probe)
        return outcome

    async def _sent(self, request: ChatRequest, slot: Slot, probe: bool) -> Outcome:
        try:
            return await self._transport.send(request)
        except BaseException:
            self._limiter.give_back(slot)
            if probe:
                self._breaker.gave_up()
            raise

    def _note(
        self, key: bytes, request: ChatRequest, course: Course, outcome: Outcome, slot: Slot, probe: bool
    ) -> None:
        """What an attempt says of the call, of the endpoint, and of how much may be asked there."""
        used = outcome.usage
        failure = outcome.result if isinstance(outcome.result, Failure) else None
        course.take(outcome)
        if used is not None:
            self._foresight.saw(used)
        lowered = self._limiter.release(
            slot,
            ok=failure is None,
            refused=failure is not None and failure.kind in OVERLOADS,
            retry_after=outcome.retry_after,
            headers=outcome.headers,
            tokens=None if used is None else used.input + used.output,
        )
        if failure is None:
            self._breaker.replied()
            return
        self._breaker.failed(
            failure,
            model=request.model,
            probe=probe,
            lowered=lowered,
            retry_after=outcome.retry_after,
            now=asyncio.get_running_loop().time(),
            status=outcome.status,
            call=key,
        )
