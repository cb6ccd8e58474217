"""Precision of a set."""

from __future__ import annotations

from sightline.score.sets.overlap import Overlap, set_metric


@set_metric("set_precision")
def set_precision(sets: Overlap) -> float:
    """Precision = right / predicted.

    Empty against empty: 1. Nothing predicted where there is something to find: 0.
    """
    if sets.predicted == 0:
        return float(sets.true == 0)
    return sets.right / sets.predicted
