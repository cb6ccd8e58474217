"""Pools for the judges: what was planned, the first results of several retrievers, and a random draw from outside.

And how many relevant pictures the pools still miss: estimated from the draw, and from what the retrievers share.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

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
from sightline.errors import MissingExtraError, UserError, nearest
from sightline.io.jsonl import write_jsonl
from sightline.metrics.statistics.intervals import wilson
from sightline.models.protocols import Embedder
from sightline.retrieval.methods import METHODS
from sightline.types import Annotation, Estimate, Picture, SearchQuery, Tier

CHANCE, PLANNED = "chance", "plan"
"""Where a candidate came from, beside the ways of searching."""
_FIRST: tuple[Tier, ...] = ("seed", "positive", "hard", "near", "neutral", "pooled", "easy", "random")
"""The tiers from the most telling on."""
_VECTORS = frozenset({"vectors", "hybrid"})
_RESAMPLES = 2000
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class QueryPool:
    """A query's candidates, seeds first, each with all that found it; `outside` pictures were left to draw from."""

    query: PlannedQuery
    found_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outside: int = 0

    @property
    def drawn(self) -> tuple[str, ...]:
        """Pictures that were drawn from outside, which nothing else found."""
        return tuple(picture for picture, by in self.found_by.items() if by == (CHANCE,))

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
            query = SearchQuery(text=work.wordings[planned.id].text, k=settings.depth)
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
            near = nearest(name, METHODS)
            hint = f'did you mean "{near}"? ' if near else ""
            raise UserError(
                f'judge.retrievers names "{name}", which is no way of searching.',
                f"{hint}There are: {', '.join(METHODS)}",
            )
    return settings.retrievers


