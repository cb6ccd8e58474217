"""A process to be killed: runs a system that says aloud which task it begins, and waits for it after so many."""

from __future__ import annotations

import asyncio
import os
import sys

from sightline.runs.runner import run
from sightline.types import Benchmark, Ranking, Task


class Slow:
    name = "slow"
    concurrency = 4

    def __init__(self, quick: int) -> None:
        self._quick = quick

    async def attempt(self, task: Task, bench: Benchmark) -> Ranking:
        os.write(1, f"{task.id}\n".encode())
        self._quick -= 1
        await asyncio.sleep(0.005 * (1 + hash(task.id) % 5) if self._quick >= 0 else 600)
        return Ranking(("ana/red.png",), (1.0,))


if __name__ == "__main__":
    run(sys.argv[1], Slow(int(sys.argv[3])), sys.argv[2])
