"""Reasoning steps aligned with reference steps, one to one, and how many contradictions each aligned pair has.

The best one-to-one assignment is found by the Hungarian method with potentials, O(rows² · columns).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.answers.reply import without_thinking
from sightline.metrics.steps.contradictions import find_contradictions
from sightline.metrics.steps.split import split_steps
from sightline.metrics.text.tokens import word_tokens
from sightline.types import Choice, Prediction, Step, Text, Trace

_LEAST_ALIKE = 0.2
_OTHER_KIND = 0.5
_NEARNESS = 1e-6
_UNNAMED = frozenset({"think", "search"})
_STOP_WORDS = (
    "a an the of in on at to for with by from and or is are was were be been it its this that these those as there "
    "的 了 是 在 有 和 与 也 就 都 而 及 着"
)
_STOPS = frozenset(_STOP_WORDS.split())


def best_assignment(weights: NDArray[np.float64]) -> tuple[tuple[int, int], ...]:
    """(row, column) pairs of the largest total weight that leave no row over, or no column if there are fewer of those.

    Pairs are in order of rows. An empty matrix has none.
    """
    if weights.ndim != 2 or 0 in weights.shape:
        return ()
    if weights.shape[0] > weights.shape[1]:
        return tuple(sorted((row, column) for column, row in best_assignment(weights.T)))
    owner = _match_rows(-np.asarray(weights, dtype=np.float64))
    return tuple(sorted((int(row), column) for column, row in enumerate(owner) if row >= 0))


def _match_rows(cost: NDArray[np.float64]) -> NDArray[np.intp]:
    """The row that each column belongs to (-1 for none), at the least total cost; rows ≤ columns."""
    rows, columns = cost.shape
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    owner = np.full(columns, -1, dtype=np.intp)
    for row in range(rows):
        reached, distance, before = _shortest_path(row, cost, row_price, column_price, owner)
        end = int(reached[-1])
        # Prices move so that reduced costs stay non-negative and the path costs nothing.
        row_price[row] += distance[end]
        for column in reached[:-1]:
            row_price[owner[column]] += distance[end] - distance[column]
            column_price[column] -= distance[end] - distance[column]
        while end >= 0:
            previous = int(before[end])
            owner[end] = row if previous < 0 else owner[previous]
            end = previous
    return owner


def _shortest_path(
    start: int,
    cost: NDArray[np.float64],
    row_price: NDArray[np.float64],
    column_price: NDArray[np.float64],
    owner: NDArray[np.intp],
) -> tuple[list[int], NDArray[np.float64], NDArray[np.intp]]:
    """Dijkstra's search from a row to the nearest free column: columns reached, their distances, and from where."""
    columns = cost.shape[1]
    distance = np.full(columns, np.inf)
    before = np.full(columns, -1, dtype=np.intp)
    open_columns = np.ones(columns, dtype=bool)
    reached: list[int] = []
    row, last, so_far = start, -1, 0.0
    while True:
        reduced = so_far + cost[row] - row_price[row] - column_price
        better = open_columns & (reduced < distance)
        distance[better] = reduced[better]
        before[better] = last
        last = int(np.argmin(np.where(open_columns, distance, np.inf)))
        open_columns[last] = False
        reached.append(last)
        if owner[last] < 0:
            return reached, distance, before
        row, so_far = int(owner[last]), float(distance[last])


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A reference step and the predicted step that answers to it, by place, and how similar they are."""

    reference: int
    predicted: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """The pairs, in order of the reference, and how many steps there are on each side."""

    pairs: tuple[AlignedPair, ...]
    references: int
    predictions: int

    @property
    def coverage(self) -> float | None:
        """Reference steps that have a partner / reference steps; None if there are none."""
        return len(self.pairs) / self.references if self.references else None

    @property
    def order(self) -> float | None:
        """Share of pairs of aligned steps that come in the same order on both sides; None for fewer than two."""
        couples = list(combinations((pair.predicted for pair in self.pairs), 2))
        return sum(first < second for first, second in couples) / len(couples) if couples else None


def token_f1(references: Sequence[str], predictions: Sequence[str]) -> NDArray[np.float64]:
    """2 · common words / all words, with counts and without stop words; each Chinese character is a word."""
    rows, columns = ([_content(text) for text in texts] for texts in (references, predictions))
    result = np.zeros((len(rows), len(columns)))
    for row, wanted in enumerate(rows):
        for column, said in enumerate(columns):
            both = wanted.total() + said.total()
            result[row, column] = 2 * (wanted & said).total() / both if both else 0.0
    return result


def align_steps(reference: Sequence[Step], predicted: Sequence[Step]) -> Alignment:
    """The one-to-one pairing with the largest sum of similarities, in any order; pairs less alike than 0.2 don't count.

    Two steps that are named as different kinds count half as similar. Of equal sums the one nearest in place wins.
    """
    if not reference or not predicted:
        return Alignment((), len(reference), len(predicted))
    weights = token_f1([step.text for step in reference], [step.text for step in predicted])
    weights = weights * _same_kind(reference, predicted)
    weights = np.where(weights >= _LEAST_ALIKE, weights, 0.0)
    places = np.abs(np.subtract.outer(np.linspace(0, 1, len(reference)), np.linspace(0, 1, len(predicted))))
    pairs = [
        AlignedPair(row, column, float(weights[row, column]))
        for row, column in best_assignment(weights + _NEARNESS * (1 - places) * (weights > 0))
        if weights[row, column] > 0
    ]
    return Alignment(tuple(pairs), len(reference), len(predicted))


def _same_kind(reference: Sequence[Step], predicted: Sequence[Step]) -> NDArray[np.float64]:
    return np.array(
        [
            [1.0 if one.kind == other.kind or {one.kind, other.kind} & _UNNAMED else _OTHER_KIND for other in predicted]
            for one in reference
        ]
    )


def _content(text: str) -> Counter[str]:
    """The words that matter; all of them where the text has only stop words."""
    words = word_tokens(text)
    return Counter(word for word in words if word not in _STOPS) or Counter(words)


@dataclass(frozen=True, slots=True)
class ComparedSteps:
    """Reference and predicted steps, which belong together, and how many conflicts each pair has."""

    alignment: Alignment
    conflicts: tuple[int, ...]


def predicted_steps(prediction: Prediction) -> tuple[Step, ...]:
    """The steps of a prediction: those of a choice, else read from the reply, or from its thinking if that has more."""
    if isinstance(prediction, Choice):
        return prediction.steps
    if isinstance(prediction, Trace):
        return (*split_steps(prediction.thinking), *split_steps(prediction.answer))
    if not isinstance(prediction, Text):
        return ()
    shown = split_steps(without_thinking(prediction.text).text)
    return shown if len(shown) > 1 else max(shown, split_steps(prediction.text), key=len)


def compare_steps(reference: Sequence[Step], predicted: Sequence[Step]) -> ComparedSteps:
    """Align, then look for contradictions between the aligned."""
    alignment = align_steps(reference, predicted)
    conflicts = [
        len(find_contradictions(reference[pair.reference].text, predicted[pair.predicted].text))
        for pair in alignment.pairs
    ]
    return ComparedSteps(alignment, tuple(conflicts))
