"""Which examples are trained on together: like lengths beside each other, in an order that the seed decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.train.examples import ROUND

WINDOW = 64
"""Batches' worth of examples that are sorted by rounded length at a time: few enough to stay mixed."""


@dataclass(frozen=True, slots=True)
class Step:
    """One update of the weights: the batches whose gradients are added up for it."""

    batches: tuple[tuple[int, ...], ...]


def steps_of(
    lengths: NDArray[np.int64], *, tokens: int, together: int = 1, chance: Sequence[int], mixed: bool = True
) -> list[Step]:
    """An epoch in steps of `together` batches, each of at most `tokens` tokens with its padding.

    Without `mixed` the order of the examples is kept, and only neighbours share a batch.
    """
    rng = np.random.default_rng(list(chance))
    order = rng.permutation(len(lengths)) if mixed else np.arange(len(lengths))
    batches: list[tuple[int, ...]] = []
    usual = int(np.median(lengths)) if len(lengths) else 1
    size = WINDOW * max(1, tokens // max(1, usual)) if mixed else max(1, len(order))
    for at in range(0, len(order), size):
        window = order[at : at + size]
        if mixed:
            window = window[np.argsort(-lengths[window] // ROUND, kind="stable")]
        cut = list(_cut(window, lengths, tokens))
        if mixed:
            rng.shuffle(cut)
        batches += cut
    return [Step(tuple(batches[at : at + together])) for at in range(0, len(batches), together)]


def _cut(rows: NDArray[np.int64], lengths: NDArray[np.int64], tokens: int) -> Iterator[tuple[int, ...]]:
    """Runs of rows that fit together; one that is too long by itself is alone."""
    held: list[int] = []
    longest = 0
    for row in rows.tolist():
        longer = max(longest, -(-int(lengths[row]) // ROUND) * ROUND)
        if held and longer * (len(held) + 1) > tokens:
            yield tuple(held)
            held, longer = [], -(-int(lengths[row]) // ROUND) * ROUND
        held.append(row)
        longest = longer
    if held:
        yield tuple(held)
