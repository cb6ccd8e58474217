"""A map whose shards are worked on by Ray actors; the driver draws items, keeps the order, and hands out results."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sightline.calls.budget import Budget
from sightline.calls.circuit_breaker import RESUME_HINT
from sightline.calls.coordinator import BudgetSpent, ShardDone
from sightline.calls.ray_pool import CoordinatorActor, ItemShard, RayPool, WorkerOrder
from sightline.calls.stages import StageSpec, check_portable
from sightline.engine.async_map import Mapped, Stage, map_async
from sightline.engine.cluster import EngineChoice, connect
from sightline.engine.progress import progress
from sightline.errors import SightlineError, StoppedError

Item = TypeVar("Item")
Result = TypeVar("Result")
_SHARD = 32
"""Items in a shard: enough that handing it out costs nothing to speak of, few enough that a death costs little."""
_SHARDS_OF_EACH = 4
"""A short list is cut so that each worker gets so many shards."""
_MOST_WORKERS = 64


async def map_on_ray(
    items: Iterable[Item],
    spec: StageSpec[Item, Result],
    workspace: Path,
    choice: EngineChoice,
    budget: Budget | None,
    concurrency: int,
    workers: int | None,
    show_progress: bool,
    total: int | None,
) -> AsyncGenerator[Mapped[Item, Result], None]:
    """What `spread` does on Ray."""
    check_portable(spec)
    ray: Any = await connect(choice)
    gpus = int(ray.cluster_resources().get("GPU", 0)) if spec.gpu else 0
    plan = _Plan.of(workers or gpus or await _free_cpus(ray), concurrency, total)
    path = tuple(str(Path(place).absolute()) for place in sys.path)
    order = WorkerOrder("", ray.cloudpickle.dumps(spec), budget is not None, plan.at_once, path)
    with progress(spec.name, total, show=show_progress) as advance:
        async with (
            _coordinator(ray, workspace, budget) as coordinator,
            _pool(RayPool(ray, coordinator, order, plan.workers, plan.shards_each, advance, gpu=gpus > 0)) as pool,
            aclosing(_done_shards(items, spec.name, plan, pool)) as shards,
        ):
            async for shard, done in shards:
                for place, result in done.results:
                    yield Mapped(shard.items[place], result)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the work is cut: workers, items in a shard, items that a worker works on at once, shards that it has."""

    workers: int
    size: int
    at_once: int
    shards_each: int

    @classmethod
    def of(cls, workers: int, concurrency: int, total: int | None) -> _Plan:
        size = _SHARD if total is None else max(1, min(_SHARD, math.ceil(total / (workers * _SHARDS_OF_EACH))))
        at_once = math.ceil(concurrency / workers)
        # Twice as much as is worked on at once: a shard ends with its slowest item.
        return cls(workers, size, at_once, max(2, math.ceil(2 * at_once / size)))


async def _done_shards(
    items: Iterable[Any], name: str, plan: _Plan, pool: RayPool
) -> AsyncGenerator[tuple[ItemShard, ShardDone], None]:
    """Each shard with what came of it, in order; raises at the end what stopped them."""
    at_work = plan.workers * plan.shards_each
    stage: Stage[ItemShard, ShardDone] = Stage(name, pool.run)
    made = map_async(
        _shards(items, plan.size, pool), stage, concurrency=at_work, ahead=2 * at_work, show_progress=False
    )
    async with aclosing(made) as pairs:
        async for shard, done in pairs:
            assert isinstance(done, ShardDone)
            yield shard, done
    if pool.stop is not None:
        raise pool.stop.error()


async def _free_cpus(ray: Any) -> int:
    """The cluster's free CPUs; those that the stage before this one had are free again after a moment."""
    free = 0
    for _ in range(20):
        free = int(ray.available_resources().get("CPU", 0))
        if free >= int(ray.cluster_resources().get("CPU", 0)):
            break
        await asyncio.sleep(0.1)
    return max(1, min(_MOST_WORKERS, free))


def _shards(items: Iterable[Any], size: int, pool: RayPool) -> Iterator[ItemShard]:
    """Cut items into shards; after a stop there are no more. What an unreadable item follows is done before it."""
    rest, first = iter(items), 1
    while pool.stop is None:
        shard: list[Any] = []
        error: SightlineError | None = None
        try:
            shard.extend(islice(rest, size))
        except SightlineError as caught:
            error = caught
        if shard:
            yield ItemShard(first, shard)
            first += len(shard)
        if error is not None:
            raise error
        if len(shard) < size:
            return


@asynccontextmanager
async def _pool(pool: RayPool) -> AsyncIterator[RayPool]:
    gently = False
    try:
        await pool.open()
        yield pool
        gently = True
    finally:
        await pool.close(gently=gently)


@asynccontextmanager
async def _coordinator(ray: Any, workspace: Path, budget: Budget | None) -> AsyncIterator[Any]:
    """The coordinator, on this machine, where the journal is; what was spent is added to the budget at the end."""
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
        ray.get_runtime_context().get_node_id(), soft=False
    )
    kind = ray.remote(CoordinatorActor).options(
        num_cpus=0, max_restarts=0, max_concurrency=10_000, scheduling_strategy=here
    )
    spent = BudgetSpent(0.0, 0) if budget is None else BudgetSpent(budget.spent, budget.calls)
    actor = kind.remote(str(workspace.expanduser().absolute()), None if budget is None else budget.cap, spent)
    try:
        stop = await actor.start.remote()
        if stop is not None:
            raise stop.error()
        try:
            yield actor
        finally:
            spent = await actor.close.remote()
            if budget is not None:
                budget.spent, budget.calls = spent
    except ray.exceptions.RayActorError as error:
        raise StoppedError("the coordinator of the workers died.", RESUME_HINT) from error
    finally:
        ray.kill(actor)
