"""The planner `tiers`: positives, neutrals and negatives by facets and similarity, as docs/make.md defines them.

With core facets a tier is a question of which facets match, answered by lists of pictures for each combination of
values; without, similarity alone decides. In both, no candidate of a farther tier is more alike than one of a nearer.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.authoring.plan_table import PictureTable, Rows, Scores
from sightline.authoring.project_files import PlannedQuery, Pooled, SeededQuery
from sightline.config.settings import PlanSettings
from sightline.models.protocols import Vectors
from sightline.types import Tier

ALIKE, USUAL = 0.9, 0.5
"""A picture is alike from where nine of ten pairs drawn by chance are less so; easy where half are not less."""
_SAMPLE = 64
_LEAST_SPREAD = 1e-9
_SHARE = 1 / 3
"""Of the candidates of a tier, at most this share has the same values of the facets that it is spread over."""
_DEPTH = 8
"""So many times the wanted number is looked at first; nearly always that is deep enough to spread over."""
_FIRST_DRAW, _LAST_DRAW = 128, 4096
_Fits: TypeAlias = Callable[[Rows], NDArray[np.bool_]]
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class SeedProfile:
    """What the seeds of a query share: the code that most have of each facet, and the tags that any has."""

    rows: Rows
    facets: Mapping[str, int]
    tags: Rows
    vector: Vectors | None = None

    @classmethod
    def of(cls, table: PictureTable, rows: Rows) -> SeedProfile:
        """Of several seeds the majority counts; a tie goes to "true", else to the first word of the alphabet."""
        facets = {}
        for name, facet in table.facets.items():
            said = Counter(code for code in facet.codes[rows].tolist() if code >= 0)
            if said:
                most = max(said.values())
                tied = sorted(code for code, count in said.items() if count == most)
                facets[name] = tied[-1] if facet.values == ("false", "true") else tied[0]
        vector = None
        if table.vectors is not None:
            mean = table.vectors[rows].mean(axis=0)
            vector = mean / max(float(np.linalg.norm(mean)), _LEAST_SPREAD)
        return cls(rows, facets, table.tags.of(rows), vector)


@dataclass(frozen=True, slots=True)
class _Scale:
    mean: float = 0.0
    spread: float = 1.0


class SeedSimilarity:
    """Similarity to a profile: Jaccard of tags or cosine of vectors; of both, the mean of their standard scores.

    `alike` and `usual` are marks on that scale, read off pairs of pictures that are drawn by chance.
    """

    def __init__(self, table: PictureTable, seed: int = 0, alike: float | None = None) -> None:
        self._table = table
        self._by_tags = len(table.tags) > 0 or table.vectors is None
        self._by_vectors = table.vectors is not None
        self._tag_scale = self._vector_scale = _Scale()
        rng = np.random.default_rng((seed % 2**32, len(table)))
        pairs = self._pairs(rng)
        if self._by_tags and self._by_vectors:
            self._tag_scale = _scale([table.tags.jaccard(profile.tags, rows) for profile, rows in pairs])
            self._vector_scale = _scale([self._cosine(profile, rows) for profile, rows in pairs])
        drawn = np.concatenate([self.of(profile, rows) for profile, rows in pairs])
        # Where all are equally alike, none is less so than usual.
        self.usual = float(min(np.quantile(drawn, USUAL), np.nextafter(drawn.max(), -np.inf)))
        # To share not a single tag is never enough.
        least = -np.inf if self._by_vectors else _LEAST_SPREAD
        self.alike = float(max(np.quantile(drawn, ALIKE), least)) if alike is None else alike

    @property
    def basis(self) -> str:
        """What is compared, in words."""
        parts = [name for name, used in (("tags", self._by_tags), ("vectors", self._by_vectors)) if used]
        return " and ".join(parts)

    def of(self, profile: SeedProfile, rows: Rows | None = None) -> Scores:
        """Similarity of some pictures, or of all."""
        if not self._by_vectors:
            return self._table.tags.jaccard(profile.tags, rows)
        if not self._by_tags:
            return self._cosine(profile, rows)
        tags, vectors = self._tag_scale, self._vector_scale
        by_tags = (self._table.tags.jaccard(profile.tags, rows) - tags.mean) / tags.spread
        by_vectors = (self._cosine(profile, rows) - vectors.mean) / vectors.spread
        return (by_tags + by_vectors) / 2

    def is_perfect(self, profile: SeedProfile, rows: Rows) -> NDArray[np.bool_]:
        """Has the picture all tags of the seeds, and the same value of every facet? Never where they have neither."""
        if not len(profile.tags) and not profile.facets:
            return np.zeros(len(rows), dtype=np.bool_)
        perfect: NDArray[np.bool_] = self._table.tags.overlap(profile.tags, rows) == len(profile.tags)
        few = np.flatnonzero(perfect)
        for name, code in profile.facets.items():
            few = few[self._table.facets[name].codes[rows[few]] == code]
        perfect[:] = False
        perfect[few] = True
        return perfect

    def _pairs(self, rng: np.random.Generator) -> list[tuple[SeedProfile, Rows]]:
        """Pictures by chance, each with some others."""
        count = len(self._table)
        drawn = rng.integers(0, count, _SAMPLE)
        steps = rng.integers(1, max(count, 2), (_SAMPLE, _SAMPLE))
        others = (drawn[:, None] + steps) % count
        return [(SeedProfile.of(self._table, drawn[at : at + 1]), others[at]) for at in range(_SAMPLE)]

    def _cosine(self, profile: SeedProfile, rows: Rows | None) -> Scores:
        vectors = self._table.vectors
        assert vectors is not None
        assert profile.vector is not None
        return ((vectors if rows is None else vectors[rows]) @ profile.vector).astype(np.float64)


def _scale(found: list[Scores]) -> _Scale:
    values = np.concatenate(found)
    return _Scale(float(values.mean()), max(float(values.std()), _LEAST_SPREAD))


def best(scores: Scores, count: int) -> Rows:
    """Places of the highest scores, the highest first; of equal ones the first."""
    if count <= 0 or not len(scores):
        return np.empty(0, dtype=np.intp)
    if count < len(scores):
        edge = np.partition(scores, len(scores) - count)[len(scores) - count]
        above = np.flatnonzero(scores > edge)
        places = np.concatenate([above, np.flatnonzero(scores == edge)[: count - len(above)]])
    else:
        places = np.arange(len(scores))
    return places[np.lexsort((places, -scores[places]))]


def best_spread(scores: Scores, count: int, keys: NDArray[np.int64] | None) -> Rows:
    """The same, with no key more often than a third of the time while others are left; order is by score."""
    if keys is None or count <= 1 or len(scores) <= count:
        return best(scores, count)
    most = math.ceil(count * _SHARE)
    places = best(scores, _DEPTH * count)
    chosen = places[_occurrence(keys[places]) < most][:count]
    if len(chosen) < count and len(places) < len(scores):
        places = best(scores, len(scores))
        chosen = places[_occurrence(keys[places]) < most][:count]
    if len(chosen) < count:  # Spreading is a wish; a full tier is the aim.
        rest = places[~np.isin(places, chosen)]
        chosen = np.concatenate([chosen, rest[: count - len(chosen)]])
    return chosen[np.lexsort((chosen, -scores[chosen]))]


def draws(rng: np.random.Generator, count: int) -> Iterator[Rows]:
    """Rows by chance, in growing draws that may repeat each other; the last one holds every row."""
    size = _FIRST_DRAW
    while size < min(count, _LAST_DRAW):
        yield rng.integers(0, count, size)
        size *= 4
    yield rng.permutation(count)


def by_chance(rng: np.random.Generator, count: int, wanted: int, fits: Callable[[Rows], NDArray[np.bool_]]) -> Rows:
    """So many rows that fit, all different; fewer where there are not as many. Looks at few where many fit."""
    found: dict[int, None] = {}
    for rows in draws(rng, count):
        if len(found) >= wanted:
            break
        found |= dict.fromkeys(rows[fits(rows)].tolist())
    return np.fromiter(list(found)[:wanted], dtype=np.intp)


def _occurrence(keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """How many equal keys come before each."""
    order = np.argsort(keys, kind="stable")
    first = np.r_[True, np.diff(keys[order]) != 0] if len(keys) else np.empty(0, dtype=np.bool_)
    starts = np.flatnonzero(first)
    counts = np.empty(len(keys), dtype=np.intp)
    counts[order] = np.arange(len(keys)) - np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    return counts


class TierPlanner:
    """Plans one query after the other over the same table; each depends on the settings and its own id alone."""

    def __init__(self, table: PictureTable, settings: PlanSettings) -> None:
        self._table, self._settings = table, settings
        self._similarity = SeedSimilarity(table, settings.random_seed, settings.alike)
        self._keys = _spread_keys(table, settings.diversity_facets)
        self._taken = np.zeros(len(table), dtype=np.bool_)

    @property
    def basis(self) -> str:
        """What similarity is made of."""
        return self._similarity.basis

    def plan(self, query: SeededQuery) -> PlannedQuery:
        """The pool of one query; its seeds must be in the table."""
        rows = np.array([self._table.rows[seed] for seed in query.seeds], dtype=np.intp)
        draft = _Draft(query, SeedProfile.of(self._table, rows), self._taken, self._keys)
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
        scores = self._similarity.of(profile, matching)
        draft.take("positive", settings.positives, matching, scores, scores >= self._similarity.alike)
        self._never_negative(draft)
        draft.take("hard", settings.hard, matching, scores, ~self._similarity.is_perfect(profile, matching))
        if settings.neutrals or settings.near:
            off = np.concatenate([np.empty(0, dtype=np.intp), *self._one_off(profile, core)])
            scores = self._similarity.of(profile, off)
            draft.start_anew()
            draft.take("neutral", settings.neutrals, off, scores)
            draft.take("near", settings.near, off, scores)

        def differs(rows: Rows) -> NDArray[np.bool_]:
            # More than half are off in an easy negative, and two where there are two.
            return self._facets_off(profile, core, rows) >= min(len(core), max(2, len(core) // 2 + 1))

        self._far(draft, rng, differs)

    def _one_off(self, profile: SeedProfile, core: list[str]) -> Iterator[Rows]:
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

    def _facets_off(self, profile: SeedProfile, core: list[str], rows: Rows) -> NDArray[np.intp]:
        columns = [(self._table.facets[name].codes[rows], profile.facets[name]) for name in core]
        found: NDArray[np.intp] = np.sum([(codes >= 0) & (codes != code) for codes, code in columns], axis=0)
        return found

    # --- without -------------------------------------------------------------------------------------------

    def _by_similarity(self, draft: _Draft, rng: np.random.Generator) -> None:
        settings, alike = self._settings, self._similarity.alike
        scores = self._similarity.of(draft.profile)
        # What is no more alike than usual can only be easy: most pictures are never looked at again.
        rows = np.flatnonzero(scores > self._similarity.usual)
        scores = scores[rows]
        differs = ~self._similarity.is_perfect(draft.profile, rows)
        draft.take("positive", settings.positives, rows, scores, scores >= alike)
        self._never_negative(draft)
        draft.take("neutral", settings.neutrals, rows, scores)
        draft.take("hard", settings.hard, rows, scores, differs)
        draft.take("near", settings.near, rows, scores, differs & (scores < alike))
        self._far(draft, rng, None)

    # --- in both -------------------------------------------------------------------------------------------

    def _never_negative(self, draft: _Draft) -> None:
        """What looks like a seed is not a negative, whatever was said of it."""
        draft.block(self._table.same_as(draft.profile.rows))

    def _far(self, draft: _Draft, rng: np.random.Generator, differs: _Fits | None) -> None:
        """Easy negatives, and candidates by chance."""
        limit = self._similarity.usual if differs is not None else min(self._similarity.usual, draft.ceiling)

        def easy(rows: Rows) -> NDArray[np.bool_]:
            fits = ~self._taken[rows]
            if differs is not None:
                fits &= differs(rows)
            fits[fits] = self._similarity.of(draft.profile, rows[fits]) <= limit
            return fits

        self._drawn(draft, "easy", self._settings.easy, rng, easy)
        self._drawn(draft, "random", self._settings.random, rng, lambda rows: ~self._taken[rows])

    def _drawn(self, draft: _Draft, tier: Tier, quota: int, rng: np.random.Generator, fits: _Fits) -> None:
        if quota:
            rows = by_chance(rng, len(self._table), quota, fits)
            draft.keep(tier, quota, rows, self._similarity.of(draft.profile, rows))

    def _finished(self, draft: _Draft) -> PlannedQuery:
        ids, rows = self._table.ids, draft.profile.rows
        seeds = zip(rows.tolist(), self._similarity.of(draft.profile, rows).tolist(), strict=True)
        found = [Pooled(ids[row], "seed", round(score, _DIGITS)) for row, score in seeds]
        found += [Pooled(ids[row], tier, round(score, _DIGITS)) for row, tier, score in draft.candidates]
        return PlannedQuery(draft.query.id, draft.query.seeds, tuple(found), draft.short)


class _Draft:
    """A pool as it comes together, tier by tier; `ceiling` is the score that the next tier must not exceed."""

    def __init__(
        self, query: SeededQuery, profile: SeedProfile, taken: NDArray[np.bool_], keys: NDArray[np.int64] | None
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


def _spread_keys(table: PictureTable, facets: tuple[str, ...]) -> NDArray[np.int64] | None:
    """One number for each combination of values of the facets that candidates are spread over."""
    columns = [table.facets[name].codes for name in facets if name in table.facets]
    if not columns:
        return None
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
