"""How many relevant pictures the pools still miss: from a draw outside of them, and from what the searches share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sightline.make.judge.pool import CHANCE, Pool
from sightline.score.statistics import wilson
from sightline.types import Estimate

_RESAMPLES = 2000
_LEVEL = 0.95


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


def estimate_missed(pools: Sequence[Pool], relevant: Mapping[str, Mapping[str, bool]], *, seed: int = 0) -> Missed:
    """From judged pools; `relevant` tells it for each judged picture of each query."""
    found = sum(sum(relevant[pool.query.id].values()) for pool in pools)
    sources = _sources(pools)
    captures = [_captures(pool, relevant[pool.query.id], sources) for pool in pools]
    once, twice = (sum(counts[number] for counts in captures) for number in (1, 2))
    drawn = _draw(pools, relevant)
    missed = None if drawn.rate is None else _times(drawn.rate, drawn.outside)
    coverage = None
    if missed is not None:
        coverage = Bounded(*(_share(found, more) for more in (missed.value, missed.high, missed.low)))
    overlap = _chao(captures, len(sources), seed)
    return Missed(found, drawn.pictures, drawn.outside, drawn.rate, missed, coverage, sources, once, twice, overlap)


class _Drawn(NamedTuple):
    pictures: int
    outside: int
    rate: Estimate | None


def _draw(pools: Sequence[Pool], relevant: Mapping[str, Mapping[str, bool]]) -> _Drawn:
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


def _times(rate: Estimate, outside: int) -> Bounded:
    return Bounded(rate.mean * outside, rate.low * outside, rate.high * outside)


def _share(found: float, missed: float) -> float:
    return found / (found + missed) if found + missed else 1.0


def _sources(pools: Sequence[Pool]) -> tuple[str, ...]:
    """What found pictures by itself; a hybrid finds what its parts find, so it tells nothing of its own beside them."""
    names = dict.fromkeys(name for pool in pools for by in pool.found_by.values() for name in by)
    parts = {"vectors", "words"} <= set(names)
    return tuple(name for name in names if name != CHANCE and not (parts and name == "hybrid"))


def _captures(pool: Pool, labels: Mapping[str, bool], sources: Sequence[str]) -> Counter[int]:
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
