"""Stages that the tests have worked on elsewhere; in a module of their own, so that a worker can import them."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import NamedTuple

from sightline.calls.caller import Caller
from sightline.calls.prices import Prices
from sightline.calls.rate_limit import RateLimits
from sightline.calls.session import purpose
from sightline.calls.stages import SharedServices
from sightline.config.settings import Price, PriceSettings
from sightline.engine.async_map import Stage
from sightline.errors import UserError
from sightline.models.transport_factory import open_transport
from sightline.types import ChatReply, ChatRequest, Failure, Message

MODEL = "vllm/m"
PRICES = Prices(PriceSettings(models={MODEL: Price(input=0.0, output=1000.0)}))
"""A reply of the counting server (5 tokens) costs half a cent."""


def asking(
    shared: SharedServices, url: str, limits: RateLimits, pids: Path | None = None, max_tokens: int = 5
) -> Stage[int, str]:
    """Ask the counting server; an answer is the reply's text. `pids`: where each worker notes its process."""
    if pids is not None:
        (pids / str(os.getpid())).touch()
    transport = open_transport(MODEL, base_url=f"{url}/v1")
    gate = shared.limiter(transport.endpoint, limits)
    caller = Caller(transport, shared.journal, gate, shared.budget, PRICES, stage="test")

    async def ask(number: int) -> str | Failure:
        with purpose(str(number)):
            question = Message("user", (f"question {number}",))
            reply = await caller.reply(ChatRequest(MODEL, (question,), max_tokens=max_tokens))
        return reply.text if isinstance(reply, ChatReply) else reply

    return Stage("test", ask, caller.close)


def failing(shared: SharedServices) -> Stage[int, int]:
    """Fails on every third item, in a way that has a name."""

    async def work(number: int) -> int | Failure:
        return Failure("content-filter", f"no {number}", True) if number % 3 == 0 else number

    return Stage("failing", work)


def breaking(shared: SharedServices, at: int) -> Stage[int, int]:
    """Has a fault that one item shows."""

    async def work(number: int) -> int:
        return 1 // (number - at)

    return Stage("breaking", work)


def not_a_stage(shared: SharedServices) -> str:
    """Not what a factory should return."""
    return "stage"


def in_need(shared: SharedServices) -> Stage[int, int]:
    """Can't be built before the user has done something."""
    raise UserError("there are no weights here.", "put them there")


def deadly(shared: SharedServices, at: int) -> Stage[int, int]:
    """Kills whoever works on one item."""

    async def work(number: int) -> int:
        if number == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    return Stage("deadly", work)


class FileJob(NamedTuple):
    """A file to read."""

    path: bytes


def read_deadly(job: FileJob) -> bytes:
    """Dies of the seventh file."""
    if job.path.endswith(b"/7"):
        os.kill(os.getpid(), signal.SIGKILL)
    return job.path


def gpu_of_worker(shared: SharedServices) -> Stage[int, str]:
    """Which GPUs the worker sees."""

    async def work(number: int) -> str:
        await asyncio.sleep(0.2)
        return os.environ.get("CUDA_VISIBLE_DEVICES", "")

    return Stage("gpu", work)
