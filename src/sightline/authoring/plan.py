"""The stage `plan`: annotations → seeds → a pool of candidates for each.

Seeds cover what there is and are unlike each other, or evenly spaced, or drawn by chance.

Planners by name, and the vectors to plan by: from a file that `embed` wrote, or by the configured embedder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline import plugins
from sightline.authoring import project as files
from sightline.authoring.plan_table import PictureFingerprint, PictureTable
from sightline.authoring.project import Project
from sightline.authoring.project_files import (
    AnnotationSet,
    PlannedQuery,
    SeededQuery,
    listed_pictures,
    look_of,
    read_annotations,
    read_seeds,
    write_plan,
    write_seeds,
)
from sightline.authoring.stage import StageResult, free_plan
from sightline.config import Config
from sightline.config.settings import PlanSettings
from sightline.english import counted
from sightline.errors import UserError, did_you_mean
from sightline.models.built_in import PHOTOS, find_built_in
from sightline.types import Annotation, Picture, Tier

_PHOTOS = PHOTOS.embedder
_SHOWN = 3
_MENDS: Mapping[Tier, str] = {
    "positive": "add pictures, set fewer plan.core_facets, or lower plan.positives or plan.alike",
    "hard": "add pictures, set fewer plan.core_facets, or lower plan.hard",
    "neutral": "add pictures, set other plan.off_facets, or lower plan.neutrals",
    "near": "add pictures, set other plan.off_facets, or lower plan.near",
}


class Planner(Protocol):
    """Chooses the pool of a query, whose seeds are all in the table that it was opened with."""

    def plan(self, query: SeededQuery) -> PlannedQuery: ...


OpenPlanner: TypeAlias = Callable[[PictureTable, PlanSettings], Planner]
"""What a plug-in of the group `planners` is."""


def open_planner(table: PictureTable, settings: PlanSettings) -> Planner:
    """The planner that the settings name, over this table."""
    name = settings.strategy
    plugin = plugins.find("planners", name)
    if plugin is None:
        raise plugins.unknown("planners", name, f'unknown planner "{name}" in plan.strategy.')
    open_: OpenPlanner = plugin.load()
    return open_(table, settings)


def read_vectors_of(path: Path, wanted: Collection[str]) -> dict[str, NDArray[np.float32]]:
    """The vectors of annotated pictures in a file; there must be some."""
    from sightline.models.embedders.vector_file import read_vectors

    found = read_vectors(path)
    vectors = {id_: vector for id_, vector in zip(found.ids.tolist(), found.vectors, strict=True) if id_ in wanted}
    if not vectors:
        raise UserError(
            f"{path} has no vector of an annotated picture.", "embed the folder that the annotations are of"
        )
    return vectors


def embedded(
    project: Project, notes: AnnotationSet, pictures: Mapping[str, Picture]
) -> dict[str, NDArray[np.float32]] | None:
    """Vectors by the embedder that planning is to use; None where there is none, or no picture to embed."""
    name = chosen_embedder(project.config, notes)
    here = [picture for id_, picture in pictures.items() if id_ in notes.annotations]
    if name is None:
        return None
    if not here:
        if project.config.plan.embedder is None:
            return None
        raise UserError(
            f"plan.embedder is {name}, but no annotated picture is listed.",
            "list them with sightline make pictures DIR, or give --vectors F.npz",
        )
    from sightline.models.embedders.bulk_embedding import embed_listed
    from sightline.models.embedders.session import EmbedderSession

    session = project.session.with_calls(base_url=None, api=None)  # Those of a chat model are not the embedder's.
    with EmbedderSession(name, session) as embedding:
        embedding.tell_who_sees("the annotated pictures")
        made = embed_listed(here, embedding, project.config)
        if made.stopped is not None:
            raise made.stopped
        ids = list(made.keys)
        return dict(zip(ids, made.vectors(ids, embedding), strict=True)) if ids else None


def chosen_embedder(config: Config, notes: AnnotationSet) -> str | None:
    """As configured; else the one behind `builtin/photos`, which is sure of few tags, where all is said by it."""
    if config.plan.embedder is not None:
        return config.plan.embedder
    return _PHOTOS if own_embedder(notes.annotations.values()) == _PHOTOS else None


def own_embedder(notes: Iterable[Annotation]) -> str | None:
    """The embedder that sees as the built-in model does that all of it was said by."""
    said_by = {note.by for note in notes}
    declared = find_built_in(said_by.pop()) if len(said_by) == 1 else None
    return None if declared is None else declared.embedder


@dataclass(frozen=True, slots=True)
class PlanStage:
    """Chooses seeds, unless they are given, and plans the pool of each; asks nobody, and always plans the same."""

    vectors: Path | None = None
    "What `sightline embed pictures` wrote: similarity is then that of vectors too."
    name: str = "plan"
    writes: tuple[str, ...] = (files.SEEDS, files.PLAN)

    def run(self, project: Project) -> StageResult:
        """Plan every query; one that lacks candidates says so."""
        if project.calls.plan:
            return StageResult(self.name, price=free_plan(self.name, project.config.plan.strategy))
        config = project.config
        notes = read_annotations(project.existing(files.ANNOTATIONS), config)
        table = read_table(project, notes, self.vectors)
        warnings = [*notes.warnings, *check_facets(table, config.plan)]
        wrote = [project.path(files.PLAN)]
        if not project.path(files.SEEDS).is_file():
            wrote.append(project.path(files.SEEDS))
        queries, said = self._queries(project, table)
        warnings += said
        if project.limit is not None:
            queries = queries[: project.limit]
        known, unknown = annotated_seeds(table, queries)
        warnings += unknown
        planner = open_planner(table, config.plan)
        planned = [planner.plan(query) for query in known]
        write_plan(project.prepare(files.PLAN), planned, config)
        warnings += shortages(planned)
        counts = {"pictures": len(table), "queries": len(planned), "short": sum(bool(query.short) for query in planned)}
        tiers = Counter(str(candidate.tier) for query in planned for candidate in query.candidates)
        return StageResult(
            self.name,
            tuple(wrote),
            counts | tiers,
            {"no annotated seed": len(queries) - len(known)} if len(known) < len(queries) else {},
            tuple(warnings),
        )

    def _queries(self, project: Project, table: PictureTable) -> tuple[tuple[SeededQuery, ...], list[str]]:
        """Those of the file of seeds, where there is one; else chosen now, and written there."""
        path, settings = project.path(files.SEEDS), project.config.plan
        if path.is_file():
            queries, said = read_seeds(path, project.config)
            if len(queries) != settings.seeds and path.parent == project.folder:
                said = (
                    *said,
                    f"{path} has {len(queries):,} queries, and is used; delete it to have seeds chosen again",
                )
            return queries, list(said)
        queries = choose_seeds(table, settings.seeds, settings.seeding, settings.random_seed)
        write_seeds(project.prepare(files.SEEDS), queries, project.config)
        return queries, _fewer_seeds(len(queries), settings.seeds, len(table))


def read_table(project: Project, notes: AnnotationSet, vectors: Path | None) -> PictureTable:
    """The annotated pictures as planners ask for them; at least two, or there is nothing to choose from."""
    if len(notes.annotations) < 2:
        count = "no annotated picture" if not notes.annotations else "only one annotated picture"
        raise UserError(
            f"{project.path(files.ANNOTATIONS)} has {count}, and a query needs others to be compared with.",
            "annotate more pictures: sightline make annotate DIR",
        )
    pictures = listed_pictures(project)
    listed = {id_: look_of(picture.extra) for id_, picture in pictures.items()}
    table = PictureTable(
        notes.annotations.values(),
        looks={**listed, **{id_: look for id_, look in notes.looks().items() if look != PictureFingerprint()}},
        vectors=embedded(project, notes, pictures) if vectors is None else read_vectors_of(vectors, notes.annotations),
        same_bits=project.config.duplicates.bits,
    )
    if not table.differ:
        raise UserError(
            f"all {len(table):,} pictures of {project.path(files.ANNOTATIONS)} look the same: "
            "there is nothing that a query could tell apart.",
            "add other pictures, and run `sightline make pictures DIR` again",
        )
    return table


def check_facets(table: PictureTable, settings: PlanSettings) -> list[str]:
    """Refuse facets that no annotation has; say which settings have no effect."""
    for setting in ("core_facets", "off_facets", "diversity_facets"):
        for name in getattr(settings, setting):
            if name not in table.facets:
                hint = did_you_mean(name, table.facets, f"They have: {', '.join(table.facets) or 'none at all'}")
                raise UserError(f'plan.{setting} names "{name}", which no annotation has.', hint)
    found = []
    stray = [name for name in settings.off_facets if name not in settings.core_facets]
    if stray:
        found.append(f"plan.off_facets: {', '.join(stray)} is not a core facet, so it can't be the one that is off")
    check_quotas(settings)
    if not settings.core_facets and not len(table.tags) and table.vectors is None:
        raise UserError(
            "the annotations have no tags, no core facets are set and there are no vectors: nothing can be compared.",
            "set plan.core_facets, or give --vectors F.npz (sightline embed pictures DIR --out F.npz)",
        )
    return found


def check_quotas(settings: PlanSettings) -> None:
    """Refuse quotas that no plan can come of."""
    if not (settings.positives or settings.neutrals or settings.hard or settings.near or settings.easy):
        raise UserError(
            "plan.positives, neutrals, hard, near and easy are all 0: a pool would hold nothing but chance.",
            "set at least one of them in [plan]",
        )


def annotated_seeds(table: PictureTable, queries: Sequence[SeededQuery]) -> tuple[list[SeededQuery], list[str]]:
    """Queries with the seeds that are annotated, those with none left out; and what there is to say about that."""
    known = [SeededQuery(query.id, tuple(seed for seed in query.seeds if seed in table.rows)) for query in queries]
    kept = [query for query in known if query.seeds]
    missing = [seed for query in queries for seed in query.seeds if seed not in table.rows]
    if not queries:
        raise UserError("there is no query in the file of seeds.", 'lines like {"query_id", "seed_image_ids": […]}')
    if not kept:
        raise UserError(
            f'none of the seeds is annotated, for example "{missing[0] if missing else queries[0].id}".',
            "give the annotations of the same pictures, or leave --seeds out to have seeds chosen",
        )
    if not missing and len(kept) == len(queries):
        return kept, []
    lost = len(queries) - len(kept)
    example = f", for example {', '.join(missing[:_SHOWN])}" if missing else ""
    return kept, [
        f"{len(missing):,} seeds are not annotated{example}; {lost:,} queries have no other seed, and are not planned"
    ]


def shortages(planned: Iterable[PlannedQuery]) -> list[str]:
    """One line for each tier that some queries lack candidates of."""
    short: dict[Tier, list[PlannedQuery]] = {}
    for query in planned:
        for tier in query.short:
            short.setdefault(tier, []).append(query)
    return [
        f"{counted(len(queries), 'query is', 'queries are')} short of {tier} candidates, "
        f"{queries[0].id} of {queries[0].short[tier]:,}: "
        f"{_MENDS.get(tier, 'add pictures, or lower the quota in [plan]')}"
        for tier, queries in short.items()
    ]


def _fewer_seeds(found: int, wanted: int, pictures: int) -> list[str]:
    if found >= wanted:
        return []
    why = "all the pictures there are" if found == pictures else "the others look the same as one of them"
    return [f"{counted(found, 'seed')} instead of plan.seeds = {wanted:,}: {why}"]


Seeding: TypeAlias = Literal["diverse", "even", "random"]
_ANY = frozenset({"other", "others"})
"""Values that say only what a picture is not: there is nothing to cover."""
_AGAIN = 0.5
"""What a value or a tag is worth when it is covered once more, against the time before."""


def choose_seeds(table: PictureTable, count: int, how: Seeding = "diverse", seed: int = 0) -> tuple[SeededQuery, ...]:
    """At most so many queries of one seed each; no two seeds look the same, so there may be fewer."""
    rng = np.random.default_rng(seed % 2**32)
    match how:
        case "even":
            chosen = _apart(table, _evenly(len(table), count), count)
        case "random":
            chosen = _apart(table, rng.permutation(len(table)).tolist(), count)
        case _:
            chosen = _diverse(table, count, rng)
    width = max(3, len(str(len(chosen))))
    return tuple(SeededQuery(f"query_{number:0{width}}", (table.ids[row],)) for number, row in enumerate(chosen, 1))


def _evenly(rows: int, count: int) -> list[int]:
    """Every so-many-th row; then the others, for where some of the first look the same."""
    first = [place * rows // count for place in range(min(count, rows))] if count < rows else list(range(rows))
    return list(dict.fromkeys([*first, *range(rows)]))


def _apart(table: PictureTable, rows: list[int], count: int) -> list[int]:
    """The first of these that do not look the same."""
    seen: set[int] = set()
    chosen: list[int] = []
    for row in rows:
        twin = int(table.twins[row])
        if twin < 0 or twin not in seen:
            seen.add(twin)
            chosen.append(row)
        if len(chosen) == count:
            break
    return chosen


def _diverse(table: PictureTable, count: int, rng: np.random.Generator) -> list[int]:
    """Greedy: next comes the picture that adds most, by what its facets' values and tags (or its vector) are worth."""
    if not len(table.tags) and not table.facets and table.vectors is None:
        return _apart(table, _evenly(len(table), count), count)
    value = _Coverage(table, rng) if len(table.tags) or table.facets else _Distance(table)
    chosen: list[int] = []
    free = np.ones(len(table), dtype=np.bool_)
    while len(chosen) < count and free.any():
        row = int(np.argmax(np.where(free, value.gains, -np.inf)))
        chosen.append(row)
        free[row] = False
        free[table.same_as(np.array([row]))] = False
        value.cover(row)
    return chosen


