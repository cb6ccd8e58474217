"""What the makers of tasks share: the lots that they draw, and the task with its truth and how it came about."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sightline.types import Scope, Task, Truth
from sightline_world.tasks.album import TaskAlbum
from sightline_world.tasks.phrases import Family

DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class MadeTask:
    """A task and its truth.

    `extra` of the task says how it came about, so that the truth can be derived again, and what was proved of it. No
    system under test sees it.
    """

    task: Task
    truth: Truth


@dataclass(frozen=True, slots=True)
class Lot:
    """What one draft of a task goes by: the album, chance, the family of its words, and how hard it is (0 to 1)."""

    album: TaskAlbum
    rng: Random
    family: Family
    difficulty: float

    def chance(self, easy: float, hard: float) -> bool:
        """Yes with a probability that goes from one value to another as it gets harder."""
        return self.rng.random() < easy + (hard - easy) * self.difficulty

    def scope(self) -> Scope:
        return Scope(owner=self.album.life.owner)


def labels(difficulty: float, **values: str | int | bool) -> dict[str, tuple[str, ...]]:
    """The slices of a report: what is given, and the third that the difficulty is in."""
    level = DIFFICULTIES[min(2, int(3 * difficulty))]
    return {name: (_label(value),) for name, value in {**values, "difficulty": level}.items()}


def _label(value: str | int | bool) -> str:
    return str(value) if not isinstance(value, bool) else "yes" if value else "no"
