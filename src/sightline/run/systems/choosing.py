"""What systems that find pictures share: a task's words, and results as the prediction that the task asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sightline.types import Failure, PictureSet, Prediction, Ranking, Task


def words_of_task(task: Task, language: str | None = None) -> str | Failure:
    """The words of the prompt, in another language where one is asked for."""
    if language is None:
        return " ".join(task.text.split())
    if language not in task.translations:
        known = ", ".join(sorted(task.translations)) or "none"
        return Failure("no-translation", f'the task is not told in "{language}" (translations: {known})')
    parts = task.translations[language]
    return " ".join("".join(part for part in parts if isinstance(part, str)).split())


def as_prediction(
    task: Task, found: Sequence[tuple[str, float]], select: Literal["ranking"] | int, scored: bool = True
) -> Prediction:
    """A ranking; for a select task the first `select` as a set, where a number is given."""
    if task.kind == "select" and select != "ranking":
        return PictureSet(tuple(picture for picture, _ in found[:select]))
    return Ranking(tuple(picture for picture, _ in found), tuple(score for _, score in found) if scored else None)
