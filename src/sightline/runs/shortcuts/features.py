"""Columns as features: of a picture alone, and of a picture together with a query; each feature has a name in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sightline.benchmark.copy_detection import LookPair
from sightline.plain_text import cut
from sightline.retrieval.bm25 import fold, query_words
from sightline.runs.shortcuts.facts import COPIES, ORDER, FactColumn, number_in
from sightline.types import Task

Floats = NDArray[np.float32]
_BUCKETS = 64
_MOST_VALUES = 16
_LEAST_SHARE = 0.02
_LEAST_PICTURES = 3
_GRAM = 3
PairFeature = Callable[[Task], Floats]
"""For a query: a value for each picture."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureGroup:
    """Features of one kind of fact: `pictures` has a row for each picture, `pairs` depend on the query too."""

    name: str
    labels: tuple[str, ...]
    pictures: Floats
    pairs: tuple[PairFeature, ...] = ()

    def of(self, task: Task, rows: NDArray[np.intp]) -> Floats:
        """Rows of features of some pictures for a query."""
        return np.column_stack([self.pictures[rows], *(feature(task)[rows] for feature in self.pairs)])

    @property
    def counts(self) -> tuple[int, int]:
        """How many features are of a picture alone, and how many of a picture and a query."""
        return int(self.pictures.shape[1]), len(self.pairs)

    @property
    def width(self) -> int:
        return sum(self.counts)


def encode(
    columns: Sequence[FactColumn], ids: Sequence[str], tasks: Sequence[str], copies: Sequence[LookPair]
) -> tuple[FeatureGroup, ...]:
    """Groups of features in the order in which their first column comes; `tasks` are the ids of all queries."""
    by_group: dict[str, list[FactColumn]] = defaultdict(list)
    for column in columns:
        by_group[column.group].append(column)
    return tuple(_group(name, members, ids, tasks, copies) for name, members in by_group.items())


def _group(
    name: str, columns: Sequence[FactColumn], ids: Sequence[str], tasks: Sequence[str], copies: Sequence[LookPair]
) -> FeatureGroup:
    alone = [feature for column in columns for feature in _alone(column)]
    pairs = [_overlap(column) for column in columns if column.kind == "text"]
    if name == ORDER:
        pairs += _places(ids, tasks)
    if name == COPIES:
        pairs.append(("copy of a picture in the query", _copies_of_shown(ids, copies)))
    table = np.column_stack([values for _, values in alone]) if alone else np.zeros((len(ids), 0), np.float32)
    labels = (*(label for label, _ in alone), *(label for label, _ in pairs))
    return FeatureGroup(name, labels, table.astype(np.float32), tuple(feature for _, feature in pairs))


def _alone(column: FactColumn) -> Iterator[tuple[str, Floats]]:
    missing = np.array([value is None for value in column.values])
    if missing.any():
        yield f"{column.name} is missing", missing.astype(np.float32)
    if column.kind == "number":
        yield from _number(column, ~missing)
        yield from _values(column, [None if value is None else f"{value:.6g}" for value in column.values])
    elif column.kind == "category":
        yield from _values(column, [None if value is None else str(value) for value in column.values])
    else:
        yield from _words(column)


def _number(column: FactColumn, known: NDArray[np.bool_]) -> Iterator[tuple[str, Floats]]:
    """The rank from −1 to 1, and how far from the middle it is; 0 where the value is not known."""
    given = np.array([value for value in column.values if value is not None], dtype=np.float64)
    _, inverse, counts = np.unique(given, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts + 1) / 2
    place = np.zeros(len(column.values), dtype=np.float32)
    place[known] = (2 * ranks[inverse] / max(len(given) - 1, 1) - 1).astype(np.float32)
    yield column.name, place
    if len(counts) > 2:
        yield f"{column.name} (extreme or middle)", np.where(known, place**2, np.float32(1 / 3))


def _values(column: FactColumn, texts: Sequence[str | None]) -> Iterator[tuple[str, Floats]]:
    """Whether the value is one of those that several pictures have."""
    counts = Counter(text for text in texts if text is not None)
    least = max(_LEAST_PICTURES, _LEAST_SHARE * len(texts))
    for value, count in sorted(counts.most_common(_MOST_VALUES), key=lambda item: (-item[1], item[0])):
        if least <= count < len(texts):
            yield f'{column.name} is "{cut(value, 40)}"', np.array([text == value for text in texts], dtype=np.float32)


