"""Spatial: what is nearer to the camera, whatever its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sightline_world.choose.orders import order_options, said_order
from sightline_world.choose.question import Question, Said, Shot, Wanted, numbered, picture_options, upper
from sightline_world.choose.setting import DEEP_PLACES, Prop, Setting, passers_by, props, setting, shoot
from sightline_world.scene import SCENE_SIZES

_WIDEST = 0.34


def depth_relationship(wanted: Wanted) -> Question:
    """The picture in which one thing is nearer than another, or the pictures by how near a thing is."""
    return _nearer(wanted) if wanted.rng.random() < 0.5 else _by_distance(wanted)


def _nearer(wanted: Wanted) -> Question:
    """In three pictures one thing is nearer to the camera, in the fourth the other one."""
    rng, here = wanted.rng, setting(wanted, DEEP_PLACES)
    first, second = props(rng, here, 2, widest=_WIDEST, alike=rng.random() < wanted.difficulty / 2)
    right = rng.randrange(4)
    shots = [_pair(wanted, here, (first, second) if place == right else (second, first)) for place in range(4)]
    ids = [("t0", "t1") if place == right else ("t1", "t0") for place in range(4)]
    return Question(
        prompt=(
            *numbered("Picture", shots),
            f"In which picture is {first.the} nearer to the camera than {second.the}?",
        ),
        options=picture_options(),
        right=right,
        numbered=True,
        summary=f"Four pictures are to be searched for the one in which {first.the} is nearer than {second.the}.",
        regions=Said(
            f"In each picture {first.the} and {second.the} are here.",
            tuple((shot, shot.box(name)) for shot, pair in zip(shots, ids, strict=True) for name in pair),
        ),
        compared=Said(
            f"What stands lower on the ground is nearer. In picture {right + 1} the foot of {first.the} is below that "
            f"of {second.the}; in the others it is above.",
            tuple((shots[right], shots[right].box(name)) for name in ids[right]),
        ),
        conclusion=f"Only in picture {right + 1} is {first.the} the nearer one.",
    )


def _pair(wanted: Wanted, here: Setting, things: tuple[Prop, Prop]) -> Shot:
    """The first nearer than the second; the harder, the less so, and the less their sizes tell."""
    rng = wanted.lot
    gap = wanted.between(0.75, 0.35)
    far = rng.uniform(0.0, 0.98 - gap)
    columns = rng.sample((rng.uniform(0.14, 0.36), rng.uniform(0.64, 0.86)), 2)
    sizes = [rng.choice(SCENE_SIZES) if rng.random() < wanted.difficulty else "medium" for _ in things]
    nearness = (far + gap, far)
    wishes = [
        thing.at(u, v, rng.getrandbits(6), size)
        for thing, u, v, size in zip(things, columns, nearness, sizes, strict=True)
    ]
    view = replace(here, seed=str(rng.getrandbits(48)), variant=rng.randrange(6))
    return shoot(view.plan(wishes), f"{upper(things[0].the)} stands nearer to the camera.")


def _by_distance(wanted: Wanted) -> Question:
    """One thing at several distances, its size the same: the pictures from the nearest to the farthest."""
    lot, here = wanted.lot, setting(wanted, DEEP_PLACES)
    (thing,) = props(wanted.rng, here, 1, widest=_WIDEST)
    count = wanted.count(3, 5)
    orders, right = order_options(wanted, count)
    depths = _apart(wanted, count)
    near_first = dict(zip(orders[right], sorted(depths, reverse=True), strict=True))
    others = passers_by(lot, here, wanted.count(0, 2), 0.25, {thing.kind})
    shots = [
        shoot(here.plan((thing.at(lot.uniform(0.12, 0.88), near_first[place], lot.getrandbits(6)), *others)))
        for place in range(count)
    ]
    feet = [shot.box("t0").bottom for shot in shots]
    return Question(
        prompt=(
            *numbered("Picture", shots),
            f"Sort the pictures by how far {thing.the} is from the camera, the nearest first.",
        ),
        options=tuple(said_order(order) for order in orders),
        right=right,
        summary=f"{count} pictures are to be sorted by the distance of {thing.the}, the nearest first.",
        regions=Said(f"In each picture {thing.the} is here.", tuple((shot, shot.box("t0")) for shot in shots)),
        compared=Said(
            f"The nearer it is, the lower in the picture is its foot and the larger it looks. From the top its foot is "
            f"{_feet(feet)} of the height.",
            tuple((shots[place], shots[place].box("t0")) for place in orders[right]),
        ),
        conclusion=f"From the nearest to the farthest: {said_order(orders[right])}.",
    )


def _feet(feet: Sequence[float]) -> str:
    return ", ".join(f"at {100 * foot:.0f} % (picture {place})" for place, foot in enumerate(feet, 1))


def _apart(wanted: Wanted, count: int) -> list[float]:
    """Depths by lot over the whole ground, at least so far from each other that it shows."""
    gap = wanted.between(0.30, 0.17)
    slack = sorted(wanted.lot.uniform(0, 1 - gap * (count - 1)) for _ in range(count))
    return [value + gap * place for place, value in enumerate(slack)]
