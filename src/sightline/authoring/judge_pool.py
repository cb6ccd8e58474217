"""Pools for the judges: what was planned, the first results of several retrievers, and a random draw from outside.

And how many relevant pictures the pools still miss: estimated from the draw.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.authoring import project as files
from sightline.authoring.plan import own_embedder
from sightline.authoring.project import Project
from sightline.authoring.project_files import (
    PlannedQuery,
    Pooled,
    QueryWording,
    plan_row,
    read_annotations,
    read_images,
    read_plan,
    read_wordings,
)
from sightline.config import Config
from sightline.config.settings import ColumnSettings, JudgeSettings
from sightline.errors import MissingExtraError, UserError, did_you_mean
from sightline.io.jsonl import write_jsonl
from sightline.metrics.labels.rare_counts import Total, weighted_count
from sightline.metrics.statistics.intervals import effective_count, wilson
from sightline.models.protocols import Embedder
from sightline.retrieval.methods import METHODS
from sightline.types import Annotation, Estimate, Picture, SearchQuery, Tier

CHANCE, NEAR, PLANNED = "chance", "chance near", "plan"
"""Where a candidate came from, beside the ways of searching: drawn from far outside, from near outside, or planned."""
_RING = 4
"""Where pools grow, what the searches find down to so many times `judge.depth` is near outside."""
_FIRST: tuple[Tier, ...] = ("seed", "positive", "hard", "near", "neutral", "pooled", "easy", "random")
"""The tiers from the most telling on."""
_VECTORS = frozenset({"vectors", "hybrid"})
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class QueryPool:
    """A query's candidates, seeds first, each with all that found it; `outside` pictures were left to draw from.

    Of these, `near` are ranked right after what joined the pool.
    """

    query: PlannedQuery
    found_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outside: int = 0
    near: int = 0

    @property
    def drawn(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """Far outside and near outside: how many pictures there were, and which were drawn."""
        return tuple(
            (size, tuple(picture for picture, by in self.found_by.items() if by == (name,)))
            for name, size in ((CHANCE, self.outside - self.near), (NEAR, self.near))
        )

    def only(self, pictures: Collection[str]) -> QueryPool:
        """The pool of those candidates alone."""
        kept = tuple(candidate for candidate in self.query.candidates if candidate.picture in pictures)
        by = {picture: names for picture, names in self.found_by.items() if picture in pictures}
        return replace(self, query=replace(self.query, candidates=kept), found_by=by)

    def row(self, names: ColumnSettings) -> dict[str, Any]:
        """A line of `pool.jsonl`: a plan's, and what found each candidate."""
        row = plan_row(self.query, names)
        for item in row["candidates"]:
            item["found_by"] = list(self.found_by.get(item[names.image_id], ()))
        return row | {"outside": self.outside}


def search_pools(work: JudgeWork, embedder: str | Embedder | None) -> dict[str, dict[str, tuple[str, ...]]]:
    """For each query and each configured way of searching: the pictures that come first."""
    from sightline.retrieval.searcher import Searcher

    project = work.project
    settings = project.config.judge
    methods = check_retrievers(settings)
    if not methods or not settings.depth:
        return {}
    name, methods = _build_index(work, methods, embedder)
    if not methods:
        return {}
    opened = None if isinstance(embedder, str) else embedder
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    with Searcher.open(name=name, embedder=opened, session=project.session) as searcher:
        for planned in work.planned:
            ring = 1 if settings.coverage is None else _RING
            query = SearchQuery(text=work.wordings[planned.id].text, k=settings.depth * ring)
            found[planned.id] = {
                method: tuple(hit.picture.id for hit in searcher.search(query, METHODS[method]).hits)
                for method in methods
            }
    return found


def _build_index(
    work: JudgeWork, methods: tuple[str, ...], embedder: str | Embedder | None
) -> tuple[str, tuple[str, ...]]:
    """An index of the project's pictures, and the ways of searching that it allows; only what changed is embedded."""
    from sightline.retrieval.index.build import Parts, build_index
    from sightline.retrieval.index.content import Content
    from sightline.retrieval.index.manifest import safe_name

    project = work.project
    name = safe_name(f"make-{project.folder.absolute().name}")

    def content() -> Content:
        known = (note for id_, note in work.notes.items() if id_ in work.pictures)
        return Content(work.pictures.values(), annotations=known, source=f"make {project.folder}")

    try:
        build_index(
            project.session,
            name,
            content=content(),
            embedder=embedder,
            parts=Parts(vectors=not _VECTORS.isdisjoint(methods)),
        )
    except MissingExtraError as missing:
        methods = tuple(method for method in methods if method not in _VECTORS)
        work.warnings.append(f"pools are deepened without vectors: {missing.message} {missing.fix}")
        build_index(project.session, name, content=content(), parts=Parts(vectors=False))
    return name, methods


