"""Ask chat models about many items: the one way, for every verb that does.

A verb describes its calls as a `CallJob`: what is asked about an item, and what the replies mean. `ask_many` makes the
calls, many at once, on this machine or on a cluster; replies come from the journal where they were paid for before, a
budget is kept to, and a stop leaves what was done. `price_many` says beforehand what they would cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeVar

from sightline.calls.caller import Caller
from sightline.calls.chat import chat_in, open_chat
from sightline.calls.plan import StagePlan
from sightline.calls.session import Session, purpose
from sightline.calls.stages import SharedServices, StageSpec, run_spread
from sightline.engine.async_map import Mapped, Stage
from sightline.engine.event_loop import run_async
from sightline.types import ChatReply, ChatRequest, Failure

Item = TypeVar("Item")
Result = TypeVar("Result")
ItemIn = TypeVar("ItemIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)
_PRICED = 2_000
"""Requests that a price looks at; of more, the first so many stand for the rest."""


class JobChat:
    """The model of a job, and others that it asks; each is opened once, so that limits and breaker are shared."""

    def __init__(self, shared: SharedServices, session: Session, model: str, stage: str) -> None:
        self._shared, self._session = shared, session
        self._callers: dict[tuple[str, str | None, str], Caller] = {}
        self._stage = stage
        self._default = self.of(model)
        self.name = self._default.name

    async def reply(self, request: ChatRequest) -> ChatReply | Failure:
        """What the job's own model says."""
        return await self._default.reply(request)

    def of(self, model: str, *, stage: str | None = None, base_url: str | None = None) -> Caller:
        """Another model, or the same for another stage of the ledger."""
        key = (model, base_url, stage or self._stage)
        if key not in self._callers:
            session = self._session if base_url is None else self._session.with_calls(base_url=base_url)
            self._callers[key] = chat_in(self._shared, model, session, stage=key[2])
        return self._callers[key]

    async def close(self) -> None:
        for caller in self._callers.values():
            await caller.close()


class CallJob(Protocol[ItemIn, ResultOut]):
    """What is asked about an item. A job can be pickled: it is sent to where the calls are made."""

    @property
    def stage(self) -> str:
        """The name in the ledger, and in progress bars."""

    @property
    def model(self) -> str:
        """Who is asked; others through `JobChat.of`."""

    def about(self, item: ItemIn, /) -> str:
        """What the ledger's lines for this item are listed under."""

    async def answer(self, chat: JobChat, item: ItemIn, /) -> ResultOut | Failure:
        """Ask about the item, in one call or several, and read the reply."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One call that is worded already; `about` is what its ledger lines are for."""

    about: str
    request: ChatRequest


@dataclass(frozen=True, slots=True)
class AskJob:
    """The job whose items are calls: the result is the reply."""

    stage: str
    model: str

    def about(self, ask: Ask) -> str:
        return ask.about

    async def answer(self, chat: JobChat, ask: Ask) -> ChatReply | Failure:
        return await chat.reply(ask.request)


def ask_many(
    items: Iterable[Item],
    job: CallJob[Item, Result],
    session: Session,
    *,
    concurrency: int = 640,
    total: int | None = None,
) -> Iterator[Mapped[Item, Result]]:
    """Yield each item with its result or its failure, in the order of `items`.

    Cached replies cost nothing. A used-up budget, or an endpoint that is down, ends it with a `SightlineError` after
    what is under way has been yielded; run it again to go on.
    """
    told = {"job": job, "session": session.with_calls(budget=None)}
    spec: StageSpec[Item, Result] = StageSpec(job.stage, _stage_of, told)
    return run_spread(
        items,
        spec,
        session.workspace,
        engine=session.engine,
        budget=session.calls.budget,
        concurrency=concurrency,
        total=total,
    )


def _stage_of(shared: SharedServices, *, job: CallJob[Any, Any], session: Session) -> Stage[Any, Any]:
    """The job's stage, in the process that works on it."""
    chat = JobChat(shared, session, job.model, job.stage)

    async def one(item: Any) -> Any:
        with purpose(job.about(item)):
            return await job.answer(chat, item)

    return Stage(job.stage, one, chat.close)


def price_many(
    requests: Iterable[ChatRequest | Failure], model: str, stage: str, session: Session, calls: int | None = None
) -> StagePlan:
    """What these requests would cost, asking nobody; with `calls`, they are a sample of so many."""
    sent = (request for request in requests if not isinstance(request, Failure))

    async def planned() -> StagePlan:
        async with open_chat(model, session.with_calls(plan=True), stage=stage) as caller:
            return caller.plan(sent, calls)

    return run_async(planned())


def price_first(
    requests: Iterable[ChatRequest | Failure], model: str, stage: str, session: Session, count: int
) -> StagePlan:
    """The same for `count` requests, of which only the first 2,000 are looked at."""
    sent = (request for request in requests if not isinstance(request, Failure))
    return price_many(islice(sent, _PRICED), model, stage, session, None if count <= _PRICED else count)


def check_model(model: str, session: Session) -> None:
    """Refuse a model that can't be asked before another is paid; asks nobody."""

    async def opened() -> None:
        async with open_chat(model, session):
            pass

    run_async(opened())
