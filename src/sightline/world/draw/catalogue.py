"""What can be drawn: the kinds of things, and the places with the zones where things may stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline.types import Box
from sightline.world.draw import figures, objects, outdoors, town, venues
from sightline.world.draw.palette import RGB, Lamps
from sightline.world.draw.pen import Canvas, Pen

Habitat: TypeAlias = Literal["ground", "water", "sky", "table", "far"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing: how it is drawn, its height in metres, its width for that height, where it lives."""

    draw: Callable[[Pen, RGB, Random], None]
    metres: float
    aspect: float
    habitat: Habitat
    colours: tuple[str, ...]
    plural: str


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of a place (fractions of its width; height 0 to 1) and how large a metre is in it.

    With an `eye` height the size follows perspective under the `horizon`; without, a metre is `scale` high.
    """

    left: float
    right: float
    top: float
    bottom: float
    horizon: float = 0.0
    eye: float = 0.0
    scale: float = 1.0

    def height(self, metres: float, y: float) -> float:
        return metres * (y - self.horizon) / self.eye if self.eye else metres * self.scale

    def depth(self, y: float) -> float:
        """0 at the viewer's feet, towards 1 at the horizon."""
        if not self.eye:
            return 0.1
        return 0.65 * math.pow(max(0.0, (0.95 - y) / (0.95 - self.horizon)), 1.5)


@dataclass(frozen=True, slots=True)
class Front:
    """Furniture that is painted over what stands behind it, and the part of the picture that it takes up."""

    paint: Callable[[Canvas, Random], None]
    box: Box


@dataclass(frozen=True, slots=True)
class Place:
    """A place: its words, its painter and its zones; `front` is there when something stands on a table."""

    phrase: str
    paint: Callable[[Canvas, Random], None]
    zones: Mapping[Habitat, Zone]
    lamps: Lamps | None = None
    front: Front | None = None


_BRIGHT = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
_FURS = ("brown", "black", "white", "orange")

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "person": Kind(figures.person, 1.75, 0.46, "ground", (*_BRIGHT, "white", "black"), "people"),
        "dog": Kind(figures.dog, 0.75, 1.45, "ground", _FURS, "dogs"),
        "cat": Kind(figures.cat, 0.34, 1.0, "table", _FURS, "cats"),
        "snowman": Kind(figures.snowman, 1.5, 0.85, "ground", ("white",), "snowmen"),
        "ball": Kind(objects.ball, 0.42, 1.0, "ground", _BRIGHT, "balls"),
        "balloon": Kind(objects.balloon, 0.30, 0.52, "sky", _BRIGHT, "balloons"),
        "hot-air balloon": Kind(objects.hot_air_balloon, 0.28, 0.78, "sky", _BRIGHT, "hot-air balloons"),
        "kite": Kind(objects.kite, 0.30, 0.52, "sky", _BRIGHT, "kites"),
        "bicycle": Kind(objects.bicycle, 1.15, 1.66, "ground", (*_BRIGHT, "black"), "bicycles"),
        "car": Kind(objects.car, 1.5, 2.34, "ground", (*_BRIGHT, "white", "black"), "cars"),
        "boat": Kind(objects.boat, 3.6, 1.08, "water", (*_BRIGHT, "white"), "boats"),
        "mug": Kind(objects.mug, 0.13, 0.92, "table", (*_BRIGHT, "white"), "mugs"),
        "apple": Kind(objects.apple, 0.085, 1.0, "table", ("red", "green", "yellow"), "apples"),
        "cake": Kind(objects.cake, 0.24, 1.46, "table", ("pink", "white", "brown", "yellow", "blue"), "cakes"),
        "house": Kind(objects.house, 4.4, 1.22, "far", ("red", "yellow", "white", "blue", "green"), "houses"),
        "tree": Kind(objects.tree, 5.0, 0.86, "far", ("green", "orange"), "trees"),
        "tent": Kind(objects.tent, 1.35, 1.82, "ground", ("orange", "green", "blue", "yellow", "red"), "tents"),
        "umbrella": Kind(objects.umbrella, 2.0, 0.98, "ground", _BRIGHT, "umbrellas"),
    }
)


def _high(top: float = 0.33, bottom: float = 0.50) -> Zone:
    return Zone(0.06, 0.94, top, bottom)


PLACES: Mapping[str, Place] = MappingProxyType(
    {
        "beach": Place(
            "on a beach",
            outdoors.beach,
            {
                "ground": Zone(0.06, 0.94, 0.76, 0.95, 0.40, 1.7),
                "water": Zone(0.08, 0.92, 0.46, 0.54, 0.40, 1.9),
                "sky": _high(),
            },
        ),
        "forest": Place(
            "in a forest", outdoors.forest, {"ground": Zone(0.10, 0.90, 0.76, 0.95, 0.46, 1.7), "sky": _high()}
        ),
        "lake": Place(
            "by a mountain lake",
            outdoors.lake,
            {
                "ground": Zone(0.06, 0.94, 0.92, 0.985, 0.50, 1.9),
                "water": Zone(0.10, 0.90, 0.58, 0.76, 0.48, 2.4),
                "sky": _high(),
            },
        ),
        "snow": Place(
            "on a snowy hill",
            outdoors.snow,
            {
                "ground": Zone(0.06, 0.94, 0.72, 0.95, 0.46, 1.7),
                "far": Zone(0.15, 0.85, 0.575, 0.60, 0.46, 1.7),
                "sky": _high(),
            },
        ),
        "garden": Place(
            "in a garden",
            outdoors.garden,
            {
                "ground": Zone(0.05, 0.95, 0.70, 0.96, 0.44, 1.7),
                "far": Zone(0.10, 0.90, 0.555, 0.575, 0.44, 1.7),
                "table": Zone(0.64, 0.92, 0.700, 0.715, scale=0.85),
                "sky": _high(0.42, 0.60),
            },
            front=Front(outdoors.garden_table, Box(0.59, 0.67, 0.98, 0.92)),
        ),
        "street": Place(
            "in a street",
            town.street,
            {"ground": Zone(0.06, 0.94, 0.68, 0.93, 0.47, 1.7), "sky": _high(0.30, 0.45)},
        ),
        "market": Place(
            "at a market",
            town.market,
            {"ground": Zone(0.05, 0.95, 0.80, 0.97, 0.40, 1.8), "sky": _high(0.36, 0.50)},
        ),
        "harbour": Place(
            "at a harbour",
            town.harbour,
            {
                "ground": Zone(0.06, 0.94, 0.91, 0.98, 0.46, 1.9),
                "water": Zone(0.10, 0.90, 0.60, 0.76, 0.46, 2.6),
                "sky": _high(0.28, 0.36),
            },
        ),
        "stadium": Place(
            "in a stadium",
            venues.stadium,
            {"ground": Zone(0.06, 0.94, 0.60, 0.95, 0.20, 3.0), "sky": _high()},
            lamps="floodlights",
        ),
        "kitchen": Place(
            "in a kitchen",
            venues.kitchen,
            {"table": Zone(0.06, 0.94, 0.80, 0.96, 0.30, 0.44), "sky": _high(0.40, 0.56)},
            lamps="room",
        ),
    }
)
