"""`[plan] strategy = "random"`: the pool of a query is its seeds and pictures drawn at random."""

from random import Random

from sightline.authoring.plan_table import PictureTable
from sightline.authoring.project_files import PlannedQuery, Pooled, SeededQuery
from sightline.config.settings import PlanSettings


class RandomPlanner:
    def __init__(self, table: PictureTable, settings: PlanSettings) -> None:
        self.ids, self.seed = table.ids, settings.random_seed

    def plan(self, query: SeededQuery) -> PlannedQuery:
        others = [id_ for id_ in self.ids if id_ not in query.seeds]
        drawn = Random(f"{self.seed}/{query.id}").sample(others, min(20, len(others)))
        seeds = (Pooled(id_, "seed", None) for id_ in query.seeds)
        return PlannedQuery(query.id, query.seeds, (*seeds, *(Pooled(id_, "random", None) for id_ in drawn)))
