"""Analytical: one scene at several sharpnesses or from several distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PIL import Image, ImageFilter

from sightline.english import listed
from sightline.types import Box
from sightline_world.captions import caption
from sightline_world.choose.question import (
    ChoiceQuestion,
    DrawnShot,
    QuestionBrief,
    Remark,
    numbered,
    order_options,
    said_order,
)
from sightline_world.choose.setting import Altered, Prop, busy_plan, props, setting, shoot
from sightline_world.draw.compose import draw
from sightline_world.draw.plan import ScenePlan
from sightline_world.scene import SceneGraph, Thing
from sightline_world.vocabulary import phrase


def scale_blur(wanted: QuestionBrief) -> ChoiceQuestion:
    """From the sharpest to the most blurred, from the widest view to the closest, or what it was before the blur."""
    return wanted.rng.choice((_sharpness, _closeness, _original))(wanted)


def _blurred(image: Image.Image, blur: float) -> Image.Image:
    """The picture, softened by thousandths of its height."""
    return image.filter(ImageFilter.GaussianBlur(blur * image.height / 1000))


def _without_grain(plan: ScenePlan) -> ScenePlan:
    """Grain would give a blur away, or hide it."""
    return replace(plan, camera=replace(plan.camera, noise=0.0, blur=0.0))


def _sharpness(wanted: QuestionBrief) -> ChoiceQuestion:
    plan = _without_grain(busy_plan(wanted.unread, wanted.count(2, 4)))
    drawing = draw(plan)
    count = wanted.count(3, 5)
    orders, right = order_options(wanted, count)
    first, ratio = wanted.lot.uniform(1.2, 3.5), wanted.between(2.3, 1.6)
    blurs = {picture: round(first * ratio**place, 2) for place, picture in enumerate(orders[right])}
    said = caption(drawing.graph)
    shots = [
        DrawnShot(
            _blurred(drawing.image, blurs[picture]),
            Altered(replace(plan, seed=""), blur=blurs[picture]),
            f"{said} It is {_softness(orders[right].index(picture), count)}.",
            drawing.graph,
        )
        for picture in range(count)
    ]
    detail = drawing.graph.things[0]
    return ChoiceQuestion(
        prompt=(
            "The same picture, blurred more or less:\n",
            *numbered("Picture", shots),
            "Sort them from the sharpest to the most blurred.",
        ),
        options=tuple(said_order(order) for order in orders),
        right=right,
        summary=f"{count} copies of one picture are to be sorted by how sharp they are, the sharpest first.",
        regions=Remark(
            f"The outline of the {detail.kind} shows it best: it is here in each of them.",
            tuple((shot, detail.box) for shot in shots),
        ),
        compared=Remark(
            "Its edge is sharpest in picture "
            + ", softer in picture ".join(str(picture + 1) for picture in orders[right])
            + ".",
            tuple((shots[picture], detail.box) for picture in orders[right]),
        ),
        conclusion=f"From the sharpest to the most blurred: {said_order(orders[right])}.",
    )


def _softness(place: int, count: int) -> str:
    return "the sharpest copy" if place == 0 else "the most blurred copy" if place == count - 1 else "somewhat blurred"


def _closeness(wanted: QuestionBrief) -> ChoiceQuestion:
    """Views into one scene: each is a part of those that are wider, about the same thing."""
    wide, high = wanted.size
    plan = _without_grain(busy_plan(wanted.unread, wanted.count(2, 4)))
    drawing = draw(replace(plan, size=(2 * wide, 2 * high)))
    target = wanted.lot.choice(drawing.graph.things)
    count = wanted.count(3, 5)
    orders, right = order_options(wanted, count)
    ratio = wanted.between(1.42, 1.20)
    sides = {picture: ratio**-place for place, picture in enumerate(orders[right])}
    parts = [_part(target.box, sides[picture]) for picture in range(count)]
    shots = []
    for part in parts:
        corners = (part.left * 2 * wide, part.top * 2 * high, part.right * 2 * wide, part.bottom * 2 * high)
        image = drawing.image.resize(wanted.size, Image.Resampling.BILINEAR, box=corners, reducing_gap=2.0)
        words = (
            f"A view of {_seen(drawing.graph, part, target)}, {100 * (part.right - part.left):.0f} % of the scene wide."
        )
        recipe = Altered(replace(plan, seed=""), (part.left, part.top, part.right, part.bottom))
        shots.append(DrawnShot(image, recipe, words))
    boxes = [_inside(target.box, part) for part in parts]
    return ChoiceQuestion(
        prompt=(
            "The same scene, with more or less zoom:\n",
            *numbered("Picture", shots),
            "Sort them from the widest view to the closest.",
        ),
        options=tuple(said_order(order) for order in orders),
        right=right,
        summary=f"{count} views of one scene are to be sorted by how much of it they show, the widest first.",
        regions=Remark(
            f"The {target.colour} {target.kind} is in all of them: here.", tuple(zip(shots, boxes, strict=True))
        ),
        compared=Remark(
            "The closer the view, the larger it is: its width is "
            + ", ".join(f"{100 * (box.right - box.left):.0f} % (picture {n})" for n, box in enumerate(boxes, 1))
            + " of the picture's.",
            tuple((shots[picture], boxes[picture]) for picture in orders[right]),
        ),
        conclusion=f"From the widest view to the closest: {said_order(orders[right])}.",
    )


def _part(box: Box, side: float) -> Box:
    """The part of a scene with that share of its sides, as far about the box as the scene goes."""
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    left, top = (min(1 - side, max(0.0, middle - side / 2)) for middle in (x, y))
    return Box(round(left, 4), round(top, 4), round(left + side, 4), round(top + side, 4))


def _inside(box: Box, part: Box) -> Box:
    """The box in the picture of a part of the scene."""
    wide, high = part.right - part.left, part.bottom - part.top
    values = (
        (box.left - part.left) / wide,
        (box.top - part.top) / high,
        (box.right - part.left) / wide,
        (box.bottom - part.top) / high,
    )
    left, top, right, bottom = (round(min(1.0, max(0.0, value)), 4) for value in values)
    return Box(left, top, right, bottom)


def _seen(graph: SceneGraph, part: Box, target: Thing) -> str:
    """The target, and the things of which most is in a part of the scene."""
    inner = [thing for thing in graph.things if thing is target or _share(thing.box, part) > 0.6]
    return listed(phrase(thing.kind, thing.colour) for thing in inner)


def _share(box: Box, part: Box) -> float:
    wide = min(box.right, part.right) - max(box.left, part.left)
    high = min(box.bottom, part.bottom) - max(box.top, part.top)
    return max(0.0, wide) * max(0.0, high) / ((box.right - box.left) * (box.bottom - box.top))


def _original(wanted: QuestionBrief) -> ChoiceQuestion:
    """Four scenes that differ in which thing has which colour and place; one of them is shown blurred."""
    rng, here = wanted.lot, setting(wanted.unread)
    count = wanted.count(2, 3)
    alike = rng.random() < wanted.difficulty
    things = props(rng, here, count + 1 if alike else 4 + count, widest=0.30, alike=alike)
    chosen = _four_rows(wanted, things, count)
    spots = [(0.10 + 0.80 * (place + 0.5) / count, rng.uniform(0.3, 0.9)) for place in range(count)]
    looks = [rng.getrandbits(6) for _ in range(count)]
    plans = [
        _without_grain(here.plan(t.at(u, v, look) for t, (u, v), look in zip(row, spots, looks, strict=True)))
        for row in chosen
    ]
    shots = [shoot(plan) for plan in plans]
    blur = round(wanted.between(18, 34) * rng.uniform(0.8, 1.2), 2)
    lost = DrawnShot(
        _blurred(shots[0].image, blur),
        Altered(replace(plans[0], seed=""), blur=blur),
        "A picture blurred beyond detail.",
    )
    ids = [f"t{place}" for place in range(count)]
    names = listed(thing.the for thing in chosen[0])
    return ChoiceQuestion(
        prompt=("This picture is badly blurred: ", lost, "\nWhich of these pictures was it before?"),
        options=tuple(shots),
        right=0,
        summary="A blurred picture is to be found among four sharp ones by its patches of colour.",
        regions=Remark(
            f"In the blurred picture {count} patches stand out from the ground, here.",
            tuple((lost, shots[0].box(name)) for name in ids),
        ),
        compared=Remark(
            f"From left to right they have the colours and the places of {names} in one of the sharp pictures.",
            tuple((shot, shots[0].box(name)) for name in ids for shot in (lost, shots[0])),
        ),
        conclusion=f"Before the blur it was the picture with {names}, in this order.",
    )


def _four_rows(wanted: QuestionBrief, things: Sequence[Prop], count: int) -> list[list[Prop]]:
    """Four different rows of things by lot; any of them could be the blurred one."""
    rows: list[list[Prop]] = []
    while len(rows) < 4:
        row = wanted.lot.sample(list(things), count)
        if row not in rows:
            rows.append(row)
    return rows
