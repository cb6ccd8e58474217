"""What a picture shows, measured on the outlines of what was painted into it.

A thing is in the truth when at least `LEAST` of it is seen. The relations are all that hold by these rules:

- `a left of b`: both are in one zone of the place, neither farther away than the other by more than `BAND` times, and
  the middle of a's box is to the left of that of b's box by more than `MARGIN` of the picture's width.
- `a behind b`: a is farther away, and b covers at least `COVERED` of a's outline.
- `a on b`: a rests on a surface of b.
- `a holding b`: b is in the hand of the person a.

No left of and no behind is said of a thing and what it lies on, or of a person and what that person holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.types import Box
from sightline_world.draw.camera import View
from sightline_world.draw.layout import MARGIN, Placed, same_band
from sightline_world.scene import Relation

LEAST = 0.1
COVERED = 0.05


@dataclass(frozen=True, slots=True)
class Outline:
    """What something covers of the scene: which pixels, its corners, and the number of its pixels."""

    mask: NDArray[np.bool_]
    box: tuple[int, int, int, int]
    area: int


@dataclass(frozen=True, slots=True)
class Visible:
    """What the frame shows of something: the box of the visible part, the hidden share, and how much it is enlarged."""

    box: Box
    hidden: float
    scale: float


class DepthMap:
    """A map of the scene that says for each pixel what is foremost there; outlines come the farthest first."""

    def __init__(
        self, size: tuple[int, int], outlines: Sequence[Outline], cover: NDArray[np.bool_] | None, at: int
    ) -> None:
        """`cover` is furniture that stands before all outlines with a number below `at`."""
        self.size = size
        self.outlines = outlines
        self._covered = at if cover is not None else 0
        self._map = np.zeros((size[1], size[0]), dtype=np.uint8)
        for number, each in enumerate(outlines):
            if number == at and cover is not None:
                self._map[cover] = 0
            part, mask = self._inside(each)
            np.copyto(part, number + 1, where=mask)

    def _inside(self, each: Outline) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """The part of the map where an outline is, and the part of the outline that is in the map."""
        left, top, right, bottom = each.box
        x, y = max(0, left), max(0, top)
        part = self._map[y : max(0, bottom), x : max(0, right)]
        return part, each.mask[y - top : y - top + part.shape[0], x - left : x - left + part.shape[1]]

    def hidden(self) -> list[float]:
        """The share of each that others cover; what is beyond the edge of the scene counts as seen."""
        return [self._hidden(number) for number in range(len(self.outlines))]

    def _hidden(self, number: int) -> float:
        each = self.outlines[number]
        later = self.outlines[number + 1 :]
        if number >= self._covered and not any(_overlap(each, other) for other in later):
            return 0.0
        part, mask = self._inside(each)
        area = np.count_nonzero(mask)
        return 1 - np.count_nonzero(part == number + 1) / area if area else 0.0

    def through(self, view: View) -> list[Visible | None]:
        """What the frame shows of each; None for what it does not show."""
        frame = self._map
        if not view.plain:
            frame = np.asarray(view.through(Image.fromarray(frame), Image.Resampling.NEAREST))
        return [_seen(frame, number + 1, each, view) for number, each in enumerate(self.outlines)]


def _overlap(one: Outline, other: Outline) -> bool:
    a, b = one.box, other.box
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _seen(frame: NDArray[np.uint8], number: int, each: Outline, view: View) -> Visible | None:
    high, wide = frame.shape
    left, top, right, bottom = _window(each, view)
    left, top = max(0, left), max(0, top)
    here = frame[top : max(0, bottom), left : max(0, right)] == number
    count = int(np.count_nonzero(here))
    scale = 1.0 if view.plain else view.scale_at((left + right) / 2, (top + bottom) / 2)
    share = count / (each.area * scale * scale) if each.area else 0.0
    if share < LEAST:
        return None
    columns, rows = here.any(axis=0), here.any(axis=1)
    box = Box(
        round((left + int(columns.argmax())) / wide, 4),
        round((top + int(rows.argmax())) / high, 4),
        round((left + columns.size - int(columns[::-1].argmax())) / wide, 4),
        round((top + rows.size - int(rows[::-1].argmax())) / high, 4),
    )
    return Visible(box, round(min(1.0, max(0.0, 1 - share)), 3), scale)


def _window(each: Outline, view: View) -> tuple[int, int, int, int]:
    """A part of the frame that surely holds the outline."""
    left, top, right, bottom = each.box
    if view.plain:
        return left, top, right, bottom
    corners = [view.to_frame(x, y) for x in (left, right) for y in (top, bottom)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return int(min(xs)) - 2, int(min(ys)) - 2, int(max(xs)) + 3, int(max(ys)) + 3


def relations(items: Sequence[Placed], outlines: Sequence[Outline], seen: Sequence[Visible | None]) -> list[Relation]:
    """All relations that hold among what is seen; `items` come the farthest first."""
    shown = [_Shown(item, each, look) for item, each, look in zip(items, outlines, seen, strict=True) if look]
    found = _carrying(items, {one.item.id for one in shown})
    for number, far in enumerate(shown):
        for near in shown[number + 1 :]:
            if far.item.carrier == near.item.id or near.item.carrier == far.item.id:
                continue
            gap = near.middle - far.middle
            if abs(gap) > MARGIN and same_band(far.item, near.item):
                left, right = (far, near) if gap > 0 else (near, far)
                found.append(Relation(left.item.id, "left of", right.item.id))
            if far.item.base < near.item.base and covered(far.outline, near.outline) >= COVERED:
                found.append(Relation(far.item.id, "behind", near.item.id))
    return found


@dataclass(frozen=True, slots=True)
class _Shown:
    item: Placed
    outline: Outline
    seen: Visible

    @property
    def middle(self) -> float:
        return (self.seen.box.left + self.seen.box.right) / 2


def _carrying(items: Sequence[Placed], shown: set[str]) -> list[Relation]:
    found = []
    for item in items:
        if item.carrier is None or not {item.id, item.carrier} <= shown:
            continue
        if item.held:
            found.append(Relation(item.carrier, "holding", item.id))
        else:
            found.append(Relation(item.id, "on", item.carrier))
    return found


def covered(far: Outline, near: Outline) -> float:
    """The share of one outline that lies under another."""
    a, b = far.box, near.box
    left, top, right, bottom = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    if left >= right or top >= bottom or not far.area:
        return 0.0
    under = far.mask[top - a[1] : bottom - a[1], left - a[0] : right - a[0]]
    over = near.mask[top - b[1] : bottom - b[1], left - b[0] : right - b[0]]
    return np.count_nonzero(under & over) / far.area
