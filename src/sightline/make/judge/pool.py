"""Pools for the judges: what was planned, the first results of several ways of searching, and a draw from outside."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sightline.config import Config
from sightline.config.making import JudgeSettings
from sightline.config.settings import ColumnSettings
from sightline.errors import MissingExtraError, UserError, nearest
from sightline.make.files import plan_row
from sightline.make.judge.wordings import Wording
from sightline.make.plan.pool import PlannedQuery, Pooled
from sightline.make.project import Project
from sightline.models.asking import Asking
from sightline.models.protocols import Embedder
from sightline.search.methods import METHODS
from sightline.types import Annotation, Picture, SearchQuery, Tier

CHANCE, PLANNED = "chance", "plan"
"""Where a candidate came from, beside the ways of searching."""
_FIRST: tuple[Tier, ...] = ("seed", "positive", "hard", "near", "neutral", "pooled", "easy", "random")
"""The tiers from the most telling on."""
_VECTORS = frozenset({"vectors", "hybrid"})


@dataclass(frozen=True, slots=True)
class Pool:
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


class Retrievers:
    """Ways of searching over the pictures of a project, opened once for all queries."""

    def __init__(
        self,
        project: Project,
        pictures: Mapping[str, Picture],
        notes: Mapping[str, Annotation],
        asking: Asking,
        embedder: str | Embedder | None = None,
    ) -> None:
        self._embedder = embedder
        self.warnings: tuple[str, ...] = ()
        self.names = check_retrievers(project.config.judge)
        self._depth = project.config.judge.depth
        self._project, self._asking = project, asking
        self._pictures, self._notes = pictures, notes

    def search(self, wordings: Iterable[Wording]) -> dict[str, dict[str, tuple[str, ...]]]:
        """For each query and each way of searching: the pictures that come first."""
        from sightline.search import Searcher

        if not self.names or not self._depth:
            return {}
        name = self._build()
        if not self.names:
            return {}
        project = self._project
        embedder = None if isinstance(self._embedder, str) else self._embedder
        with Searcher.open(
            project.workspace, name, embedder=embedder, config=project.config, asking=self._asking
        ) as searcher:
            found: dict[str, dict[str, tuple[str, ...]]] = {}
            for wording in wordings:
                query = SearchQuery(text=wording.text, k=self._depth)
                found[wording.id] = {
                    method: tuple(hit.picture.id for hit in searcher.search(query, METHODS[method]).hits)
                    for method in self.names
                }
        return found

    def _build(self) -> str:
        """An index of the project's pictures; only what changed since the last time is embedded."""
        from sightline.search import Content, Parts, build_index
        from sightline.search.index.manifest import safe_name

        project = self._project
        name = safe_name(f"make-{project.folder.absolute().name}")
        with_vectors = not _VECTORS.isdisjoint(self.names)

        def content() -> Content:
            known = (note for id_, note in self._notes.items() if id_ in self._pictures)
            return Content(self._pictures.values(), annotations=known, source=f"make {project.folder}")

        try:
            build_index(
                project.workspace,
                name,
                content=content(),
                embedder=self._embedder,
                parts=Parts(vectors=with_vectors),
                config=project.config,
                local_only=self._asking.local_only,
                asking=self._asking,
            )
        except MissingExtraError as missing:
            self.names = tuple(method for method in self.names if method not in _VECTORS)
            self.warnings = (f"pools are deepened without vectors: {missing.message} {missing.fix}",)
            build_index(project.workspace, name, content=content(), parts=Parts(vectors=False), config=project.config)
        return name


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
) -> Pool:
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
    return Pool(
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
