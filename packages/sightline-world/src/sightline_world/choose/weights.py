"""Analytical: what is heaviest or lightest, from balances that each compare only two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sightline.english import listed
from sightline.types import Box
from sightline_world.choose.easel import STEEL, WOOD, Easel
from sightline_world.choose.question import ChoiceQuestion, DrawnShot, QuestionBrief, Remark, numbered, upper
from sightline_world.choose.setting import Prop
from sightline_world.choose.setting import camera as poor_camera
from sightline_world.draw.camera import Camera, expose
from sightline_world.draw.kinds import KINDS
from sightline_world.draw.palette import shade
from sightline_world.scene import SCENE_COLOURS, SCENE_LIGHTS

_PLACES = ("kitchen", "library", "playground", "garden", "beach", "desert")
_KINDS = (
    "mug", "apple", "bottle", "book", "teapot", "vase", "pear", "clock", "lamp", "camera", "ball", "bucket",
    "suitcase", "guitar", "cat", "rabbit", "duck", "bowl", "cake",
)  # fmt: skip
_WORDS = ("heaviest", "second heaviest", "second lightest", "lightest")


@dataclass(frozen=True, slots=True)
class Balance:
    """A balance in a place: the thing on its left and the one on its right; `tilt` degrees down on the right."""

    left: Prop
    right: Prop
    tilt: float
    place: str
    light: str
    variant: int
    middle: float


@dataclass(frozen=True, slots=True)
class _Weighed:
    shot: DrawnShot
    left: Box
    right: Box

    def box(self, balance: Balance, thing: Prop) -> Box:
        return self.left if thing == balance.left else self.right


def weight_comparison(wanted: QuestionBrief) -> ChoiceQuestion:
    """Some things in the order of their weights, of which each balance shows two neighbours."""
    rng = wanted.rng
    count = wanted.count(4, 5)
    things = _things(wanted, count)
    right = rng.randrange(4)
    rank = rng.choice((0, count - 1) if wanted.difficulty < 0.5 else (0, 1, count - 2, count - 1))
    word = _WORDS[rank if rank < 2 else rank - count + 4]
    order = [place for place in rng.sample(range(count), count) if place != right]
    order.insert(rank, right)
    balances = _balances(wanted, [things[place] for place in order])
    eye = poor_camera(rng, wanted.difficulty)
    weighed = [_drawn(balance, wanted, eye) for balance in balances]
    shots = [one.shot for one in weighed]
    names, answer = [thing.the for thing in things], things[right]
    ranked = ", ".join(names[place] for place in order)
    pairs = [f"{_heavier(balance).the} is heavier than {_lighter(balance).the}" for balance in balances]
    return ChoiceQuestion(
        prompt=(
            "The things on these balances may have any weight, whatever they look like; equal things weigh the same.\n",
            *numbered("Balance", shots),
            f"Which is the {word} of {listed(names)}?",
        ),
        options=tuple(names[:4]),
        right=right,
        summary=f"{count} things are to be put in the order of their weights, to find the {word}; each of "
        f"{len(balances)} balances compares two.",
        regions=Remark(
            "On each balance the lower thing is the heavier one; these are lower: "
            f"{listed(_heavier(balance).the for balance in balances)}.",
            tuple((one.shot, one.box(b, _heavier(b))) for one, b in zip(weighed, balances, strict=True)),
        ),
        compared=Remark(
            f"{upper('; '.join(pairs))}. From the heaviest to the lightest: {ranked}.",
            tuple((one.shot, box) for one in weighed for box in (one.left, one.right)),
        ),
        conclusion=f"The {word} of them is {answer.the}.",
    )


def _things(wanted: QuestionBrief, count: int) -> list[Prop]:
    """Things to weigh: of one kind in different colours now and then, when it is hard."""
    rng = wanted.rng
    if rng.random() < wanted.difficulty / 2:
        kind = rng.choice([kind for kind in _KINDS if len(KINDS[kind].colours) == len(SCENE_COLOURS)])
        return [Prop(kind, colour) for colour in rng.sample(SCENE_COLOURS, count)]
    return [Prop(kind, rng.choice(KINDS[kind].colours)) for kind in rng.sample(_KINDS, count)]


def _balances(wanted: QuestionBrief, heaviest_first: Sequence[Prop]) -> list[Balance]:
    """One balance for each two neighbours in the order, by lot in which order and on which sides."""
    rng = wanted.rng
    place, variant = rng.choice(_PLACES), rng.randrange(6)
    light = rng.choice(SCENE_LIGHTS if rng.random() < wanted.difficulty else ("day", "sunset"))
    found = []
    for heavy, lighter in pairwise(heaviest_first):
        tilt = rng.uniform(0.8, 1.2) * wanted.between(15, 7)
        swap = rng.random() < 0.5
        left, right = (lighter, heavy) if swap else (heavy, lighter)
        signed = round(tilt if swap else -tilt, 1)
        found.append(Balance(left, right, signed, place, light, variant, round(rng.uniform(0.44, 0.56), 3)))
    rng.shuffle(found)
    return found


def _heavier(balance: Balance) -> Prop:
    return balance.right if balance.tilt > 0 else balance.left


def _lighter(balance: Balance) -> Prop:
    return balance.left if balance.tilt > 0 else balance.right


def _drawn(balance: Balance, wanted: QuestionBrief, eye: Camera) -> _Weighed:
    """A see-saw on a pedestal with a thing at each end."""
    easel = Easel(balance.place, balance.light, balance.variant, wanted.size)
    x, pivot, arm, turn = easel.w * balance.middle, 0.74, 0.40, math.radians(balance.tilt)
    ends = [(x + side * arm * math.cos(turn), pivot + side * arm * math.sin(turn)) for side in (-1, 1)]
    easel.shadow(x, 0.935, 0.20)
    pen = easel.pen
    pen.poly(((x - 0.10, 0.93), (x - 0.02, pivot), (x + 0.02, pivot), (x + 0.10, 0.93)), WOOD)
    pen.poly(((x + 0.02, 0.93), (x, pivot), (x + 0.02, pivot), (x + 0.10, 0.93)), shade(WOOD, -0.2))
    pen.rect(x - 0.15, 0.92, x + 0.15, 0.945, shade(WOOD, -0.3), round_by=0.01)
    pen.limb(ends, 0.030, shade(STEEL, -0.45))
    pen.limb(ends, 0.016, shade(STEEL, 0.1))
    pen.oval(x, pivot, 0.028, rgb=(206, 62, 52))
    pen.oval(x, pivot, 0.012, rgb=(250, 232, 220))
    for end_x, end_y in ends:
        pen.rect(end_x - 0.14, end_y - 0.022, end_x + 0.14, end_y + 0.006, shade(STEEL, -0.2), round_by=0.01)
    image = easel.done()
    boxes = []
    for thing, (end_x, end_y) in zip((balance.left, balance.right), ends, strict=True):
        kind = KINDS[thing.kind]
        height = min(0.24, 0.26 / kind.aspect)
        boxes.append(easel.stamped(image, thing.kind, thing.colour, end_x, end_y - 0.018, height))
    image = expose(image, eye, wanted.rng.getrandbits(20))
    words = f"A balance with {balance.left.a} on its left and {balance.right.a} on its right; "
    lower = "right" if balance.tilt > 0 else "left"
    return _Weighed(DrawnShot(image, balance, f"{words}the {lower} side is lower."), *boxes)
