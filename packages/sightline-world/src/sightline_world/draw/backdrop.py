"""Painted places, kept for the next picture of the same place in the same light."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
from PIL import Image

from sightline_world.draw.palette import LIGHTS, Light
from sightline_world.draw.pen import OVERSAMPLING, Canvas, Note
from sightline_world.draw.places import PLACES, Front
from sightline_world.draw.sprites import Cache
from sightline_world.draw.venues import scoreboard

# 128 MB are all variants of all places in all lights at 320 x 240.
_MEMORY = 128 << 20
_PLACES: Cache[Backdrop] = Cache(_MEMORY, lambda drop: drop.image.width * drop.image.height * 3)
_FRONTS: Cache[Image.Image] = Cache(_MEMORY // 4, lambda image: image.width * image.height * 4)


@dataclass(frozen=True, slots=True)
class Backdrop:
    """A place in its light, without anything in it: never painted on, only copied."""

    image: Image.Image
    light: Light
    scenery: tuple[Note, ...]


def light_in(place: str, light: str) -> Light:
    """The light of the day as it is in that place."""
    return LIGHTS[light].under(PLACES[place].lamps)


def backdrop(
    place: str, light: str, variant: int, size: tuple[int, int], score: tuple[int, int] | None = None
) -> Backdrop:
    """The place; `score` is what the scoreboard of a stadium shows."""
    number = variant % PLACES[place].variants
    return _PLACES.get((place, light, number, size, score), lambda: _painted(place, light, number, size, score))


def front_layer(place: str, light: str, variant: int, size: tuple[int, int]) -> Image.Image | None:
    """The furniture that stands before things, with its opacity; None where a place has none."""
    front, number = PLACES[place].front, variant % PLACES[place].variants
    if front is None:
        return None
    return _FRONTS.get((place, light, number, size), lambda: _layer(front, place, light, number, size))


def _painted(place: str, light: str, variant: int, size: tuple[int, int], score: tuple[int, int] | None) -> Backdrop:
    canvas = Canvas(*size, light_in(place, light))
    PLACES[place].paint(canvas, Random(f"{place}/{variant}"))
    if score is not None:
        scoreboard(canvas, score)
    canvas.shine()
    return Backdrop(canvas.image.reduce(OVERSAMPLING), canvas.light, tuple(canvas.notes))


def _layer(front: Front, place: str, light: str, variant: int, size: tuple[int, int]) -> Image.Image:
    """Painted once on black and once on white: where both look the same it is opaque."""
    shots = []
    for ground in (0, 255):
        canvas = Canvas(*size, light_in(place, light))
        canvas.image.paste((ground, ground, ground), (0, 0, *canvas.image.size))
        front.paint(canvas, Random(f"{place}/{variant}/front"))
        shots.append(np.asarray(canvas.image.reduce(OVERSAMPLING)).astype(np.int32))
    black, white = shots
    opacity = np.clip(255 - (white - black).max(axis=2), 0, 255)
    colour = np.where(opacity[:, :, None] > 0, black * 255 // np.maximum(opacity, 1)[:, :, None], 0)
    layers = np.dstack([np.clip(colour, 0, 255), opacity]).astype(np.uint8)
    return Image.fromarray(layers, "RGBA")
