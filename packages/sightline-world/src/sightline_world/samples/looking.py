"""What the makers of tasks share: questions to the truth about a picture."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from sightline.types import Task, Truth
from sightline_world.samples.scenes import Samples, Scene, Thing

Posed: TypeAlias = tuple[Task, Truth]
"""A task with its truth."""
Test: TypeAlias = Callable[[Scene], bool]


def has(kind: str, colour: str | None = None, at_least: int = 1) -> Test:
    """Shows that many things of the kind, in the colour where one is given."""

    def test(scene: Scene) -> bool:
        things = (*scene.objects, *scene.scenery)
        return sum(t.count for t in things if t.kind == kind and colour in (None, t.colour)) >= at_least

    return test


def middle(thing: Thing) -> float:
    """How far to the right it is, 0 to 1."""
    return (thing.box.left + thing.box.right) / 2


def alone(scene: Scene, kind: str) -> bool:
    """All things of the kind have one colour."""
    return sum(thing.kind == kind for thing in (*scene.objects, *scene.scenery)) == 1


def originals(samples: Samples, lot: str) -> list[Scene]:
    """Pictures that are no copies and no later frames of a burst, in an order drawn by that lot."""
    scenes = [s for s in samples.scenes if s.duplicate_of is None and (not s.burst or s.id == s.burst[0])]
    Random(lot).shuffle(scenes)
    return scenes
