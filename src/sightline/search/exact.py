"""The nearest of all vectors, by comparing with each of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.models.protocols import Vectors


class Nearest(NamedTuple):
    """Positions and scores, best first."""

    positions: NDArray[np.intp]
    scores: NDArray[np.float32]


def nearest(pages: Iterable[Vectors], query: NDArray[np.float32], k: int) -> Nearest:
    """The k rows with the highest product with the query, over pages of rows; equal ones in their order."""
    positions, scores = np.zeros(0, np.intp), np.zeros(0, np.float32)
    start = 0
    for page in pages:
        products = page @ query
        best = _best(products, k)
        positions = np.concatenate([positions, best + start])
        scores = np.concatenate([scores, products[best]])
        kept = _best(scores, k)
        positions, scores = positions[kept], scores[kept]
        start += len(page)
    return Nearest(positions, scores)


def _best(scores: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    """Where the k highest are, best first; among equal ones, the earlier."""
    if len(scores) > k:
        lowest = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= lowest)
    else:
        candidates = np.arange(len(scores))
    return candidates[np.argsort(-scores[candidates], kind="stable")[:k]]
