"""The kinds of things: how each is drawn, how large it is, where it lives, its colours, what can carry or hold it.

With the wishes of a plan and their measures, before anything has a spot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from types import MappingProxyType

from sightline.errors import UserError
from sightline_world.draw import animals, figures, objects, table, vehicles
from sightline_world.draw.palette import RGB
from sightline_world.draw.pen import Pen
from sightline_world.draw.places import PLACES, Habitat, Place, Zone
from sightline_world.draw.plan import SIZE_FACTORS, ScenePlan, Spot
from sightline_world.draw.signs import board, letter_metres
from sightline_world.scene import SCENE_COLOURS, Relation

_ALL = SCENE_COLOURS
_FURS = ("brown", "black", "white", "orange", "grey")
_HIDES = ("brown", "black", "white", "grey")
_DOWNS = ("yellow", "white", "brown", "black", "grey")
_LEAVES = ("green", "orange", "yellow", "red", "pink", "white")
_ICINGS = ("pink", "white", "brown", "yellow", "blue", "red", "orange", "green", "purple")
RIDERS = ("cat", "bird", "book", "mug", "bottle", "camera", "bucket", "ball", "teapot", "clock", "lamp", "cake", "bowl")
"""Kinds that may lie or sit on something."""
_PERCH = {"bird": 0.42, "ball": 0.42}
PERSON_METRES, PERSON_ASPECT = 1.75, 0.50
TALLEST, WIDEST = 0.70, 0.52
"""Nothing is higher than this share of the picture's height, or wider than this share of its width."""
WALL = Zone(0.02, 0.98, 0.27, 0.40, scale=0.22)
"""Where signs hang that do not stand."""


@dataclass(frozen=True, slots=True)
class ThingKind:
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


