"""EM: exact match."""

from __future__ import annotations

from sightline.score.sets.overlap import Overlap, set_metric


@set_metric("em")
def exact_match(sets: Overlap) -> float:
    """EM = 1 when both sets are the same, else 0. Empty against empty: 1."""
    return float(sets.right == sets.predicted == sets.true)
