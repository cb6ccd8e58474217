"""F1 of two sets."""

from __future__ import annotations

from sightline.score.sets.overlap import Overlap, set_metric


@set_metric("f1")
def f1(sets: Overlap) -> float:
    """F1 = 2 · right / (predicted + true), the harmonic mean of precision and recall.

    Empty against empty: 1. Empty against non-empty: 0.
    """
    size = sets.predicted + sets.true
    return 2 * sets.right / size if size else 1.0