KINDS: Mapping[str, ThingKind] = MappingProxyType(
    {
        "person": ThingKind(figures.person, 1.75, 0.46, "ground", _ALL, "people"),
        # animals
        "dog": ThingKind(animals.dog, 0.75, 1.45, "ground", _FURS, "dogs"),
        "cat": ThingKind(animals.cat, 0.34, 0.8, "table", _FURS, "cats", {"ground": 0.6}),
        "horse": ThingKind(animals.horse, 1.5, 1.2, "ground", _HIDES, "horses"),
        "cow": ThingKind(animals.cow, 1.25, 1.45, "ground", _HIDES, "cows"),
        "sheep": ThingKind(animals.sheep, 0.9, 1.24, "ground", _HIDES, "sheep"),
        "rabbit": ThingKind(animals.rabbit, 0.6, 0.8, "ground", _HIDES, "rabbits"),
        "duck": ThingKind(animals.duck, 0.55, 1.21, "ground", _DOWNS, "ducks", {"water": 1.3}),
        "bird": ThingKind(animals.bird, 0.16, 1.6, "sky", _ALL, "birds"),
        # vehicles
        "bicycle": ThingKind(vehicles.bicycle, 1.15, 1.66, "ground", _ALL, "bicycles"),
        "car": ThingKind(vehicles.car, 1.5, 2.4, "ground", _ALL, "cars"),
        "boat": ThingKind(vehicles.boat, 3.6, 1.07, "water", _ALL, "boats"),
        "bus": ThingKind(vehicles.bus, 2.0, 2.2, "ground", _ALL, "buses"),
        "truck": ThingKind(vehicles.truck, 1.9, 2.1, "ground", _ALL, "trucks"),
        "motorbike": ThingKind(vehicles.motorbike, 1.1, 1.7, "ground", _ALL, "motorbikes"),
        "hot-air balloon": ThingKind(vehicles.hot_air_balloon, 0.28, 0.74, "sky", _ALL, "hot-air balloons"),
        "plane": ThingKind(vehicles.plane, 0.14, 2.22, "sky", _ALL, "planes"),
        # things that stand or fly outdoors
        "tree": ThingKind(objects.tree, 5.0, 0.86, "far", _LEAVES, "trees", {"ground": 2.4}),
        "house": ThingKind(objects.house, 4.4, 1.22, "far", _ALL, "houses"),
        "tent": ThingKind(objects.tent, 1.35, 1.82, "ground", _ALL, "tents"),
        "umbrella": ThingKind(objects.umbrella, 2.0, 0.98, "ground", _ALL, "umbrellas"),
        "bench": ThingKind(objects.bench, 0.9, 1.75, "ground", _ALL, "benches"),
        "snowman": ThingKind(objects.snowman, 1.5, 0.8, "ground", ("white",), "snowmen"),
        "flag": ThingKind(objects.flag, 1.9, 0.77, "ground", _ALL, "flags"),
        "kite": ThingKind(objects.kite, 0.30, 0.52, "sky", _ALL, "kites"),
        "balloon": ThingKind(objects.balloon, 0.30, 0.49, "sky", _ALL, "balloons"),
        "ball": ThingKind(objects.ball, 0.42, 1.0, "ground", _ALL, "balls", {"table": 0.12}),
        "bucket": ThingKind(objects.bucket, 0.5, 0.9, "ground", _ALL, "buckets", {"table": 0.2}),
        "sled": ThingKind(objects.sled, 0.5, 2.07, "ground", _ALL, "sleds"),
        "mailbox": ThingKind(objects.mailbox, 1.05, 0.84, "ground", _ALL, "mailboxes"),
        "suitcase": ThingKind(objects.suitcase, 0.75, 1.1, "ground", _ALL, "suitcases"),
        "guitar": ThingKind(objects.guitar, 1.1, 0.4, "ground", _ALL, "guitars"),
        # things on a table
        "mug": ThingKind(table.mug, 0.13, 0.92, "table", _ALL, "mugs"),
        "apple": ThingKind(table.apple, 0.085, 1.0, "table", ("red", "green", "yellow"), "apples"),
        "cake": ThingKind(table.cake, 0.21, 1.5, "table", _ICINGS, "cakes"),
        "bottle": ThingKind(table.bottle, 0.3, 0.36, "table", _ALL, "bottles", {"ground": 0.6}),
        "book": ThingKind(table.book, 0.2, 0.76, "table", _ALL, "books", {"ground": 0.45}),
        "teapot": ThingKind(table.teapot, 0.2, 1.48, "table", _ALL, "teapots"),
        "vase": ThingKind(table.vase, 0.28, 0.54, "table", _ALL, "vases"),
        "pear": ThingKind(table.pear, 0.12, 0.64, "table", ("green", "yellow", "red", "brown"), "pears"),
        "clock": ThingKind(table.clock, 0.18, 0.83, "table", _ALL, "clocks"),
        "lamp": ThingKind(table.lamp, 0.36, 0.7, "table", _ALL, "lamps"),
        "bowl": ThingKind(table.bowl, 0.12, 1.86, "table", _ALL, "bowls"),
        "camera": ThingKind(table.camera, 0.15, 1.4, "table", _ALL, "cameras", {"ground": 0.42}),
    }
)


@dataclass(frozen=True, slots=True)
class Support:
    """A surface: how far below the thing's top it lies (share of the height), and which share of the width is flat."""

    surface: float
    room: float


@dataclass(frozen=True, slots=True)
class Hold:
    """How something is held: its height then, where the hand grips it (0 at its top), whether it hangs down."""

    metres: float
    grip: float
    hangs: bool = False


SUPPORTS: Mapping[str, Support] = MappingProxyType(
    {
        "bench": Support(0.52, 0.8),
        "sled": Support(0.45, 0.7),
        "suitcase": Support(0.14, 0.6),
        "car": Support(0.05, 0.3),
        "truck": Support(0.04, 0.5),
        "bus": Support(0.03, 0.8),
        "mailbox": Support(0.02, 0.5),
    }
)

HOLDS: Mapping[str, Hold] = MappingProxyType(
    {
        "balloon": Hold(1.15, 1.0),
        "umbrella": Hold(1.35, 0.86),
        "flag": Hold(1.5, 0.84),
        "kite": Hold(1.1, 0.98),
        "ball": Hold(0.42, 0.55),
        "guitar": Hold(1.0, 0.60),
        "book": Hold(0.42, 0.62),
        "camera": Hold(0.34, 0.60),
        "mug": Hold(0.30, 0.60),
        "bottle": Hold(0.48, 0.55),
        "apple": Hold(0.24, 0.60),
        "cake": Hold(0.45, 0.95),
        "suitcase": Hold(0.62, 0.05, hangs=True),
        "bucket": Hold(0.48, 0.05, hangs=True),
    }
)


