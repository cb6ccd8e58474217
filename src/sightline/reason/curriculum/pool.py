"""The questions of a benchmark in a temporary database, so that memory holds a few numbers for each and not its words.

Random draws are made from names: the same on every machine and in every version, whatever else is in the pool.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.benchmark.files import PICTURES, TASKS, TRUTH
from sightline.benchmark.folder import open_benchmark
from sightline.benchmark.problems import stop
from sightline.benchmark.table import TableSource
from sightline.benchmark.truth import TaskTruth
from sightline.benchmark.validation import odd_options
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.reason.curriculum.lessons import Lesson, lesson_of, shows_part
from sightline.reason.curriculum.plan import STEPS, CurriculumPlan
from sightline.types import Choice, Task, Truth

Draws = NDArray[np.uint64]
_STEP, _FIRST, _SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_SCHEMA = """
CREATE TABLE lessons (
  place INTEGER PRIMARY KEY, id TEXT UNIQUE, task BLOB, hard INTEGER, level REAL, truth BLOB,
  why TEXT DEFAULT 'no truth'
);
CREATE TABLE pictures (id TEXT PRIMARY KEY, uri TEXT, width INTEGER, height INTEGER);
"""
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


class QuestionPool:
    """Lessons by row (0, 1, …, in the order of the benchmark), with what sampling needs of each."""

    def __init__(
        self, folder: Path, database: sqlite3.Connection, plan: CurriculumPlan, left_out: Mapping[str, int]
    ) -> None:
        self.folder, self._database, self._regions = folder, database, plan.regions
        self.left_out = left_out
        self._size = lru_cache(maxsize=4096)(_size_of)
        found = database.execute("SELECT place, hard, level FROM lessons ORDER BY place")
        rows = np.fromiter(found, dtype=[("place", "i8"), ("hard", "i1"), ("level", "f8")])
        self._places: NDArray[np.int64] = rows["place"]
        self.hard: NDArray[np.int8] = rows["hard"]
        self.levels: NDArray[np.float64] = rows["level"]
        self.lots: Draws = draws_of(name for (name,) in database.execute("SELECT id FROM lessons ORDER BY place"))

    def __len__(self) -> int:
        return len(self._places)

    def lesson(self, row: int) -> Lesson:
        """One lesson, made again from the benchmark's lines."""
        query = "SELECT task, truth FROM lessons WHERE place = ?"
        task_line, truth_line = self._database.execute(query, (int(self._places[row]),)).fetchone()
        task = TASKS.to_value(TASKS.schema.validate_json(task_line))
        truth = TRUTH.to_value(TRUTH.schema.validate_json(truth_line)).truth
        assert isinstance(truth, Choice)
        return lesson_of(task, truth, regions=self._regions)

    def picture(self, name: str) -> LessonPicture:
        """What is known of a picture."""
        found = self._database.execute("SELECT uri, width, height FROM pictures WHERE id = ?", (name,)).fetchone()
        if found is None:
            return LessonPicture(None, None)
        uri, width, height = found
        path = picture_path(uri, self.folder)
        return LessonPicture(path, (width, height) if width and height else self._size(path))


def _size_of(path: Path | None) -> tuple[int, int] | None:
    """By the head of the file, as it is stored; what can't be read is a fault of its own, and is found as one."""
    if path is not None:
        with suppress(OSError, SyntaxError, ValueError, Image.DecompressionBombError), Image.open(path) as image:
            return image.size
    return None


@contextmanager
def open_pool(folder: Path, plan: CurriculumPlan, limit: int | None = None) -> Iterator[QuestionPool]:
    """The choose tasks of a benchmark (the first `limit`) that have what the plan needs; others are counted."""
    source = open_benchmark(folder, stop).source
    with closing(sqlite3.connect("")) as database:  # No name: a file on disk that goes when it is closed.
        database.executescript(_SCHEMA)
        with database:
            left_out = _fill(database, source, plan, limit)
        pool = QuestionPool(folder, database, plan, left_out)
        _refuse_empty(pool)
        yield pool


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


def _fill(database: sqlite3.Connection, source: TableSource, plan: CurriculumPlan, limit: int | None) -> dict[str, int]:
    left_out: Counter[str] = Counter()
    tasks = (task for _, task in source.unique(TASKS, lambda row: row.id, "id"))
    chosen = islice((task for task in tasks if _is_taught(task, plan, left_out)), limit)
    database.executemany(
        "INSERT INTO lessons (id, task, hard, level) VALUES (?, ?, ?, ?)",
        ((task.id, TASKS.line(task), *difficulty_of(task)) for task in chosen),
    )
    database.executemany(
        "UPDATE lessons SET truth = ?, why = ? WHERE id = ?",
        ((TRUTH.line(row) if why is None else None, why, row.task) for row, why in _truths(source, plan)),
    )
    counts = database.execute("SELECT why, count(*) FROM lessons WHERE truth IS NULL GROUP BY why ORDER BY why")
    left_out.update(dict(counts.fetchall()))
    database.execute("DELETE FROM lessons WHERE truth IS NULL")
    database.executemany(
        "INSERT OR IGNORE INTO pictures VALUES (?, ?, ?, ?)",
        ((row.id, row.uri, row.width, row.height) for _, row in source.rows(PICTURES)),
    )
    return dict(left_out)


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


def _truths(source: TableSource, plan: CurriculumPlan) -> Iterator[tuple[TaskTruth, str | None]]:
    """The truth of each task, and why it can't be taught from, if it can't."""
    for _, row in source.unique(TRUTH, lambda row: row.task, "task"):
        yield row, _why_not(row.truth, plan)


def _why_not(truth: Truth, plan: CurriculumPlan) -> str | None:
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
