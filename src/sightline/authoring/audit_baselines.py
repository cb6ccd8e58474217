"""Baselines that never look at a picture, and which queries they solve.

Those by words use BM25 with SQLite's stemming for many queries at once, over postings held as arrays.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.context import Context
from sightline.metrics.registry import metric
from sightline.metrics.statistics import estimate
from sightline.retrieval.bm25 import TOKENIZER, query_words, spaced
from sightline.runs.systems.blind import Source, told
from sightline.types import Benchmark, Estimate, Json, Ranking, Relevance, Task

_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6
"""As FTS5 has them; a word that most pictures have still counts for a little."""
Scores = NDArray[np.float64]
_WORDS: tuple[Source, ...] = ("captions", "tags", "names", "exif", "all")
METADATA, POPULAR, RANDOM = "metadata", "majority", "random"
SHORTCUTS = frozenset({"names", "exif", METADATA, POPULAR})
"""What has nothing to do with the content of a picture: a query that these solve tests nothing."""
_DEPTH = 100


class WordRanker:
    """Pictures with words about them, ranked for each of some queries; what shares no word is left out."""

    def __init__(self, pictures: Sequence[tuple[str, str]], queries: Mapping[str, str]) -> None:
        ordered = sorted(pictures)
        self._ids = np.array([id_ for id_, _ in ordered], dtype=object)
        self._rows = {id_: row for row, (id_, _) in enumerate(ordered)}
        self._lengths = np.zeros(len(ordered))
        self._terms = dict(_terms([" ".join(query_words(text)) for text in queries.values()]))
        self._number = {query: number for number, query in enumerate(queries)}
        self._postings: dict[str, tuple[NDArray[np.intp], Scores]] = {}
        wanted = {term for terms in self._terms.values() for term in terms}
        for term, rows, counts in _postings([words for _, words in ordered]):
            self._lengths[rows] += counts
            if term in wanted:
                self._postings[term] = rows, counts
        self._last: tuple[str, Scores] | None = None

    def __call__(self, query: str, allowed: Collection[str] | None, k: int) -> list[str]:
        """The first `k` pictures of those allowed; equal ones in the order of their ids."""
        scores = self._scores(query)
        if allowed is None:
            rows = np.flatnonzero(scores)
        else:
            known = np.array(sorted(self._rows[id_] for id_ in allowed if id_ in self._rows), dtype=np.intp)
            rows = known[scores[known] > 0]
        if len(rows) > k:  # Only what can be among the first is sorted.
            least = np.partition(scores[rows], len(rows) - k)[len(rows) - k]
            rows = rows[scores[rows] >= least]
        best = rows[np.argsort(-scores[rows], kind="stable")[:k]]
        return [str(id_) for id_ in self._ids[best]]

    def _scores(self, query: str) -> Scores:
        """BM25 of every picture; the whole ranking and that of the pool are asked for one after the other."""
        if self._last is not None and self._last[0] == query:
            return self._last[1]
        found = np.zeros(len(self._ids))
        usual = self._lengths.mean() if len(self._ids) else 1.0
        for term in self._terms.get(self._number[query], ()):
            rows, counts = self._postings.get(term, (np.zeros(0, np.intp), np.zeros(0)))
            idf = max(np.log((len(self._ids) - len(rows) + 0.5) / (len(rows) + 0.5)), _LEAST_IDF)
            found[rows] += idf * counts * (_K1 + 1) / (counts + _K1 * (1 - _B + _B * self._lengths[rows] / usual))
        self._last = query, found
        return found


def _table(texts: Sequence[str]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE told USING fts5(words, tokenize='{TOKENIZER}')")
    database.executemany("INSERT INTO told (rowid, words) VALUES (?, ?)", enumerate(texts))
    database.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(told, instance)")
    return database


def _terms(texts: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The stem of each word of each text; two words with the same stem count twice, as in SQLite."""
    database = _table(texts)
    found: dict[int, list[str]] = {}
    for term, row in database.execute("SELECT term, doc FROM vocabulary ORDER BY doc, offset"):
        found.setdefault(row, []).append(term)
    database.close()
    return ((row, tuple(terms)) for row, terms in found.items())


def _postings(texts: Sequence[str]) -> Iterator[tuple[str, NDArray[np.intp], Scores]]:
    """For each stem the texts that have it, and how often."""
    database = _table(texts)
    rows: list[tuple[int, int]] = []
    last: str | None = None
    counted = "SELECT term, doc, count(*) FROM vocabulary GROUP BY term, doc ORDER BY term, doc"
    for term, row, count in database.execute(counted):
        if term != last and last is not None:
            yield last, *_columns(rows)
            rows = []
        last = term
        rows.append((row, count))
    if last is not None:
        yield last, *_columns(rows)
    database.close()


def _columns(rows: list[tuple[int, int]]) -> tuple[NDArray[np.intp], Scores]:
    table = np.array(rows)
    return table[:, 0].astype(np.intp), table[:, 1].astype(np.float64)


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


class BaselineRanker(Protocol):
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


def _measured(by: str, rank: BaselineRanker, benchmark: Benchmark) -> Baseline:
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


def _by_words(rows: Sequence[tuple[str, str]], benchmark: Benchmark) -> BaselineRanker:
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


def _by_popularity(benchmark: Benchmark) -> BaselineRanker:
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


def _by_lot(benchmark: Benchmark, seed: int) -> BaselineRanker:
    every = sorted(benchmark.corpus.pictures)

    def rank(task: Task, allowed: Collection[str] | None, k: int) -> Sequence[str]:
        pictures = every if allowed is None else sorted(allowed)
        return Random(f"{seed}/{task.id}").sample(pictures, min(k, len(pictures)))

    return rank
