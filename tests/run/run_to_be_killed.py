"""A process to be killed: runs a system that says aloud which task it begins, and takes its time."""

from __future__ import annotations

import asyncio
import os
import sys

from sightline.run.runner import run
from sightline.types import Benchmark, Ranking, Task


class Slow:
    name = "slow"
    concurrency = 4

    async def attempt(self, task: Task, bench: Benchmark) -> Ranking:
        os.write(1, f"{task.id}\n".encode())
        await asyncio.sleep(0.005 * (1 + hash(task.id) % 5))
        return Ranking(("ana/red.png",), (1.0,))


if __name__ == "__main__":
    run(sys.argv[1], Slow(), sys.argv[2])
