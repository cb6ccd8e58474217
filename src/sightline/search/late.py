"""Late interaction: a text and a picture compared token by token (MaxSim), where an embedder gives token vectors.

score = mean over the query's tokens of the highest product with any token of the picture
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.models.protocols import Embedder, Pixels, Vectors


class TokenVectors(Protocol):
    """What an embedder may offer as its attribute `token_vectors`: a row of unit length for each token."""

    def pictures(self, batch: Sequence[Pixels]) -> Sequence[Vectors]: ...

    def texts(self, batch: Sequence[str]) -> Sequence[Vectors]: ...


def token_vectors_of(embedder: Embedder) -> TokenVectors | None:
    """The token vectors of an embedder, if it gives any."""
    offered: TokenVectors | None = getattr(embedder, "token_vectors", None)
    return offered


def max_sim(query: Vectors, pictures: Sequence[Vectors]) -> NDArray[np.float32]:
    """For each picture, the mean over the query's tokens of the best product; -1 for a picture without tokens."""
    scores = [float((query @ tokens.T).max(axis=1).mean()) if len(tokens) else -1.0 for tokens in pictures]
    return np.array(scores, np.float32)
