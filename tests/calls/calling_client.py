"""A real process that makes many calls through the journal: `URL WORKSPACE COUNT AT_ONCE`.

Writes the number of each call to stdout when its reply has been acknowledged.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from sightline.calls.caller import Caller
from sightline.calls.journal import Journal
from sightline.calls.rate_limit import RateLimits
from sightline.calls.session import purpose
from sightline.engine.async_map import Stage, map_async
from sightline.models.transport_factory import open_transport
from sightline.types import ChatReply, ChatRequest, Failure, Message

MODEL = "vllm/m"


async def main(url: str, workspace: Path, count: int, at_once: int) -> None:
    with Journal(workspace) as journal:
        caller = Caller(open_transport(MODEL, base_url=url), journal, RateLimits.at_once(at_once), stage="test")

        async def ask(number: int) -> ChatReply | Failure:
            with purpose(str(number)):
                reply = await caller.reply(ChatRequest(MODEL, (Message("user", (f"question {number}",)),)))
            assert isinstance(reply, ChatReply) and reply.text == f"answer to question {number}", reply
            os.write(1, f"{number}\n".encode())
            return reply

        done = 0
        async for _ in map_async(range(count), Stage("test", ask, caller.close), concurrency=at_once):
            done += 1
        assert done == count


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