def check_retrievers(settings: JudgeSettings) -> tuple[str, ...]:
    """The configured ways of searching; one that there is not is refused."""
    for name in settings.retrievers:
        if name not in METHODS:
            hint = did_you_mean(name, METHODS, f"There are: {', '.join(METHODS)}")
            raise UserError(f'judge.retrievers names "{name}", which is not a way of searching.', hint)
    return settings.retrievers


def make_pool(
    planned: PlannedQuery,
    found: Mapping[str, Sequence[str]],
    pictures: Mapping[str, Picture],
    config: Config,
    factor: int = 1,
) -> QueryPool:
    """The planned candidates, then what the searches add, then pictures drawn from all others.

    With `judge.coverage` as many are drawn from near outside; `factor` times `judge.outside` of each. A larger factor
    draws those of a smaller one, and more.
    """
    settings = config.judge
    by: dict[str, list[str]] = {candidate.picture: [PLANNED] for candidate in planned.candidates}
    for name, results in found.items():
        for picture in results[: settings.depth]:
            by.setdefault(picture, []).append(name)
    known = {candidate.picture for candidate in planned.candidates}
    added = [Pooled(picture, "pooled", None) for picture in by if picture not in known]
    candidates = _capped((*planned.candidates, *added), settings.max_candidates)
    kept = {candidate.picture for candidate in candidates}
    ring = {picture for results in found.values() for picture in results[settings.depth :]}
    near = sorted((ring & set(pictures)) - kept)
    others = sorted(set(pictures) - kept - ring)
    rng = np.random.default_rng((settings.random_seed % 2**32, zlib.crc32(planned.id.encode())))
    drawn = {
        stratum[at]: (name,)
        for name, stratum in ((CHANCE, others), (NEAR, near))
        for at in rng.permutation(len(stratum))[: factor * settings.outside]
    }
    sources = {picture: tuple(names) for picture, names in by.items() if picture in kept}
    return QueryPool(
        PlannedQuery(
            planned.id,
            planned.seeds,
            (*candidates, *(Pooled(picture, "random", None) for picture in drawn)),
            planned.short,
        ),
        sources | drawn,
        len(others) + len(near),
        len(near),
    )


def _capped(candidates: tuple[Pooled, ...], most: int | None) -> tuple[Pooled, ...]:
    """The most telling tiers first, as many as there may be; seeds always stay."""
    if most is None or len(candidates) <= most:
        return candidates
    by_tier = sorted(range(len(candidates)), key=lambda at: _FIRST.index(candidates[at].tier))
    seeds = sum(candidate.tier == "seed" for candidate in candidates)
    return tuple(candidates[at] for at in sorted(by_tier[: max(most, seeds)]))


@dataclass(slots=True)
class JudgeWork:
    """What is to be judged."""

    project: Project
    pictures: Mapping[str, Picture]
    notes: Mapping[str, Annotation]
    wordings: Mapping[str, QueryWording]
    planned: Sequence[PlannedQuery]
    wordless: Sequence[str]
    warnings: list[str]
    pools: Sequence[QueryPool] = ()
    found: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    "What the searches found for each query."

    @classmethod
    def read(cls, project: Project) -> JudgeWork:
        config = project.config
        pictures, said = read_images(project.existing(files.IMAGES), config)
        wordings = read_wordings(project.existing(files.QUERIES), config)
        planned = list(islice(read_plan(project.existing(files.PLAN), config).values(), project.limit))
        known = [query for query in planned if query.id in wordings]
        if not known:
            raise UserError(
                f"no query of {project.path(files.PLAN)} has words in {project.path(files.QUERIES)}.",
                "write them: sightline make query",
            )
        annotated = project.found(files.ANNOTATIONS)
        notes = {} if annotated is None else read_annotations(annotated, config).annotations
        wordless = [query.id for query in planned if query.id not in wordings]
        return cls(project, pictures, notes, wordings, known, wordless, list(said))

    def deepen(self, embedder: str | Embedder | None = None) -> None:
        """Add to each pool what the searches find, and a draw from outside; the pools are written down."""
        project = self.project
        if embedder is None and project.config.models.embedder is None:
            embedder = own_embedder(self.notes.values())
        self.found = search_pools(self, embedder)
        self.adopt([self.pool(query) for query in self.planned])

    def pool(self, planned: PlannedQuery, factor: int = 1) -> QueryPool:
        """The pool of a query, with so many times the usual draws from outside."""
        return make_pool(planned, self.found.get(planned.id, {}), self.pictures, self.project.config, factor)

    def adopt(self, pools: Sequence[QueryPool]) -> None:
        """Take these pools, and write them down."""
        self.pools = pools
        names = self.project.config.columns
        write_jsonl(self.project.prepare(files.POOL), (pool.row(names) for pool in pools))


