"""What a metric gives to texts that have nothing to do with each other but their length."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from sightline.errors import UserError
from sightline.score.context import Context
from sightline.score.text.bulk import Scores, score_pairs
from sightline.score.text.similarity import checked
from sightline.score.text.tokens import word_tokens


def random_pair_baseline(
    metric: str,
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    seed: int,
    pairs: int = 1,
    context: Context | None = None,
) -> Scores:
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
