"""The planner `tiers`: positives, neutrals and negatives by facets and similarity, as docs/make.md defines them.

With core facets a tier is a question of which facets match, answered by lists of pictures for each combination of
values; without, similarity alone decides. In both, no candidate of a farther tier is more alike than one of a nearer.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.config.making import PlanSettings
from sightline.make.plan.likeness import Likeness, Profile
from sightline.make.plan.picking import best_spread, by_chance
from sightline.make.plan.pool import PlannedQuery, Pooled, SeededQuery
from sightline.make.plan.table import Table
from sightline.make.plan.tags import Rows, Scores
from sightline.types import Tier

_Fits: TypeAlias = Callable[[Rows], NDArray[np.bool_]]
_DIGITS = 6


class TierPlanner:
    """Plans one query after the other over the same table; each depends on the settings and its own id alone."""

    def __init__(self, table: Table, settings: PlanSettings) -> None:
        self._table, self._settings = table, settings
        self._likeness = Likeness(table, settings.random_seed, settings.alike)
        self._keys = _spread_keys(table, settings.diversity_facets)
        self._taken = np.zeros(len(table), dtype=np.bool_)

    @property
    def basis(self) -> str:
        """What similarity is made of."""
        return self._likeness.basis

    def plan(self, query: SeededQuery) -> PlannedQuery:
        """The pool of one query; its seeds must be in the table."""
        rows = np.array([self._table.rows[seed] for seed in query.seeds], dtype=np.intp)
        draft = _Draft(query, Profile.of(self._table, rows), self._taken, self._keys)
        draft.block(rows)
        rng = np.random.default_rng((self._settings.random_seed % 2**32, zlib.crc32(query.id.encode())))
        core = [name for name in self._settings.core_facets if name in draft.profile.facets]
        try:
            if core:
                self._by_facets(draft, core, rng)
            else:
                self._by_similarity(draft, rng)
            return self._finished(draft)
        finally:
            draft.release()

    # --- with core facets ----------------------------------------------------------------------------------

    def _by_facets(self, draft: _Draft, core: list[str], rng: np.random.Generator) -> None:
        settings, profile = self._settings, draft.profile
        matching = self._table.buckets(core).of([profile.facets[name] for name in core])
        scores = self._likeness.of(profile, matching)
        draft.take("positive", settings.positives, matching, scores, scores >= self._likeness.alike)
        self._never_negative(draft)
        draft.take("hard", settings.hard, matching, scores, ~self._likeness.is_perfect(profile, matching))
        if settings.neutrals or settings.near:
            off = np.concatenate([np.empty(0, dtype=np.intp), *self._one_off(profile, core)])
            scores = self._likeness.of(profile, off)
            draft.start_anew()
            draft.take("neutral", settings.neutrals, off, scores)
            draft.take("near", settings.near, off, scores)

        def differs(rows: Rows) -> NDArray[np.bool_]:
            return self._facets_off(profile, core, rows) >= _most(len(core))

        self._far(draft, rng, differs)

    def _one_off(self, profile: Profile, core: list[str]) -> Iterator[Rows]:
        """For each facet that may be off: the pictures that match in all other core facets, and not in this one."""
        allowed = [name for name in self._settings.off_facets if name in core] or core
        for off in allowed:
            others = [name for name in core if name != off]
            codes = self._table.facets[off].codes
            if others:
                rows = self._table.buckets(others).of([profile.facets[name] for name in others])
            else:
                rows = np.arange(len(self._table))
            yield rows[(codes[rows] >= 0) & (codes[rows] != profile.facets[off])]

    def _facets_off(self, profile: Profile, core: list[str], rows: Rows) -> NDArray[np.intp]:
        columns = [(self._table.facets[name].codes[rows], profile.facets[name]) for name in core]
        found: NDArray[np.intp] = np.sum([(codes >= 0) & (codes != code) for codes, code in columns], axis=0)
        return found

    # --- without -------------------------------------------------------------------------------------------

    def _by_similarity(self, draft: _Draft, rng: np.random.Generator) -> None:
        settings, alike = self._settings, self._likeness.alike
        scores = self._likeness.of(draft.profile)
        # What is no more alike than usual can only be easy: most pictures are never looked at again.
        rows = np.flatnonzero(scores > self._likeness.usual)
        scores = scores[rows]
        differs = ~self._likeness.is_perfect(draft.profile, rows)
        draft.take("positive", settings.positives, rows, scores, scores >= alike)
        self._never_negative(draft)
        draft.take("neutral", settings.neutrals, rows, scores)
        draft.take("hard", settings.hard, rows, scores, differs)
        draft.take("near", settings.near, rows, scores, differs & (scores < alike))
        self._far(draft, rng, None)

    # --- in both -------------------------------------------------------------------------------------------

    def _never_negative(self, draft: _Draft) -> None:
        """What looks like a seed is no negative, whatever was said of it."""
        draft.block(self._table.same_as(draft.profile.rows))

    def _far(self, draft: _Draft, rng: np.random.Generator, differs: _Fits | None) -> None:
        """Easy negatives, and candidates by chance."""
        limit = self._likeness.usual if differs is not None else min(self._likeness.usual, draft.ceiling)

        def easy(rows: Rows) -> NDArray[np.bool_]:
            fits = ~self._taken[rows]
            if differs is not None:
                fits &= differs(rows)
            fits[fits] = self._likeness.of(draft.profile, rows[fits]) <= limit
            return fits

        self._drawn(draft, "easy", self._settings.easy, rng, easy)
        self._drawn(draft, "random", self._settings.random, rng, lambda rows: ~self._taken[rows])

    def _drawn(self, draft: _Draft, tier: Tier, quota: int, rng: np.random.Generator, fits: _Fits) -> None:
        if quota:
            rows = by_chance(rng, len(self._table), quota, fits)
            draft.keep(tier, quota, rows, self._likeness.of(draft.profile, rows))

    def _finished(self, draft: _Draft) -> PlannedQuery:
        ids, rows = self._table.ids, draft.profile.rows
        seeds = zip(rows.tolist(), self._likeness.of(draft.profile, rows).tolist(), strict=True)
        found = [Pooled(ids[row], "seed", round(score, _DIGITS)) for row, score in seeds]
        found += [Pooled(ids[row], tier, round(score, _DIGITS)) for row, tier, score in draft.candidates]
        return PlannedQuery(draft.query.id, draft.query.seeds, tuple(found), draft.short)


class _Draft:
    """A pool as it comes together, tier by tier; `ceiling` is the score that the next tier must not exceed."""

    def __init__(
        self, query: SeededQuery, profile: Profile, taken: NDArray[np.bool_], keys: NDArray[np.int64] | None
    ) -> None:
        self.query, self.profile = query, profile
        self.candidates: list[tuple[int, Tier, float]] = []
        self.short: dict[Tier, int] = {}
        self.ceiling = np.inf
        self._taken, self._keys = taken, keys
        self._blocked: list[Rows] = []

    def block(self, rows: Rows) -> None:
        """These are not taken any more."""
        self._taken[rows] = True
        self._blocked.append(rows)

    def release(self) -> None:
        """Leave the table as it was, for the next query."""
        for rows in self._blocked:
            self._taken[rows] = False

    def start_anew(self) -> None:
        """The next tiers are of other pictures, so that those before say nothing about their similarity."""
        self.ceiling = np.inf

    def take(self, tier: Tier, quota: int, rows: Rows, scores: Scores, fits: NDArray[np.bool_] | None = None) -> None:
        """The best that fit, none of them more alike than what was taken for the tier before."""
        if not quota:
            return
        free = ~self._taken[rows] & (scores <= self.ceiling)
        places = np.flatnonzero(free if fits is None else free & fits)
        keys = None if self._keys is None else self._keys[rows[places]]
        chosen = places[best_spread(scores[places], quota, keys)]
        self.keep(tier, quota, rows[chosen], scores[chosen])
        if len(chosen):
            self.ceiling = float(scores[chosen].min())

    def keep(self, tier: Tier, quota: int, rows: Rows, scores: Scores) -> None:
        """Put these into the pool, and remember what the quota lacks."""
        self.candidates += zip(rows.tolist(), [tier] * len(rows), scores.tolist(), strict=True)
        if len(rows) < quota:
            self.short[tier] = quota - len(rows)
        self.block(rows)


def _most(facets: int) -> int:
    """How many facets are off in an easy negative: more than half, and two where there are two."""
    return min(facets, max(2, facets // 2 + 1))


def _spread_keys(table: Table, facets: tuple[str, ...]) -> NDArray[np.int64] | None:
    """One number for each combination of values of the facets that candidates are spread over."""
    columns = [table.facets[name].codes for name in facets if name in table.facets]
    if not columns:
        return None
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
