"""Reasoning steps: read from text, aligned with a reference, checked for order and contradictions.

Importing this registers the metrics; the rest is loaded when it is first used, for its patterns take time to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import later
from sightline.score.steps import metrics

if TYPE_CHECKING:
    from sightline.score.steps.align import (
        AlignedPair,
        Alignment,
        Similarity,
        align_steps,
        embedder_similarity,
        token_f1,
    )
    from sightline.score.steps.assignment import best_assignment
    from sightline.score.steps.contradictions import Contradiction, find_contradictions
    from sightline.score.steps.split import split_steps

__all__ = [
    "AlignedPair",
    "Alignment",
    "Contradiction",
    "Similarity",
    "align_steps",
    "best_assignment",
    "embedder_similarity",
    "find_contradictions",
    "metrics",
    "split_steps",
    "token_f1",
]

_LAZY = {
    "AlignedPair": ".align",
    "Alignment": ".align",
    "Contradiction": ".contradictions",
    "Similarity": ".align",
    "align_steps": ".align",
    "best_assignment": ".assignment",
    "embedder_similarity": ".align",
    "find_contradictions": ".contradictions",
    "split_steps": ".split",
    "token_f1": ".align",
}

__getattr__, __dir__ = later(__name__, _LAZY)
