"""How much work gets done: worker processes, maps over many calls, the journal, limits, budgets and progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.engine.processes import Died, cores, map_in_processes
from sightline.engine.progress import Advance, progress
from sightline.lazy import later

if TYPE_CHECKING:
    from sightline.engine.budget import Budget
    from sightline.engine.journal import Journal
    from sightline.engine.ledger import read_ledger
    from sightline.engine.limits import Limits
    from sightline.engine.mapping import Mapped, Stage, map, run_map  # noqa: A004 (used as `engine.map`)
    from sightline.engine.plan import Plan, StagePlan, plan_stage
    from sightline.engine.prices import Prices
    from sightline.engine.purposes import purpose
    from sightline.engine.spread_choice import EngineChoice
    from sightline.engine.spreading import Shared, StageSpec, run_spread, spread

__all__ = [
    "Advance",
    "Budget",
    "Died",
    "EngineChoice",
    "Journal",
    "Limits",
    "Mapped",
    "Plan",
    "Prices",
    "Shared",
    "Stage",
    "StagePlan",
    "StageSpec",
    "cores",
    "map",
    "map_in_processes",
    "plan_stage",
    "progress",
    "purpose",
    "read_ledger",
    "run_map",
    "run_spread",
    "spread",
]

# Loaded when first used: whoever only scans a folder needs no event loop.
_LATER = {
    "Budget": ".budget",
    "EngineChoice": ".spread_choice",
    "Journal": ".journal",
    "Limits": ".limits",
    "Mapped": ".mapping",
    "Plan": ".plan",
    "Prices": ".prices",
    "Shared": ".spreading",
    "Stage": ".mapping",
    "StagePlan": ".plan",
    "StageSpec": ".spreading",
    "map": ".mapping",
    "plan_stage": ".plan",
    "purpose": ".purposes",
    "read_ledger": ".ledger",
    "run_map": ".mapping",
    "run_spread": ".spreading",
    "spread": ".spreading",
}

__getattr__, __dir__ = later(__name__, _LATER)
