"""Planners by name: `tiers`, and those that other packages add."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from sightline import plugins
from sightline.config.making import PlanSettings
from sightline.make.plan.pool import PlannedQuery, SeededQuery
from sightline.make.plan.table import Table


class Planner(Protocol):
    """Chooses the pool of a query, whose seeds are all in the table that it was opened with."""

    def plan(self, query: SeededQuery) -> PlannedQuery: ...


OpenPlanner: TypeAlias = Callable[[Table, PlanSettings], Planner]
"""What a plug-in of the group `planners` is."""


def open_planner(table: Table, settings: PlanSettings) -> Planner:
    """The planner that the settings name, over this table."""
    name = settings.strategy
    plugin = plugins.find("planners", name)
    if plugin is None:
        raise plugins.unknown("planners", name, f'unknown planner "{name}" in plan.strategy.')
    open_: OpenPlanner = plugin.load()
    return open_(table, settings)
