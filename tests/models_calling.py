"""A caller over real HTTP, with a journal, that loses no time between attempts."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from models_server import FaultServer
from sightline.calls.caller import Caller
from sightline.calls.circuit_breaker import CircuitBreaker
from sightline.calls.journal import Journal
from sightline.calls.journal_tables import JOURNAL_FILE
from sightline.calls.rate_limit import RateLimits
from sightline.calls.retry import RetryPolicy
from sightline.models.transport_factory import open_transport
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatRequest, Message

T = TypeVar("T")
MODEL = "vllm/m"
QUICK = RetryPolicy(attempts=3, overload_attempts=4, first_seconds=0.01, longest_seconds=0.02)
LIMITS = RateLimits(start=64, most=64, first_rest=0.02)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Nothing here may take long; what hangs fails."""
    return asyncio.run(asyncio.wait_for(main, 60))


@asynccontextmanager
async def calling(
    server: FaultServer, workspace: Path, patience: float = 30.0, **options: Any
) -> AsyncIterator[Caller]:
    settings = WireSettings(quiet_seconds=patience, total_seconds=1.5 * patience, max_reply_bytes=20_000)
    transport = open_transport(MODEL, base_url=server.url, settings=settings)
    breaker = CircuitBreaker(server.url, patience=1.0, first_probe=0.05)
    with Journal(workspace) as journal:
        usual: dict[str, Any] = {"limits": LIMITS, "retry": QUICK, "breaker": breaker}
        caller = Caller(transport, journal, **(usual | options))
        try:
            yield caller
        finally:
            await caller.close()


def ask(prompt: str, **fields: Any) -> ChatRequest:
    return ChatRequest(MODEL, (Message("user", (prompt,)),), **fields)


def rows(workspace: Path, query: str) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(workspace / JOURNAL_FILE)
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()
