"""A chat model that can be trusted with money: journal, circuit breaker, budget and limits around one transport."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sightline.engine.breaker import Breaker
from sightline.engine.budget import Purse
from sightline.engine.journal import Call, CallKeeper, Journal
from sightline.engine.keys import UnreadablePictureError, has_pictures_on_disk, request_key
from sightline.engine.limits import Gate, Limiter, Limits, Slot
from sightline.engine.plan import StagePlan, plan_stage
from sightline.engine.prices import Prices
from sightline.engine.purposes import current_task
from sightline.engine.retry import OVERLOADS, Retry
from sightline.engine.tokens import request_tokens
from sightline.errors import SightlineError
from sightline.models.protocols import Outcome, Transport
from sightline.types import ChatReply, ChatRequest, Failure, Usage

NOT_BILLED = frozenset(
    {
        "rate-limited",
        "overloaded",
        "server-error",
        "connection",
        "html",
        "bad-content-type",
        "auth",
        "unknown-model",
        "bad-request",
        "no-credit",
        "bad-picture",
        "unsupported",
    }
)
"""Failures that cost nothing; any other may have been paid for, and its cost is unknown unless the server said it."""
_NONE = Usage(reported=False)
USUAL_OUTPUT = 4096
"""Tokens that are set aside for a reply without `max_tokens`, until a longer one was seen."""


@dataclass(slots=True)
class _Course:
    """How one call went, over all of its attempts."""

    result: ChatReply | Failure
    usage: Usage | None = None
    seconds: float | None = None
    failed: int = 0
    refused: int = 0

    @property
    def attempts(self) -> int:
        return max(1, self.failed + self.refused + isinstance(self.result, ChatReply))


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
        self._longest_output = USUAL_OUTPUT

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
        pending = self._journal.pending
        while (asked := pending.get(key)) is not None:
            await asyncio.wait((asked,))
            if not asked.cancelled():
                return self._from_journal(request, asked.result())
        asking = pending[key] = asyncio.get_running_loop().create_future()
        try:
            known = await self._journal.seek(key, fresh=self._fresh)
            result = await self._ask(key, request) if known is None else self._from_journal(request, known)
            asking.set_result(result)
            return result
        finally:
            del pending[key]
            asking.cancel()  # After a fault; whoever waits for this reply asks for it himself.
            self._journal.leave(key)

    async def _key(self, request: ChatRequest) -> bytes:
        if has_pictures_on_disk(request):
            return await asyncio.to_thread(request_key, request, self._journal_as)
        return request_key(request, self._journal_as)

    def _from_journal(self, request: ChatRequest, result: ChatReply | Failure) -> ChatReply | Failure:
        usd = result.usd if isinstance(result, ChatReply) else None
        self._journal.count_hit(self._stage, request.model, usd)
        if isinstance(result, ChatReply) and not result.from_journal:
            return replace(result, from_journal=True)
        return result

    async def _ask(self, key: bytes, request: ChatRequest) -> ChatReply | Failure:
        tokens, reserved = self._estimate(request)
        if self._budget is not None:
            await self._budget.reserve(reserved)
        charged = 0.0
        try:
            course = await self._attempts(request, tokens)
            usd = self._cost(request.model, course)
            charged = reserved if usd is None else usd
        finally:
            if self._budget is not None:
                self._budget.settle(reserved, charged)
        result = course.result
        if isinstance(result, ChatReply):
            self._longest_output = max(self._longest_output, result.usage.output)
            result = replace(result, usd=usd, seconds=course.seconds, attempts=course.attempts)
        await self._journal.record(
            Call(
                key=key,
                stage=self._stage,
                task=current_task(),
                model=request.model,
                endpoint=self._transport.endpoint,
                sample=request.sample,
                at=time.time(),
                seconds=course.seconds,
                attempts=course.attempts,
                usage=course.usage or _NONE,
                usd=usd,
                result=result,
            )
        )
        if isinstance(result, Failure):
            self._breaker.raise_if_stopped()
        return result

    def _estimate(self, request: ChatRequest) -> tuple[int, float]:
        """Tokens and dollars to set aside for a call; nothing is counted that nobody limits."""
        if self._budget is None and not self._limiter.counts_tokens:
            return 0, 0.0
        sent = request_tokens(request)
        output = self._longest_output if request.max_tokens is None else request.max_tokens
        if self._budget is None:
            return sent.total + output, 0.0
        tariff = self._prices.needed(request.model, self._stage)
        return sent.total + output, tariff.cost(Usage(input=sent.total, image=sent.image, output=output))

    def _cost(self, model: str, course: _Course) -> float | None:
        usage = course.usage
        if usage is None and isinstance(course.result, Failure) and course.result.kind in NOT_BILLED:
            return 0.0
        tariff = self._prices.tariff(model, self._stage)
        if tariff is None or usage is None:
            return None
        return tariff.cost(usage) if usage.reported or tariff.is_free else None

    async def _attempts(self, request: ChatRequest, tokens: int) -> _Course:
        course = _Course(Failure("down", "not asked"))
        while True:
            try:
                outcome, lowered, probe = await self._attempt(request, tokens, course)
            except SightlineError:
                if course.failed + course.refused == 0:
                    raise
                return course  # Stopped between two attempts: what was tried is written down first.
            if isinstance(outcome.result, ChatReply):
                self._breaker.replied()
                return course
            failure = outcome.result
            overload = failure.kind in OVERLOADS
            course.refused += overload
            course.failed += not overload
            self._breaker.failed(
                failure,
                model=request.model,
                probe=probe,
                lowered=lowered,
                retry_after=outcome.retry_after,
                now=asyncio.get_running_loop().time(),
            )
            if self._breaker.is_stopped or not self._retry.again(failure, course.failed, course.refused):
                return course
            if not overload:  # After a refusal the limiter lets the whole endpoint rest.
                await self._breaker.pause(self._retry.pause(course.failed, outcome.retry_after))

    async def _turn(self, tokens: int) -> tuple[Slot, bool]:
        """Leave to make a call, and whether it goes out as a probe; the endpoint may go away while we wait for it."""
        while True:
            probe = await self._breaker.ready()
            try:
                slot = await self._limiter.acquire(tokens)
            except BaseException:
                if probe:
                    self._breaker.gave_up()
                raise
            if probe or not self._breaker.blocks:
                return slot, probe
            self._limiter.give_back(slot)

    async def _attempt(self, request: ChatRequest, tokens: int, course: _Course) -> tuple[Outcome, bool, bool]:
        """One attempt in its turn: what came of it, whether it lowered the limit, and whether it was a probe."""
        slot, probe = await self._turn(tokens)
        outcome: Outcome | None = None
        try:
            outcome = await self._transport.send(request)
        finally:
            if outcome is None:
                self._limiter.give_back(slot)
                if probe:
                    self._breaker.gave_up()
        used = outcome.usage
        course.seconds = asyncio.get_running_loop().time() - slot.started
        course.result = outcome.result
        if used is not None:
            course.usage = used if course.usage is None else _sum(course.usage, used)
        lowered = self._limiter.release(
            slot,
            ok=isinstance(outcome.result, ChatReply),
            refused=isinstance(outcome.result, Failure) and outcome.result.kind in OVERLOADS,
            retry_after=outcome.retry_after,
            headers=outcome.headers,
            tokens=None if used is None else used.input + used.output,
        )
        return outcome, lowered, probe


def _sum(first: Usage, second: Usage) -> Usage:
    return Usage(
        first.input + second.input,
        first.cached + second.cached,
        first.output + second.output,
        first.reasoning + second.reasoning,
        first.image + second.image,
        first.cache_written + second.cache_written,
        first.reported and second.reported,
    )
