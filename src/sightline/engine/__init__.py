"""Many items at once: asyncio map, worker processes, the connection to a Ray cluster, progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.engine.progress import Advance, progress
from sightline.engine.worker_pool import Died, cores, map_in_processes
from sightline.lazy import later

if TYPE_CHECKING:
    from sightline.engine.async_map import Mapped, Stage, map, run_map  # noqa: A004 (used as `engine.map`)
    from sightline.engine.cluster import EngineChoice

__all__ = [
    "Advance",
    "Died",
    "EngineChoice",
    "Mapped",
    "Stage",
    "cores",
    "map",
    "map_in_processes",
    "progress",
    "run_map",
]

# Loaded when first used: whoever only scans a folder needs no event loop.
_LATER = {
    "Budget": "sightline.calls.budget",
    "EngineChoice": "sightline.engine.cluster",
    "Journal": "sightline.calls.journal",
    "RateLimits": "sightline.calls.rate_limit",
    "Mapped": "sightline.engine.async_map",
    "CostPlan": "sightline.calls.plan",
    "Prices": "sightline.calls.prices",
    "SharedServices": "sightline.calls.stages",
    "Stage": "sightline.engine.async_map",
    "StagePlan": "sightline.calls.plan",
    "StageSpec": "sightline.calls.stages",
    "map": "sightline.engine.async_map",
    "plan_stage": "sightline.calls.plan",
    "purpose": "sightline.calls.session",
    "read_ledger": "sightline.calls.ledger",
    "run_map": "sightline.engine.async_map",
    "run_spread": "sightline.calls.stages",
    "spread": "sightline.calls.stages",
}

__getattr__, __dir__ = later(__name__, _LATER)
