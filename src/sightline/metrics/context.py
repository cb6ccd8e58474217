"""What the few metrics that need more than truth and prediction are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.types import Task

Vectors = NDArray[np.float32]


class TextEmbedder(Protocol):
    """Turns texts into unit-length rows; `name` and `revision` are reported beside the score."""

    name: str
    revision: str

    def texts(self, batch: Sequence[str]) -> Vectors: ...


@dataclass(frozen=True, slots=True)
class Context:
    """`scope`: the ids that may be returned; `vectors`: one row per picture id; the rest as named.

    `verdicts`: whether a judge finds a reply right, by task and reply.
    """

    task: Task | None = None
    scope: frozenset[str] | None = None
    vectors: Mapping[str, NDArray[np.floating[Any]]] | None = None
    embedder: TextEmbedder | None = None
    idf: Mapping[str, float] | None = None
    verdicts: Mapping[tuple[str, str], bool] | None = None
