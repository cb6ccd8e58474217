"""Spatial: who is where beside whom, over several pictures of the same things, or seen from another side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from random import Random
from types import MappingProxyType
from typing import TypeAlias

from sightline.english import listed
from sightline_world.choose.question import (
    ChoiceQuestion,
    DrawnShot,
    QuestionBrief,
    Remark,
    numbered,
    picture_options,
    require,
)
from sightline_world.choose.setting import DEEP_PLACES, Prop, Setting, ground_kinds, props, setting, shoot

_SIDES = ("left", "right")
Point: TypeAlias = tuple[float, float]
Turn: TypeAlias = Callable[[Point], Point]
# A point is (from the left, from the back) in the first view; the result is the same in the view of another viewer.
SIDES: Mapping[str, Turn] = MappingProxyType(
    {
        "from the opposite side": lambda p: (1 - p[0], 1 - p[1]),
        "from the left side": lambda p: (p[1], 1 - p[0]),
        "from the right side": lambda p: (1 - p[1], p[0]),
    }
)
"""Where everything is for a viewer who has walked round it to that side of the first picture."""
# Views that nobody can have: they serve as wrong options.
_MIRRORED: tuple[Turn, ...] = (
    lambda p: (1 - p[0], p[1]),
    lambda p: (p[0], 1 - p[1]),
    lambda p: (p[1], p[0]),
    lambda p: (1 - p[1], 1 - p[0]),
)
_STEPS = (0.12, 0.5, 0.88)
_WIDEST = 0.21


def location_relationship(wanted: QuestionBrief) -> ChoiceQuestion:
    """The picture with an order of things, or a neighbour's neighbour in another picture."""
    return _order(wanted) if wanted.rng.random() < 0.5 else _neighbour(wanted)


def _order(wanted: QuestionBrief) -> ChoiceQuestion:
    """Four pictures of the same things: in which do they stand in this order?"""
    rng, here = wanted.rng, setting(wanted)
    count = wanted.count(3, 4)
    things = props(rng, here, count, widest=1.0 / count, alike=rng.random() < wanted.difficulty / 2)
    orders = rng.sample(list(permutations(range(count))), 4)
    right = rng.randrange(4)
    shots = [_row(wanted, here, things, order) for order in orders]
    said = _said([things[place] for place in orders[right]])
    seen = tuple((shots[right], shots[right].box(f"t{place}")) for place in orders[right])
    leftmost = [things[order[0]].the for order in orders]
    return ChoiceQuestion(
        prompt=(
            *numbered("Picture", shots),
            f"In which picture do the things stand in this order from left to right: {said}?",
        ),
        options=picture_options(),
        right=right,
        numbered=True,
        summary=f"Four pictures of the same {count} things are to be searched for the order {said} from left to right.",
        regions=Remark(
            f"The first in the order asked for is {things[orders[right][0]].the}; in each picture it is here.",
            tuple((shot, shot.box(f"t{orders[right][0]}")) for shot in shots),
        ),
        compared=Remark(
            f"The thing farthest to the left is, from picture 1 to 4: {', '.join(leftmost)}. "
            f"In picture {right + 1} the things follow each other as {said}.",
            seen,
        ),
        conclusion=f"Only picture {right + 1} shows this order.",
    )


def _row(wanted: QuestionBrief, here: Setting, things: Sequence[Prop], order: Sequence[int]) -> DrawnShot:
    """The things from left to right in an order, at depths that differ the more the harder it is."""
    rng, step = wanted.lot, 1 / len(order)
    drift, depth = 0.12 * step, wanted.between(0.05, 0.35)
    spots = {
        thing: (0.04 + 0.92 * (place + 0.5) * step + rng.uniform(-drift, drift), 0.5 + rng.uniform(-depth, depth))
        for place, thing in enumerate(order)
    }
    view = replace(here, seed=str(rng.getrandbits(48)), variant=rng.randrange(6))
    wishes = (thing.at(*spots[place], rng.getrandbits(6)) for place, thing in enumerate(things))
    return shoot(view.plan(wishes), f"From left to right: {_said([things[place] for place in order])}.")


def _said(things: Sequence[Prop]) -> str:
    return listed(thing.name for thing in things)


