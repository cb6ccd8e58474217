"""Which predicted step answers to which reference step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.score.context import TextEmbedder
from sightline.score.steps.assignment import best_assignment
from sightline.score.text.tokens import word_tokens
from sightline.types import Step

Similarity: TypeAlias = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]
"""From reference texts (rows) and predicted texts (columns) to similarities between 0 and 1."""

THRESHOLD = 0.2
_OTHER_KIND = 0.5
_NEARNESS = 1e-6
_UNNAMED = frozenset({"think", "search"})
_STOP_WORDS = (
    "a an the of in on at to for with by from and or is are was were be been it its this that these those as there "
    "的 了 是 在 有 和 与 也 就 都 而 及 着"
)
_STOPS = frozenset(_STOP_WORDS.split())


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


def embedder_similarity(embedder: TextEmbedder) -> Similarity:
    """max(0, cosine) of the embedder's vectors."""

    def similarity(references: Sequence[str], predictions: Sequence[str]) -> NDArray[np.float64]:
        vectors = np.asarray(embedder.texts([*references, *predictions]), dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = vectors / np.where(lengths > 0, lengths, 1.0)
        cosines = vectors[: len(references)] @ vectors[len(references) :].T
        return np.asarray(np.clip(cosines, 0.0, 1.0), dtype=np.float64)

    return similarity


def align_steps(
    reference: Sequence[Step],
    predicted: Sequence[Step],
    similarity: Similarity = token_f1,
    threshold: float = THRESHOLD,
) -> Alignment:
    """The one-to-one pairing with the largest sum of similarities, in any order; pairs below the threshold don't count.

    Two steps that are named as different kinds count half as similar. Of equal sums the one nearest in place wins.
    """
    if not reference or not predicted:
        return Alignment((), len(reference), len(predicted))
    weights = similarity([step.text for step in reference], [step.text for step in predicted])
    weights = weights * _same_kind(reference, predicted)
    weights = np.where(weights >= threshold, weights, 0.0)
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
