"""Spatial: which thing really is the largest or the smallest, although another one looks so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sightline.types import Box
from sightline_world.choose.question import Question, Said, Shot, Wanted, numbered, picture_options, require
from sightline_world.choose.setting import Prop, Setting, ground_kinds, props, setting, shoot
from sightline_world.draw.plan import SIZE_FACTORS, PersonWish, Spot
from sightline_world.scene import HAIR, SCENE_COLOURS

_PLACES = ("forest", "snow", "street", "desert", "garden")
# Kinds that one can imagine in three sizes, and that look like themselves next to a person.
_KINDS = ("suitcase", "bucket", "ball", "mailbox", "flag", "guitar", "bench", "umbrella", "dog", "sheep", "tent")


def forced_perspective(wanted: Wanted) -> Question:
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
    return Question(
        prompt=(
            "In each picture the person is a grown-up of the same height, and stands as far away as the thing.\n",
            *numbered("Picture", shots),
            f"In which picture is {thing.the} really the {word}?",
        ),
        options=picture_options(),
        right=right,
        numbered=True,
        summary=f"Four pictures show {thing.the} beside a person; its real size is asked for, not how large it looks.",
        regions=Said(
            f"In each picture {thing.the} and the person are here.",
            tuple((shot, shot.box(name)) for shot in shots for name in ("t0", "p0")),
        ),
        compared=Said(
            f"It looks {word} in picture {fooled + 1}, but measured against the person it has {_shares(ratios)} of the "
            "person's height.",
            tuple((shots[place], shots[place].box(name)) for place in (right, fooled) for name in ("t0", "p0")),
        ),
        conclusion=f"So {thing.the} really is the {word} in picture {right + 1}.",
    )


def _beside(wanted: Wanted, here: Setting, thing: Prop, size: str, depth: float) -> Shot:
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
