"""IoU: intersection over union."""

from __future__ import annotations

from sightline.score.sets.overlap import Overlap, set_metric


@set_metric("iou")
def iou(sets: Overlap) -> float:
    """IoU = right / (predicted + true − right). Empty against empty: 1. Empty against non-empty: 0."""
    union = sets.predicted + sets.true - sets.right
    return sets.right / union if union else 1.0
