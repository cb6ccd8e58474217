"""Sequential: a picture in pieces, to be put in order or completed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from sightline.types import Box
from sightline_world.choose.question import (
    ChoiceQuestion,
    DrawnShot,
    QuestionBrief,
    Remark,
    numbered,
    order_options,
    require,
    said_order,
    whole,
)
from sightline_world.choose.setting import Altered, busy_plan
from sightline_world.draw.compose import draw
from sightline_world.draw.plan import ScenePlan

_GREY = (118, 122, 128)
_COLUMNS, _ROWS = 3, 2
# How many times better the edges of the right piece must fit than those of any other.
_CLEARLY = 1.25


def image_puzzle(wanted: QuestionBrief) -> ChoiceQuestion:
    """Strips out of order, or a hole and four pieces."""
    return _strips(wanted) if wanted.rng.random() < 0.5 else _hole(wanted)


def _picture(wanted: QuestionBrief) -> tuple[ScenePlan, Image.Image]:
    """A scene without grain, which would make even neighbouring pixels differ."""
    plan = busy_plan(wanted.unread, wanted.count(3, 5))
    plan = replace(plan, camera=replace(plan.camera, noise=0.0))
    return replace(plan, seed=""), draw(plan).image


def _strips(wanted: QuestionBrief) -> ChoiceQuestion:
    """A picture cut from top to bottom; its strips are shown in another order."""
    plan, image = _picture(wanted)
    count = wanted.count(3, 5)
    orders, right = order_options(wanted, count)
    place_of = {strip: place for place, strip in enumerate(orders[right])}
    edges = [round(image.width * number / count) for number in range(count + 1)]
    parts = [(edges[place_of[strip]], edges[place_of[strip] + 1]) for strip in range(count)]
    strips = [image.crop((left, 0, end, image.height)) for left, end in parts]
    _clear_order(strips, orders, right)
    shots = [
        DrawnShot(
            strip,
            Altered(plan, (round(left / image.width, 4), 0.0, round(end / image.width, 4), 1.0)),
            f"A strip from top to bottom, cut from a picture {_where(place_of[number], count)}.",
        )
        for number, (strip, (left, end)) in enumerate(zip(strips, parts, strict=True))
    ]
    sides = [(shots[strip], _side(last=True)) for strip in orders[right][:-1]]
    return ChoiceQuestion(
        prompt=(
            "A picture was cut from top to bottom into strips, and these were mixed up.\n",
            *numbered("Strip", shots),
            "In which order, from left to right, do the strips make up the picture?",
        ),
        options=tuple(said_order(order) for order in orders),
        right=right,
        summary=f"{count} strips of one picture are to be put in order from left to right, by how their edges fit.",
        regions=Remark(
            "The edges of the strips tell what is next to what; these are their right edges.",
            tuple((shot, _side(last=True)) for shot in shots),
        ),
        compared=Remark(
            "What is cut off at the right edge of one strip goes on at the left edge of the next: "
            + ", ".join(f"{a + 1} is followed by {b + 1}" for a, b in pairwise(orders[right]))
            + ".",
            tuple(region for pair in zip(sides, _starts(shots, orders[right]), strict=True) for region in pair),
        ),
        conclusion=f"From left to right the strips are {said_order(orders[right])}.",
    )


def _where(place: int, count: int) -> str:
    return "at its left edge" if place == 0 else "at its right edge" if place == count - 1 else "from within it"


def _side(*, last: bool) -> Box:
    return Box(0.85, 0.0, 1.0, 1.0) if last else Box(0.0, 0.0, 0.15, 1.0)


def _starts(shots: Sequence[DrawnShot], order: Sequence[int]) -> list[tuple[DrawnShot, Box | None]]:
    return [(shots[strip], _side(last=False)) for strip in order[1:]]


def _clear_order(strips: Sequence[Image.Image], orders: Sequence[Sequence[int]], right: int) -> None:
    """The right order must fit clearly better than the others."""
    pixels = [np.asarray(strip, dtype=np.int16) for strip in strips]
    costs = [sum(_step(pixels[a][:, -1], pixels[b][:, 0]) for a, b in pairwise(order)) for order in orders]
    require(min(cost for place, cost in enumerate(costs) if place != right) > _CLEARLY * costs[right])


def _step(a: NDArray[np.int16], b: NDArray[np.int16]) -> float:
    """How much two rows or columns of pixels differ."""
    return float(np.abs(a - b).mean())


def _hole(wanted: QuestionBrief) -> ChoiceQuestion:
    """A picture with a hole, and four pieces of the hole's size."""
    rng = wanted.lot
    plan, image = _picture(wanted)
    wide, high = image.width // _COLUMNS, image.height // _ROWS
    left, top = rng.randrange(_COLUMNS) * wide, rng.randrange(_ROWS) * high
    corners = [(left, top), *rng.sample(_elsewhere(wanted, image.size, (left, top), (wide, high)), 3)]
    pieces = [image.crop((x, y, x + wide, y + high)) for x, y in corners]
    _clear_piece(image, (left, top), pieces)
    shown = _with_hole(image, (left, top, left + wide, top + high))
    box = Box(*(round(v / s, 4) for v, s in zip((left, top, left + wide, top + high), image.size * 2, strict=True)))
    first = DrawnShot(
        shown, Altered(plan, (box.left, box.top, box.right, box.bottom)), "A picture with a grey hole in it."
    )
    shots = [_piece(plan, piece, corner, image.size) for piece, corner in zip(pieces, corners, strict=True)]
    return ChoiceQuestion(
        prompt=(
            "A piece of this picture is missing, where it is grey: ",
            first,
            "\nWhich piece fits into the hole?",
        ),
        options=tuple(shots),
        right=0,
        summary="One of four pieces is to be found that fits into the hole of a picture.",
        regions=Remark("The hole is here.", ((first, box),)),
        compared=Remark(
            "Along all sides of the hole, lines and colours must go on without a break; they do so for one piece only.",
            ((first, _around(box)), *whole(shots[:1])),
        ),
        conclusion="The piece whose edges continue the picture is the missing one.",
    )


