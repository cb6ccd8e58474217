"""Sequential: the steps of making a dish, to be put in order or filled in."""

from __future__ import annotations

from sightline.types import Box
from sightline_world.choose.dishes import DISHES, Cooking, paint_stage
from sightline_world.choose.orders import order_options, said_order
from sightline_world.choose.question import Question, Said, Shot, Wanted, numbered
from sightline_world.choose.setting import camera
from sightline_world.draw.camera import expose
from sightline_world.scene import SCENE_COLOURS, SCENE_LIGHTS

# Of bowls and pots: soup is orange, and would not show.
_COLOURS = [colour for colour in SCENE_COLOURS if colour != "orange"]


def cooking_process(wanted: Wanted) -> Question:
    """Steps out of order, or a step that is missing between two."""
    return _order(wanted) if wanted.rng.random() < 0.6 else _missing(wanted)


def _kitchen(wanted: Wanted) -> Cooking:
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


def _shots(wanted: Wanted, cooking: Cooking, stages: list[int]) -> tuple[list[Shot], list[Box]]:
    """The pictures of these steps, and where in them the food is."""
    eye = camera(wanted.rng, wanted.difficulty)
    shots, boxes = [], []
    for stage in stages:
        step = cooking.at(stage)
        image, box = paint_stage(step, wanted.size)
        said = f"On a kitchen table: {DISHES[step.dish].stages[stage]}."
        shots.append(Shot(expose(image, eye, wanted.rng.getrandbits(20)), step, said))
        boxes.append(box)
    return shots, boxes


def _order(wanted: Wanted) -> Question:
    rng, cooking = wanted.rng, _kitchen(wanted)
    dish = DISHES[cooking.dish]
    count = wanted.count(3, 5)
    steps = sorted(rng.sample(range(len(dish.stages)), count))
    orders, right = order_options(wanted, count)
    stage_of = dict(zip(orders[right], steps, strict=True))
    shots, boxes = _shots(wanted, cooking, [stage_of[place] for place in range(count)])
    sorted_out = [f"{dish.stages[stage]} (picture {place + 1})" for place, stage in stage_of.items()]
    return Question(
        prompt=(
            f"These pictures of someone making {dish.name} are out of order.\n",
            *numbered("Picture", shots),
            "In which order were they taken?",
        ),
        options=tuple(said_order(order) for order in orders),
        right=right,
        summary=f"{count} pictures of making {dish.name} are to be put in the order in which it is done.",
        regions=Said("What tells the step is here in each picture.", tuple(zip(shots, boxes, strict=True))),
        compared=Said(
            f"One step needs the one before it: {'; then '.join(sorted_out)}.",
            tuple((shots[place], boxes[place]) for place in orders[right]),
        ),
        conclusion=f"The pictures were taken in the order {said_order(orders[right])}.",
    )


def _missing(wanted: Wanted) -> Question:
    """Of six steps the one before and the one after are shown; the four others are the options."""
    rng, cooking = wanted.rng, _kitchen(wanted)
    dish = DISHES[cooking.dish]
    gap = rng.randrange(1, len(dish.stages) - 1)
    others = [stage for stage in range(len(dish.stages)) if abs(stage - gap) > 1]
    shots, boxes = _shots(wanted, cooking, [gap - 1, gap + 1, gap, *rng.sample(others, 3)])
    before, after, *options = shots
    return Question(
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
        regions=Said(
            f"At first one sees {dish.stages[gap - 1]}; two steps later {dish.stages[gap + 1]}.",
            ((before, boxes[0]), (after, boxes[1])),
        ),
        compared=Said(
            f"The step that follows the first and leads to the second is {dish.stages[gap]}.",
            ((before, boxes[0]), (options[0], boxes[2]), (after, boxes[1])),
        ),
        conclusion=f"The missing picture shows {dish.stages[gap]}.",
    )
