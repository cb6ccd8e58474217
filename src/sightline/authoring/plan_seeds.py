"""Which pictures become queries: covering what there is and unlike each other, evenly spaced, or by chance."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.authoring.plan_table import PictureTable
from sightline.authoring.project_files import SeededQuery

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
