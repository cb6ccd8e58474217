"""How alike a picture and a query's seeds are: by tags, by vectors or by both, against pairs drawn by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.make.plan.table import Table
from sightline.make.plan.tags import Rows, Scores
from sightline.models.protocols import Vectors

ALIKE, USUAL = 0.9, 0.5
"""A picture is alike from where nine of ten pairs drawn by chance are less so; easy where half are no less."""
_SAMPLE = 64
_LEAST_SPREAD = 1e-9


@dataclass(frozen=True, slots=True)
class Profile:
    """What the seeds of a query share: the code that most have of each facet, and the tags that any has."""

    rows: Rows
    facets: Mapping[str, int]
    tags: Rows
    vector: Vectors | None = None

    @classmethod
    def of(cls, table: Table, rows: Rows) -> Profile:
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


class Likeness:
    """Similarity to a profile: Jaccard of tags or cosine of vectors; of both, the mean of their standard scores.

    `alike` and `usual` are marks on that scale, read off pairs of pictures that are drawn by chance.
    """

    def __init__(self, table: Table, seed: int = 0, alike: float | None = None) -> None:
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

    def of(self, profile: Profile, rows: Rows | None = None) -> Scores:
        """Similarity of some pictures, or of all."""
        if not self._by_vectors:
            return self._table.tags.jaccard(profile.tags, rows)
        if not self._by_tags:
            return self._cosine(profile, rows)
        tags, vectors = self._tag_scale, self._vector_scale
        by_tags = (self._table.tags.jaccard(profile.tags, rows) - tags.mean) / tags.spread
        by_vectors = (self._cosine(profile, rows) - vectors.mean) / vectors.spread
        return (by_tags + by_vectors) / 2

    def is_perfect(self, profile: Profile, rows: Rows) -> NDArray[np.bool_]:
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

    def _pairs(self, rng: np.random.Generator) -> list[tuple[Profile, Rows]]:
        """Pictures by chance, each with some others."""
        count = len(self._table)
        drawn = rng.integers(0, count, _SAMPLE)
        steps = rng.integers(1, max(count, 2), (_SAMPLE, _SAMPLE))
        others = (drawn[:, None] + steps) % count
        return [(Profile.of(self._table, drawn[at : at + 1]), others[at]) for at in range(_SAMPLE)]

    def _cosine(self, profile: Profile, rows: Rows | None) -> Scores:
        vectors = self._table.vectors
        assert vectors is not None
        assert profile.vector is not None
        return ((vectors if rows is None else vectors[rows]) @ profile.vector).astype(np.float64)


def _scale(found: list[Scores]) -> _Scale:
    values = np.concatenate(found)
    return _Scale(float(values.mean()), max(float(values.std()), _LEAST_SPREAD))
