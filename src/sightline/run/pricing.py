"""What a run would take of chat models, before it is begun."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sightline.config import Config
from sightline.engine.plan import Plan
from sightline.io import PathLike
from sightline.models.asking import Asking
from sightline.run.folder import HEADER, key_of, read_run
from sightline.run.opening import check_numbers, open_system
from sightline.run.spec import Spec
from sightline.run.systems.base import Closing, Preparing, Pricing, System
from sightline.types import Benchmark, Task


def price_run(
    benchmark: PathLike | Benchmark,
    system: PathLike | Spec | System,
    out: PathLike | None = None,
    *,
    repeat: int = 1,
    seed: int = 0,
    limit: int | None = None,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
    asking: Asking | None = None,
) -> Plan:
    """What `run` would take, asking nobody; what the folder `out` has already costs nothing.

    A system that asks no chat model gives a plan without stages. An agent's index is built as for the run itself.
    """
    check_numbers(repeat=repeat, limit=limit)
    folder = None if out is None else Path(out).expanduser()
    opened = open_system(
        benchmark,
        system,
        None,
        repeat=repeat,
        limit=limit,
        seed=seed,
        workspace=workspace,
        config=config,
        asking=replace(asking or Asking(), plan=True),
    )
    begun = folder is not None and (folder / HEADER).is_file()
    done = set(map(key_of, read_run(folder).attempts)) if folder is not None and begun else set()
    return asyncio.run(_priced(opened.system, opened.attempts(done)))


async def _priced(system: System, attempts: Sequence[tuple[Task, int]]) -> Plan:
    try:
        if not isinstance(system, Pricing):
            return Plan(())
        if isinstance(system, Preparing):
            await asyncio.to_thread(lambda: tuple(system.prepare()))
        return await system.price(attempts)
    finally:
        if isinstance(system, Closing):
            await system.close()
