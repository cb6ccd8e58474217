"""The questions of a benchmark as a curriculum asks them, with nothing given: what a model is tried with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sightline.bench import picture_path, read
from sightline.errors import UserError
from sightline.reason.curriculum.lessons import Exercise, lesson_of, shows_part
from sightline.reason.curriculum.plan import STEPS, Stage
from sightline.score.choices.right import right_option
from sightline.types import Benchmark, Choice, Task

_STAGE = Stage("asked", "", STEPS)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question for all steps: its words with `<image>` in them, its pictures, the right option and all options."""

    task: str
    prompt: str
    images: tuple[Path, ...]
    answer: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Questions:
    """Those that can be asked, and how many can't, by reason."""

    asked: tuple[Asked, ...]
    left_out: Mapping[str, int]


def questions_of(folder: Path) -> Questions:
    """The choose tasks of a benchmark whose right option is known, with whole pictures."""
    benchmark = read(folder)
    found = [_asked(task, benchmark, folder) for task in benchmark.tasks.values()]
    left_out = Counter(one for one in found if isinstance(one, str))
    return Questions(tuple(one for one in found if isinstance(one, Asked)), left_out)


def _asked(task: Task, benchmark: Benchmark, folder: Path) -> Asked | str:
    """A task as it is asked, or why it is not."""
    truth = benchmark.truth.get(task.id)
    if task.kind != "choose" or not isinstance(truth, Choice) or right_option(task, truth) is None:
        return "no choice with a known option"
    if shows_part(task):
        return "shows a part of a picture"
    exercise = Exercise(lesson_of(task, truth, regions=False), _STAGE)
    images = []
    for name in exercise.lesson.images:
        file = picture_path(benchmark.corpus.pictures[name].uri, folder)
        if file is None:
            raise UserError(f"{folder}: the picture {name} is not on this machine.", "fetch the pictures first")
        images.append(file)
    options = {option.key: option.text for option in task.options}
    return Asked(task.id, exercise.prompt, tuple(images), exercise.lesson.answer, options)
