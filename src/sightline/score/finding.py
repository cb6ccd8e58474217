"""Tasks with nothing to find: the one place that decides which metrics they count for.

Sets can be right about them: an empty answer is right (1), any other is wrong (0). A ranking can't, whatever it says,
so metrics over rankings leave them out, and whoever shows a mean says how many were.
"""

from __future__ import annotations

from sightline.score.ranked.formula import TaskMetric
from sightline.score.registry import Metric
from sightline.types import PictureSet, Relevance, Truth


def has_something(truth: Truth | None, least: int = 1) -> bool:
    """Is there a picture to be found, with at least this grade? (Of an exact set every picture has grade 1.)"""
    if isinstance(truth, Relevance):
        return any(grade >= least for grade in truth.grades.values())
    return isinstance(truth, PictureSet) and bool(truth.pictures) and least <= 1


def leaves_out(metric: Metric, truth: Truth | None) -> bool:
    """Is the task left out of this metric, because there is nothing to find that the metric would count?"""
    if not isinstance(metric, TaskMetric) or not isinstance(truth, Relevance | PictureSet):
        return False
    return metric.least is not None and not has_something(truth, metric.least)
