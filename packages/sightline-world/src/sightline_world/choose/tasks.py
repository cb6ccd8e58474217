"""Endless multiple choice over several pictures: a question by lot becomes a task with its truth and its pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from types import MappingProxyType

from sightline.errors import UserError
from sightline.types import Choice, Option, Part, PictureRef, Step, StepKind, Task
from sightline_world.choose.charts import chart_analysis
from sightline_world.choose.cooking import cooking_process
from sightline_world.choose.depth import depth_relationship, forced_perspective
from sightline_world.choose.location import location_relationship, view_from_elsewhere
from sightline_world.choose.motion import motion_detection, speed_comparison
from sightline_world.choose.puzzle import image_puzzle
from sightline_world.choose.question import (
    ChoiceQuestion,
    DrawnShot,
    Maker,
    NoLuckError,
    Piece,
    QuestionBrief,
    Region,
    Size,
)
from sightline_world.choose.satire import satire
from sightline_world.choose.sharpness import scale_blur
from sightline_world.choose.weights import weight_comparison
from sightline_world.draw.camera import jpeg
from sightline_world.scene import SceneGraph

MAKERS: Mapping[str, Maker] = MappingProxyType(
    {
        "Speed Comparison": speed_comparison,
        "Motion Detection": motion_detection,
        "Cooking Process": cooking_process,
        "Image Puzzle": image_puzzle,
        "Location Relationship": location_relationship,
        "Depth Relationship": depth_relationship,
        "3D View": view_from_elsewhere,
        "Forced Perspective": forced_perspective,
        "Chart Analysis": chart_analysis,
        '"YES, BUT" Satire': satire,
        "Weight Comparison": weight_comparison,
        "Scale Blur": scale_blur,
    }
)
ALL = tuple(MAKERS)
"""The subtasks in their order: four sequential, four spatial, four analytical."""
CATEGORIES = ("Sequential", "Spatial", "Analytical")
_LETTERS = "ABCD"
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")
# A wording for which nothing can be drawn, as where a place has too few kinds of things, is given up.
_DRAFTS, _WORDINGS = 150, 40


@dataclass(frozen=True, slots=True)
class TaskPicture:
    """A picture of a task: its JPEG file, what it was drawn from, a caption and, of a scene, all that it shows."""

    id: str
    file: bytes
    size: Size
    recipe: object
    caption: str
    graph: SceneGraph | None


@dataclass(frozen=True, slots=True)
class ChooseTask:
    """A task, its truth with the five reference steps, and its pictures in the order of the prompt and the options."""

    task: Task
    truth: Choice
    pictures: tuple[TaskPicture, ...]

    @property
    def digest(self) -> str:
        """Equal for two tasks that ask the same about pictures drawn from the same: whatever their ids and grain."""
        words = [part if isinstance(part, str) else "<image>" for part in self.task.prompt]
        options = [option.text for option in self.task.options]
        recipes = [repr(picture.recipe) for picture in self.pictures]
        return blake2b("\x1f".join((*words, *options, *recipes)).encode(), digest_size=16).hexdigest()


def choose_tasks(
    count: int,
    seed: int | str,
    difficulty: float | None = None,
    subtasks: Sequence[str] = ALL,
    *,
    size: Size = (320, 240),
) -> list[ChooseTask]:
    """So many tasks, the subtasks by turns; the first tasks of a longer list are those of a shorter one."""
    return [choose_task(number, seed, difficulty, subtasks, size=size) for number in range(count)]


def choose_task(
    number: int,
    seed: int | str,
    difficulty: float | None = None,
    subtasks: Sequence[str] = ALL,
    *,
    size: Size = (320, 240),
) -> ChooseTask:
    """One task of the endless list, without those before it; with no difficulty given, each has its own by lot."""
    _check(difficulty, subtasks, size)
    subtask = subtasks[number % len(subtasks)]
    base = f"choose/{seed}/{number}/{subtask}"
    lot = Random(base)
    level = lot.random() if difficulty is None else difficulty
    question = _question(subtask, base, level, size)
    name = f"choose-{_NO_WORD.sub('-', str(seed))}-{number:06}"
    return _assembled(name, _labels(subtask, level), question, lot, level)


def difficulty_label(level: float) -> str:
    """The third that a difficulty is in."""
    return ("easy", "medium", "hard")[min(2, int(3 * level))]


def _check(difficulty: float | None, subtasks: Sequence[str], size: Size) -> None:
    unknown = [name for name in subtasks if name not in MAKERS]
    if unknown or not subtasks:
        wrong = f'"{unknown[0]}" is not a subtask' if unknown else "no subtask is given"
        raise UserError(f"{wrong}.", f"choose from: {', '.join(ALL)}")
    if difficulty is not None and not 0 <= difficulty <= 1:
        raise UserError(f"a difficulty of {difficulty} is out of range.", "give a number from 0 (easy) to 1 (hard)")
    if min(size) < 48 or not 1.2 <= size[0] / size[1] <= 1.8:
        raise UserError(
            f"pictures of {size[0]} x {size[1]} pixels leave no room for the scenes.",
            "give at least 64 x 48, and a width of 1.2 to 1.8 times the height; 320 x 240 is usual",
        )


def _question(subtask: str, base: str, level: float, size: Size) -> ChoiceQuestion:
    for words in range(_WORDINGS):
        for draft in range(_DRAFTS):
            wanted = QuestionBrief(Random(f"{base}/{words}"), Random(f"{base}/{words}/{draft}"), level, size)
            try:
                return MAKERS[subtask](wanted)
            except NoLuckError:
                continue
    raise AssertionError(f"no draft of {subtask} was good")


def _labels(subtask: str, level: float) -> dict[str, tuple[str, ...]]:
    category = CATEGORIES[ALL.index(subtask) // 4]
    return {"category": (category,), "subtask": (subtask,), "difficulty": (difficulty_label(level),)}


def _assembled(
    name: str, labels: Mapping[str, tuple[str, ...]], question: ChoiceQuestion, lot: Random, level: float
) -> ChooseTask:
    order = list(range(len(question.options)))
    if not question.numbered:
        lot.shuffle(order)
    options = [question.options[place] for place in order]
    key = _LETTERS[order.index(question.right)]
    # Shots are told apart by identity: one that is shown twice is one picture.
    shots = {id(piece): piece for piece in (*question.prompt, *options) if isinstance(piece, DrawnShot)}
    ids = {mark: f"{name}/{place}.jpg" for place, mark in enumerate(shots, 1)}
    quality = 94 - round(lot.uniform(0, 28) * level)
    task = Task(
        id=name,
        kind="choose",
        prompt=_parts(question.prompt, ids),
        options=tuple(Option(letter, _parts((option,), ids)) for letter, option in zip(_LETTERS, options, strict=True)),
        labels=labels,
        extra={"difficulty": round(level, 4)},
    )
    return ChooseTask(
        task=task,
        truth=Choice(key, steps=tuple(_steps(question, key, shots.values(), ids))),
        pictures=tuple(
            TaskPicture(ids[mark], jpeg(shot.image, quality), shot.image.size, shot.recipe, shot.caption, shot.graph)
            for mark, shot in shots.items()
        ),
    )


def _parts(pieces: Iterable[Piece], ids: Mapping[int, str]) -> tuple[Part, ...]:
    """Words and pictures in turn: neighbouring words become one part."""
    parts: list[Part] = []
    for piece in pieces:
        if isinstance(piece, DrawnShot):
            parts.append(PictureRef(ids[id(piece)]))
        elif parts and isinstance(parts[-1], str):
            parts[-1] += piece
        else:
            parts.append(piece)
    return tuple(parts)


def _steps(question: ChoiceQuestion, key: str, shots: Iterable[DrawnShot], ids: Mapping[int, str]) -> Iterable[Step]:
    yield Step("summary", question.summary)
    for shot in shots:
        yield Step("caption", shot.caption, (PictureRef(ids[id(shot)]),))
    said: tuple[tuple[StepKind, str, tuple[Region, ...]], ...] = (
        ("text-to-region", question.regions.text, question.regions.regions),
        ("region-to-region", question.compared.text, question.compared.regions),
    )
    for kind, text, regions in said:
        yield Step(kind, text, tuple(PictureRef(ids[id(shot)], box) for shot, box in regions))
    yield Step("conclusion", f"{question.conclusion} The answer is {key}.")
