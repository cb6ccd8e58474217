"""What a cluster costs on one machine: the same calls with `--engine local` and with `--engine ray`.

Run: python benchmarks/ray_calls.py [--calls 20000] [--in-flight 1000] [--latency 0.05] [--workers 2]. Both share the
cores with one local server, so this is the price of Ray, not its gain; start-up is shown apart. Read the ratio.
(Not called ray.py, which would hide the package of that name.)
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from calls import prompt, server
from sightline.calls.caller import Caller
from sightline.calls.journal_tables import JOURNAL_FILE
from sightline.calls.rate_limit import RateLimits
from sightline.calls.stages import SharedServices, StageSpec, spread
from sightline.engine.async_map import Stage
from sightline.models.transport_factory import open_transport
from sightline.types import ChatReply, ChatRequest, Failure, Message

MODEL = "vllm/test-model"


def asking(shared: SharedServices, url: str, in_flight: int) -> Stage[int, ChatReply]:
    """Ask the local server."""
    transport = open_transport(MODEL, base_url=url)
    limiter = shared.limiter(transport.endpoint, RateLimits.at_once(in_flight))
    caller = Caller(transport, shared.journal, limiter, shared.budget, stage="bench")

    async def ask(number: int) -> ChatReply | Failure:
        return await caller.reply(ChatRequest(MODEL, (Message("user", (prompt(number),)),)))

    return Stage("bench", ask, caller.close)


async def measure(where: str, options: argparse.Namespace, url: str) -> tuple[float, float]:
    """Seconds in all, and from the beginning of the first call to the end of the last, by the journal."""
    spec = StageSpec("bench", asking, {"url": url, "in_flight": options.in_flight})
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as workspace:
        work = spread(
            range(options.calls),
            spec,
            Path(workspace),
            engine=where,
            concurrency=options.in_flight * 5 // 4,
            workers=options.workers,
            show_progress=False,
        )
        async for _, reply in work:
            if not isinstance(reply, ChatReply):
                raise SystemExit(f"failed: {reply}")
        in_all = time.perf_counter() - started
        with closing(sqlite3.connect(Path(workspace) / JOURNAL_FILE)) as journal:
            ((calls, seconds),) = journal.execute("SELECT count(*), max(at) - min(at - seconds) FROM calls")
    if calls != options.calls:
        raise SystemExit(f"{calls:,} calls in the journal, and not {options.calls:,}")
    return in_all, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--in-flight", type=int, default=1_000)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2, help="interleaved; the best of each counts")
    options = parser.parse_args()
    best: dict[str, float] = {}
    with server(options.latency) as url:
        for number in range(options.rounds):
            for where in ("local", "ray"):
                in_all, seconds = asyncio.run(measure(where, options, url))
                rate = options.calls / seconds
                best[where] = max(best.get(where, 0.0), rate)
                print(f"  round {number + 1}  {where:6} {rate:7,.0f} calls/s, and {in_all - seconds:.1f} s around them")
    print(f"ray / local: {best['ray'] / best['local']:.2f} of the calls/s")


if __name__ == "__main__":
    main()
