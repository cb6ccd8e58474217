"""Several runs as one pool of results: numbers instead of names, copies of a picture as one, failures counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.metrics.assessment.pool import Places, RankedPool, encode
from sightline.types import Benchmark, Corpus, Ranking, Run


@dataclass(frozen=True, slots=True, eq=False)
class PooledRuns:
    """The pool; `pictures` are ids by number, `place` the number of each id, the same for copies of a picture.

    By system: `failures` counts tasks without a ranking, each of which scores zero, `answered` is the share of the
    others by weight; `empty` counts rankings without a picture, `unknown` results that are not in the corpus.
    """

    pool: RankedPool
    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    pictures: tuple[str, ...]
    place: Mapping[str, int]
    failures: Mapping[str, int]
    answered: Mapping[str, float]
    empty: Mapping[str, int]
    unknown: Mapping[str, int]


def pool_runs(benchmark: Benchmark, runs: Iterable[tuple[str, Run]], depth: int) -> PooledRuns:
    """Pool the first `depth` results of each named run; runs may come one at a time, and are not kept."""
    ranked = [id_ for id_, task in benchmark.tasks.items() if task.kind == "rank"]
    tasks = {id_: number for number, id_ in enumerate(ranked)}
    if not tasks:
        raise UserError(f'"{benchmark.name}" has no rank tasks.', "Assess a benchmark whose tasks are search queries.")
    place, shares = picture_numbers(benchmark.corpus), np.array([benchmark.tasks[id_].weight for id_ in ranked], float)
    shares /= shares.sum()
    found, there = dict[str, Places](), dict[str, NDArray[np.bool_]]()
    failures, answered, empty, unknown = dict[str, int](), dict[str, float](), dict[str, int](), dict[str, int]()
    for given, run in runs:
        name = _free(given, found)
        if not benchmark.is_version(run.benchmark_checksum):
            raise UserError(f"{name} was run on another version of {benchmark.name}.", "Run the system on this one.")
        rankings = {
            one.task_id: one.prediction.pictures
            for one in run.attempts
            if one.number == 0 and isinstance(one.prediction, Ranking)
        }
        found[name], unknown[name] = encode(rankings, tasks, place, depth)
        there[name] = np.array([task in rankings for task in ranked])
        empty[name] = sum(not rankings[task] for task in ranked if task in rankings)
        failures[name], answered[name] = int((~there[name]).sum()), float(shares[there[name]].sum())
        if not there[name].any():
            raise UserError(f"{name} has no ranking for any task of {benchmark.name}.", "Run it again.")
    pool = RankedPool(np.stack(list(found.values())), shares, np.stack(list(there.values())))
    pictures = tuple(benchmark.corpus.pictures)
    return PooledRuns(pool, tuple(found), tuple(ranked), pictures, place, failures, answered, empty, unknown)


def picture_numbers(corpus: Corpus) -> dict[str, int]:
    """A number for each picture: its place in the corpus; copies (same bytes, or a group of duplicates) share one."""
    first: dict[str, int] = {}
    numbers = {
        id_: number if picture.sha256 is None else first.setdefault(picture.sha256, number)
        for number, (id_, picture) in enumerate(corpus.pictures.items())
    }
    same: dict[int, int] = {}
    for group in corpus.groups_of("duplicate"):
        held = {numbers[id_] for id_ in group.pictures if id_ in numbers}
        same |= dict.fromkeys(held, min(held, default=0))
    return {id_: same.get(number, number) for id_, number in numbers.items()}


def _free(name: str, taken: Mapping[str, object]) -> str:
    """The name, with a number where another run has it."""
    names = (name if number == 1 else f"{name} ({number})" for number in count(1))
    return next(free for free in names if free not in taken)
