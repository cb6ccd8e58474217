"""The questions of a benchmark that can be taught, and what sampling needs of each.

Random draws are made from names: the same on every machine and in every version, whatever else is in the pool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.validation import odd_options
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.reason.curriculum.lessons import Lesson, lesson_of, shows_part
from sightline.reason.curriculum.plan import STEPS, CurriculumPlan
from sightline.types import Choice, Picture, Task, Truth

Draws = NDArray[np.uint64]
_STEP, _FIRST, _SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
UNMEASURED = "no difficulty"
_LEVELS = {"easy": 0.0, "medium": 0.5, "hard": 1.0}


def draws_of(names: Iterable[str]) -> Draws:
    """A number for each name."""
    return np.fromiter((_number(name) for name in names), dtype=np.uint64)


def redrawn(lots: Draws, label: str) -> Draws:
    """New numbers for a draw with that label; draws with other labels have nothing to do with it."""
    mixed: Draws = lots + np.uint64(_number(label)) + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))


def _number(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


class TaskDifficulty(NamedTuple):
    """Of one question: 1 for the hard pool, 0 for the easy one, -1 if not known; and its level, 0 (easiest) to 1."""

    hard: int
    level: float


class LessonPicture(NamedTuple):
    """A picture: where it lies on this machine, and its size if that is known, or can be seen there."""

    path: Path | None
    size: tuple[int, int] | None


class _Taught(NamedTuple):
    """A question with its right option and its steps."""

    task: Task
    truth: Choice


class QuestionPool:
    """Lessons by row (0, 1, …, in the order of the benchmark), with what sampling needs of each."""

    def __init__(
        self,
        folder: Path,
        questions: Sequence[_Taught],
        pictures: Mapping[str, Picture],
        plan: CurriculumPlan,
        left_out: Mapping[str, int],
    ) -> None:
        self.folder, self._questions, self._pictures, self._regions = folder, questions, pictures, plan.regions
        self.left_out = left_out
        self._size = lru_cache(maxsize=4096)(_size_of)
        measured = [difficulty_of(one.task) for one in questions]
        self.hard: NDArray[np.int8] = np.array([one.hard for one in measured], np.int8)
        self.levels: NDArray[np.float64] = np.array([one.level for one in measured], np.float64)
        self.lots: Draws = draws_of(one.task.id for one in questions)

    def __len__(self) -> int:
        return len(self._questions)

    def lesson(self, row: int) -> Lesson:
        """One lesson."""
        return lesson_of(*self._questions[row], regions=self._regions)

    def picture(self, name: str) -> LessonPicture:
        """What is known of a picture."""
        found = self._pictures.get(name)
        if found is None:
            return LessonPicture(None, None)
        path = picture_path(found.uri, self.folder)
        known = (found.width, found.height) if found.width and found.height else None
        return LessonPicture(path, known or self._size(path))


def _size_of(path: Path | None) -> tuple[int, int] | None:
    """By the head of the file, as it is stored; what can't be read is a fault of its own, and is found as one."""
    if path is not None:
        with suppress(OSError, SyntaxError, ValueError, Image.DecompressionBombError), Image.open(path) as image:
            return image.size
    return None


def open_pool(folder: Path, plan: CurriculumPlan, limit: int | None = None) -> QuestionPool:
    """The choose tasks of a benchmark (the first `limit`) that have what the plan needs; others are counted."""
    benchmark = read_benchmark(folder, reviews=False)
    left_out: Counter[str] = Counter()
    chosen = islice((task for task in benchmark.tasks.values() if _is_taught(task, plan, left_out)), limit)
    questions: list[_Taught] = []
    missing: Counter[str] = Counter()
    for task in chosen:
        truth = benchmark.truth.get(task.id)
        if (why := _why_not(truth, plan)) is not None:
            missing[why] += 1
        else:
            assert isinstance(truth, Choice)
            questions.append(_Taught(task, truth))
    left_out.update(dict(sorted(missing.items())))
    pool = QuestionPool(folder, questions, benchmark.corpus.pictures, plan, left_out)
    _refuse_empty(pool)
    return pool


def difficulty_of(task: Task) -> TaskDifficulty:
    """By the label `difficulty` (easy, or anything harder) and, for the level, what `extra` says more exactly."""
    labels = task.labels.get("difficulty", ())
    if not labels:
        return TaskDifficulty(-1, 0.5)
    level = _LEVELS.get(labels[0], 1.0)
    exact = task.extra.get("difficulty")
    if isinstance(exact, dict) and isinstance(rate := exact.get("pass_rate"), int | float):
        level = 1.0 - rate
    elif isinstance(exact, int | float):
        level = float(exact)
    return TaskDifficulty(int(labels[0] != "easy"), level)


def _is_taught(task: Task, plan: CurriculumPlan, left_out: Counter[str]) -> bool:
    if task.kind != "choose":
        left_out[f"{task.kind} task"] += 1
    elif shows_part(task):
        left_out["shows a part of a picture"] += 1
    elif (odd := odd_options(task)) is not None:
        left_out[odd] += 1
    elif plan.needs_difficulty and "difficulty" not in task.labels:
        left_out[UNMEASURED] += 1
    else:
        return True
    return False


def _why_not(truth: Truth | None, plan: CurriculumPlan) -> str | None:
    """Why a question can't be taught from, if it can't."""
    if truth is None:
        return "no truth"
    if not isinstance(truth, Choice) or truth.option is None:
        return "no right option"
    known = {step.kind for step in truth.steps}
    missing = [step for step in STEPS[:-1] if step in plan.steps and step not in known]
    return f"no {missing[0]} step" if missing else None


def _refuse_empty(pool: QuestionPool) -> None:
    if len(pool):
        return
    reasons = ", ".join(f"{why} ({count:,})" for why, count in pool.left_out.items()) or "it has no tasks"
    raise UserError(f"{pool.folder} has nothing to teach: {reasons}.", _first_needed(pool))


def _first_needed(pool: QuestionPool) -> str:
    """What would make something to teach from."""
    no_steps = {f"no {step} step" for step in STEPS}
    for verb, reasons in (("difficulty", {UNMEASURED}), ("steps", no_steps)):
        if reasons & {*pool.left_out}:
            return f"have them made first: sightline {verb} {pool.folder} --model MODEL --out BENCH2"
    return "give a benchmark of choose tasks whose right option is known"
