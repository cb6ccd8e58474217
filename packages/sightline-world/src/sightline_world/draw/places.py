"""The places of the world: how each is painted, and the zones of it where things may stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline.types import Box
from sightline_world.draw import outdoors, town, venues
from sightline_world.draw import venues as indoors
from sightline_world.draw.palette import Lamps
from sightline_world.draw.pen import Canvas
from sightline_world.draw.town import station

Habitat: TypeAlias = Literal["ground", "water", "sky", "table", "far"]


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
    """A place: its words, its painter and its zones; `front` is there when something stands on a table.

    Its background has `variants` looks, each painted from `Random(f"{name}/{variant}")`. `scenery_kinds` are kinds
    of things that the background itself shows, so that nobody should be asked to count them here.
    """

    phrase: str
    paint: Callable[[Canvas, Random], None]
    zones: Mapping[Habitat, Zone]
    lamps: Lamps | None = None
    front: Front | None = None
    variants: int = 6
    indoor: bool = False
    scenery_kinds: tuple[str, ...] = ()


def _high(top: float = 0.33, bottom: float = 0.50) -> Zone:
    return Zone(0.06, 0.94, top, bottom)


PLACES: Mapping[str, Place] = MappingProxyType(
    {
        "beach": Place(
            "on a beach",
            outdoors.beach,
            {
                "ground": Zone(0.06, 0.94, 0.76, 0.96, 0.40, 1.7),
                "water": Zone(0.08, 0.92, 0.46, 0.56, 0.40, 1.9),
                "sky": _high(0.32, 0.44),
            },
            scenery_kinds=("tree",),
        ),
        "forest": Place(
            "in a forest",
            outdoors.forest,
            {"ground": Zone(0.06, 0.94, 0.72, 0.96, 0.46, 1.7), "sky": _high()},
            scenery_kinds=("tree",),
        ),
        "lake": Place(
            "by a mountain lake",
            outdoors.lake,
            {
                "ground": Zone(0.06, 0.94, 0.83, 0.98, 0.48, 1.8),
                "water": Zone(0.10, 0.90, 0.57, 0.72, 0.46, 2.4),
                "sky": _high(0.34, 0.46),
            },
            scenery_kinds=("tree",),
        ),
        "snow": Place(
            "on a snowy hill",
            outdoors.snow,
            {
                "ground": Zone(0.06, 0.94, 0.72, 0.96, 0.46, 1.7),
                "far": Zone(0.22, 0.78, 0.590, 0.625, 0.46, 1.7),
                "sky": _high(),
            },
            scenery_kinds=("tree",),
        ),
        "garden": Place(
            "in a garden",
            outdoors.garden,
            {
                "ground": Zone(0.05, 0.95, 0.70, 0.96, 0.44, 1.7),
                "far": Zone(0.08, 0.92, 0.560, 0.590, 0.44, 1.7),
                "table": Zone(0.64, 0.92, 0.700, 0.715, scale=0.85),
                "sky": _high(0.33, 0.48),
            },
            front=Front(outdoors.garden_table, Box(0.59, 0.67, 0.98, 0.92)),
        ),
        "street": Place(
            "in a street",
            town.street,
            {"ground": Zone(0.06, 0.94, 0.68, 0.95, 0.47, 1.7), "sky": _high(0.30, 0.42)},
            scenery_kinds=("house", "lamp"),
        ),
        "market": Place(
            "at a market",
            town.market,
            {"ground": Zone(0.05, 0.95, 0.77, 0.97, 0.40, 1.8), "sky": _high(0.30, 0.40)},
            scenery_kinds=("house", "apple"),
        ),
        "harbour": Place(
            "at a harbour",
            town.harbour,
            {
                "ground": Zone(0.06, 0.94, 0.83, 0.98, 0.46, 1.8),
                "water": Zone(0.10, 0.90, 0.57, 0.71, 0.44, 2.6),
                "sky": _high(0.31, 0.40),
            },
            scenery_kinds=("house",),
        ),
        "stadium": Place(
            "in a stadium",
            venues.stadium,
            {"ground": Zone(0.06, 0.94, 0.60, 0.95, 0.20, 3.0), "sky": _high()},
            lamps="floodlights",
        ),
        "kitchen": Place(
            "in a kitchen",
            indoors.kitchen,
            {"table": Zone(0.06, 0.94, 0.78, 0.97, 0.30, 0.44), "sky": _high(0.40, 0.56)},
            lamps="room",
            indoor=True,
        ),
        "station": Place(
            "at a railway station",
            station,
            {"ground": Zone(0.05, 0.95, 0.74, 0.97, 0.44, 1.7), "sky": _high(0.29, 0.36)},
        ),
        "desert": Place(
            "in a desert",
            outdoors.desert,
            {
                "ground": Zone(0.05, 0.95, 0.72, 0.96, 0.46, 1.7),
                "far": Zone(0.22, 0.78, 0.585, 0.620, 0.46, 1.7),
                "sky": _high(),
            },
        ),
        "library": Place(
            "in a library",
            indoors.library,
            {
                "ground": Zone(0.05, 0.95, 0.74, 0.95, 0.40, 1.7),
                "table": Zone(0.48, 0.96, 0.76, 0.88, 0.36, 0.42),
                "sky": _high(0.34, 0.52),
            },
            lamps="room",
            front=Front(indoors.library_table, Box(0.42, 0.70, 1.0, 1.0)),
            indoor=True,
            scenery_kinds=("book",),
        ),
        "playground": Place(
            "at a playground",
            venues.playground,
            {
                "ground": Zone(0.05, 0.95, 0.74, 0.96, 0.44, 1.7),
                "far": Zone(0.64, 0.90, 0.545, 0.570, 0.44, 1.7),
                "sky": _high(0.30, 0.38),
            },
        ),
    }
)
"""In the order of `types.SCENE_PLACES`."""
