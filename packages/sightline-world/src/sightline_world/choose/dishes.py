"""Four dishes in six steps each, drawn on a kitchen table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType

from PIL import Image

from sightline.types import Box
from sightline_world.choose import food
from sightline_world.choose import utensils as use
from sightline_world.choose.easel import Easel
from sightline_world.choose.question import Size
from sightline_world.choose.worktop import Table
from sightline_world.draw import table
from sightline_world.draw.palette import COLOURS, RGB

_BATTER: RGB = (244, 214, 140)
_DOUGH: RGB = (240, 220, 176)
_SAUCE: RGB = (206, 60, 38)


@dataclass(frozen=True, slots=True)
class Cooking:
    """A step of making a dish: in which kitchen, with things of which colour, and where on the table."""

    dish: str
    stage: int
    colour: str
    light: str
    variant: int
    mirrored: bool
    shift: float
    lot: int

    def at(self, stage: int) -> Cooking:
        """Another step in the same kitchen."""
        return replace(self, stage=stage)


@dataclass(frozen=True, slots=True)
class Dish:
    """A dish: what it is called, what one sees in each step, and how that is drawn."""

    name: str
    stages: tuple[str, ...]
    paint: Callable[[Table, int], None]


def paint_stage(cooking: Cooking, size: Size) -> tuple[Image.Image, Box]:
    """The picture of a step, and where its things are."""
    easel = Easel("kitchen", cooking.light, cooking.variant, size)
    side = -1 if cooking.mirrored else 1
    rgb = COLOURS[cooking.colour]
    DISHES[cooking.dish].paint(Table(easel, 0.5 * easel.w + cooking.shift, side, rgb, cooking.lot), cooking.stage)
    image = easel.done()
    return image, easel.changed(image)


def _cake(t: Table, stage: int) -> None:
    rng = Random(t.lot)
    eggs = 2 + t.lot % 3
    match stage:
        case 0:
            use.bowl(t, 0.0)
            food.flour(t, 0.36)
            for egg in range(eggs):
                food.egg(t, -0.30 - 0.065 * egg, rng.uniform(0.90, 0.94))
        case 1:
            use.bowl(t, 0.0, fill=(250, 248, 240), yolks=eggs)
            food.shells(t, -0.36)
        case 2:
            use.bowl(t, 0.0, fill=_BATTER)
            use.whisk(t, 0.05)
        case 3:
            use.tin(t, 0.0, _BATTER, risen=False)
        case 4:
            use.oven(t)
            use.tin(t, 0.0, (206, 148, 78), risen=True, foot=0.86, grow=0.8)
        case _:
            t.easel.shadow(t.x, 0.93, 0.26)
            table.cake(t.sub(0.0, 0.93, 0.40), t.rgb, rng, 3 + t.lot % 4)


def _soup(t: Table, stage: int) -> None:
    roots = food.vegetables(t.lot)
    match stage:
        case 0:
            use.board(t)
            for place, rgb in enumerate(roots):
                food.root(t, -0.18 + 0.18 * place, rgb)
        case 1:
            use.board(t)
            food.chopped(t, roots)
            use.knife(t, 0.30)
        case 2:
            use.hob(t)
            use.pot(t, water=True, bits=roots)
        case 3:
            use.hob(t)
            use.pot(t, lid=True)
        case 4:
            use.bowl(t, 0.0, fill=(226, 128, 46), bits=roots, hot=True)
            use.spoon(t, 0.40)
        case _:
            use.bowl(t, 0.0, smear=(226, 128, 46))
            use.spoon(t, 0.40)


def _pizza(t: Table, stage: int) -> None:
    toppings = food.vegetables(t.lot)
    match stage:
        case 0:
            food.dough_ball(t, _DOUGH)
        case 1:
            food.disc(t, _DOUGH)
            use.rolling_pin(t)
        case 2:
            food.disc(t, _DOUGH, sauce=_SAUCE)
        case 3:
            food.disc(t, _DOUGH, sauce=_SAUCE, bits=toppings)
        case 4:
            use.oven(t)
            food.disc(t, (214, 160, 88), sauce=_SAUCE, bits=toppings, y=0.80, grow=0.62)
        case _:
            use.plate(t, 0.46)
            food.disc(t, (204, 144, 70), sauce=(186, 52, 34), bits=toppings, slice_gone=True)


def _fried_egg(t: Table, stage: int) -> None:
    match stage:
        case 0:
            use.pan(t)
            food.egg(t, -0.44, 0.92, grow=1.5)
        case 1:
            use.hob(t)
            use.pan(t, butter=True, foot=0.80)
            food.egg(t, -0.50, 0.94, grow=1.5)
        case 2:
            use.hob(t)
            use.pan(t, egg=(236, 232, 214), foot=0.80, see_through=True)
            food.shells(t, -0.50)
        case 3:
            use.hob(t)
            use.pan(t, egg=(252, 252, 248), foot=0.80, crisp=True)
        case 4:
            use.plate(t, 0.36)
            food.fried(t, 0.0, 0.87, 0.20, (252, 252, 248), crisp=True)
            use.fork(t, 0.46)
        case _:
            use.plate(t, 0.36)
            food.smear(t, (246, 190, 40))
            use.fork(t, 0.46)


DISHES: Mapping[str, Dish] = MappingProxyType(
    {
        "cake": Dish(
            "a birthday cake",
            (
                "an empty bowl, eggs and a bag of flour",
                "a bowl of flour with egg yolks, and broken shells",
                "a bowl of smooth batter with a whisk in it",
                "a tin filled with raw batter",
                "a tin in a hot oven, the dough risen",
                "an iced cake with burning candles",
            ),
            _cake,
        ),
        "soup": Dish(
            "vegetable soup",
            (
                "whole vegetables on a board",
                "chopped vegetables and a knife on a board",
                "an open pot of water with pieces of vegetables over a flame",
                "a steaming pot with its lid on over a flame",
                "a full bowl of hot soup with a spoon",
                "an emptied bowl with a spoon",
            ),
            _soup,
        ),
        "pizza": Dish(
            "a pizza",
            (
                "a ball of dough",
                "dough rolled out flat, with a rolling pin",
                "flat dough under red sauce",
                "raw pizza with sauce and toppings",
                "a pizza in a hot oven",
                "a baked pizza of which a slice is gone",
            ),
            _pizza,
        ),
        "fried egg": Dish(
            "a fried egg",
            (
                "a cold, empty pan and a whole egg",
                "a pan with melting butter over a flame, and a whole egg",
                "a raw egg in the pan over a flame, and a broken shell",
                "an egg in the pan, fried white with a crisp rim",
                "a fried egg on a plate with a fork",
                "an emptied plate with a yellow smear, and a fork",
            ),
            _fried_egg,
        ),
    }
)
