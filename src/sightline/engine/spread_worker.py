"""What a worker does with a shard: the same map as on one machine, with what all workers share behind it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from itertools import count
from typing import Any

from sightline.engine.mapping import Stage
from sightline.engine.mapping import map as map_
from sightline.engine.spread_link import Link, SharedThere
from sightline.engine.spread_wire import Desk, ShardDone, Stop
from sightline.engine.spreading import StageSpec
from sightline.errors import SightlineError
from sightline.types import Failure


class _Room:
    """Room for so many items at once; the earliest item goes first, so that shards end one after the other.

    Otherwise all shards of a worker would end at the same time, and whoever reads in order would wait for all of them.
    """

    def __init__(self, size: int) -> None:
        self._free = size
        self._tickets = count()  # Futures can't be compared.
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def place(self, number: int) -> AsyncIterator[None]:
        """Wait for a place, and give it back at the end of the block."""
        if self._free:
            self._free -= 1
        else:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heappush(self._waiting, (number, next(self._tickets), turn))
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():  # Given in the same moment.
                    self._give_back()
                raise
        try:
            yield
        finally:
            self._give_back()

    def _give_back(self) -> None:
        while self._waiting:
            *_, turn = heappop(self._waiting)
            if not turn.done():  # Else it was cancelled while it waited.
                turn.set_result(None)
                return
        self._free += 1


class ShardRunner:
    """One stage in one process, for any number of shards at once; made on the event loop that it works on."""

    def __init__(self, spec: StageSpec[Any, Any], desk: Desk, *, has_budget: bool, at_once: int) -> None:
        gc.set_threshold(10_000, 20, 50)  # What a map does while it runs; here some map always does.
        self._link = Link(desk)
        self._stage = spec.build(SharedThere(self._link, has_budget=has_budget))
        self._room = _Room(at_once)
        self._stop: Stop | None = None

    async def run(self, first: int, items: Sequence[Any]) -> ShardDone:
        """Work on a shard, whose first item has that number; what stops it is told together with what was done."""
        numbered = list(enumerate(items, first))
        results: list[tuple[int, Any]] = []
        stage = Stage(self._stage.name, self._work)
        try:
            async for (number, _), result in map_(numbered, stage, concurrency=len(items), show_progress=False):
                results.append((number - first, result))
        except SightlineError as stopped:
            return ShardDone(results, Stop.of(stopped))
        return ShardDone(results)

    def halt(self, stop: Stop) -> None:
        """Begin nothing new: another worker was stopped."""
        self._stop = self._stop or stop

    async def close(self) -> None:
        """Close the stage, and hang up."""
        if self._stage.close is not None:
            await self._stage.close()
        await self._link.close()

    async def _work(self, numbered: tuple[int, Any]) -> Any | Failure:
        number, item = numbered
        async with self._room.place(number):
            if self._stop is not None:
                raise self._stop.error()
            try:
                return await self._stage.function(item)
            except SightlineError as stopped:
                self.halt(Stop.of(stopped))
                raise
