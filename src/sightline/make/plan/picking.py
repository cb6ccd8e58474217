"""Choosing from many pictures: the best by score, spread over some facets; or some by chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from sightline.make.plan.tags import Rows, Scores

_SHARE = 1 / 3
"""Of the candidates of a tier, at most this share has the same values of the facets that it is spread over."""
_DEPTH = 8
"""So many times the wanted number is looked at first; nearly always that is deep enough to spread over."""
_FIRST_DRAW, _LAST_DRAW = 128, 4096


def best(scores: Scores, count: int) -> Rows:
    """Places of the highest scores, the highest first; of equal ones the first."""
    if count <= 0 or not len(scores):
        return np.empty(0, dtype=np.intp)
    if count < len(scores):
        edge = np.partition(scores, len(scores) - count)[len(scores) - count]
        above = np.flatnonzero(scores > edge)
        places = np.concatenate([above, np.flatnonzero(scores == edge)[: count - len(above)]])
    else:
        places = np.arange(len(scores))
    return places[np.lexsort((places, -scores[places]))]


def best_spread(scores: Scores, count: int, keys: NDArray[np.int64] | None) -> Rows:
    """The same, with no key more often than a third of the time while others are left; order is by score."""
    if keys is None or count <= 1 or len(scores) <= count:
        return best(scores, count)
    most = math.ceil(count * _SHARE)
    places = best(scores, _DEPTH * count)
    chosen = places[_occurrence(keys[places]) < most][:count]
    if len(chosen) < count and len(places) < len(scores):
        places = best(scores, len(scores))
        chosen = places[_occurrence(keys[places]) < most][:count]
    if len(chosen) < count:  # Spreading is a wish; a full tier is the aim.
        rest = places[~np.isin(places, chosen)]
        chosen = np.concatenate([chosen, rest[: count - len(chosen)]])
    return chosen[np.lexsort((chosen, -scores[chosen]))]


def draws(rng: np.random.Generator, count: int) -> Iterator[Rows]:
    """Rows by chance, in growing draws that may repeat each other; the last one holds every row."""
    size = _FIRST_DRAW
    while size < min(count, _LAST_DRAW):
        yield rng.integers(0, count, size)
        size *= 4
    yield rng.permutation(count)


def by_chance(rng: np.random.Generator, count: int, wanted: int, fits: Callable[[Rows], NDArray[np.bool_]]) -> Rows:
    """So many rows that fit, all different; fewer where there are not as many. Looks at few where many fit."""
    found: dict[int, None] = {}
    for rows in draws(rng, count):
        if len(found) >= wanted:
            break
        found |= dict.fromkeys(rows[fits(rows)].tolist())
    return np.fromiter(list(found)[:wanted], dtype=np.intp)


def _occurrence(keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """How many equal keys come before each."""
    order = np.argsort(keys, kind="stable")
    first = np.r_[True, np.diff(keys[order]) != 0] if len(keys) else np.empty(0, dtype=np.bool_)
    starts = np.flatnonzero(first)
    counts = np.empty(len(keys), dtype=np.intp)
    counts[order] = np.arange(len(keys)) - np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    return counts
