"""`--metrics top_grade`: the grade of the first picture, as a share of the highest grade that the task has."""

from sightline.metrics.context import Context
from sightline.types import Prediction, Ranking, Relevance, Truth


def top_grade(truth: Truth, prediction: Prediction, context: Context) -> float | None:
    """None where it is not defined: for other kinds of task, and where nothing is relevant."""
    if not isinstance(truth, Relevance) or not any(truth.grades.values()):
        return None
    first = prediction.pictures[:1] if isinstance(prediction, Ranking) else ()
    return sum(truth.grades.get(picture, 0) for picture in first) / max(truth.grades.values())
