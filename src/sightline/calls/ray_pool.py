"""The Ray actors of one run (one coordinator, on the driver's machine, and any number of workers), and their pool.

The actors are thin: what they do is in `coordinator` and `cluster_worker`, which know nothing of Ray. Messages are
pickled here, because Ray's own pickling takes several times as long for many small objects.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import sightline
from sightline.calls.budget import Budget
from sightline.calls.circuit_breaker import RESUME_HINT
from sightline.calls.cluster_worker import ShardRunner
from sightline.calls.coordinator import BudgetSpent, Coordinator, CoordinatorAnswer, ShardDone, Stop, WorkerMessage
from sightline.engine.cluster import first_line
from sightline.engine.progress import Advance
from sightline.errors import SightlineError, StoppedError, UserError

_log = logging.getLogger(__name__)
_MOST_DEATHS = 5
"""A shard that so many workers died of is not tried again; nor is a worker hired after so many that never began."""
_PATIENCE = 30.0
"""Seconds without a worker until that is said."""


class WorkerReady(NamedTuple):
    """A worker that is ready, and where it is."""

    machine: str
    pid: int


class CoordinatorActor:
    """`Coordinator`, with messages as bytes."""

    def __init__(self, workspace: str, cap: float | None, spent: BudgetSpent) -> None:
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

    async def close(self) -> BudgetSpent:
        return await self._opened.close()

    @property
    def _opened(self) -> Coordinator:
        assert self._coordinator is not None
        return self._coordinator


class RayChannel:
    """The coordinator's actor, as one worker reaches it."""

    def __init__(self, coordinator: Any, worker: str) -> None:
        self._coordinator, self._worker = coordinator, worker

    async def tell(self, messages: Sequence[WorkerMessage]) -> Sequence[CoordinatorAnswer]:
        answers: list[CoordinatorAnswer] = pickle.loads(
            await self._coordinator.tell.remote(self._worker, pickle.dumps(messages, -1))
        )
        return answers

    async def hear(self) -> Sequence[CoordinatorAnswer]:
        answers: list[CoordinatorAnswer] = pickle.loads(await self._coordinator.hear.remote(self._worker))
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

    async def start(self) -> WorkerReady | Stop:
        """Build the stage; what the user can mend is returned, a fault of the stage is raised."""
        order = self._order
        try:
            channel = RayChannel(self._coordinator, order.name)
            self._runner = ShardRunner(_unpack(order), channel, has_budget=order.has_budget, at_once=order.at_once)
        except SightlineError as error:
            return Stop.of(error)
        return WorkerReady(platform.node(), os.getpid())

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


@dataclass(frozen=True, slots=True)
class ItemShard:
    """Some items that follow each other; `first` is the number of the first, from 1."""

    first: int
    items: list[Any]

    def __repr__(self) -> str:
        return f"items {self.first:,} to {self.first + len(self.items) - 1:,}"


@dataclass(eq=False, slots=True)
class _Member:
    """A worker that is ready, and how many shards it has."""

    name: str
    actor: Any
    shards: int = 0