def _neighbour(wanted: QuestionBrief) -> ChoiceQuestion:
    """What stands beside something in one picture, and what beside that in another."""
    rng = wanted.rng
    first, second = setting(wanted), setting(wanted)
    around = wanted.count(3, 4)
    # The link stands in both places, so it must suit both.
    elsewhere = set(ground_kinds(second, 0.24)) - set(ground_kinds(first, 0.28))
    (link,) = props(rng, second, 1, widest=0.24, without=elsewhere)
    options = props(rng, second, 4, widest=0.24, without={link.kind})
    taken = {thing.kind for thing in (link, *options)}
    start, *others = props(rng, first, around - 1, widest=0.28, without=taken)
    right = rng.randrange(4)
    one, two = rng.choice(_SIDES), rng.choice(_SIDES)
    front = _beside(wanted.lot, [start, link, *others], one)
    rest = [thing for thing in options if thing is not options[right]]
    back = _beside(wanted.lot, [link, options[right], *rest], two)
    near = _pictured(wanted, first, front)
    far = _pictured(wanted, second, back)
    names, answer = [thing.the for thing in options], options[right]
    return ChoiceQuestion(
        prompt=(
            "Picture 1: ",
            near,
            f"\nFind the thing that stands next to {start.the}, directly to the {one} of it.\nPicture 2: ",
            far,
            f"\nFind that same thing here. What stands next to it, directly to the {two} of it?",
        ),
        options=tuple(names),
        right=right,
        summary=f"From {start.the} in picture 1 one goes one thing to the {one}, and from the thing found there, "
        f"in picture 2, one thing to the {two}.",
        regions=Remark(
            f"In picture 1 {start.the} is here, and directly to the {one} of it is {link.the}.",
            ((near, near.box(_id(front, start))), (near, near.box(_id(front, link)))),
        ),
        compared=Remark(
            f"The same {link.name} is in picture 2, and directly to the {two} of it stands {answer.the}.",
            (
                (near, near.box(_id(front, link))),
                (far, far.box(_id(back, link))),
                (far, far.box(_id(back, answer))),
            ),
        ),
        conclusion=f"The thing in question is {answer.the}.",
    )


def _beside(rng: Random, things: Sequence[Prop], side: str) -> list[Prop]:
    """The things from left to right by lot, the second directly on that side of the first."""
    first, second, *others = things
    rng.shuffle(others)
    place = rng.randint(0, len(others))
    pair = [second, first] if side == "left" else [first, second]
    return [*others[:place], *pair, *others[place:]]


def _pictured(wanted: QuestionBrief, here: Setting, row: Sequence[Prop]) -> DrawnShot:
    return _row(wanted, here, row, range(len(row)))


def _id(row: Sequence[Prop], thing: Prop) -> str:
    return f"t{row.index(thing)}"


def view_from_elsewhere(wanted: QuestionBrief) -> ChoiceQuestion:
    """The picture that someone on another side takes, or what stands farthest to one side in it."""
    return _picture(wanted) if wanted.rng.random() < 0.6 else _corner(wanted)


def _layout(wanted: QuestionBrief, here: Setting) -> tuple[list[Prop], list[Point]]:
    """Things on a grid of three by three, with something in each row and each column."""
    things = props(wanted.rng, here, wanted.count(3, 5), widest=_WIDEST)
    spread = list(zip(wanted.lot.sample(_STEPS, 3), wanted.lot.sample(_STEPS, 3), strict=True))
    others = [(x, y) for x in _STEPS for y in _STEPS if (x, y) not in spread]
    cells = [*spread, *wanted.lot.sample(others, len(things) - 3)]
    # A little aside, so that what stands in one line is not hidden.
    return things, [(x + wanted.lot.uniform(-0.07, 0.07), y + wanted.lot.uniform(-0.07, 0.07)) for x, y in cells]


def _seen(wanted: QuestionBrief, here: Setting, things: Sequence[Prop], points: Sequence[Point]) -> DrawnShot:
    """The view of things at these points; each is turned by lot, since it may face any way."""
    looks = [wanted.lot.getrandbits(6) for _ in things]
    row = sorted(range(len(things)), key=lambda place: points[place])
    wishes = (thing.at(u, v, look) for thing, (u, v), look in zip(things, points, looks, strict=True))
    return shoot(here.plan(wishes), f"From left to right: {listed(things[place].name for place in row)}.", hidden=0.55)


def _picture(wanted: QuestionBrief) -> ChoiceQuestion:
    rng, here = wanted.rng, setting(wanted, DEEP_PLACES)
    there = replace(here, variant=here.variant + 1, seed=str(wanted.lot.getrandbits(48)))
    things, points = _layout(wanted, here)
    side = rng.choice(list(SIDES))
    right = _turned(points, SIDES[side])
    views = [right]
    for turn in _distractors(wanted, side):
        view = _turned(points, turn)
        if all(_told_apart(view, other) for other in views):
            views.append(view)
    require(len(views) >= 4)
    first = _seen(wanted, here, things, points)
    shots = [_seen(wanted, there, things, view) for view in views[:4]]
    ids = [f"t{place}" for place in range(len(things))]
    return ChoiceQuestion(
        prompt=(
            "Some things stand on the ground: ",
            first,
            f"\nSomeone walks round them and takes a picture {side} (left, right and opposite as seen in the picture "
            "above). The things may face any way. Which picture is it?",
        ),
        options=tuple(shots),
        right=0,
        summary=f"The layout of {len(things)} things is to be turned in the mind to the view {side}, and looked for "
        "among four pictures.",
        regions=Remark(
            f"In the first picture, in the order of the list, {listed(thing.the for thing in things)} are here.",
            tuple((first, first.box(name)) for name in ids),
        ),
        compared=Remark(
            f"{_rule(side)} {_placed(things, right)}", tuple((shots[0], shots[0].box(name)) for name in ids)
        ),
        conclusion=f"Only one picture has this layout, and it is the view {side}.",
    )