def _words(column: FactColumn) -> Iterator[tuple[str, Floats]]:
    """Hashed words and letter groups, each bucket named after what is most frequent in it."""
    table = np.zeros((len(column.values), _BUCKETS), dtype=np.float32)
    names: dict[int, Counter[str]] = defaultdict(Counter)
    for row, value in enumerate(column.values):
        for gram in set(_grams(str(value or ""))):
            bucket = crc32(gram.encode()) % _BUCKETS
            table[row, bucket] = 1.0
            names[bucket][gram] += 1
    least = max(_LEAST_PICTURES, _LEAST_SHARE * len(table))
    for bucket, seen in sorted(names.items()):
        if least <= table[:, bucket].sum() < len(table):
            (common, _), *_ = sorted(seen.items(), key=lambda item: (-item[1], item[0]))
            yield f'{column.name} has "{common}"', table[:, bucket]
    yield from _number(_length(column), np.ones(len(table), dtype=np.bool_))


def _length(column: FactColumn) -> FactColumn:
    lengths = [float(len(str(value or ""))) for value in column.values]
    return FactColumn(column.group, f"length of {column.name}", "number", lengths)


def _grams(text: str) -> Iterator[str]:
    for word in fold(text).split():
        yield word
        if len(word) > _GRAM:
            yield from (word[at : at + _GRAM] for at in range(len(word) - _GRAM + 1))


def _overlap(column: FactColumn) -> tuple[str, PairFeature]:
    """The share of the query's words that the text of a picture has."""
    holders: dict[str, set[int]] = defaultdict(set)
    for row, value in enumerate(column.values):
        for word in query_words(fold(str(value or ""))):
            holders[word].add(row)
    rows = {word: np.array(sorted(found), dtype=np.intp) for word, found in holders.items()}
    count = len(column.values)

    @lru_cache(maxsize=1)  # A query is looked at several times in a row.
    def shared(text: str) -> Floats:
        words = query_words(fold(text))
        found = np.zeros(count, dtype=np.float32)
        for word in words:
            if word in rows:
                found[rows[word]] += np.float32(1 / len(words))
        return found

    return f"words of the query in {column.name}", lambda task: shared(task.text)


def _places(ids: Sequence[str], tasks: Sequence[str]) -> list[tuple[str, PairFeature]]:
    """How near a picture's place in the corpus is to the query's among the queries; and the same by number."""
    rows = {id_: row for row, id_ in enumerate(ids)}
    places = np.linspace(0, 1, len(ids), dtype=np.float32)
    own = {task: at / max(len(tasks) - 1, 1) for at, task in enumerate(tasks)}
    numbers = np.array([-1.0 if (found := number_in(id_)) is None else found for id_ in ids])
    scale = float(max(numbers.max(initial=0.0), 1.0))

    def by_place(task: Task) -> Floats:
        found: Floats = -np.abs(places - np.float32(own.get(task.id, 0.5)))
        return found

    def by_number(task: Task) -> Floats:
        number = number_in(task.id)
        if number is None:
            return np.zeros(len(ids), dtype=np.float32)
        return np.where(numbers >= 0, -np.abs(numbers - number) / scale, -1.0).astype(np.float32)

    def in_scope(task: Task) -> Floats:
        listed = [rows[id_] for id_ in task.scope.pictures if id_ in rows]
        found = np.full(len(ids), 1.0 if listed else 0.0, dtype=np.float32)
        found[listed] = np.linspace(0, 1, len(listed), dtype=np.float32)
        return found

    return [
        ("position in the corpus like that of the query", by_place),
        ("number in the name like that of the query", by_number),
        ("position in the list of the query", in_scope),
    ]


def _copies_of_shown(ids: Sequence[str], copies: Sequence[LookPair]) -> PairFeature:
    near: dict[str, set[str]] = defaultdict(set)
    for pair in copies:
        near[pair.first].add(pair.second)
        near[pair.second].add(pair.first)
    rows: Mapping[str, int] = {id_: row for row, id_ in enumerate(ids)}

    def shown(task: Task) -> Floats:
        found = np.zeros(len(ids), dtype=np.float32)
        for ref in task.pictures:
            found[[rows[other] for other in near[ref.id] if other in rows]] = 1.0
        return found

    return shown