def _elsewhere(
    wanted: QuestionBrief, size: tuple[int, int], hole: tuple[int, int], piece: tuple[int, int]
) -> list[tuple[int, int]]:
    """Corners of wrong pieces: other fields of the picture, or, when it is hard, the hole's own a little aside."""
    (left, top), (wide, high) = hole, piece
    if wanted.lot.random() >= wanted.difficulty:
        fields = [(x * wide, y * high) for x in range(_COLUMNS) for y in range(_ROWS)]
        return [field for field in fields if field != hole]
    shift = wanted.between(0.5, 0.28)
    near = [
        (left + round(dx * shift * wide), top + round(dy * shift * high))
        for dx in (-1, 0, 1)
        for dy in (-1, 0, 1)
        if (dx, dy) != (0, 0)
    ]
    return [(x, y) for x, y in near if 0 <= x <= size[0] - wide and 0 <= y <= size[1] - high]


def _clear_piece(image: Image.Image, hole: tuple[int, int], pieces: Sequence[Image.Image]) -> None:
    """The first piece must fit clearly better than the others."""
    costs = [_misfit(np.asarray(image, dtype=np.int16), hole, np.asarray(piece, dtype=np.int16)) for piece in pieces]
    require(min(costs[1:]) > 1.6 * costs[0] + 2.0)


def _misfit(image: NDArray[np.int16], hole: tuple[int, int], piece: NDArray[np.int16]) -> float:
    """How much a piece differs at its edges from what is around the hole."""
    left, top = hole
    high, wide = piece.shape[:2]
    costs = []
    if left > 0:
        costs.append(_step(image[top : top + high, left - 1], piece[:, 0]))
    if left + wide < image.shape[1]:
        costs.append(_step(image[top : top + high, left + wide], piece[:, -1]))
    if top > 0:
        costs.append(_step(image[top - 1, left : left + wide], piece[0]))
    if top + high < image.shape[0]:
        costs.append(_step(image[top + high, left : left + wide], piece[-1]))
    return sum(costs) / len(costs)


def _with_hole(image: Image.Image, corners: tuple[int, int, int, int]) -> Image.Image:
    shown = image.copy()
    pen = ImageDraw.Draw(shown)
    pen.rectangle((corners[0], corners[1], corners[2] - 1, corners[3] - 1), fill=_GREY)
    middle = ((corners[0] + corners[2]) / 2, (corners[1] + corners[3]) / 2)
    pen.text(middle, "?", fill=(236, 236, 236), font=ImageFont.load_default(image.height / 5), anchor="mm")
    return shown


def _piece(plan: ScenePlan, piece: Image.Image, corner: tuple[int, int], size: tuple[int, int]) -> DrawnShot:
    x, y = corner
    part = (x / size[0], y / size[1], (x + piece.width) / size[0], (y + piece.height) / size[1])
    left, top, right, bottom = (round(share, 4) for share in part)
    return DrawnShot(piece, Altered(plan, (left, top, right, bottom)), "A piece cut from the picture.")


def _around(box: Box) -> Box:
    """The hole with a rim about it."""
    rim = 0.04
    return Box(
        max(0.0, round(box.left - rim, 4)),
        max(0.0, round(box.top - rim, 4)),
        min(1.0, round(box.right + rim, 4)),
        min(1.0, round(box.bottom + rim, 4)),
    )
