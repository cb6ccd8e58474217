"""What several systems returned, as pairs of query and picture with weights: what each pair adds to a score.

A system's score is the mean over queries (by their traffic, where that is known) of DCG@k / (the largest possible
DCG@k), with DCG@k = Σ gain / log₂(rank + 1) and gains from 0 to 1. The normalizer is frozen: the DCG of k perfect
results, the same for every query, because how many relevant pictures a query has is not known. So a score is linear in
the gains of its pairs, and a difference of two systems is Σ (w_second − w_first) · gain: a pair that both return at the
same rank does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Bools = NDArray[np.bool_]
Places = NDArray[np.int32]

NOTHING = -1
_CHUNK = 1000


@dataclass(frozen=True, slots=True, eq=False)
class QueryItems:
    """Pairs of some queries: the query and the picture of each, and its weight in the score of each system."""

    query: Codes
    picture: Codes
    weights: Floats

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True, slots=True, eq=False)
class RankedPool:
    """The first k results of each system (systems × queries × k): numbers of pictures, −1 where there is none.

    `shares` say how much each query counts, 1 in all; None: all alike. `answered` (systems × queries) says where a
    system did not fail; None: it never did.
    """

    places: Places
    shares: Floats | None = None
    answered: Bools | None = None

    @property
    def systems(self) -> int:
        return len(self.places)

    @property
    def queries(self) -> int:
        return len(self.places[0])

    @property
    def depth(self) -> int:
        return len(self.places[0, 0])

    def answered_by(self, systems: Bools) -> Bools:
        """The queries on which none of these systems failed."""
        failed = np.zeros(self.queries, np.intp) if self.answered is None else (~self.answered[systems]).sum(axis=0)
        found: Bools = failed == 0
        return found

    def items(self, first: int, last: int) -> QueryItems:
        """The pairs of queries `first` to `last` (left out), each once."""
        part = self.places[:, first:last]
        system, query, rank = np.nonzero(part != NOTHING)
        picture = part[system, query, rank].astype(np.int64)
        most = int(picture.max(initial=0)) + 1
        keys, item = np.unique(query * most + picture, return_inverse=True)
        weights = np.zeros((len(keys), self.systems))
        share = 1 / self.queries if self.shares is None else self.shares[query + first]
        np.add.at(weights, (item, system), discounts(self.depth)[rank] * share)
        return QueryItems(keys // most + first, keys % most, weights)

    def chunks(self) -> Iterator[QueryItems]:
        """The pairs of all queries, some queries at a time."""
        for first in range(0, self.queries, _CHUNK):
            if len(found := self.items(first, first + _CHUNK)):
                yield found


def discounts(depth: int) -> Floats:
    """1 / log₂(rank + 1) for ranks 1 to k, divided by their sum: k perfect results score 1."""
    plain = 1 / np.log2(np.arange(2, depth + 2))
    shares: Floats = plain / plain.sum()
    return shares


def encode(
    rankings: Mapping[str, Sequence[str]], tasks: Mapping[str, int], pictures: Mapping[str, int], depth: int
) -> tuple[Places, int]:
    """One system's rankings as numbers, and how many of its results are not in the corpus.

    A picture that is returned twice counts where it is first. Results that are not in the corpus keep their rank and
    gain nothing; nobody is asked about them.
    """
    places = np.full((len(tasks), depth), NOTHING, np.int32)
    unknown = 0
    for task, ranking in rankings.items():
        row = tasks.get(task)
        if row is None:
            continue
        found = [pictures.get(picture, NOTHING) for picture in list(dict.fromkeys(ranking))[:depth]]
        unknown += found.count(NOTHING)
        places[row, : len(found)] = found
    return places, unknown
