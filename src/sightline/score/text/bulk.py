"""Many pairs of texts, several metrics, each text taken apart once, memory flat."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.score.context import Context
from sightline.score.text.document import Document
from sightline.score.text.similarity import Prefetch, checked, text_metric

Scores: TypeAlias = NDArray[np.float64]

# Pairs whose texts go to an embedder in one call.
_BATCH = 64

_Pair: TypeAlias = tuple[Document, list[Document]]


def score_pairs(
    metrics: Sequence[str],
    predictions: Iterable[str],
    references: Iterable[Sequence[str]],
    context: Context | None = None,
) -> dict[str, Scores]:
    """Each metric's score for each prediction against its references, in order.

    Both inputs are streamed. The texts given are what is compared: a `part` in a metric's name changes nothing.
    """
    context = context or Context()
    chosen = {name: text_metric(name) for name in metrics}
    columns = {name: array("d") for name in chosen}
    prefetches = {metric.prefetch for metric in chosen.values() if metric.prefetch}
    for prediction, others in _prepared(_documents(predictions, references), prefetches, context):
        for name, metric in chosen.items():
            columns[name].append(metric.score(prediction, others, context))
    return {name: np.array(column, dtype=np.float64) for name, column in columns.items()}


def _documents(predictions: Iterable[str], references: Iterable[Sequence[str]]) -> Iterator[_Pair]:
    others = iter(references)
    row = -1
    for row, prediction in enumerate(predictions):
        texts = next(others, None)
        if texts is None:
            raise UserError(f"prediction {row + 1} has no references.", "give one list of references for each")
        yield Document(prediction), [Document(text) for text in checked(texts)]
    if next(others, None) is not None:
        raise UserError(
            f"there are references for more than the {row + 1} predictions.", "give one prediction for each"
        )


def _prepared(pairs: Iterator[_Pair], prefetches: set[Prefetch], context: Context) -> Iterator[_Pair]:
    """The pairs, one by one; in batches first to what works better on many."""
    if not prefetches:
        yield from pairs
    while prefetches and (batch := list(islice(pairs, _BATCH))):
        for prefetch in prefetches:
            prefetch([item for prediction, others in batch for item in (prediction, *others)], context)
        # Taken out of the batch, so that a text's tokens are freed as soon as it is scored.
        batch.reverse()
        while batch:
            yield batch.pop()
