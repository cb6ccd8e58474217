"""The query's words against words about pictures, for many queries at once; and which words those are.

BM25 with SQLite's stemming, over postings held as arrays.
"""

from __future__ import annotations

import calendar
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.retrieval.bm25 import TOKENIZER, query_words, words_of
from sightline.types import Annotation, Benchmark, Picture

_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6
"""As FTS5 has them; a word that most pictures have still counts for a little."""
Scores = NDArray[np.float64]
Source: TypeAlias = Literal["captions", "tags", "names", "exif", "all", "learned", "random", "majority"]
_DAY = ((6, "night"), (12, "morning"), (18, "afternoon"), (22, "evening"), (24, "night"))


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

    def __call__(self, query: str, allowed: Collection[str] | None, k: int) -> list[tuple[str, float]]:
        """The first `k` pictures of those allowed, with scores; equal ones in the order of their ids."""
        scores = self._scores(query)
        if allowed is None:
            rows = np.flatnonzero(scores)
        else:
            known = np.array(sorted(self._rows[id_] for id_ in allowed if id_ in self._rows), dtype=np.intp)
            rows = known[scores[known] > 0]
        return best_of(scores, rows, self._ids, k)

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


def best_of(scores: Scores, rows: NDArray[np.intp], ids: NDArray[np.object_], k: int) -> list[tuple[str, float]]:
    """The first `k` of some rows by falling score, with their ids; equal ones stay in order."""
    if len(rows) > k:  # Only what can be among the first is sorted.
        rows = rows[scores[rows] >= np.partition(scores[rows], len(rows) - k)[len(rows) - k]]
    best = rows[np.argsort(-scores[rows], kind="stable")[:k]]
    return list(zip(ids[best].tolist(), scores[best].tolist(), strict=True))


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


def told(benchmark: Benchmark, by: Source) -> Iterator[tuple[str, str]]:
    """Each picture's id with the words that are looked at."""
    said = {annotation.picture_id: annotation for annotation in benchmark.annotations}
    for picture in benchmark.corpus.pictures.values():
        yield picture.id, " ".join(_words(picture, said.get(picture.id), by))


def _words(picture: Picture, said: Annotation | None, by: Source) -> Iterator[str]:
    fields = words_of(picture, said)
    if by in ("captions", "all"):
        yield from (fields.caption, fields.seen)
    if by in ("tags", "all"):
        yield from (fields.tags, fields.facets)
    if by in ("names", "all"):
        yield fields.name
    if by in ("exif", "all"):
        yield from (fields.place, picture.device or "", *_when(picture))


def _when(picture: Picture) -> Iterator[str]:
    """`2019 June Saturday evening`."""
    taken = picture.taken_at
    if taken is not None:
        part = next(name for end, name in _DAY if taken.hour < end)
        yield from (str(taken.year), calendar.month_name[taken.month], calendar.day_name[taken.weekday()], part)
