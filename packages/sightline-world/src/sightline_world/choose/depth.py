"""Spatial: what is nearer to the camera, and which thing really is the largest or the smallest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sightline.types import Box
from sightline_world.choose.question import (
    ChoiceQuestion,
    DrawnShot,
    QuestionBrief,
    Remark,
    numbered,
    order_options,
    picture_options,
    require,
    said_order,
    upper,
)
from sightline_world.choose.setting import DEEP_PLACES, Prop, Setting, ground_kinds, passers_by, props, setting, shoot
from sightline_world.draw.plan import SIZE_FACTORS, PersonWish, Spot
from sightline_world.scene import HAIR, SCENE_COLOURS, SCENE_SIZES

_WIDEST = 0.34
_PLACES = ("forest", "snow", "street", "desert", "garden")
# Kinds that one can imagine in three sizes, and that look like themselves next to a person.
_KINDS = ("suitcase", "bucket", "ball", "mailbox", "flag", "guitar", "bench", "umbrella", "dog", "sheep", "tent")


def depth_relationship(wanted: QuestionBrief) -> ChoiceQuestion:
    """The picture in which one thing is nearer than another, or the pictures by how near a thing is."""
    return _nearer(wanted) if wanted.rng.random() < 0.5 else _by_distance(wanted)


def _nearer(wanted: QuestionBrief) -> ChoiceQuestion:
    """In three pictures one thing is nearer to the camera, in the fourth the other one."""
    rng, here = wanted.rng, setting(wanted, DEEP_PLACES)
    first, second = props(rng, here, 2, widest=_WIDEST, alike=rng.random() < wanted.difficulty / 2)
    right = rng.randrange(4)
    shots = [_pair(wanted, here, (first, second) if place == right else (second, first)) for place in range(4)]
    ids = [("t0", "t1") if place == right else ("t1", "t0") for place in range(4)]
    return ChoiceQuestion(
        prompt=(
            *numbered("Picture", shots),
            f"In which picture is {first.the} nearer to the camera than {second.the}?",
        ),
        options=picture_options(),
        right=right,
        numbered=True,
        summary=f"Four pictures are to be searched for the one in which {first.the} is nearer than {second.the}.",
        regions=Remark(
            f"In each picture {first.the} and {second.the} are here.",
            tuple((shot, shot.box(name)) for shot, pair in zip(shots, ids, strict=True) for name in pair),
        ),
        compared=Remark(
            f"What stands lower on the ground is nearer. In picture {right + 1} the foot of {first.the} is below that "
            f"of {second.the}; in the others it is above.",
            tuple((shots[right], shots[right].box(name)) for name in ids[right]),
        ),
        conclusion=f"Only in picture {right + 1} is {first.the} the nearer one.",
    )


def _pair(wanted: QuestionBrief, here: Setting, things: tuple[Prop, Prop]) -> DrawnShot:
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


def _by_distance(wanted: QuestionBrief) -> ChoiceQuestion:
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
    return ChoiceQuestion(
        prompt=(
            *numbered("Picture", shots),
            f"Sort the pictures by how far {thing.the} is from the camera, the nearest first.",
        ),
        options=tuple(said_order(order) for order in orders),
        right=right,
        summary=f"{count} pictures are to be sorted by the distance of {thing.the}, the nearest first.",
        regions=Remark(f"In each picture {thing.the} is here.", tuple((shot, shot.box("t0")) for shot in shots)),
        compared=Remark(
            f"The nearer it is, the lower in the picture is its foot and the larger it looks. From the top its foot is "
            f"{_feet(feet)} of the height.",
            tuple((shots[place], shots[place].box("t0")) for place in orders[right]),
        ),
        conclusion=f"From the nearest to the farthest: {said_order(orders[right])}.",
    )


def _feet(feet: Sequence[float]) -> str:
    return ", ".join(f"at {100 * foot:.0f} % (picture {place})" for place, foot in enumerate(feet, 1))


def _apart(wanted: QuestionBrief, count: int) -> list[float]:
    """Depths by lot over the whole ground, at least so far from each other that it shows."""
    gap = wanted.between(0.30, 0.17)
    slack = sorted(wanted.lot.uniform(0, 1 - gap * (count - 1)) for _ in range(count))
    return [value + gap * place for place, value in enumerate(slack)]


def forced_perspective(wanted: QuestionBrief) -> ChoiceQuestion:
    """Four pictures of a thing beside a grown person, near or far: in which is it really the largest (smallest)?"""
    rng, here = wanted.rng, setting(wanted, _PLACES)
    without = [kind for kind in ground_kinds(here, 0.32) if kind not in _KINDS]
    (thing,) = props(rng, here, 1, widest=0.32, without=without)
    largest, right = rng.random() < 0.5, rng.randrange(4)
    rng = wanted.lot
    extreme, decoy = ("large", "medium") if largest else ("small", "medium")
    others = rng.choice(((decoy, decoy, "small" if largest else "large"), (decoy, decoy, decoy)))
    sizes = list(rng.sample(others, 3))
    depths = [rng.uniform(0.0, 1.0) for _ in sizes]
    # The right one is where it looks as unlike the truth as the ground allows, and one of the others the opposite.
    far, near = rng.uniform(0.0, wanted.between(0.12, 0.05)), rng.uniform(0.9, 1.0)
    sizes.insert(right, extreme)
    depths.insert(right, far if largest else near)
    decoys = [place for place in range(4) if place != right and sizes[place] == decoy]
    depths[rng.choice(decoys)] = near if largest else far
    shots = [_beside(wanted, here, thing, size, depth) for size, depth in zip(sizes, depths, strict=True)]
    heights = [_height(shot.box("t0")) for shot in shots]
    fooled = heights.index(max(heights) if largest else min(heights))
    misled = heights[fooled] / heights[right]
    require(misled > 1.1 if largest else misled < 0.91)
    require(all(abs(shot.box("t0").bottom - shot.box("p0").bottom) < 0.03 for shot in shots))
    ratios = [height / _height(shot.box("p0")) for height, shot in zip(heights, shots, strict=True)]
    word = "largest" if largest else "smallest"
    return ChoiceQuestion(
        prompt=(
            "In each picture the person is a grown-up of the same height, and stands as far away as the thing.\n",
            *numbered("Picture", shots),
            f"In which picture is {thing.the} really the {word}?",
        ),
        options=picture_options(),
        right=right,
        numbered=True,
        summary=f"Four pictures show {thing.the} beside a person; its real size is asked for, not how large it looks.",
        regions=Remark(
            f"In each picture {thing.the} and the person are here.",
            tuple((shot, shot.box(name)) for shot in shots for name in ("t0", "p0")),
        ),
        compared=Remark(
            f"It looks {word} in picture {fooled + 1}, but measured against the person it has {_shares(ratios)} of the "
            "person's height.",
            tuple((shots[place], shots[place].box(name)) for place in (right, fooled) for name in ("t0", "p0")),
        ),
        conclusion=f"So {thing.the} really is the {word} in picture {right + 1}.",
    )


def _beside(wanted: QuestionBrief, here: Setting, thing: Prop, size: str, depth: float) -> DrawnShot:
    rng = wanted.lot
    left = rng.random() < 0.5
    middle = rng.uniform(0.35, 0.65)
    gap = 0.13 + 0.05 * depth + (0.08 if SIZE_FACTORS[size] > 1 else 0.0)
    person = PersonWish(
        rng.choice([colour for colour in SCENE_COLOURS if colour != thing.colour]),
        rng.choice(HAIR),
        pose=rng.choice(("standing", "waving")),
        spot=Spot(round(middle + gap * (1 if left else -1), 4), round(depth, 4), rng.getrandbits(9)),
    )
    wish = thing.at(middle - gap * (1 if left else -1), depth, rng.getrandbits(6), size)
    view = replace(here, seed=str(rng.getrandbits(48)), variant=rng.randrange(6))
    return shoot(view.plan((wish,), (person,)))


def _height(box: Box) -> float:
    return box.bottom - box.top


def _shares(ratios: Sequence[float]) -> str:
    return ", ".join(f"{100 * ratio:.0f} % (picture {place})" for place, ratio in enumerate(ratios, 1))
