"""Pixels → what is seen in them, as numbers: things with their probabilities and boxes, and the whole picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.models.protocols import Pixels
from sightline.types import Box
from sightline_world.models.networks import network
from sightline_world.scene import HAIR, HEADGEAR, SCENE_COLOURS, SCENE_KINDS, SCENE_LIGHTS, SCENE_PLACES, SCENE_SIZES

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
