"""Many pairs of texts scored by several metrics at once, memory flat; and the baseline of random pairs.

The baseline is what a metric gives to texts that have nothing to do with each other but their length.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.text.document import TextDocument
from sightline.metrics.text.similarity import checked, text_metric
from sightline.metrics.text.tokens import word_tokens
from sightline.metrics.text_metric import Prefetch

PairScores: TypeAlias = NDArray[np.float64]

# Pairs whose texts go to an embedder in one call.
_BATCH = 64

_Pair: TypeAlias = tuple[TextDocument, list[TextDocument]]


def score_pairs(
    metrics: Sequence[str],
    predictions: Iterable[str],
    references: Iterable[Sequence[str]],
    context: Context | None = None,
) -> dict[str, PairScores]:
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
        yield TextDocument(prediction), [TextDocument(text) for text in checked(texts)]
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


def random_pair_baseline(
    metric: str,
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    seed: int,
    pairs: int = 1,
    context: Context | None = None,
) -> PairScores:
    """For each prediction its score against references of other items, as long as its own; mean of `pairs` draws."""
    draws = [
        score_pairs([metric], predictions, stand_ins, context)[metric]
        for stand_ins in matched_references(references, seed, pairs)
    ]
    return np.asarray(np.mean(draws, axis=0), dtype=np.float64)


def matched_references(references: Sequence[Sequence[str]], seed: int, pairs: int = 1) -> list[list[list[str]]]:
    """`pairs` times, for each item as many references of other items as it has, each nearest in number of words.

    Among equally long ones the seed decides.
    """
    owner = [item for item, texts in enumerate(references) for _ in checked(texts)]
    texts = [text for texts in references for text in texts]
    others = len(texts) - max(map(len, references), default=0)
    if not 1 <= pairs <= others:
        raise UserError(
            f"{pairs} random pairs for each of {len(references)} items can't be drawn from {others} references.",
            "give more items, or ask for fewer pairs (at least 1)",
        )
    lengths = [len(word_tokens(text)) for text in texts]
    tie_break = np.random.default_rng(seed).random(len(texts))
    order = sorted(range(len(texts)), key=lambda at: (lengths[at], tie_break[at]))
    chosen: list[list[str]] = [[] for _ in texts]
    for rank, at in enumerate(order):
        chosen[at] = [texts[other] for other in islice(_nearest(rank, order, lengths, owner), pairs)]
    drawn = iter(chosen)
    by_item = [list(islice(drawn, len(own))) for own in references]
    return [[[stand_ins[draw] for stand_ins in item] for item in by_item] for draw in range(pairs)]


def _nearest(rank: int, order: list[int], lengths: list[int], owner: list[int]) -> Iterator[int]:
    """References of other items, from the one nearest in length outwards; the shorter of two as near first."""
    own = order[rank]
    below, above = rank - 1, rank + 1
    while below >= 0 or above < len(order):
        down = lengths[own] - lengths[order[below]] if below >= 0 else math.inf
        up = lengths[order[above]] - lengths[own] if above < len(order) else math.inf
        if down <= up:
            other, below = order[below], below - 1
        else:
            other, above = order[above], above + 1
        if owner[other] != owner[own]:
            yield other
