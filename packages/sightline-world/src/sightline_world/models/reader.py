"""A picture of the world → its scene, as far as it can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sightline.models.protocols import Pixels
from sightline_world.models.looking import Glance, look
from sightline_world.models.networks import network
from sightline_world.models.signs import read_signs
from sightline_world.scene import SCENE_LIGHTS, SCENE_PLACES, Figure, Predicate, Relation, SceneGraph, Sign, Thing

SURE = 0.4
"""What the reader is less sure of is left out of a scene."""
_PREDICATES: tuple[Predicate, ...] = ("left of", "behind", "on", "holding")


@dataclass(frozen=True, slots=True)
class Reading:
    """A scene as it is seen, and how sure the reader is of the place, of the light, and of each thing by its id."""

    graph: SceneGraph
    place: float
    light: float
    sure: dict[str, float]


def read(pixels: Pixels, *, words: bool = True) -> Reading:
    """What a picture shows; `words` also reads its signs."""
    glance = look(pixels)
    ids = _ids(glance)
    things, figures, signs = _parts(glance, ids, pixels if words else None)
    place, light = int(glance.places.argmax()), int(glance.lights.argmax())
    graph = SceneGraph(SCENE_PLACES[place], SCENE_LIGHTS[light], things, figures, signs, _relations(glance, ids))
    sure = {name: glance.sure(at) for at, name in ids.items()}
    return Reading(graph, float(glance.places[place]), float(glance.lights[light]), sure)


def _ids(glance: Glance) -> dict[int, str]:
    """Names for what is seen surely enough, by its position."""
    counts = {"t": 0, "p": 0, "s": 0}
    ids: dict[int, str] = {}
    for at in range(len(glance.things)):
        if glance.sure(at) < SURE:
            continue
        letter = {"person": "p", "sign": "s"}.get(glance.kind(at), "t")
        ids[at] = f"{letter}{counts[letter]}"
        counts[letter] += 1
    return ids


def _parts(
    glance: Glance, ids: dict[int, str], pixels: Pixels | None
) -> tuple[tuple[Thing, ...], tuple[Figure, ...], tuple[Sign, ...]]:
    things, figures, boards = [], [], []
    for at, name in ids.items():
        kind, box = glance.kind(at), glance.box(at)
        if kind == "sign":
            boards.append((name, box))
        elif kind == "person":
            hair, headgear = glance.attribute(at, 2), glance.attribute(at, 3)
            colour = None if headgear == "none" else glance.attribute(at, 4)
            figures.append(Figure(name, hair, headgear, colour, glance.attribute(at, 0), box))
        else:
            things.append(Thing(name, kind, glance.attribute(at, 0), glance.attribute(at, 1), box))
    written: Sequence[str] = [""] * len(boards) if pixels is None else read_signs(pixels, [box for _, box in boards])
    signs = tuple(Sign(name, words, box) for (name, box), words in zip(boards, written, strict=True))
    return tuple(things), tuple(figures), signs


def _relations(glance: Glance, ids: dict[int, str]) -> tuple[Relation, ...]:
    pairs = [(a, b) for a in ids for b in ids if a != b]
    if not pairs:
        return ()
    subjects, objects = (glance.things[[pair[side] for pair in pairs]] for side in (0, 1))
    (logits,) = network("relations")(subjects=subjects, objects=objects)
    found = [
        Relation(ids[pairs[pair][0]], _PREDICATES[number], ids[pairs[pair][1]])
        for pair, number in zip(*np.nonzero(logits > 0), strict=True)
    ]
    return tuple(sorted(found, key=lambda relation: (relation.predicate, relation.subject, relation.object)))
