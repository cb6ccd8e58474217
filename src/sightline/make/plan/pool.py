"""A planned query: its seeds, and the pool of candidates that is judged for it, each with its tier and score."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sightline.types import Tier


class Pooled(NamedTuple):
    """A candidate: how it came into the pool, and how alike it is to the seeds."""

    picture: str
    tier: Tier
    score: float | None


@dataclass(frozen=True, slots=True)
class SeededQuery:
    """A query before it is planned: an id, and the pictures that stand for what is asked."""

    id: str
    seeds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query with its pool, seeds first; `short` says how many candidates a tier lacks."""

    id: str
    seeds: tuple[str, ...]
    candidates: tuple[Pooled, ...]
    short: Mapping[Tier, int] = field(default_factory=dict)

    @property
    def pictures(self) -> tuple[str, ...]:
        """The pool's pictures, seeds first, as benchmaker lists them."""
        return tuple(candidate.picture for candidate in self.candidates)

    def of_tier(self, tier: Tier) -> tuple[Pooled, ...]:
        """The candidates of one tier, the most alike first."""
        return tuple(candidate for candidate in self.candidates if candidate.tier == tier)


def pool_problems(planned: PlannedQuery, judged: Collection[str], relevant: Collection[str]) -> list[str]:
    """What is wrong with a set of judgments: ids outside the pool, pictures not judged, a seed that is not relevant."""
    pool = dict.fromkeys(planned.pictures)
    found = [f'"{picture}" was judged, but is not in the pool' for picture in judged if picture not in pool]
    found += [f'"{picture}" is in the pool, but was not judged' for picture in pool if picture not in judged]
    return found + seed_problems(planned.seeds, relevant)


def seed_problems(seeds: Collection[str], relevant: Collection[str]) -> list[str]:
    """Seeds that do not fit the query that was made from them."""
    return [f'the seed "{seed}" was not judged relevant' for seed in seeds if seed not in relevant]
