"""A stage over many items, here or on a Ray cluster, with nothing else changed.

Docs: docs/engine.md; why it is as it is: docs/design/ray.md.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sized
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from sightline.engine.budget import Budget, Purse
from sightline.engine.journal import CallKeeper, Journal
from sightline.engine.limits import Gate, Limiter, Limits
from sightline.engine.mapping import Bridge, Mapped, Stage
from sightline.engine.mapping import map as map_
from sightline.engine.spread_choice import EngineChoice
from sightline.errors import UserError

Item = TypeVar("Item")
Result = TypeVar("Result")


class Shared(Protocol):
    """What all who work on a stage share, wherever they run; a stage's factory makes its callers with it."""

    @property
    def journal(self) -> CallKeeper: ...

    @property
    def budget(self) -> Purse | None: ...

    def limiter(self, endpoint: str, limits: Limits | None = None) -> Gate:
        """The limits of an endpoint; who names it first sets them for all."""


@dataclass(frozen=True, slots=True)
class StageSpec(Generic[Item, Result]):
    """A stage that can be built anywhere: `factory(shared, **arguments)` returns it.

    The factory is a function of a module that can be imported where the work is done; its arguments can be pickled.
    """

    name: str
    factory: Callable[..., Stage[Item, Result]]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def build(self, shared: Shared) -> Stage[Item, Result]:
        """The stage, with its connections and caches, in this process."""
        stage: object = self.factory(shared, **self.arguments)
        if not isinstance(stage, Stage):
            where = f"{self.factory.__module__}.{self.factory.__qualname__}"
            raise TypeError(f"{where} returned a {type(stage).__name__} and not an engine.Stage")
        return stage


@dataclass(frozen=True, slots=True)
class SharedHere:
    """What is shared by a stage that runs in this process."""

    journal: Journal
    budget: Purse | None
    limiters: dict[str, Limiter] = field(default_factory=dict)

    def limiter(self, endpoint: str, limits: Limits | None = None) -> Limiter:
        """The limits of an endpoint; who names it first sets them for all."""
        return self.limiters.setdefault(endpoint, Limiter(limits))


async def spread(
    items: Iterable[Item],
    spec: StageSpec[Item, Result],
    workspace: Path,
    *,
    engine: str | EngineChoice = "local",
    budget: Purse | None = None,
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
        from sightline.engine.ray_map import map_on_ray

        if budget is not None and not isinstance(budget, Budget):
            raise UserError(
                f"a cluster keeps to an engine.Budget, not to a {type(budget).__name__}.",
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
    return iter(Bridge(lambda: spread(items, spec, workspace, **options)))


async def _map_here(
    items: Iterable[Item],
    spec: StageSpec[Item, Result],
    workspace: Path,
    budget: Purse | None,
    concurrency: int,
    show_progress: bool,
    total: int | None,
) -> AsyncGenerator[Mapped[Item, Result], None]:
    with Journal(workspace) as journal:
        stage = spec.build(SharedHere(journal, budget))
        work = map_(items, stage, concurrency=concurrency, show_progress=show_progress, total=total)
        async with aclosing(work) as results:
            async for pair in results:
                yield pair