class _Coverage:
    """What each picture would add: the worth of its values and tags, less each time that they are covered.

    A value that only one picture has is worth nothing: no other picture could be found by it. The sum is divided by
    the root of how many there are, so that a picture is not chosen for being tagged at length.
    """

    def __init__(self, table: PictureTable, rng: np.random.Generator) -> None:
        self._lists = [table.tags.pictures(tag) for tag in range(len(table.tags))]
        for facet in table.facets.values():
            told = (code for code, value in enumerate(facet.values) if value not in _ANY)
            self._lists += [np.flatnonzero(facet.codes == code) for code in told]
        self._worth = np.array([float(len(rows) > 1) for rows in self._lists])
        self._of: list[list[int]] = [[] for _ in table.ids]
        for number, rows in enumerate(self._lists):
            for row in rows.tolist():
                self._of[row].append(number)
        self._root = np.sqrt(np.maximum(1, [len(mine) for mine in self._of]))
        self._sums: NDArray[np.float64] = np.array([self._worth[mine].sum() for mine in self._of])
        self._ties = rng.random(len(table)) * 1e-6

    @property
    def gains(self) -> NDArray[np.float64]:
        return self._sums / self._root + self._ties

    def cover(self, row: int) -> None:
        for number in self._of[row]:
            lost = self._worth[number] * (1 - _AGAIN)
            self._worth[number] -= lost
            self._sums[self._lists[number]] -= lost


class _Distance:
    """How far each picture is from the nearest seed; the first seed is the one nearest to the middle of all."""

    def __init__(self, table: PictureTable) -> None:
        assert table.vectors is not None
        self._vectors = table.vectors
        self.gains: NDArray[np.float64] = (self._vectors @ self._vectors.mean(axis=0)).astype(np.float64)
        self._is_first = True

    def cover(self, row: int) -> None:
        away = 1.0 - (self._vectors @ self._vectors[row]).astype(np.float64)
        self.gains = away if self._is_first else np.minimum(self.gains, away)
        self._is_first = False
