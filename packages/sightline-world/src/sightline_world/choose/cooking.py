"""Sequential: the steps of making a dish, drawn on a kitchen table, to be put in order or filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType

from PIL import Image

from sightline.types import Box
from sightline_world.choose import worktop
from sightline_world.choose import worktop as use
from sightline_world.choose.easel import Easel
from sightline_world.choose.question import (
    ChoiceQuestion,
    DrawnShot,
    QuestionBrief,
    Remark,
    Size,
    numbered,
    order_options,
    said_order,
)
from sightline_world.choose.setting import camera
from sightline_world.choose.worktop import Worktop
from sightline_world.draw import table
from sightline_world.draw.camera import expose
from sightline_world.draw.palette import COLOURS, RGB
from sightline_world.scene import SCENE_COLOURS, SCENE_LIGHTS

_BATTER: RGB = (244, 214, 140)
_DOUGH: RGB = (240, 220, 176)
_SAUCE: RGB = (206, 60, 38)
# Of bowls and pots: soup is orange, and would not show.
_COLOURS = [colour for colour in SCENE_COLOURS if colour != "orange"]


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
    paint: Callable[[Worktop, int], None]


def paint_stage(cooking: Cooking, size: Size) -> tuple[Image.Image, Box]:
    """The picture of a step, and where its things are."""
    easel = Easel("kitchen", cooking.light, cooking.variant, size)
    side = -1 if cooking.mirrored else 1
    rgb = COLOURS[cooking.colour]
    DISHES[cooking.dish].paint(Worktop(easel, 0.5 * easel.w + cooking.shift, side, rgb, cooking.lot), cooking.stage)
    image = easel.done()
    return image, easel.changed(image)


def _cake(t: Worktop, stage: int) -> None:
    rng = Random(t.lot)
    eggs = 2 + t.lot % 3
    match stage:
        case 0:
            use.bowl(t, 0.0)
            worktop.flour(t, 0.36)
            for egg in range(eggs):
                worktop.egg(t, -0.30 - 0.065 * egg, rng.uniform(0.90, 0.94))
        case 1:
            use.bowl(t, 0.0, fill=(250, 248, 240), yolks=eggs)
            worktop.shells(t, -0.36)
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


def _soup(t: Worktop, stage: int) -> None:
    roots = worktop.vegetables(t.lot)
    match stage:
        case 0:
            use.board(t)
            for place, rgb in enumerate(roots):
                worktop.root(t, -0.18 + 0.18 * place, rgb)
        case 1:
            use.board(t)
            worktop.chopped(t, roots)
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


def _pizza(t: Worktop, stage: int) -> None:
    toppings = worktop.vegetables(t.lot)
    match stage:
        case 0:
            worktop.dough_ball(t, _DOUGH)
        case 1:
            worktop.disc(t, _DOUGH)
            use.rolling_pin(t)
        case 2:
            worktop.disc(t, _DOUGH, sauce=_SAUCE)
        case 3:
            worktop.disc(t, _DOUGH, sauce=_SAUCE, bits=toppings)
        case 4:
            use.oven(t)
            worktop.disc(t, (214, 160, 88), sauce=_SAUCE, bits=toppings, y=0.80, grow=0.62)
        case _:
            use.plate(t, 0.46)
            worktop.disc(t, (204, 144, 70), sauce=(186, 52, 34), bits=toppings, slice_gone=True)


def _fried_egg(t: Worktop, stage: int) -> None:
    match stage:
        case 0:
            use.pan(t)
            worktop.egg(t, -0.44, 0.92, grow=1.5)
        case 1:
            use.hob(t)
            use.pan(t, butter=True, foot=0.80)
            worktop.egg(t, -0.50, 0.94, grow=1.5)
        case 2:
            use.hob(t)
            use.pan(t, egg=(236, 232, 214), foot=0.80, see_through=True)
            worktop.shells(t, -0.50)
        case 3:
            use.hob(t)
            use.pan(t, egg=(252, 252, 248), foot=0.80, crisp=True)
        case 4:
            use.plate(t, 0.36)
            worktop.fried(t, 0.0, 0.87, 0.20, (252, 252, 248), crisp=True)
            use.fork(t, 0.46)
        case _:
            use.plate(t, 0.36)
            worktop.smear(t, (246, 190, 40))
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


def cooking_process(wanted: QuestionBrief) -> ChoiceQuestion:
    """Steps out of order, or a step that is missing between two."""
    return _order(wanted) if wanted.rng.random() < 0.6 else _missing(wanted)


def _kitchen(wanted: QuestionBrief) -> Cooking:
    """The first step of a dish by lot in a kitchen by lot."""
    rng = wanted.rng
    return Cooking(
        dish=rng.choice(list(DISHES)),
        stage=0,
        colour=rng.choice(_COLOURS),
        light=rng.choice(SCENE_LIGHTS if rng.random() < wanted.difficulty else ("day", "sunset")),
        variant=rng.randrange(6),
        mirrored=rng.random() < 0.5,
        shift=round(rng.uniform(-0.12, 0.12), 3),
        lot=rng.getrandbits(12),
    )


def _shots(wanted: QuestionBrief, cooking: Cooking, stages: list[int]) -> tuple[list[DrawnShot], list[Box]]:
    """The pictures of these steps, and where in them the food is."""
    eye = camera(wanted.rng, wanted.difficulty)
    shots, boxes = [], []
    for stage in stages:
        step = cooking.at(stage)
        image, box = paint_stage(step, wanted.size)
        said = f"On a kitchen table: {DISHES[step.dish].stages[stage]}."
        shots.append(DrawnShot(expose(image, eye, wanted.rng.getrandbits(20)), step, said))
        boxes.append(box)
    return shots, boxes


def _order(wanted: QuestionBrief) -> ChoiceQuestion:
    rng, cooking = wanted.rng, _kitchen(wanted)
    dish = DISHES[cooking.dish]
    count = wanted.count(3, 5)
    steps = sorted(rng.sample(range(len(dish.stages)), count))
    orders, right = order_options(wanted, count)
    stage_of = dict(zip(orders[right], steps, strict=True))
    shots, boxes = _shots(wanted, cooking, [stage_of[place] for place in range(count)])
    sorted_out = [f"{dish.stages[stage]} (picture {place + 1})" for place, stage in stage_of.items()]
    return ChoiceQuestion(
        prompt=(
            f"These pictures of someone making {dish.name} are out of order.\n",
            *numbered("Picture", shots),
            "In which order were they taken?",
        ),
        options=tuple(said_order(order) for order in orders),
        right=right,
        summary=f"{count} pictures of making {dish.name} are to be put in the order in which it is done.",
        regions=Remark("What tells the step is here in each picture.", tuple(zip(shots, boxes, strict=True))),
        compared=Remark(
            f"One step needs the one before it: {'; then '.join(sorted_out)}.",
            tuple((shots[place], boxes[place]) for place in orders[right]),
        ),
        conclusion=f"The pictures were taken in the order {said_order(orders[right])}.",
    )


def _missing(wanted: QuestionBrief) -> ChoiceQuestion:
    """Of six steps the one before and the one after are shown; the four others are the options."""
    rng, cooking = wanted.rng, _kitchen(wanted)
    dish = DISHES[cooking.dish]
    gap = rng.randrange(1, len(dish.stages) - 1)
    others = [stage for stage in range(len(dish.stages)) if abs(stage - gap) > 1]
    shots, boxes = _shots(wanted, cooking, [gap - 1, gap + 1, gap, *rng.sample(others, 3)])
    before, after, *options = shots
    return ChoiceQuestion(
        prompt=(
            f"Someone is making {dish.name}. At first: ",
            before,
            "\nTwo steps later: ",
            after,
            "\nWhich picture was taken in between?",
        ),
        options=tuple(options),
        right=0,
        summary=f"Between two pictures of making {dish.name} one step is missing, to be found among four pictures.",
        regions=Remark(
            f"At first one sees {dish.stages[gap - 1]}; two steps later {dish.stages[gap + 1]}.",
            ((before, boxes[0]), (after, boxes[1])),
        ),
        compared=Remark(
            f"The step that follows the first and leads to the second is {dish.stages[gap]}.",
            ((before, boxes[0]), (options[0], boxes[2]), (after, boxes[1])),
        ),
        conclusion=f"The missing picture shows {dish.stages[gap]}.",
    )