@dataclass(frozen=True, slots=True)
class Missed:
    """Relevant pictures that nobody judged, over all queries.

    By draw: `rate` is the share of relevant ones among pictures drawn from outside the pools, `by_draw` that share of
    all pictures outside that were not drawn, `coverage` the share of all relevant ones that was found. None where there
    is nothing to estimate from.
    """

    found: int
    drawn: int = 0
    outside: int = 0
    rate: Estimate | None = None
    by_draw: Total | None = None
    coverage: Total | None = None


def estimate_missed(pools: Sequence[QueryPool], relevant: Mapping[str, Mapping[str, bool]]) -> Missed:
    """From judged pools; `relevant` tells it for each judged picture of each query."""
    found = sum(sum(relevant[pool.query.id].values()) for pool in pools)
    drawn = _draw(found, pools, relevant)
    if (missed := drawn.by_draw) is None:
        return drawn
    most = (missed.value, missed.high, missed.low)
    return replace(drawn, coverage=Total(*(found / (found + more) if found + more else 1.0 for more in most)))


def _draw(found: int, pools: Sequence[QueryPool], relevant: Mapping[str, Mapping[str, bool]]) -> Missed:
    """The share of relevant pictures outside the pools, each query counting as many as are outside its own.

    Draws are independent within each query, and these are all the queries there are: so queries are not resampled. The
    interval is Wilson's, for as many draws as the weights are worth; where near and far outside are drawn apart, what
    is missed is the sum of two weighted counts.
    """
    hits: tuple[list[float], list[float]] = ([], [])
    weights: tuple[list[float], list[float]] = ([], [])
    outside = 0
    for pool in pools:
        labels = relevant[pool.query.id]
        for stratum, (size, pictures) in enumerate(pool.drawn):
            judged = [picture for picture in pictures if picture in labels]
            hits[stratum].extend(float(labels[picture]) for picture in judged)
            weights[stratum].extend(size / len(judged) for _ in judged)
            outside += size - len(judged)
    hit, weight = np.array([*hits[0], *hits[1]]), np.array([*weights[0], *weights[1]])
    if not len(hit):
        return Missed(found, 0, outside)
    mean = float(np.average(hit, weights=weight))
    low, high = wilson(mean, effective_count(weight), _LEVEL)
    rate = Estimate(mean, low, high, len(hit), 0, mean, _LEVEL, "wilson")
    missed = Total(mean * outside, low * outside, high * outside)
    if hits[1]:
        missed = _summed([(np.array(each), np.array(of)) for each, of in zip(hits, weights, strict=True)])
    return Missed(found, len(hit), outside, rate, missed)


def _summed(strata: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> Total:
    """Finds of each stratum, each standing for N / n pictures, of which itself is judged: gamma intervals, added.

    A find in n of N draws stands for w − 1 that are missed, w = N / n; as draws are without replacement, its variance
    is w (w − 1). A stratum that was drawn whole misses nothing.
    """
    value, below, above = 0.0, 0.0, 0.0
    for hits, weights in strata:
        left = weights > 1 + 1e-9
        if left.any():
            w, places = weights[left], np.arange(int(left.sum()))
            count = weighted_count(hits[left], w - 1, places, _LEVEL, w * (w - 1))
            value += count.value
            below, above = below + (count.value - count.low) ** 2, above + (count.high - count.value) ** 2
    return Total(value, max(0.0, value - below**0.5), value + above**0.5)
