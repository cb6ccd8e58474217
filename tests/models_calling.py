"""A caller over real HTTP, with a journal, that loses no time between attempts."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from models_server import FaultServer
from sightline.engine import Journal, Limits
from sightline.engine.breaker import Breaker
from sightline.engine.journal import FILE_NAME
from sightline.engine.retry import Retry
from sightline.models.caller import Caller
from sightline.models.opening import open_transport
from sightline.models.settings import WireSettings
from sightline.types import ChatRequest, Message

T = TypeVar("T")
MODEL = "vllm/m"
QUICK = Retry(attempts=3, overload_attempts=4, first_seconds=0.01, longest_seconds=0.02)
LIMITS = Limits(start=64, most=64, first_rest=0.02)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Nothing here may take long; what hangs fails."""
    return asyncio.run(asyncio.wait_for(main, 60))


@asynccontextmanager
async def calling(
    server: FaultServer, workspace: Path, patience: float = 30.0, **options: Any
) -> AsyncIterator[Caller]:
    settings = WireSettings(quiet_seconds=patience, total_seconds=1.5 * patience, max_reply_bytes=20_000)
    transport = open_transport(MODEL, base_url=server.url, settings=settings)
    breaker = Breaker(server.url, patience=1.0, first_probe=0.05)
    with Journal(workspace) as journal:
        caller = Caller(transport, journal, **({"limits": LIMITS, "retry": QUICK, "breaker": breaker} | options))
        try:
            yield caller
        finally:
            await caller.close()


def ask(prompt: str, **fields: Any) -> ChatRequest:
    return ChatRequest(MODEL, (Message("user", (prompt,)),), **fields)


def rows(workspace: Path, query: str) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(workspace / FILE_NAME)
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()
