"""A small model that predicts labels from everything but content, always tested on other queries and other pictures.

Queries and groups of copies are cut into folds independently. A pair of query and picture is scored by the model that
saw neither: trained on the other queries with the other pictures. So a model can't know a picture again by its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

import numpy as np
from numpy.typing import NDArray

from sightline.benchmark.copy_detection import LookPair
from sightline.corpus.near_duplicates import chained, connected
from sightline.metrics.scope import Scopes
from sightline.metrics.statistics.auc import fit_logistic
from sightline.runs.shortcuts.features import FeatureGroup
from sightline.runs.word_ranker import best_of
from sightline.types import Benchmark, PictureSet, Relevance, Task

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
QUERY_FOLDS, PICTURE_FOLDS = 4, 3
PENALTY = 1.0
MOST_QUERIES, MOST_A_SIDE = 400, 60
"""Of a larger benchmark so many queries are used, with so many relevant and so many other pictures each."""
_DRAWN = 20
"""Where nobody judged a picture as not relevant, so many others are drawn from what may be searched."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPairs:
    """Pairs of query and picture with their labels; `groups` has the same number for copies of one picture."""

    tasks: tuple[Task, ...]
    queries: Codes
    pictures: Codes
    relevant: NDArray[np.bool_]
    groups: Codes
    query_folds: Codes
    picture_folds: Codes
    "The fold of every picture of the corpus."

    @property
    def weights(self) -> Floats:
        """Each query counts as one, its relevant and its other pictures half each."""
        codes = 2 * self.queries + self.relevant
        found: Floats = 0.5 / np.bincount(codes)[codes]
        return found


def labelled_pairs(benchmark: Benchmark, copies: Sequence[LookPair], seed: int) -> LabelledPairs:
    """Of each query that has both, relevant and other pictures; a large benchmark is sampled."""
    ids = list(benchmark.corpus.pictures)
    rows = {id_: row for row, id_ in enumerate(ids)}
    lot, scopes = Random(seed), Scopes(benchmark.corpus)
    tasks, queries, pictures, relevant = list[Task](), list[int](), list[int](), list[bool]()
    names = [name for name in benchmark.tasks if name in benchmark.truth]
    for name in names if len(names) <= MOST_QUERIES else lot.sample(names, MOST_QUERIES):
        sides = _sides(benchmark, name, ids, scopes, lot)
        if all(sides):
            for side, label in zip(sides, (True, False), strict=True):
                drawn = [rows[id_] for id_ in (side if len(side) <= MOST_A_SIDE else lot.sample(side, MOST_A_SIDE))]
                queries += [len(tasks)] * len(drawn)
                pictures += drawn
                relevant += [label] * len(drawn)
            tasks.append(benchmark.tasks[name])
    groups = _groups(benchmark, rows, copies)
    rng = np.random.default_rng(seed)
    return LabelledPairs(
        tuple(tasks),
        np.array(queries, dtype=np.intp),
        np.array(pictures, dtype=np.intp),
        np.array(relevant, dtype=np.bool_),
        groups[np.array(pictures, dtype=np.intp)],
        _dealt(len(tasks), QUERY_FOLDS, rng),
        _dealt(int(groups.max(initial=-1)) + 1, PICTURE_FOLDS, rng)[groups],
    )


def _sides(
    benchmark: Benchmark, name: str, ids: Sequence[str], scopes: Scopes, lot: Random
) -> tuple[list[str], list[str]]:
    """Relevant pictures, and others: those judged so, else some drawn from what may be searched."""
    known, task = benchmark.corpus.pictures, benchmark.tasks[name]
    match benchmark.truth[name]:
        case Relevance(grades):
            fits = [id_ for id_, grade in grades.items() if grade > 0 and id_ in known]
            others = [id_ for id_, grade in grades.items() if grade <= 0 and id_ in known]
        case PictureSet(members):
            fits, others = [id_ for id_ in members if id_ in known], []
        case _:
            return [], []
    if fits and not others:
        allowed, shown = scopes.pictures(task.scope), {*fits, *(ref.id for ref in task.pictures)}
        left = [id_ for id_ in ids if id_ not in shown and (allowed is None or id_ in allowed)]
        others = lot.sample(left, min(len(left), max(_DRAWN, len(fits))))
    return fits, others


def _groups(benchmark: Benchmark, rows: Mapping[str, int], copies: Sequence[LookPair]) -> Codes:
    """The number of each picture's group: copies, and what a scan found to be one picture or one moment."""
    groups = (group.pictures for group in benchmark.corpus.groups if group.kind in ("duplicate", "burst"))
    alike = (*groups, *((pair.first, pair.second) for pair in copies))
    number = np.arange(len(rows))
    for joined in connected(len(rows), chained([rows[id_] for id_ in one if id_ in rows] for one in alike)):
        number[joined] = joined[0]
    dense: Codes = np.unique(number, return_inverse=True)[1].astype(np.intp)
    return dense


