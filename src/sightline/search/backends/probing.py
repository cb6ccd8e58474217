"""How far an approximate index is probed: the least at which queries of every kind find their true neighbours.

Pictures find each other in few lists; a text lies apart from all pictures, and its neighbours in many. So each kind of
query is tried by itself, and the worst of them decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.models.protocols import Vectors
from sightline.search.backends.base import Rows

NEIGHBOURS = 10
SAMPLE = 512
"""Queries of a kind that are enough to try."""
OWN = "pictures"
"""Vectors of the index itself, as queries."""

Asking: TypeAlias = Callable[[NDArray[np.float32], int], Rows]
"""The rows that an index gives to a query, so many."""


class Share(NamedTuple):
    """A mean over queries and its standard error: some texts find all of their neighbours, and some none."""

    mean: float
    error: float

    def surely_reaches(self, wanted: float) -> bool:
        """Does the mean, less two standard errors, still reach it?"""
        return self.mean - 2 * self.error >= wanted


class Trial(NamedTuple):
    """Queries of one kind and their true neighbours; `own` ones find themselves, which proves nothing."""

    kind: str
    queries: Vectors
    truth: Sequence[frozenset[int]]
    own: bool = False

    def tried(self, ask: Asking) -> Share:
        """Of the true neighbours of each query, how many are found."""
        shares = [
            max(0, len(true.intersection(ask(query, NEIGHBOURS + self.own).tolist())) - self.own)
            / max(1, len(true) - self.own)
            for query, true in zip(self.queries, self.truth, strict=True)
        ]
        return Share(float(np.mean(shares)), float(np.std(shares)) / len(shares) ** 0.5)


class Probed(NamedTuple):
    """How many lists are probed, and the share of true neighbours that each kind of query then finds."""

    lists: int
    recalls: dict[str, float]


def fewest_lists(trials: Sequence[Trial], ask: Callable[[int], Asking], wanted: float, most: int) -> Probed:
    """The fewest lists at which every kind surely reaches `wanted`, half as many more each time; at most all."""
    lists, means = 1, dict.fromkeys((trial.kind for trial in trials), 1.0)
    while True:
        asking = ask(lists)
        for trial in sorted(trials, key=lambda each: means[each.kind]):  # Where the hardest fails, it is enough.
            share = trial.tried(asking)
            means[trial.kind] = share.mean
            if not share.surely_reaches(wanted) and lists < most:
                break
        else:
            return Probed(lists, means)
        lists = min(most, lists + max(1, lists // 2))
