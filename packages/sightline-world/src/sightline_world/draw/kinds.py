"""The kinds of things: how each is drawn, how large it is, where it lives and which colours it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType

from sightline_world.draw import animals, figures, objects, table, vehicles
from sightline_world.draw.palette import RGB
from sightline_world.draw.pen import Pen
from sightline_world.draw.places import Habitat
from sightline_world.scene import SCENE_COLOURS


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing: how it is drawn, its height in metres, its width for that height, where it lives.

    In the sky, metres are shares of the picture's height. `also` holds its other habitats with the height there.
    """

    draw: Callable[[Pen, RGB, Random], None]
    metres: float
    aspect: float
    habitat: Habitat
    colours: tuple[str, ...]
    plural: str
    also: Mapping[Habitat, float] = field(default_factory=dict)

    def metres_in(self, habitat: Habitat) -> float:
        """Its height in one of its habitats."""
        return self.metres if habitat == self.habitat else self.also[habitat]

    @property
    def habitats(self) -> tuple[Habitat, ...]:
        """Where it lives, the usual place first."""
        return (self.habitat, *self.also)


_ALL = SCENE_COLOURS
_FURS = ("brown", "black", "white", "orange", "grey")
_HIDES = ("brown", "black", "white", "grey")
_DOWNS = ("yellow", "white", "brown", "black", "grey")
_LEAVES = ("green", "orange", "yellow", "red", "pink", "white")
_ICINGS = ("pink", "white", "brown", "yellow", "blue", "red", "orange", "green", "purple")

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "person": Kind(figures.person, 1.75, 0.46, "ground", _ALL, "people"),
        # animals
        "dog": Kind(animals.dog, 0.75, 1.45, "ground", _FURS, "dogs"),
        "cat": Kind(animals.cat, 0.34, 0.8, "table", _FURS, "cats", {"ground": 0.6}),
        "horse": Kind(animals.horse, 1.5, 1.2, "ground", _HIDES, "horses"),
        "cow": Kind(animals.cow, 1.25, 1.45, "ground", _HIDES, "cows"),
        "sheep": Kind(animals.sheep, 0.9, 1.24, "ground", _HIDES, "sheep"),
        "rabbit": Kind(animals.rabbit, 0.6, 0.8, "ground", _HIDES, "rabbits"),
        "duck": Kind(animals.duck, 0.55, 1.21, "ground", _DOWNS, "ducks", {"water": 1.3}),
        "bird": Kind(animals.bird, 0.16, 1.6, "sky", _ALL, "birds"),
        # vehicles
        "bicycle": Kind(vehicles.bicycle, 1.15, 1.66, "ground", _ALL, "bicycles"),
        "car": Kind(vehicles.car, 1.5, 2.4, "ground", _ALL, "cars"),
        "boat": Kind(vehicles.boat, 3.6, 1.07, "water", _ALL, "boats"),
        "bus": Kind(vehicles.bus, 2.0, 2.2, "ground", _ALL, "buses"),
        "truck": Kind(vehicles.truck, 1.9, 2.1, "ground", _ALL, "trucks"),
        "motorbike": Kind(vehicles.motorbike, 1.1, 1.7, "ground", _ALL, "motorbikes"),
        "hot-air balloon": Kind(vehicles.hot_air_balloon, 0.28, 0.74, "sky", _ALL, "hot-air balloons"),
        "plane": Kind(vehicles.plane, 0.14, 2.22, "sky", _ALL, "planes"),
        # things that stand or fly outdoors
        "tree": Kind(objects.tree, 5.0, 0.86, "far", _LEAVES, "trees", {"ground": 2.4}),
        "house": Kind(objects.house, 4.4, 1.22, "far", _ALL, "houses"),
        "tent": Kind(objects.tent, 1.35, 1.82, "ground", _ALL, "tents"),
        "umbrella": Kind(objects.umbrella, 2.0, 0.98, "ground", _ALL, "umbrellas"),
        "bench": Kind(objects.bench, 0.9, 1.75, "ground", _ALL, "benches"),
        "snowman": Kind(objects.snowman, 1.5, 0.8, "ground", ("white",), "snowmen"),
        "flag": Kind(objects.flag, 1.9, 0.77, "ground", _ALL, "flags"),
        "kite": Kind(objects.kite, 0.30, 0.52, "sky", _ALL, "kites"),
        "balloon": Kind(objects.balloon, 0.30, 0.49, "sky", _ALL, "balloons"),
        "ball": Kind(objects.ball, 0.42, 1.0, "ground", _ALL, "balls", {"table": 0.12}),
        "bucket": Kind(objects.bucket, 0.5, 0.9, "ground", _ALL, "buckets", {"table": 0.2}),
        "sled": Kind(objects.sled, 0.5, 2.07, "ground", _ALL, "sleds"),
        "mailbox": Kind(objects.mailbox, 1.05, 0.84, "ground", _ALL, "mailboxes"),
        "suitcase": Kind(objects.suitcase, 0.75, 1.1, "ground", _ALL, "suitcases"),
        "guitar": Kind(objects.guitar, 1.1, 0.4, "ground", _ALL, "guitars"),
        # things on a table
        "mug": Kind(table.mug, 0.13, 0.92, "table", _ALL, "mugs"),
        "apple": Kind(table.apple, 0.085, 1.0, "table", ("red", "green", "yellow"), "apples"),
        "cake": Kind(table.cake, 0.21, 1.5, "table", _ICINGS, "cakes"),
        "bottle": Kind(table.bottle, 0.3, 0.36, "table", _ALL, "bottles", {"ground": 0.6}),
        "book": Kind(table.book, 0.2, 0.76, "table", _ALL, "books", {"ground": 0.45}),
        "teapot": Kind(table.teapot, 0.2, 1.48, "table", _ALL, "teapots"),
        "vase": Kind(table.vase, 0.28, 0.54, "table", _ALL, "vases"),
        "pear": Kind(table.pear, 0.12, 0.64, "table", ("green", "yellow", "red", "brown"), "pears"),
        "clock": Kind(table.clock, 0.18, 0.83, "table", _ALL, "clocks"),
        "lamp": Kind(table.lamp, 0.36, 0.7, "table", _ALL, "lamps"),
        "bowl": Kind(table.bowl, 0.12, 1.86, "table", _ALL, "bowls"),
        "camera": Kind(table.camera, 0.15, 1.4, "table", _ALL, "cameras", {"ground": 0.42}),
    }
)