def _dealt(count: int, folds: int, rng: np.random.Generator) -> Codes:
    """Folds of about equal size, by lot."""
    return rng.permutation(np.arange(count, dtype=np.intp) % folds)


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Features of all pairs, scaled within queries: those of pictures alone and those of pairs, each group of them, to
    the same total variance. So a few that compare picture and query are not lost among many hashed words.
    """

    pairs: LabelledPairs
    values: Floats
    scales: Floats

    @classmethod
    def of(cls, pairs: LabelledPairs, groups: Sequence[FeatureGroup]) -> PairTable:
        raw = np.concatenate(
            [
                np.column_stack([group.of(task, pairs.pictures[pairs.queries == number]) for group in groups])
                for number, task in enumerate(pairs.tasks)
            ]
        ).astype(np.float64)
        centered = raw - _query_means(raw, pairs.queries)[pairs.queries]
        spread = centered.std(axis=0)
        widths = np.concatenate([np.full(count, count) for group in groups for count in group.counts])
        scales = np.where(spread > 1e-9, 1 / (np.maximum(spread, 1e-9) * np.sqrt(widths)), 0.0)
        return cls(pairs, centered * scales, scales)

    def part(self, start: int, width: int) -> PairTable:
        """The features of one group alone."""
        end = start + width
        return PairTable(self.pairs, self.values[:, start:end], self.scales[start:end])


def _query_means(values: Floats, queries: Codes) -> Floats:
    counts = np.bincount(queries)
    sums = np.zeros((len(counts), values.shape[1]))
    np.add.at(sums, queries, values)
    found: Floats = sums / counts[:, None]
    return found


FoldModels = Mapping[tuple[int, int], Floats]


def fit_folds(table: PairTable, penalty: float = PENALTY) -> FoldModels:
    """For each fold of queries and of pictures the coefficients of the model that saw neither."""
    pairs, weights = table.pairs, table.pairs.weights
    folds = pairs.picture_folds[pairs.pictures]
    found: dict[tuple[int, int], Floats] = {}
    for query_fold, picture_fold in product(range(QUERY_FOLDS), range(PICTURE_FOLDS)):
        seen = (pairs.query_folds[pairs.queries] != query_fold) & (folds != picture_fold)
        found[query_fold, picture_fold] = fit_logistic(table.values[seen], pairs.relevant[seen], weights[seen], penalty)
    return found


def unseen_scores(table: PairTable, models: FoldModels) -> Floats:
    """The score of each pair by the model that saw neither its query nor its picture.

    Models are made comparable by the spread of what they say of all pairs, whatever the labels.
    """
    pairs = table.pairs
    folds = pairs.picture_folds[pairs.pictures]
    scores = np.zeros(len(pairs.queries))
    for (query_fold, picture_fold), beta in models.items():
        said = table.values @ beta
        spread = float(said.std())
        tested = (pairs.query_folds[pairs.queries] == query_fold) & (folds == picture_fold)
        scores[tested] = said[tested] / spread if spread > 1e-12 else 0.0
    return scores


class LearnedRanker:
    """Ranks all pictures for a query by the models that saw neither the query nor the picture."""

    def __init__(
        self, table: PairTable, models: FoldModels, groups: Sequence[FeatureGroup], ids: Sequence[str]
    ) -> None:
        self._groups, self._ids = groups, np.array(ids, dtype=object)
        self._rows = {id_: row for row, id_ in enumerate(ids)}
        self._folds = table.pairs.picture_folds
        self._last: tuple[str, Floats] | None = None
        self._of_task = {
            task.id: int(fold) for task, fold in zip(table.pairs.tasks, table.pairs.query_folds, strict=True)
        }
        self._coefficients = {key: list(_cut(beta * table.scales, groups)) for key, beta in models.items()}
        self._alone = {
            key: sum(
                (group.pictures @ alone for group, (alone, _) in zip(groups, parts, strict=True)), np.zeros(len(ids))
            )
            for key, parts in self._coefficients.items()
        }

    def __call__(self, task: Task, allowed: Collection[str] | None, k: int) -> list[tuple[str, float]]:
        """The first `k` pictures of those allowed, with scores; the whole ranking and a pool are asked for in a row."""
        if self._last is None or self._last[0] != task.id:
            self._last = task.id, self._scored(task)
        among = np.arange(len(self._ids))
        if allowed is not None:
            among = np.array(sorted(self._rows[id_] for id_ in allowed if id_ in self._rows), dtype=np.intp)
        return best_of(self._last[1], among, self._ids, k)

    def _scored(self, task: Task) -> Floats:
        query_fold = self._of_task.get(task.id, 0)  # A query that was not sampled is in no model.
        extra = [[feature(task) for feature in group.pairs] for group in self._groups]
        found = np.zeros(len(self._ids))
        for picture_fold in range(PICTURE_FOLDS):
            key = query_fold, picture_fold
            said = self._alone[key].copy()
            for features, (_, together) in zip(extra, self._coefficients[key], strict=True):
                for feature, weight in zip(features, together, strict=True):
                    said += weight * feature
            spread, mine = float(said.std()), self._folds == picture_fold
            found[mine] = (said[mine] - said.mean()) / spread if spread > 1e-12 else 0.0
        return found


def _cut(beta: Floats, groups: Sequence[FeatureGroup]) -> Iterator[tuple[Floats, Floats]]:
    """Coefficients of each group: those of pictures alone, and those of pictures together with a query."""
    start = 0
    for group in groups:
        middle = start + group.pictures.shape[1]
        end = start + group.width
        yield beta[start:middle], beta[middle:end]
        start = end
