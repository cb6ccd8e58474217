"""Baselines that never look at a picture, and which queries they solve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from random import Random
from typing import Protocol

from sightline.make.audit.words import WordRanker
from sightline.run.systems.blind import Source, told
from sightline.score.context import Context
from sightline.score.registry import metric
from sightline.score.statistics import estimate
from sightline.search.words import spaced
from sightline.types import Benchmark, Estimate, Json, Ranking, Relevance, Task

_WORDS: tuple[Source, ...] = ("captions", "tags", "names", "exif", "all")
METADATA, POPULAR, RANDOM = "metadata", "majority", "random"
SHORTCUTS = frozenset({"names", "exif", METADATA, POPULAR})
"""What has nothing to do with the content of a picture: a query that these solve tests nothing."""
_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Baseline:
    """How far one of them gets: over the whole corpus, and how many queries it solves.

    A query is solved when the baseline puts all relevant pictures of its pool before all others of it; `by_chance` is
    how many a random order would solve.
    """

    by: str
    ndcg: Estimate
    success: Estimate
    solved: tuple[str, ...]
    by_chance: float


class Ranker(Protocol):
    """Pictures for a query, best first, of those that are allowed; None for all."""

    def __call__(self, task: Task, allowed: Collection[str] | None, k: int) -> Sequence[str]: ...


def blind_baselines(benchmark: Benchmark, seed: int = 0) -> tuple[Baseline, ...]:
    """All of them; a source that tells nothing of any picture is left out."""
    found = []
    for by in _WORDS:
        rows = list(told(benchmark, by))
        if any(words.strip() for _, words in rows):
            found.append(_measured(by, _by_words(rows, benchmark), benchmark))
    rows = list(_metadata(benchmark))
    if any(words.strip() for _, words in rows):
        found.append(_measured(METADATA, _by_words(rows, benchmark), benchmark))
    found.append(_measured(POPULAR, _by_popularity(benchmark), benchmark))
    found.append(_measured(RANDOM, _by_lot(benchmark, seed), benchmark))
    return tuple(found)


def _measured(by: str, rank: Ranker, benchmark: Benchmark) -> Baseline:
    ndcg, success, context = metric("ndcg@10"), metric("success@1"), Context()
    values: tuple[list[float | None], list[float | None]] = ([], [])
    solved, by_chance = [], 0.0
    for task, grades in _judged(benchmark):
        whole = Ranking(tuple(rank(task, None, _DEPTH)))
        for column, one in zip(values, (ndcg, success), strict=True):
            column.append(one(Relevance(grades), whole, context))
        relevant = {picture for picture, grade in grades.items() if grade > 0}
        if not relevant or len(relevant) == len(grades):
            continue
        first = rank(task, grades, len(grades))[: len(relevant)]
        by_chance += 1 / comb(len(grades), len(relevant))
        if set(first) == relevant:
            solved.append(task.id)
    return Baseline(by, estimate(values[0]), estimate(values[1], proportion=True), tuple(solved), by_chance)


def _judged(benchmark: Benchmark) -> Iterator[tuple[Task, Mapping[str, int]]]:
    for id_, task in benchmark.tasks.items():
        truth = benchmark.truth.get(id_)
        if isinstance(truth, Relevance):
            yield task, truth.grades


def _by_words(rows: Sequence[tuple[str, str]], benchmark: Benchmark) -> Ranker:
    ranker = WordRanker(rows, {id_: task.text for id_, task in benchmark.tasks.items()})
    return lambda task, allowed, k: ranker(task.id, allowed, k)


def _metadata(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    """Every text among what is known of a picture beside its looks."""
    for id_, picture in benchmark.corpus.pictures.items():
        rights = picture.rights
        known = (rights.source or "", rights.attribution or "", *_texts(list(picture.extra.values())))
        yield id_, spaced(" ".join(known)).replace("_", " ")


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str) and "://" not in value:
        yield value
    elif isinstance(value, list | dict):
        for item in value if isinstance(value, list) else value.values():
            yield from _texts(item)


def _by_popularity(benchmark: Benchmark) -> Ranker:
    """Pictures that are relevant to most *other* queries come first."""
    own = {task.id: {id_ for id_, grade in grades.items() if grade > 0} for task, grades in _judged(benchmark)}
    counts = Counter(picture for pictures in own.values() for picture in pictures)
    popular = sorted(counts, key=lambda picture: (-counts[picture], picture))

    def rank(task: Task, allowed: Collection[str] | None, k: int) -> Sequence[str]:
        mine = own.get(task.id, set())
        # Its own pictures count one less, so no more than their number can move out of the first.
        known = popular[: k + len(mine)] if allowed is None else [picture for picture in allowed if picture in counts]
        scores = {picture: counts[picture] - (picture in mine) for picture in known}
        return sorted((p for p in scores if scores[p] > 0), key=lambda picture: (-scores[picture], picture))[:k]

    return rank


def _by_lot(benchmark: Benchmark, seed: int) -> Ranker:
    every = sorted(benchmark.corpus.pictures)

    def rank(task: Task, allowed: Collection[str] | None, k: int) -> Sequence[str]:
        pictures = every if allowed is None else sorted(allowed)
        return Random(f"{seed}/{task.id}").sample(pictures, min(k, len(pictures)))

    return rank
