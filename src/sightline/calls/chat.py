"""Open chat models for work: journal, rate limits, budget, privacy notice and plan come with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sightline.calls.caller import Caller
from sightline.calls.journal import Journal
from sightline.calls.prices import Prices
from sightline.calls.privacy_notice import NoticeTransport
from sightline.calls.session import Session
from sightline.calls.stages import LocalServices, SharedServices
from sightline.errors import SightlineError
from sightline.models.protocols import CallOutcome, Transport
from sightline.models.providers import leaves_machine, refuse_remote
from sightline.models.transport_factory import find_endpoint, find_wire, open_transport
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatRequest


@asynccontextmanager
async def open_chat(
    name: str, session: Session | None = None, *, stage: str = "chat", wire: WireSettings | None = None
) -> AsyncIterator[Caller]:
    """A model by its name, closed at the end of the block; `for_stage` gives it to other stages of the same work.

    The first time that private pictures go to a server elsewhere, a notice says so.
    """
    session = Session.of(session)
    calls = session.calls
    if calls.shared is not None:
        caller = chat_in(calls.shared, name, session, stage=stage, wire=wire)
        try:
            yield caller
        finally:
            await caller.close()
        return
    transport = _transport(name, session, session.workspace, wire)
    try:
        with Journal(session.workspace) as journal:
            yield _caller(transport, LocalServices(journal, session.calls.budget), name, session, stage)
    finally:
        await transport.close()


def chat_in(
    shared: SharedServices, name: str, session: Session, *, stage: str = "chat", wire: WireSettings | None = None
) -> Caller:
    """The same for a stage's factory (`stages.spread`), which may run on another machine; closed by the stage.

    Journal and budget are those that all who work on the stage share, and so are the limits of the endpoint.
    """
    workspace = shared.journal.path.parent if isinstance(shared.journal, Journal) else None
    return _caller(_transport(name, session, workspace, wire), shared, name, session, stage)


def _caller(transport: Transport, shared: SharedServices, name: str, session: Session, stage: str) -> Caller:
    limiter, prices = shared.limiter(transport.endpoint, session.calls.limits), Prices(session.config.prices)
    fresh = session.calls.fresh
    return Caller(transport, shared.journal, limiter, shared.budget, prices, name=name, stage=stage, fresh=fresh)


def _transport(name: str, session: Session, workspace: Path | None, wire: WireSettings | None) -> Transport:
    calls, models = session.calls, session.config.models
    if calls.plan:
        endpoint = find_endpoint(name, base_url=calls.base_url, models=models)
        if calls.local_only:
            refuse_remote(name, endpoint)
        return _Unasked(endpoint, find_wire(name, api=calls.api, settings=wire, models=models))
    opened = open_transport(
        name,
        base_url=calls.base_url,
        api=calls.api,
        settings=wire,
        models=models,
        local_only=calls.local_only,
        vouched=calls.vouched,
        instead=calls.instead,
    )
    return NoticeTransport(opened, workspace) if leaves_machine(opened.endpoint) else opened


class _Unasked:
    """Stands for a model while a plan is made: whoever asks it has made a mistake, and spends nothing."""

    def __init__(self, endpoint: str, wire: str) -> None:
        self.endpoint, self.wire = endpoint, wire

    async def send(self, request: ChatRequest) -> CallOutcome:
        raise SightlineError(f"{request.model} was to be asked while a plan was made; nothing was sent.")

    async def close(self) -> None:
        """Nothing is open."""
