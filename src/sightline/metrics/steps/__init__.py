"""Reasoning steps: read from text, aligned with a reference, checked for order and contradictions.

Importing this registers the metrics; the rest is loaded when it is first used, for its patterns take time to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import later
from sightline.metrics.steps import metrics

if TYPE_CHECKING:
    from sightline.metrics.steps.alignment import (
        AlignedPair,
        Alignment,
        Similarity,
        align_steps,
        best_assignment,
        embedder_similarity,
        token_f1,
    )
    from sightline.metrics.steps.contradictions import Contradiction, find_contradictions
    from sightline.metrics.steps.split import split_steps

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
    "AlignedPair": "sightline.metrics.steps.alignment",
    "Alignment": "sightline.metrics.steps.alignment",
    "Contradiction": "sightline.metrics.steps.contradictions",
    "Similarity": "sightline.metrics.steps.alignment",
    "align_steps": "sightline.metrics.steps.alignment",
    "best_assignment": "sightline.metrics.steps.alignment",
    "embedder_similarity": "sightline.metrics.steps.alignment",
    "find_contradictions": "sightline.metrics.steps.contradictions",
    "split_steps": "sightline.metrics.steps.split",
    "token_f1": "sightline.metrics.steps.alignment",
}

__getattr__, __dir__ = later(__name__, _LAZY)
