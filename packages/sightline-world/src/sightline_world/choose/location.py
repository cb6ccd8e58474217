"""Spatial: who is where beside whom, over several pictures of the same things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from random import Random

from sightline.english import listed
from sightline_world.choose.question import Question, Said, Shot, Wanted, numbered, picture_options
from sightline_world.choose.setting import Prop, Setting, ground_kinds, props, setting, shoot

_SIDES = ("left", "right")


def location_relationship(wanted: Wanted) -> Question:
    """The picture with an order of things, or a neighbour's neighbour in another picture."""
    return _order(wanted) if wanted.rng.random() < 0.5 else _neighbour(wanted)


def _order(wanted: Wanted) -> Question:
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
    return Question(
        prompt=(
            *numbered("Picture", shots),
            f"In which picture do the things stand in this order from left to right: {said}?",
        ),
        options=picture_options(),
        right=right,
        numbered=True,
        summary=f"Four pictures of the same {count} things are to be searched for the order {said} from left to right.",
        regions=Said(
            f"The first in the order asked for is {things[orders[right][0]].the}; in each picture it is here.",
            tuple((shot, shot.box(f"t{orders[right][0]}")) for shot in shots),
        ),
        compared=Said(
            f"The thing farthest to the left is, from picture 1 to 4: {', '.join(leftmost)}. "
            f"In picture {right + 1} the things follow each other as {said}.",
            seen,
        ),
        conclusion=f"Only picture {right + 1} shows this order.",
    )


def _row(wanted: Wanted, here: Setting, things: Sequence[Prop], order: Sequence[int]) -> Shot:
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


def _neighbour(wanted: Wanted) -> Question:
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
    return Question(
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
        regions=Said(
            f"In picture 1 {start.the} is here, and directly to the {one} of it is {link.the}.",
            ((near, near.box(_id(front, start))), (near, near.box(_id(front, link)))),
        ),
        compared=Said(
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


def _pictured(wanted: Wanted, here: Setting, row: Sequence[Prop]) -> Shot:
    return _row(wanted, here, row, range(len(row)))


def _id(row: Sequence[Prop], thing: Prop) -> str:
    return f"t{row.index(thing)}"
