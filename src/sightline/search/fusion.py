"""Several ranked lists into one: by weighted, normalised scores, or by reciprocal ranks.

Lists are fused block by block (`in_blocks`), so that how far they are followed does not change what comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.search.backends import Rows


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Rows, best first, with scores; `parts` are the scores by which each part of a search found them."""

    rows: Rows
    scores: NDArray[np.float64]
    parts: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def taking(self, places: Sequence[int] | NDArray[np.intp]) -> Ranked:
        """The rows at these places, in that order."""
        at = np.asarray(places, np.intp)
        return Ranked(self.rows[at], self.scores[at], self.parts)

    def followed_by(self, rest: Ranked) -> Ranked:
        """These, then those of another part of the same list."""
        return Ranked(np.concatenate([self.rows, rest.rows]), np.concatenate([self.scores, rest.scores]), self.parts)

    def adding(self, part: str, scores: Mapping[int, float]) -> Ranked:
        """The same with the scores of another part."""
        return Ranked(self.rows, self.scores, {**self.parts, part: scores})


def ranked(part: str, rows: Rows, scores: NDArray[np.floating]) -> Ranked:
    """The list of one part."""
    wide = np.asarray(scores, np.float64)
    return Ranked(rows, wide, {part: dict(zip(rows.tolist(), wide.tolist(), strict=True))})


def normalise(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(s − min) / (max − min); 1 for all where they are equal."""
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    return np.ones_like(scores) if high == low else (scores - low) / (high - low)


def fuse_weighted(lists: Sequence[tuple[Ranked, float]]) -> Ranked:
    """Σ weight · normalised score; a row that a list does not have gets 0 from it. Equal ones in order of row."""
    return _summed([(each, weight * normalise(each.scores)) for each, weight in lists])


def fuse_ranks(lists: Sequence[Ranked], constant: float = 60.0) -> Ranked:
    """Σ 1 / (constant + rank), ranks from 1 (reciprocal rank fusion). Equal ones in order of row."""
    return _summed([(each, 1.0 / (constant + np.arange(1, len(each) + 1, dtype=np.float64))) for each in lists])


class Blocks(NamedTuple):
    """A fused list, and how many of it come from the first block."""

    found: Ranked
    head: int


def in_blocks(lists: Sequence[Ranked], depth: int, fuse: Callable[[Sequence[Ranked]], Ranked]) -> Blocks:
    """The first `depth` of each list fused, then what the next `depth` of each have that is new, and so on.

    So a longer answer begins with the shorter one. Scores of each block are one lower than those of the block before.
    """
    whole = fuse([each.taking(range(min(depth, len(each)))) for each in lists])
    head = len(whole)
    longest = max(map(len, lists))
    for number, start in enumerate(range(depth, longest, depth), 1):
        block = fuse([each.taking(range(min(start, len(each)), min(start + depth, len(each)))) for each in lists])
        new = block.taking(np.flatnonzero(~np.isin(block.rows, whole.rows)))
        whole = whole.followed_by(Ranked(new.rows, new.scores - number))
    return Blocks(whole, head)


def _summed(lists: Sequence[tuple[Ranked, NDArray[np.float64]]]) -> Ranked:
    rows = np.unique(np.concatenate([each.rows for each, _ in lists]))
    totals = np.zeros(len(rows))
    for each, shares in lists:
        totals[np.searchsorted(rows, each.rows)] += shares
    order = np.lexsort((rows, -totals))
    parts = {name: scores for each, _ in lists for name, scores in each.parts.items()}
    return Ranked(rows[order], totals[order], parts)