def carried_metres(kind: str, habitat: Habitat) -> float:
    """How high something is that lies on a thing of the ground; on a table it is as it always is there."""
    own = KINDS[kind]
    if habitat in own.habitats and habitat != "sky":
        return own.metres_in(habitat)
    return _PERCH.get(kind) or min(0.65, max(0.32, 2.2 * own.metres))


@dataclass(frozen=True, slots=True)
class Item:
    """A wish before it has a spot; `metres` is its height where it lives.

    It may stand where it is not too large, from `top` to `bottom`, and be no higher than `limit`.
    """

    id: str
    kind: str
    habitat: Habitat
    zone: Zone
    metres: float
    aspect: float
    spot: Spot | None
    top: float
    bottom: float
    limit: float
    sides: bool = False


def habitat_in(kind: str, place: Place) -> Habitat | None:
    """Where a kind of thing lives in a place; None where it can't be there by itself."""
    return next((habitat for habitat in KINDS[kind].habitats if habitat in place.zones), None)


def items_of(plan: ScenePlan, links: Mapping[str, Relation]) -> dict[str, Item]:
    """All wishes of a plan by their ids; `links` are the relations of what is on something or held."""
    place, wide = PLACES[plan.place], plan.size[0] / plan.size[1]
    items = [_thing(number, plan, links) for number in range(len(plan.things))]
    for number, person in enumerate(plan.people):
        zone = place.zones.get("ground")
        if zone is None:
            raise UserError(f"a plan puts people {place.phrase}, where they can't stand.", "choose another place")
        items.append(_item(f"p{number}", "person", "ground", zone, PERSON_METRES, PERSON_ASPECT, person.spot, wide))
    for number, sign in enumerate(plan.signs):
        hung = sign.style in ("shop", "frame") or "ground" not in place.zones
        zone = WALL if hung else place.zones["ground"]
        size = board(sign.words, sign.style, sign.size)
        metres, aspect = size.total_high * letter_metres(sign.size), size.total_wide / size.total_high
        item = _item(f"s{number}", "sign", "far" if hung else "ground", zone, metres, aspect, sign.spot, wide)
        items.append(replace(item, sides=sign.style == "shop"))
    return {item.id: item for item in items}


def _thing(number: int, plan: ScenePlan, links: Mapping[str, Relation]) -> Item:
    thing, place, wide = plan.things[number], PLACES[plan.place], plan.size[0] / plan.size[1]
    kind, name, factor = KINDS[thing.kind], f"t{number}", SIZE_FACTORS[thing.size]
    if name in links:  # zone and height come from the carrier
        return _item(name, thing.kind, "ground", WALL, factor, kind.aspect, thing.spot, wide)
    habitat = habitat_in(thing.kind, place)
    if habitat is None:
        raise UserError(
            f"a plan puts a {thing.kind} {place.phrase}, where it has no place to be.",
            f"choose a place with {' or '.join(kind.habitats)}, or put it on something",
        )
    metres = kind.metres_in(habitat) * factor
    return _item(name, thing.kind, habitat, place.zones[habitat], metres, kind.aspect, thing.spot, wide)


def _item(
    name: str, kind: str, habitat: Habitat, zone: Zone, metres: float, aspect: float, spot: Spot | None, wide: float
) -> Item:
    limit, top, bottom = min(TALLEST, WIDEST * wide / aspect), zone.top, zone.bottom
    if zone.eye:
        bottom = max(top, min(bottom, zone.horizon + limit * zone.eye / metres))
    else:
        limit = min(limit, bottom - 0.02)
        top = min(bottom, max(top, zone.height(metres, 0.0) + 0.02))
    return Item(name, kind, habitat, zone, metres, aspect, spot, top, bottom, limit)
