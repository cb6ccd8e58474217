"""A chat model with journal, circuit breaker, budget and rate limits around one transport.

`CallRecord` adds up the attempts of one call, and what they cost.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sightline.calls.budget import BudgetLike
from sightline.calls.circuit_breaker import CircuitBreaker
from sightline.calls.estimate import NO_COST, CallEstimate, CostEstimator
from sightline.calls.in_flight import LostCall
from sightline.calls.journal import EndpointHistory, Journal, JournalLike
from sightline.calls.journal_tables import Call
from sightline.calls.plan import StagePlan, plan_stage
from sightline.calls.prices import Prices, Tariff
from sightline.calls.rate_limit import CallSlot, LimiterLike, RateLimiter, RateLimits
from sightline.calls.request_key import UnreadablePictureError, has_pictures_on_disk, request_key, turn_of
from sightline.calls.retry import OVERLOADS, RetryPolicy
from sightline.calls.session import current_task, is_fresh_wanted, note_reuse
from sightline.errors import SightlineError
from sightline.models.protocols import CallOutcome, Transport, wire_of
from sightline.models.replies import NOT_REPORTED
from sightline.types import ChatReply, ChatRequest, Failure, Partial, Usage

NOT_BILLED = frozenset(
    {
        "rate-limited",
        "overloaded",
        "server-error",
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
"""What a server refuses costs nothing. Any other failure may have been paid for, unless nothing was sent
(`CallOutcome.sent`): its cost is unknown unless the server said it."""
BROKEN_OFF = Failure("cancelled", "interrupted before a reply came", True)


@dataclass(slots=True)
class CallRecord:
    """How one call goes, over all of its attempts: what they cost, and of how many that is not known."""

    estimate: CallEstimate
    result: ChatReply | Failure = BROKEN_OFF
    partial: Partial | None = None
    usage: Usage | None = None
    seconds: float | None = None
    attempts: int = 0
    failed: int = 0
    refused: int = 0
    known_usd: float = 0.0
    unpriced: int = 0

    @property
    def usd(self) -> float | None:
        return None if self.unpriced else self.known_usd

    def take(self, outcome: CallOutcome) -> None:
        """What an attempt brought, also where it failed, and the tokens that it took."""
        result, usage = outcome.result, outcome.usage
        self.result, self.partial = result, outcome.words
        if isinstance(result, Failure):
            overload = result.kind in OVERLOADS
            self.refused += overload
            self.failed += not overload
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage

    def charge(self, usd: float | None) -> None:
        """An attempt is over, which cost so much; None: nobody knows."""
        self.attempts += 1
        if usd is None:
            self.unpriced += 1
        else:
            self.known_usd += usd


def cost_of(outcome: CallOutcome, tariff: Tariff | None) -> float | None:
    """Dollars that an attempt cost; None when it may have been billed and nobody knows how much."""
    usage, result = outcome.usage, outcome.result
    if usage is None and isinstance(result, Failure) and (not outcome.sent or result.kind in NOT_BILLED):
        return 0.0
    if tariff is None:
        return None
    if tariff.is_free:
        return 0.0
    return tariff.cost(usage) if usage is not None and usage.reported else None


def paid_now(result: ChatReply | Failure) -> float | None:
    """Dollars that a call cost now, also one that failed; None: nobody knows. What the journal knew cost nothing."""
    return 0.0 if result.from_journal or result.usage is None else result.usd


class Caller:
    """Asks through a transport; a request that was answered before is answered from the journal, and costs nothing.

    A call that fails comes back as a `Failure`. `StoppedError` and `UserError` are raised only when there is no point
    in asking on: the budget is used up or can't be kept, or the endpoint is down, refuses the key or has no such model.
    """

    def __init__(
        self,
        transport: Transport,
        journal: JournalLike,
        limits: RateLimits | LimiterLike | None = None,
        budget: BudgetLike | None = None,
        prices: Prices | None = None,
        *,
        name: str | None = None,
        stage: str = "chat",
        fresh: bool = False,
        retry: RetryPolicy | None = None,
        breaker: CircuitBreaker | None = None,
        journal_as: str | None = None,
    ) -> None:
        """`journal_as` stands for the endpoint in the journal's keys: for a server whose address changes."""
        self.name = name or transport.endpoint
        self._transport, self._journal, self._budget = transport, journal, budget
        self._limiter = RateLimiter(limits) if limits is None or isinstance(limits, RateLimits) else limits
        self._prices = prices or Prices()
        self._stage, self._fresh = stage, fresh
        self._retry = retry or RetryPolicy()
        self._breaker = breaker or CircuitBreaker(transport.endpoint)
        self._journal_as = transport.endpoint if journal_as is None else journal_as
        self._wire = wire_of(transport)
        self._foresight = CostEstimator()

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
        known = await self._journal.seek(key, fresh=self._fresh or is_fresh_wanted())
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
        record = CallRecord(self._foresee(request))
        try:
            await self._attempts(key, request, record)
        except SightlineError:
            if record.attempts:
                await self._journal.record(self._call(key, request, record))
            raise
        except BaseException:
            if record.attempts:
                self._journal.record_later(self._call(key, request, replace(record, result=BROKEN_OFF)))
            raise
        if isinstance(record.result, ChatReply):
            record.result = replace(record.result, usd=record.usd, seconds=record.seconds, attempts=record.attempts)
        else:
            record.result = replace(
                record.result, usage=record.usage or NOT_REPORTED, usd=record.usd, partial=record.partial
            )
        await self._journal.record(self._call(key, request, record))
        if isinstance(record.result, Failure):
            self._breaker.raise_if_stopped()
        return record.result

    def _call(self, key: bytes, request: ChatRequest, record: CallRecord) -> Call:
        return Call(
            key=key,
            stage=self._stage,
            task=current_task(),
            model=request.model,
            endpoint=self._transport.endpoint,
            sample=request.sample,
            at=time.time(),
            seconds=record.seconds,
            attempts=max(1, record.attempts),
            usage=record.usage or NOT_REPORTED,
            usd=record.usd,
            at_least=0.0 if record.usd is not None else record.known_usd,
            turn=turn_of(request),
            result=record.result,
        )

    def _foresee(self, request: ChatRequest) -> CallEstimate:
        """Tokens and dollars to set aside for an attempt; nothing is counted that nobody limits."""
        if self._budget is None and not self._limiter.counts_tokens:
            return NO_COST
        tariff = None if self._budget is None else self._prices.needed(request.model, self._stage)
        return self._foresight.of(request, tariff)

    async def _attempts(self, key: bytes, request: ChatRequest, record: CallRecord) -> None:
        while True:
            outcome = await self._attempt(key, request, record)
            if isinstance(outcome.result, ChatReply):
                return
            failure = outcome.result
            if self._breaker.is_open and failure.kind == "server-error":
                await self._breaker.look_back(lambda: self._past(request.model))
            if self._breaker.is_stopped or not self._retry.again(failure, record.failed, record.refused):
                return
            if failure.kind not in OVERLOADS:  # After a refusal the limiter lets the whole endpoint rest.
                await self._breaker.pause(self._retry.pause(record.failed, outcome.retry_after))

    async def _past(self, model: str) -> EndpointHistory:
        return await self._journal.past(self._transport.endpoint, model, self._stage, self._retry.attempts)

    async def _turn(self, key: bytes, tokens: int) -> tuple[CallSlot, bool]:
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

    async def _attempt(self, key: bytes, request: ChatRequest, record: CallRecord) -> CallOutcome:
        """One attempt in its turn, with money set aside for it, and settled as soon as it is over."""
        estimate = record.estimate
        about = "" if self._budget is None else f"{self._transport.endpoint} {request.model}"
        if self._budget is not None:
            await self._budget.reserve(estimate.usd, about)
        usd: float | None = 0.0
        try:
            slot, probe = await self._turn(key, estimate.tokens)
            self._noted(key, request, slot, probe)
            usd = None  # From here on it may be billed.
            try:
                outcome = await self._sent(request, slot, probe)
                usd = cost_of(outcome, self._prices.tariff(request.model, self._stage))
            finally:
                record.charge(usd)
                if record.usd == 0.0:
                    self._journal.unpaid(key)
        finally:
            if self._budget is not None:
                self._budget.settle(estimate.usd, usd, about)
        record.seconds = asyncio.get_running_loop().time() - slot.started
        self._note(key, request, record, outcome, slot, probe)
        return outcome

    def _noted(self, key: bytes, request: ChatRequest, slot: CallSlot, probe: bool) -> None:
        """Say in the journal that the call goes out now; where that can't be, it does not."""
        try:
            self._journal.sending(LostCall(key, self._stage, current_task(), request.model, time.time()))
        except BaseException:
            self._not_sent(slot, probe)
            raise

    async def _sent(self, request: ChatRequest, slot: CallSlot, probe: bool) -> CallOutcome:
        try:
            return await self._transport.send(request)
        except BaseException:
            self._not_sent(slot, probe)
            raise

    def _not_sent(self, slot: CallSlot, probe: bool) -> None:
        self._limiter.give_back(slot)
        if probe:
            self._breaker.gave_up()

    def _note(
        self, key: bytes, request: ChatRequest, record: CallRecord, outcome: CallOutcome, slot: CallSlot, probe: bool
    ) -> None:
        """What an attempt says of the call, of the endpoint, and of how much may be asked there."""
        used = outcome.usage
        failure = outcome.result if isinstance(outcome.result, Failure) else None
        record.take(outcome)
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