def make_pool(
    planned: PlannedQuery, found: Mapping[str, Sequence[str]], pictures: Mapping[str, Picture], config: Config
) -> QueryPool:
    """The planned candidates, then what the searches add, then pictures drawn from all others."""
    settings = config.judge
    by: dict[str, list[str]] = {candidate.picture: [PLANNED] for candidate in planned.candidates}
    for name, results in found.items():
        for picture in results:
            by.setdefault(picture, []).append(name)
    known = {candidate.picture for candidate in planned.candidates}
    added = [Pooled(picture, "pooled", None) for picture in by if picture not in known]
    candidates = _capped((*planned.candidates, *added), settings.max_candidates)
    kept = {candidate.picture for candidate in candidates}
    others = sorted(set(pictures) - kept)
    rng = np.random.default_rng((settings.random_seed % 2**32, zlib.crc32(planned.id.encode())))
    drawn = [others[at] for at in rng.permutation(len(others))[: settings.outside]]
    sources = {picture: tuple(names) for picture, names in by.items() if picture in kept}
    return QueryPool(
        PlannedQuery(
            planned.id,
            planned.seeds,
            (*candidates, *(Pooled(picture, "random", None) for picture in drawn)),
            planned.short,
        ),
        sources | dict.fromkeys(drawn, (CHANCE,)),
        len(others),
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
        found = search_pools(self, embedder)
        self.pools = [
            make_pool(query, found.get(query.id, {}), self.pictures, project.config) for query in self.planned
        ]
        names = project.config.columns
        write_jsonl(project.prepare(files.POOL), (pool.row(names) for pool in self.pools))


@dataclass(frozen=True, slots=True)
class Bounded:
    """A number and its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Missed:
    """Relevant pictures that nobody judged, over all queries.

    By draw: `rate` is the share of relevant ones among pictures drawn from outside the pools, `by_draw` that share of
    all pictures outside that were not drawn, `coverage` the share of all relevant ones that was found. By overlap:
    `by_overlap` is Chao's lower bound, from the relevant pictures that one (`once`) or two sources found (`twice`).
    None where there is nothing to estimate from.
    """

    found: int
    drawn: int = 0
    outside: int = 0
    rate: Estimate | None = None
    by_draw: Bounded | None = None
    coverage: Bounded | None = None
    sources: tuple[str, ...] = ()
    once: int = 0
    twice: int = 0
    by_overlap: Bounded | None = None


def estimate_missed(pools: Sequence[QueryPool], relevant: Mapping[str, Mapping[str, bool]], *, seed: int = 0) -> Missed:
    """From judged pools; `relevant` tells it for each judged picture of each query."""
    found = sum(sum(relevant[pool.query.id].values()) for pool in pools)
    sources = _sources(pools)
    captures = [_captures(pool, relevant[pool.query.id], sources) for pool in pools]
    once, twice = (sum(counts[number] for counts in captures) for number in (1, 2))
    drawn = _draw(pools, relevant)
    missed = coverage = None
    if drawn.rate is not None:
        missed = Bounded(*(share * drawn.outside for share in (drawn.rate.mean, drawn.rate.low, drawn.rate.high)))
        most = (missed.value, missed.high, missed.low)
        coverage = Bounded(*(found / (found + more) if found + more else 1.0 for more in most))
    overlap = _chao(captures, len(sources), seed)
    return Missed(found, drawn.pictures, drawn.outside, drawn.rate, missed, coverage, sources, once, twice, overlap)


class _Drawn(NamedTuple):
    pictures: int
    outside: int
    rate: Estimate | None


def _draw(pools: Sequence[QueryPool], relevant: Mapping[str, Mapping[str, bool]]) -> _Drawn:
    """The share of relevant pictures outside the pools, each query counting as many as are outside its own.

    Draws are independent within each query, and these are all the queries there are: so the interval is Wilson's, for
    as many draws as the weights are worth, and queries are not resampled.
    """
    values: list[float] = []
    weights: list[float] = []
    outside = 0
    for pool in pools:
        labels = relevant[pool.query.id]
        judged = [picture for picture in pool.drawn if picture in labels]
        values += [float(labels[picture]) for picture in judged]
        weights += [pool.outside / len(judged) for _ in judged]
        outside += pool.outside - len(judged)
    if not values:
        return _Drawn(0, outside, None)
    weight = np.array(weights)
    mean = float(np.average(values, weights=weight))
    low, high = wilson(mean, float(weight.sum() ** 2 / (weight**2).sum()), _LEVEL)
    return _Drawn(len(values), outside, Estimate(mean, low, high, len(values), 0, mean, _LEVEL, "wilson"))


def _sources(pools: Sequence[QueryPool]) -> tuple[str, ...]:
    """What found pictures by itself; a hybrid finds what its parts find, so it tells nothing of its own beside them."""
    names = dict.fromkeys(name for pool in pools for by in pool.found_by.values() for name in by)
    parts = {"vectors", "words"} <= set(names)
    return tuple(name for name in names if name != CHANCE and not (parts and name == "hybrid"))


def _captures(pool: QueryPool, labels: Mapping[str, bool], sources: Sequence[str]) -> Counter[int]:
    """How many relevant pictures were found by so many sources; seeds, which nobody had to find, do not count."""
    seeds = set(pool.query.seeds)
    return Counter(
        len(set(pool.found_by.get(picture, ())) & set(sources))
        for picture, is_relevant in labels.items()
        if is_relevant and picture not in seeds
    )


def _chao(captures: Sequence[Counter[int]], sources: int, seed: int) -> Bounded | None:
    """Chao2, corrected for bias: (m − 1)/m · f₁(f₁ − 1) / (2(f₂ + 1)) over m sources; intervals resample queries."""
    if sources < 2 or not captures:
        return None
    counts = np.array([[found[1], found[2]] for found in captures], dtype=np.float64)
    share = (sources - 1) / sources

    rng = np.random.default_rng(seed)
    drawn = counts[rng.integers(len(counts), size=(_RESAMPLES, len(counts)))].sum(axis=1)
    once, twice = np.concatenate([counts.sum(axis=0)[None], drawn]).T
    bounds = share * once * np.maximum(once - 1, 0.0) / (2 * (twice + 1))
    low, high = np.quantile(bounds[1:], [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Bounded(float(bounds[0]), float(low), float(high))