def _turned(points: Sequence[Point], turn: Turn) -> list[Point]:
    """The points in another view."""
    return [(round(x, 4), round(y, 4)) for x, y in map(turn, points)]


def _told_apart(a: Sequence[Point], b: Sequence[Point]) -> bool:
    """Whether something stands clearly elsewhere; what stands in a line through the middle may look alike mirrored."""
    return any(max(abs(p[0] - q[0]), abs(p[1] - q[1])) > 0.25 for p, q in zip(a, b, strict=True))


def _distractors(wanted: QuestionBrief, side: str) -> list[Turn]:
    """Other sides and impossible views by lot; the harder, the more of those that mirror."""
    rng = wanted.lot
    others: list[Turn] = [lambda p: p, *(turn for name, turn in SIDES.items() if name != side)]
    mirrored = rng.sample(_MIRRORED, len(_MIRRORED))
    rng.shuffle(others)
    take = wanted.count(1, 2)
    return [*mirrored[:take], *others, *mirrored[take:]]


def _rule(side: str) -> str:
    if side == "from the opposite side":
        return "From the opposite side left becomes right, and what was near is far."
    if side == "from the left side":
        return "From the left side what was at the left is near, and what was near is at the right."
    return "From the right side what was at the right is near, and what was near is at the left."


def _placed(things: Sequence[Prop], points: Sequence[Point]) -> str:
    across, deep = ("left", "middle", "right"), ("far", "half-way", "near")
    said = (
        f"{thing.the} {across[_STEPS.index(_step(u))]} and {deep[_STEPS.index(_step(v))]}"
        for thing, (u, v) in zip(things, points, strict=True)
    )
    return f"So one sees {'; '.join(said)}."


def _step(value: float) -> float:
    return min(_STEPS, key=lambda step: abs(step - value))


def _corner(wanted: QuestionBrief) -> ChoiceQuestion:
    """Two views of the same things; what is farthest to one side, or nearest, in a third?"""
    rng, here = wanted.rng, setting(wanted, DEEP_PLACES)
    there = replace(here, variant=here.variant + 1, seed=str(wanted.lot.getrandbits(48)))
    things = props(rng, here, 4, widest=_WIDEST)
    right = rng.randrange(4)
    shown, asked = rng.sample(list(SIDES), 2)
    where = rng.choice(("farthest to the left", "farthest to the right", "nearest to the camera"))
    points = _with_extreme(wanted, SIDES[asked], where, right)
    first = _seen(wanted, here, things, points)
    second = _seen(wanted, there, things, _turned(points, SIDES[shown]))
    turned = _turned(points, SIDES[asked])
    names = [thing.the for thing in things]
    return ChoiceQuestion(
        prompt=(
            "Picture 1: ",
            first,
            f"\nPicture 2, of the same things, taken {shown} of picture 1: ",
            second,
            f"\nA third picture is taken {asked} of picture 1. What is {where} in it?",
        ),
        options=tuple(names),
        right=right,
        summary=f"Two views of four things are given; it is asked what is {where} in a third view, {asked}.",
        regions=Remark(
            f"In both pictures {listed(names)} are here.",
            tuple((shot, shot.box(f"t{place}")) for shot in (first, second) for place in range(4)),
        ),
        compared=Remark(
            f"{_rule(asked)} {_ranks(names, turned, where)}",
            tuple((first, first.box(f"t{place}")) for place in range(4)),
        ),
        conclusion=f"In the third picture {names[right]} would be {where}.",
    )


def _with_extreme(wanted: QuestionBrief, turn: Turn, where: str, right: int) -> list[Point]:
    """Four points apart from each other; that one is the extreme in the turned view, clearly before the next."""
    rng, gap = wanted.lot, wanted.between(0.28, 0.16)
    while True:
        points = [(round(rng.uniform(0.06, 0.94), 4), round(rng.uniform(0.05, 0.95), 4)) for _ in range(4)]
        points.sort(key=lambda point: _rank(turn(point), where))
        ahead = _rank(turn(points[1]), where) - _rank(turn(points[0]), where)
        if ahead >= gap and all(abs(a[0] - b[0]) + abs(a[1] - b[1]) > 0.35 for a, b in combinations(points, 2)):
            first, *others = points
            rng.shuffle(others)
            return [*others[:right], first, *others[right:]]


def _rank(point: Point, where: str) -> float:
    """The smaller, the more it is what is asked for."""
    return {"farthest to the left": point[0], "farthest to the right": -point[0]}.get(where, -point[1])


def _ranks(names: Sequence[str], turned: Sequence[Point], where: str) -> str:
    order = sorted(range(len(names)), key=lambda place: _rank(turned[place], where))
    way = {
        "farthest to the left": "from left to right",
        "farthest to the right": "from right to left",
        "nearest to the camera": "from near to far",
    }
    return f"In that view one sees, {way[where]}, {listed(names[place] for place in order)}."
