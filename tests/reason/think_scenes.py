"""Drawn scenes, and sentences that are true or false of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from sightline_world.draw import draw
from sightline_world.scene import SCENE_COLOURS, SCENE_KINDS, SCENE_PLACES, SceneGraph, Thing
from sightline_world.scene_plans import random_plan
from sightline_world.vocabulary import PLACE_PHRASES

_CLEAR, _LARGE, _FAR = 0.3, 0.004, 0.15


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    about: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Scene:
    path: Path
    graph: SceneGraph
    sentences: tuple[Sentence, ...]


def scenes(folder: Path, count: int, seed: str = "claims") -> Iterator[Scene]:
    """Pictures that were never trained on, each with as many true sentences as false ones."""
    for number in range(count):
        drawing = draw(random_plan(f"{seed}/{number}", 0.3))
        path = folder / f"{number:03d}.png"
        drawing.image.save(path)
        yield Scene(path, drawing.graph, tuple(_sentences(drawing.graph, Random(f"{seed}/{number}"))))


def _sentences(graph: SceneGraph, rng: Random) -> Iterator[Sentence]:
    clear = [thing for thing in graph.things if thing.hidden < _CLEAR and _area(thing) > _LARGE]
    kinds = {thing.kind for thing in graph.things}
    for thing in rng.sample(clear, min(2, len(clear))):
        alike = [other for other in graph.things if other.kind == thing.kind]
        other = rng.choice([colour for colour in SCENE_COLOURS if colour not in {one.colour for one in alike}])
        yield Sentence(f"There is a {thing.colour} {thing.kind}.", "colour", True)
        yield Sentence(f"There is a {other} {thing.kind}.", "colour", False)
        across = (thing.box.left + thing.box.right) / 2
        if len(alike) == 1 and abs(across - 0.5) > _FAR:
            side, wrong = ("left", "right") if across < 0.5 else ("right", "left")
            yield Sentence(f"There is a {thing.kind} on the {side} side of the picture.", "side", True)
            yield Sentence(f"There is a {thing.kind} on the {wrong} side of the picture.", "side", False)
            box = f"[{thing.box.left:.2f}, {thing.box.top:.2f}, {thing.box.right:.2f}, {thing.box.bottom:.2f}]"
            yield Sentence(f"The object in {box} is a {thing.colour} {thing.kind}.", "box", True)
            yield Sentence(f"The object in {box} is a {other} {thing.kind}.", "box", False)
    missing = rng.choice([kind for kind in SCENE_KINDS if kind not in kinds])
    colour = rng.choice(SCENE_COLOURS)
    yield Sentence(f"There is no {colour} {missing} in the picture.", "kind", True)
    yield Sentence(f"There is a {colour} {missing} in the picture.", "kind", False)
    elsewhere = rng.choice([place for place in SCENE_PLACES if place != graph.place])
    yield Sentence(f"The picture was taken {PLACE_PHRASES[graph.place][0]}.", "place", True)
    yield Sentence(f"The picture was taken {PLACE_PHRASES[elsewhere][0]}.", "place", False)


def _area(thing: Thing) -> float:
    return (thing.box.right - thing.box.left) * (thing.box.bottom - thing.box.top)
