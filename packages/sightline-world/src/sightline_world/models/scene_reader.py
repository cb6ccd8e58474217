"""A picture of the world → its scene, as far as it can be seen.

Networks give numbers first: things with their probabilities and boxes, and the whole picture. Each sign is cut out of
the full picture and read letter by letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.models.protocols import Pixels
from sightline.types import Box
from sightline_world.models.network_inputs import cut_sign
from sightline_world.models.networks import network
from sightline_world.scene import (
    HAIR,
    HEADGEAR,
    SCENE_COLOURS,
    SCENE_KINDS,
    SCENE_LIGHTS,
    SCENE_PLACES,
    SCENE_SIZES,
    Figure,
    Predicate,
    Relation,
    SceneGraph,
    Sign,
    Thing,
)

KINDS = (*SCENE_KINDS, "person", "sign")
ATTRIBUTES = (SCENE_COLOURS, SCENE_SIZES, HAIR, HEADGEAR, SCENE_COLOURS)
"""Colour, size, hair, headgear, and the headgear's colour."""
DETECTION = len(KINDS) + sum(map(len, ATTRIBUTES)) + 5
"""Numbers of one thing: how much it is of each kind, its attributes, its box, and how sure it is."""
SEEN = 20
"""Things of a picture that are kept at most."""

_SIDE = 320
_STRIDE = 4
_UNIT = 32.0
_FLOOR = 0.3
_SAME = 0.65
LETTERS = " ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SURE = 0.4
"""What the reader is less sure of is left out of a scene."""
_PREDICATES: tuple[Predicate, ...] = ("left of", "behind", "on", "holding")


@dataclass(frozen=True, slots=True)
class Glance:
    """Things (rows of `DETECTION` numbers, the surest first) and the probabilities of places, then of lights."""

    things: NDArray[np.float32]
    whole: NDArray[np.float32]

    @property
    def places(self) -> NDArray[np.float32]:
        return self.whole[: len(SCENE_PLACES)]

    @property
    def lights(self) -> NDArray[np.float32]:
        return self.whole[len(SCENE_PLACES) :]

    def kind(self, at: int) -> str:
        return KINDS[int(self.things[at, : len(KINDS)].argmax())]

    def attribute(self, at: int, number: int) -> str:
        """The likeliest value of an attribute of one thing, by its place in `ATTRIBUTES`."""
        first = len(KINDS) + sum(map(len, ATTRIBUTES[:number]))
        values = ATTRIBUTES[number]
        return values[int(self.things[at, first : first + len(values)].argmax())]

    def box(self, at: int) -> Box:
        left, top, right, bottom = (float(value) for value in self.things[at, -5:-1])
        return Box(left, top, right, bottom)

    def sure(self, at: int) -> float:
        return float(self.things[at, -1])


def look(pixels: Pixels) -> Glance:
    """What the reader sees in a picture of any size."""
    picture, size = _prepared(pixels)
    heat, boxes, attributes, whole = network("reader")(picture=picture)
    return Glance(_things(heat[0], boxes[0], attributes[0], size), _probabilities(whole[0]))


def _prepared(pixels: Pixels) -> tuple[NDArray[np.float32], tuple[int, int]]:
    """The picture at the reader's scale (1, 3, h, w), padded with grey; its width and height without the padding."""
    high, wide = pixels.shape[:2]
    scale = _SIDE / max(high, wide)
    size = max(1, round(wide * scale)), max(1, round(high * scale))
    if size != (wide, high):
        image = Image.fromarray(pixels).resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
        pixels = np.asarray(image)
    canvas = np.full((1, 3, -(-size[1] // 32) * 32, -(-size[0] // 32) * 32), 0.5, np.float32)
    canvas[0, :, : size[1], : size[0]] = pixels.transpose(2, 0, 1).astype(np.float32) / 255
    return canvas, size


def _things(
    heat: NDArray[np.float32], boxes: NDArray[np.float32], attributes: NDArray[np.float32], size: tuple[int, int]
) -> NDArray[np.float32]:
    heat = (1 / (1 + np.exp(-heat))).astype(np.float32)
    kind, row, column = np.nonzero((heat >= _FLOOR) & (heat == _highest_around(heat)))
    score = heat[kind, row, column]
    order = np.argsort(-score, kind="stable")[: 2 * SEEN]
    kind, row, column, score = kind[order], row[order], column[order], score[order]
    sides = boxes[:, row, column].T * _UNIT
    x, y = (column + 0.5) * _STRIDE, (row + 0.5) * _STRIDE
    corners = np.stack([x - sides[:, 0], y - sides[:, 1], x + sides[:, 2], y + sides[:, 3]], 1)
    kept = _distinct(corners)[:SEEN]
    scale = np.array([size[0], size[1]] * 2, np.float32)
    parts = [
        heat[:, row, column].T,
        _attributes(attributes[:, row, column].T),
        (corners / scale).clip(0, 1),
        score[:, None],
    ]
    return np.concatenate(parts, 1).astype(np.float32)[kept]


def _highest_around(heat: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each cell the highest value in the 3 × 3 cells about it."""
    framed = np.pad(heat, ((0, 0), (1, 1), (1, 1)), constant_values=-1)
    rows = np.maximum(np.maximum(framed[:, :-2], framed[:, 1:-1]), framed[:, 2:])
    highest: NDArray[np.float32] = np.maximum(np.maximum(rows[:, :, :-2], rows[:, :, 1:-1]), rows[:, :, 2:])
    return highest


def _distinct(boxes: NDArray[np.float32]) -> list[int]:
    """Positions of boxes, the surest first, without those that are almost equal to a surer one."""
    kept: list[int] = []
    for at, box in enumerate(boxes):
        if all(_overlap(box, boxes[other]) <= _SAME for other in kept):
            kept.append(at)
    return kept


def _overlap(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return 0.0
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - wide * high
    return float(wide * high / max(union, 1e-6))


def _attributes(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    parts, first = [], 0
    for values in ATTRIBUTES:
        parts.append(_softmax(logits[:, first : first + len(values)]))
        first += len(values)
    return np.concatenate(parts, 1)


def _probabilities(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    places = len(SCENE_PLACES)
    return np.concatenate([_softmax(logits[:places]), _softmax(logits[places : places + len(SCENE_LIGHTS)])])


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    shares: NDArray[np.float32] = powers / powers.sum(-1, keepdims=True)
    return shares


def read_signs(pixels: Pixels, boxes: Sequence[Box]) -> list[str]:
    """What is written in each box; an empty text where no letter could be read."""
    if not boxes:
        return []
    cuts = np.stack([cut_sign(pixels, box) for box in boxes])[:, None].astype(np.float32) / 255
    (logits,) = network("signs")(cuts=cuts)
    return [_collapsed(steps) for steps in logits.argmax(-1)]


def _collapsed(steps: NDArray[np.intp]) -> str:
    """Equal neighbours are one letter, and class 0 is none (CTC)."""
    changed = np.concatenate([[True], steps[1:] != steps[:-1]])
    return "".join(LETTERS[step - 1] for step in steps[changed & (steps > 0)]).strip()


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
