"""The table of someone who cooks: where on it things are, and what several of them share."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sightline_world.choose.easel import Easel
from sightline_world.draw.palette import RGB
from sightline_world.draw.pen import Pen, Point

FOOT = 0.92
"""Where most things stand on the table."""
PLATE: RGB = (158, 190, 222)


@dataclass(frozen=True, slots=True)
class Table:
    """Where the work is: its middle, which side is which, the colour of bowls and pots, and a lot for small things."""

    easel: Easel
    x: float
    side: int
    rgb: RGB
    lot: int

    def at(self, dx: float, y: float) -> Point:
        """A point so far from the middle of the work."""
        return (self.x + self.side * dx, y)

    def sub(self, dx: float, foot: float, height: float) -> Pen:
        """A pen for something of that height that stands there, as the world's things are drawn."""
        return self.easel.sub(self.x + self.side * dx, foot - height, height)

    @property
    def pen(self) -> Pen:
        return self.easel.pen


def bit(number: int, rx: float, ry: float, half: float, y: float) -> tuple[float, float, float, float]:
    """The corners of one of some pieces strewn over an oval."""
    angle, reach = number * 2.4, math.sqrt((number + 0.5) / 9)
    cx, cy = rx * reach * math.cos(angle), y + ry * reach * math.sin(angle)
    return (cx - half, cy - half * 0.6, cx + half, cy + half * 0.6)


def steam(t: Table, dx: float, y: float) -> None:
    """Steam that rises from there."""
    for offset in (-0.10, 0.0, 0.10):
        x = t.at(dx + offset, 0)[0]
        wave = [(x + 0.012 * math.sin(step * 1.4), y - 0.01 - 0.02 * step) for step in range(7)]
        t.pen.line(wave, 0.012, (238, 240, 240), alpha=0.8)
