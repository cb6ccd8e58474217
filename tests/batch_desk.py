"""A batch job with all that its steps need: a server, a store, a journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import orjson

from batch_server import BatchWorld, Row
from sightline.calls.batches.client import BatchClient
from sightline.calls.batches.completion import write_results
from sightline.calls.batches.job import BatchJob, open_http
from sightline.calls.batches.job_files import make_job
from sightline.calls.batches.results import parse
from sightline.calls.batches.store import BatchStore
from sightline.calls.batches.submission import download, submit, wait
from sightline.calls.journal import Journal
from sightline.calls.prices import Prices
from sightline.calls.retry import RetryPolicy
from sightline.config.settings import Price, PriceSettings
from sightline.models.http import HttpTransport
from sightline.types import ChatRequest, Message

T = TypeVar("T")
MODEL = "vllm/m"
QUICK = RetryPolicy(attempts=3, overload_attempts=3, first_seconds=0.01, longest_seconds=0.02)
PRICES = Prices(PriceSettings(models={MODEL: Price(input=10.0, output=100.0)}))
FULL_PRICE = (100 * 10.0 + 10 * 100.0) / 1e6


def run(main: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(main, 60))


def ask(prompt: str, **fields: Any) -> ChatRequest:
    return ChatRequest(MODEL, (Message("user", (prompt,)),), **fields)


def stage(count: int) -> list[tuple[str, ChatRequest]]:
    return [(f"q{number}", ask(f"question {number}", max_tokens=20)) for number in range(count)]


@dataclass
class Desk:
    """Everything that the steps of a job need."""

    world: BatchWorld
    folder: Path
    store: BatchStore
    journal: Journal
    transport: HttpTransport
    server: BatchClient

    async def make(self, items: Iterable[tuple[str, ChatRequest]], **options: Any) -> BatchJob:
        return await make_job(items, self.transport, self.folder, journal=self.journal, stage="probe", **options)

    async def run(self, job: BatchJob) -> dict[str, Row]:
        """Submit, wait, download and parse; the results by id."""
        await submit(job, self.store, self.server)
        await wait(job, self.store, self.server, every=0.01)
        await download(job, self.store, self.server)
        self.parse(job)
        return self.results(job)

    def parse(self, job: BatchJob, **options: Any) -> Any:
        return parse(job, self.store, self.journal, self.transport, PRICES, **options)

    def results(self, job: BatchJob) -> dict[str, Row]:
        write_results(job, self.store, self.journal)
        lines = (job.folder / "results.jsonl").read_bytes().splitlines()
        return {row["id"]: row for row in map(orjson.loads, lines)}


@asynccontextmanager
async def desk(world: BatchWorld, tmp_path: Path, name: str = "ws") -> AsyncIterator[Desk]:
    transport = open_http(MODEL, base_url=world.base_url)
    workspace = tmp_path / name
    try:
        with BatchStore(workspace) as store, Journal(workspace) as journal:
            async with BatchClient.open(MODEL, world.base_url, retry=QUICK) as server:
                yield Desk(world, tmp_path / "job", store, journal, transport, server)
    finally:
        await transport.close()
