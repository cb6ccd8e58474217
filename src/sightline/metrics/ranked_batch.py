"""Many rankings as a few flat arrays: what every ranked metric is computed from.

Only judged results are kept, each with its place in the ranking: an unjudged result does nothing but take up a
place, so a run of ten million results against a hundred judgments a query shrinks to a tenth or less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.class_names import name_of
from sightline.errors import UserError
from sightline.types import PictureSet, Prediction, Ranking, Relevance, Truth

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hits:
    """The relevant results of a batch, in rank order: `nth` counts from 0 within each query."""

    query: Ints
    rank: Ints
    nth: Ints


@dataclass(frozen=True, slots=True)
class RankedBatch:
    """Rankings of `len(batch)` queries beside their judgments.

    `offsets`, `ranks`, `grades`: the judged results of query q are [offsets[q], offsets[q + 1]), in rank order,
    each with its 0-based place in the whole ranking. A negative grade is that of a picture of the pool that nobody
    judged, which only `infap` looks at. `retrieved`: results returned, judged or not.
    `pool_offsets`, `pool`: the grades of all judged pictures of each query, highest first.
    """

    offsets: Ints
    ranks: Ints
    grades: Ints
    retrieved: Ints
    pool_offsets: Ints
    pool: Ints

    def __len__(self) -> int:
        return self.retrieved.size

    def owners(self) -> Ints:
        """The query of each judged result."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def hits(self, level: int, cutoff: int | None = None) -> Hits:
        """The results with at least this grade among the first `cutoff`."""
        keep = self.grades >= level
        if cutoff is not None:
            keep &= self.ranks < cutoff
        query = self.owners()[keep]
        return Hits(query, self.ranks[keep], places(query, len(self)))

    def positives(self, level: int) -> Ints:
        """R: how many judged pictures of each query have at least this grade."""
        return segment_counts(self.pool >= level, self.pool_offsets)

    def total(self, query: Ints, weights: Floats | None = None) -> Floats:
        """Sum of the weights (default 1) by query."""
        return np.bincount(query, weights, minlength=len(self)).astype(np.float64)

    def condensed(self) -> RankedBatch:
        """The same rankings with unjudged results taken out."""
        judged = self.grades >= 0
        owners = self.owners()[judged]
        offsets = np.append(0, np.cumsum(np.bincount(owners, minlength=len(self))))
        ranks = places(owners, len(self))
        return replace(self, offsets=offsets, ranks=ranks, grades=self.grades[judged], retrieved=np.diff(offsets))


def places(owners: Ints, queries: int) -> Ints:
    """0-based place of each entry among those of its owner; owners come in ascending order."""
    first = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=queries))))
    return np.arange(owners.size) - first[owners]


def segment_counts(flags: Bools, offsets: Ints) -> Ints:
    """How many flags are set in each segment."""
    running = np.concatenate(([0], np.cumsum(flags, dtype=np.int64)))
    return running[offsets[1:]] - running[offsets[:-1]]


def ratio(part: Floats, whole: Ints | Floats) -> Floats:
    """part / whole, and 0 where the whole is 0: trec_eval's answer for a query with nothing relevant."""
    return np.divide(part, whole, out=np.zeros(part.size), where=whole > 0)


def batch_of(pairs: Iterable[tuple[Truth, Prediction]]) -> RankedBatch:
    """Truth (`Relevance` or `PictureSet`) and prediction (`Ranking` or `PictureSet`) of many tasks as one batch.

    An exact set leaves nothing unjudged: its pictures have grade 1, everything else returned has grade 0.
    A picture returned twice counts once, at its first place. A `Failure` has no ranking: callers count it.
    """
    ranks: list[int] = []
    grades: list[int] = []
    pool: list[int] = []
    offsets, pool_offsets, retrieved = [0], [0], []
    for truth, prediction in pairs:
        ranked = list(dict.fromkeys(order_of(prediction)))
        known = _grades(truth, ranked)
        for rank, picture in enumerate(ranked):
            grade = known.get(picture)
            if grade is not None:
                ranks.append(rank)
                grades.append(grade)
        pool.extend(sorted((grade for grade in known.values() if grade >= 0), reverse=True))
        offsets.append(len(ranks))
        pool_offsets.append(len(pool))
        retrieved.append(len(ranked))
    return RankedBatch(*(np.array(x, np.int64) for x in (offsets, ranks, grades, retrieved, pool_offsets, pool)))


def _grades(truth: Truth, ranked: Sequence[str]) -> Mapping[str, int]:
    if isinstance(truth, Relevance):
        return truth.grades
    if isinstance(truth, PictureSet):
        return dict.fromkeys(ranked, 0) | dict.fromkeys(truth.pictures, 1)
    raise UserError(
        f"a ranked metric can't use a truth of the form {name_of(type(truth))}.",
        "ask it of rank and select tasks only",
    )


def order_of(prediction: Prediction) -> Sequence[str]:
    """The pictures as ranked; neighbours with the same score by id, descending, as trec_eval orders them.

    Scores are compared in single precision, as trec_eval does. The given order otherwise stands, so that
    distances (lower is better) do no harm.
    """
    if isinstance(prediction, PictureSet):
        return prediction.pictures
    if not isinstance(prediction, Ranking):
        raise UserError(
            f"a ranked metric can't score a prediction of the form {name_of(type(prediction))}.",
            "count failures before scoring, and ask ranked metrics of rank and select tasks only",
        )
    if prediction.scores is None:
        return prediction.pictures
    if len(prediction.scores) != len(prediction.pictures):
        raise UserError(
            f"a ranking has {len(prediction.pictures)} pictures and {len(prediction.scores)} scores.",
            "give one score for each picture, or none at all",
        )
    scores = np.array(prediction.scores, np.float32)
    if not (scores[1:] == scores[:-1]).any():
        return prediction.pictures
    tied = groupby(zip(scores.tolist(), prediction.pictures, strict=True), key=lambda pair: pair[0])
    return [picture for _, group in tied for picture in sorted((p for _, p in group), reverse=True)]