class RayPool:
    """Workers on a Ray cluster, and one coordinator whom they all share."""

    def __init__(
        self,
        ray: Any,
        coordinator: Any,
        order: WorkerOrder,
        workers: int,
        shards_each: int,
        advance: Advance,
        *,
        gpu: bool = False,
    ) -> None:
        """With `gpu`, each worker sees one GPU of its machine, which no other has."""
        self._ray, self._coordinator, self._order, self._advance = ray, coordinator, order, advance
        self._workers, self._shards_each = workers, shards_each
        self._kind = ray.remote(WorkerActor).options(
            num_cpus=1,
            num_gpus=int(gpu),
            max_restarts=0,
            max_concurrency=shards_each + 8,
            scheduling_strategy="SPREAD",
        )
        self._names = count(1)
        self._actors: set[Any] = set()
        self._ready: set[_Member] = set()
        self._change = asyncio.Event()
        self._hiring: set[asyncio.Task[None]] = set()
        self._deaths_at_start = 0
        self._fault: BaseException | None = None
        self.stop: Stop | None = None
        "What the work was stopped by, if it was."

    async def open(self) -> None:
        """Send for the workers, and wait for the first; the others begin when they are ready."""
        for _ in range(self._workers):
            self._hire()
        while not self._ready:
            await self._wait()

    async def run(self, shard: ItemShard) -> ShardDone:
        """Have a shard done; when its worker dies, by another one, whom the journal saves what was done."""
        for _ in range(_MOST_DEATHS):
            member = await self._find()
            try:
                done: ShardDone = await member.actor.run.remote(shard.first, shard.items)
            except self._ray.exceptions.RayTaskError as error:
                raise error.as_instanceof_cause() from None
            except self._ray.exceptions.RayError as error:
                await self._replace(member, error)
                continue
            finally:
                member.shards -= 1
                self._change.set()
            self._advance(len(done.results))
            if done.stop is not None:
                self._halt(done.stop)
            return done
        raise StoppedError(
            f"{_MOST_DEATHS} workers died while they worked on {shard!r}, among others.",
            f"look at these; {RESUME_HINT}",
        )

    async def close(self, *, gently: bool) -> None:
        """End all workers; `gently` lets them close their connections first."""
        hiring = tuple(self._hiring)
        for task in hiring:
            task.cancel()
        goodbyes = [asyncio.ensure_future(member.actor.close.remote()) for member in self._ready if gently]
        if goodbyes:
            await asyncio.wait(goodbyes, timeout=5)
        await asyncio.gather(*hiring, *(goodbye for goodbye in goodbyes if goodbye.done()), return_exceptions=True)
        for actor in self._actors:
            self._ray.kill(actor)

    async def _find(self) -> _Member:
        """The worker with the least to do."""
        while True:
            free = [member for member in self._ready if member.shards < self._shards_each]
            if free and self._fault is None:
                member = min(free, key=lambda member: member.shards)
                member.shards += 1
                return member
            await self._wait()

    async def _wait(self) -> None:
        """Until something changes; raises when that is that no worker can begin."""
        if self._fault is not None:
            raise self._fault
        self._change.clear()
        while True:
            try:
                await asyncio.wait_for(self._change.wait(), None if self._ready else _PATIENCE)
                return
            except TimeoutError:
                _log.warning("no worker has begun yet: the cluster may have no free CPU")

    def _halt(self, stop: Stop) -> None:
        """Have nobody begin anything new."""
        if self.stop is None:
            self.stop = stop
            for member in self._ready:
                member.actor.halt.remote(stop)

    # --- hiring ------------------------------------------------------------------------------------------------------

    def _hire(self) -> None:
        task = asyncio.get_running_loop().create_task(self._bring_in(f"worker {next(self._names)}"))
        self._hiring.add(task)
        task.add_done_callback(self._hiring.discard)

    async def _bring_in(self, name: str) -> None:
        try:
            hello, actor = await self._start(name)
        except self._ray.exceptions.RayTaskError as error:
            self._fault = self._fault or error.as_instanceof_cause()
        except self._ray.exceptions.RayError as error:
            self._coordinator.bury.remote(name)
            self._deaths_at_start += 1
            if self._deaths_at_start < _MOST_DEATHS:
                self._hire()
            else:
                self._fault = self._fault or StoppedError(f"no worker can begin: {first_line(error)}", RESUME_HINT)
        except SightlineError as error:
            self._fault = self._fault or error
        else:
            _log.info("%s is ready on %s (process %d)", name, hello.machine, hello.pid)
            self._deaths_at_start = 0
            self._ready.add(_Member(name, actor))
        self._change.set()

    async def _start(self, name: str) -> tuple[WorkerReady, Any]:
        await self._coordinator.admit.remote(name)
        actor = self._kind.remote(replace(self._order, name=name), self._coordinator)
        self._actors.add(actor)
        hello: WorkerReady | Stop = await actor.start.remote()
        if isinstance(hello, Stop):
            raise hello.error()
        if self.stop is not None:
            actor.halt.remote(self.stop)
        return hello, actor

    async def _replace(self, member: _Member, error: Exception) -> None:
        """Another worker in the place of a dead one; nothing to do when this is not the first shard to tell of it."""
        if member not in self._ready:
            return
        self._ready.remove(member)
        _log.warning("%s died, and what it was doing is done by another: %s", member.name, first_line(error))
        self._ray.kill(member.actor)  # One that only can't be reached must not go on spending.
        try:
            await self._coordinator.bury.remote(member.name)
        except self._ray.exceptions.RayError as gone:
            raise StoppedError(f"the coordinator of the workers died: {first_line(gone)}", RESUME_HINT) from gone
        self._hire()
