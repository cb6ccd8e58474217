"""Variety: of pictures that are almost the same, one now and the others later (maximal marginal relevance)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.models.protocols import Vectors
from sightline.search.fusion import normalise


def spread_out(scores: NDArray[np.float64], vectors: Vectors, diversity: float, k: int) -> list[int]:
    """Places of the k chosen, one by one: argmax (1 − d) · normalised score − d · highest cosine with those chosen.

    d = 0 keeps the order; d = 1 looks at variety alone, after the best. Among equals the earlier is taken.
    """
    relevance = (1.0 - diversity) * normalise(scores)
    nearest = np.full(len(scores), -np.inf)
    open_ = np.ones(len(scores), np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(k, len(scores)):
        penalty = diversity * nearest if chosen else 0.0
        at = int(np.argmax(np.where(open_, relevance - penalty, -np.inf)))
        chosen.append(at)
        open_[at] = False
        nearest = np.maximum(nearest, vectors @ vectors[at])
    return chosen
