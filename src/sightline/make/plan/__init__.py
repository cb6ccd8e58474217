"""Seeds and pools: which pictures become queries, and which others are judged for each."""

from sightline.make.plan.pool import PlannedQuery, Pooled, SeededQuery, pool_problems
from sightline.make.plan.registry import Planner, open_planner
from sightline.make.plan.seeds import choose_seeds
from sightline.make.plan.table import Look, Table

__all__ = [
    "Look",
    "PlannedQuery",
    "Planner",
    "Pooled",
    "SeededQuery",
    "Table",
    "choose_seeds",
    "open_planner",
    "pool_problems",
]
