"""Endless multiple choice over several pictures, in twelve subtasks, with the truth and five reference steps."""

from sightline_world.choose.tasks import (
    ALL,
    CATEGORIES,
    ChooseTask,
    TaskPicture,
    choose_task,
    choose_tasks,
    difficulty_label,
)

__all__ = ["ALL", "CATEGORIES", "ChooseTask", "TaskPicture", "choose_task", "choose_tasks", "difficulty_label"]
