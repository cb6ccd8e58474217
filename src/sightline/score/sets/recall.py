"""Recall of a set."""

from __future__ import annotations

from sightline.score.sets.overlap import Overlap, set_metric


@set_metric("set_recall")
def set_recall(sets: Overlap) -> float:
    """Recall = right / true.

    Empty against empty: 1. Something predicted where there is nothing to find: 0.
    """
    if sets.true == 0:
        return float(sets.predicted == 0)
    return sets.right / sets.true
