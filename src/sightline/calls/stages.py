"""A stage of calls over many items, on this machine or on a Ray cluster, with nothing else changed.

Docs: docs/engine.md; why it is as it is: docs/design/ray.md. On a cluster `ray_map` cuts the items into shards,
`ray_pool` keeps the workers, `cluster_worker` works on a shard, and `coordinator` holds what all workers share.
"""

from __future__ import annotations

import pickle
import sys
from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sized
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from sightline.calls.budget import Budget, BudgetLike
from sightline.calls.journal import Journal, JournalLike
from sightline.calls.rate_limit import LimiterLike, RateLimiter, RateLimits
from sightline.engine.async_map import Mapped, Stage, SyncBridge, map_async
from sightline.engine.cluster import EngineChoice
from sightline.errors import UserError

Item = TypeVar("Item")
Result = TypeVar("Result")


class SharedServices(Protocol):
    """What all who work on a stage share, wherever they run; a stage's factory makes its callers with it."""

    @property
    def journal(self) -> JournalLike: ...

    @property
    def budget(self) -> BudgetLike | None: ...

    @property
    def loop(self) -> AbstractEventLoop:
        """Where they work."""

    def limiter(self, endpoint: str, limits: RateLimits | None = None) -> LimiterLike:
        """The limits of an endpoint; who names it first sets them for all."""


@dataclass(frozen=True, slots=True)
class StageSpec(Generic[Item, Result]):
    """A stage that can be built anywhere: `factory(shared, **arguments)` returns it.

    The factory is a function of a module that can be imported where the work is done; its arguments can be pickled.
    """

    name: str
    factory: Callable[..., Stage[Item, Result]]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    gpu: bool = False
    "Each worker is to have a GPU of its own, where a cluster has any."

    def build(self, shared: SharedServices) -> Stage[Item, Result]:
        """The stage, with its connections and caches, in this process."""
        stage: object = self.factory(shared, **self.arguments)
        if not isinstance(stage, Stage):
            where = f"{self.factory.__module__}.{self.factory.__qualname__}"
            raise TypeError(f"{where} returned a {type(stage).__name__} and not an engine.Stage")
        return stage


@dataclass(frozen=True, slots=True)
class LocalServices:
    """What is shared by a stage that runs in this process."""

    journal: Journal
    budget: BudgetLike | None
    limiters: dict[str, RateLimiter] = field(default_factory=dict)
    loop: AbstractEventLoop = field(default_factory=get_running_loop)

    def limiter(self, endpoint: str, limits: RateLimits | None = None) -> RateLimiter:
        """The limits of an endpoint; who names it first sets them for all."""
        return self.limiters.setdefault(endpoint, RateLimiter(limits))


async def spread(
    items: Iterable[Item],
    spec: StageSpec[Item, Result],
    workspace: Path,
    *,
    engine: str | EngineChoice = "local",
    budget: BudgetLike | None = None,
    concurrency: int = 640,
    workers: int | None = None,
    show_progress: bool = True,
    total: int | None = None,
) -> AsyncGenerator[Mapped[Item, Result], None]:
    """Yield each item with its result, in the order of `items`, as `map` does; `engine` says where the work is done.

    `concurrency` counts over all workers; their number is that of the cluster's free CPUs unless `workers` says it.
    The journal is that of `workspace`, on this machine. `budget` holds what was spent when this ends.
    """
    choice = EngineChoice.parse(engine) if isinstance(engine, str) else engine
    if total is None and isinstance(items, Sized):
        total = len(items)
    if choice.kind == "ray":
        from sightline.calls.ray_map import map_on_ray

        if budget is not None and not isinstance(budget, Budget):
            raise UserError(
                f"a cluster keeps to a `Budget`, not to a {type(budget).__name__}.",
                "give a Budget, or leave --engine out: on this machine any budget is kept to",
            )
        work = map_on_ray(items, spec, workspace, choice, budget, concurrency, workers, show_progress, total)
    else:
        work = _map_here(items, spec, workspace, budget, concurrency, show_progress, total)
    async with aclosing(work) as results:
        async for pair in results:
            yield pair


def run_spread(
    items: Iterable[Item], spec: StageSpec[Item, Result], workspace: Path, **options: Any
) -> Iterator[Mapped[Item, Result]]:
    """`spread` for code that is not asynchronous: the event loop runs in a thread of its own."""
    return iter(SyncBridge(lambda: spread(items, spec, workspace, **options)))


async def _map_here(
    items: Iterable[Item],
    spec: StageSpec[Item, Result],
    workspace: Path,
    budget: BudgetLike | None,
    concurrency: int,
    show_progress: bool,
    total: int | None,
) -> AsyncGenerator[Mapped[Item, Result], None]:
    with Journal(workspace) as journal:
        stage = spec.build(LocalServices(journal, budget))
        work = map_async(items, stage, concurrency=concurrency, show_progress=show_progress, total=total)
        async with aclosing(work) as results:
            async for pair in results:
                yield pair


def check_portable(spec: StageSpec[Any, Any]) -> None:
    """Raise what stands in the way: a factory that can't be imported, an argument that can't be pickled."""
    factory = spec.factory
    name = getattr(factory, "__qualname__", repr(factory))
    if _imported(getattr(factory, "__module__", None), name) is not factory:
        raise UserError(
            f"the stage {spec.name} can't go to another process: its factory {name} is not a function of a module.",
            "move it to the top level of a module, and give what it needs as arguments",
        )
    for key, value in spec.arguments.items():
        try:
            pickle.dumps(value)
        except Exception as error:  # Whatever an object's own pickling may raise.
            raise UserError(
                f"the stage {spec.name} can't go to another process: its {key} can't be pickled ({error}).",
                "give plain values (names, paths, settings), and open files and connections in the factory",
            ) from error


def _imported(module: str | None, name: str) -> object:
    found: object = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
