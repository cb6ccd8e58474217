"""The two kinds of Ray actors: one coordinator, on the driver's machine, and any number of workers.

Thin: what they do is in `spread_coordinator` and `spread_worker`, which know nothing of Ray. Messages are pickled here,
because Ray's own pickling takes several times as long for many small objects.
"""

from __future__ import annotations

import os
import pickle
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import sightline
from sightline.engine.budget import Budget
from sightline.engine.spread_coordinator import Coordinator, Spent
from sightline.engine.spread_wire import Answer, Message, ShardDone, Stop
from sightline.engine.spread_worker import ShardRunner
from sightline.errors import SightlineError, UserError


class Hello(NamedTuple):
    """A worker that is ready, and where it is."""

    machine: str
    pid: int


class CoordinatorActor:
    """`Coordinator`, with messages as bytes."""

    def __init__(self, workspace: str, cap: float | None, spent: Spent) -> None:
        budget = None
        if cap is not None:
            budget = Budget(cap)
            budget.spent, budget.calls = spent
        self._workspace, self._budget = Path(workspace), budget
        self._coordinator: Coordinator | None = None

    async def start(self) -> Stop | None:
        """Open the journal; what stands in the way of that is returned."""
        try:
            self._coordinator = Coordinator(self._workspace, self._budget)
        except SightlineError as error:
            return Stop.of(error)
        return None

    async def admit(self, worker: str) -> None:
        self._opened.admit(worker)

    async def tell(self, worker: str, messages: bytes) -> bytes:
        return pickle.dumps(await self._opened.tell(worker, pickle.loads(messages)), -1)

    async def hear(self, worker: str) -> bytes:
        return pickle.dumps(await self._opened.hear(worker), -1)

    async def bury(self, worker: str) -> None:
        self._opened.bury(worker)

    async def close(self) -> Spent:
        return await self._opened.close()

    @property
    def _opened(self) -> Coordinator:
        assert self._coordinator is not None
        return self._coordinator


class RayDesk:
    """The coordinator's actor, as one worker reaches it."""

    def __init__(self, coordinator: Any, worker: str) -> None:
        self._coordinator, self._worker = coordinator, worker

    async def tell(self, messages: Sequence[Message]) -> Sequence[Answer]:
        answers: list[Answer] = pickle.loads(
            await self._coordinator.tell.remote(self._worker, pickle.dumps(messages, -1))
        )
        return answers

    async def hear(self) -> Sequence[Answer]:
        answers: list[Answer] = pickle.loads(await self._coordinator.hear.remote(self._worker))
        return answers


@dataclass(frozen=True, slots=True)
class WorkerOrder:
    """What a worker is told when it begins; `spec` is pickled, so that what it lacks can be said clearly."""

    name: str
    spec: bytes
    has_budget: bool
    at_once: int
    path: tuple[str, ...]
    "Where the driver looks for modules: its own may be there on this machine, too."
    version: str = sightline.__version__


class WorkerActor:
    """`ShardRunner`, told by the driver what to do."""

    def __init__(self, order: WorkerOrder, coordinator: Any) -> None:
        self._order, self._coordinator = order, coordinator
        self._runner: ShardRunner | None = None

    async def start(self) -> Hello | Stop:
        """Build the stage; what the user can mend is returned, a fault of the stage is raised."""
        order = self._order
        try:
            desk = RayDesk(self._coordinator, order.name)
            self._runner = ShardRunner(_unpack(order), desk, has_budget=order.has_budget, at_once=order.at_once)
        except SightlineError as error:
            return Stop.of(error)
        return Hello(platform.node(), os.getpid())

    async def run(self, first: int, items: Sequence[Any]) -> ShardDone:
        assert self._runner is not None
        return await self._runner.run(first, items)

    async def halt(self, stop: Stop) -> None:
        if self._runner is not None:
            self._runner.halt(stop)

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.close()


def _unpack(order: WorkerOrder) -> Any:
    if order.version != sightline.__version__:
        raise UserError(
            f"{platform.node()} has Sightline {sightline.__version__}, and this machine {order.version}.",
            "install the same version on every machine of the cluster",
        )
    sys.path.extend(place for place in order.path if place not in sys.path)
    try:
        return pickle.loads(order.spec)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"the stage can't be built on {platform.node()}: {error}.",
            "its factory must be in a module that every machine of the cluster can import: install it there",
        ) from error
