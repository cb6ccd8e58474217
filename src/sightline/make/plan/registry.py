"""Planners by name: `tiers`, and those that other packages add."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Protocol, TypeAlias

from sightline.config.making import PlanSettings
from sightline.config.suggest import nearest
from sightline.errors import UserError
from sightline.make.plan.pool import PlannedQuery, SeededQuery
from sightline.make.plan.table import Table
from sightline.make.plan.tiers import TierPlanner

GROUP = "sightline.planners"
"""Entry points of this group are an `OpenPlanner`."""


class Planner(Protocol):
    """Chooses the pool of a query, whose seeds are all in the table that it was opened with."""

    def plan(self, query: SeededQuery) -> PlannedQuery: ...


OpenPlanner: TypeAlias = Callable[[Table, PlanSettings], Planner]
_BUILT_IN: dict[str, OpenPlanner] = {"tiers": TierPlanner}


def planner_names() -> tuple[str, ...]:
    """Every name that `plan.strategy` can have."""
    return (*_BUILT_IN, *(point.name for point in entry_points(group=GROUP)))


def open_planner(table: Table, settings: PlanSettings) -> Planner:
    """The planner that the settings name, over this table."""
    name = settings.strategy
    if name in _BUILT_IN:
        return _BUILT_IN[name](table, settings)
    for point in entry_points(group=GROUP, name=name):
        opened: Planner = point.load()(table, settings)
        return opened
    near = nearest(name.lower(), planner_names())
    hint = f'Did you mean "{near}"? ' if near else ""
    raise UserError(f'unknown planner "{name}" in plan.strategy.', f"{hint}Known: {', '.join(planner_names())}")
