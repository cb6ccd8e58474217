"""The table of someone who cooks: the food and the utensils, each drawn at its distance from the middle of the work."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from sightline_world.choose.easel import STEEL, WOOD, Easel
from sightline_world.draw import table
from sightline_world.draw.palette import RGB, is_pale, shade
from sightline_world.draw.pen import Pen, Point

FOOT = 0.92
"""Where most things stand on the table."""
PLATE: RGB = (158, 190, 222)
YOLK: RGB = (248, 184, 34)
_SHELL: RGB = (246, 226, 200)
_ROOTS: tuple[RGB, ...] = ((238, 128, 38), (208, 50, 44), (88, 160, 62), (236, 204, 92), (140, 62, 122))
_BLACK: RGB = (52, 52, 58)


@dataclass(frozen=True, slots=True)
class Worktop:
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


def steam(t: Worktop, dx: float, y: float) -> None:
    """Steam that rises from there."""
    for offset in (-0.10, 0.0, 0.10):
        x = t.at(dx + offset, 0)[0]
        wave = [(x + 0.012 * math.sin(step * 1.4), y - 0.01 - 0.02 * step) for step in range(7)]
        t.pen.line(wave, 0.012, (238, 240, 240), alpha=0.8)


def vegetables(lot: int) -> tuple[RGB, RGB, RGB]:
    """Three kinds of vegetables, by their colours."""
    first, second, third = Random(lot).sample(_ROOTS, 3)
    return first, second, third


def egg(t: Worktop, dx: float, y: float, grow: float = 1.0) -> None:
    x = t.at(dx, 0)[0]
    t.pen.oval(x, y + 0.004, 0.034 * grow, 0.012, rgb=(40, 34, 30), alpha=0.25)
    t.pen.oval(x, y - 0.034 * grow, 0.028 * grow, 0.037 * grow, rgb=_SHELL)
    t.pen.oval(x - 0.008 * grow, y - 0.046 * grow, 0.009 * grow, 0.013 * grow, rgb=(255, 246, 232))


def shells(t: Worktop, dx: float) -> None:
    """Two halves of a broken shell."""
    for offset, tilt in ((-0.05, 0.016), (0.04, -0.010)):
        x, y = t.at(dx + offset, 0.915)
        edge = [(x - 0.038, y - 0.036), (x - 0.018, y - 0.022), (x, y - 0.042), (x + 0.02, y - 0.022)]
        round_ = [(x + 0.038, y - 0.036 + tilt), (x + 0.034, y - 0.008), (x, y + 0.010), (x - 0.034, y - 0.008)]
        t.pen.poly([*edge, *round_], _SHELL)
        t.pen.poly([*edge, (x + 0.036, y - 0.030), (x, y - 0.016)], shade(_SHELL, -0.2))


def flour(t: Worktop, dx: float) -> None:
    """An open paper bag with an ear of wheat on it."""
    x = t.at(dx, 0)[0]
    paper: RGB = (232, 218, 190)
    t.easel.shadow(x, FOOT, 0.10)
    t.pen.poly(((x - 0.09, FOOT), (x - 0.085, 0.62), (x + 0.085, 0.62), (x + 0.09, FOOT)), paper)
    t.pen.poly(((x + 0.045, FOOT), (x + 0.05, 0.62), (x + 0.085, 0.62), (x + 0.09, FOOT)), shade(paper, -0.12))
    t.pen.oval(x, 0.622, 0.084, 0.020, rgb=(252, 250, 244))
    t.pen.line(((x - 0.01, 0.86), (x - 0.01, 0.74)), 0.008, (178, 134, 50))
    for step in range(4):
        for side in (-1, 1):
            t.pen.oval(x - 0.01 + side * 0.016, 0.74 + 0.024 * step, 0.012, 0.010, rgb=(206, 160, 62))


def root(t: Worktop, dx: float, rgb: RGB) -> None:
    """A whole vegetable with green at its top."""
    x, y = t.at(dx, 0.865)
    for leaf in (-0.05, 0.0, 0.05):
        t.pen.line(((x, y - 0.04), (x + leaf, y - 0.16)), 0.020, (70, 148, 66))
    t.pen.oval(x, y, 0.066, 0.062, rgb=shade(rgb, -0.12))
    t.pen.oval(x - 0.006, y - 0.006, 0.058, 0.054, rgb=rgb)
    t.pen.oval(x - 0.024, y - 0.026, 0.013, 0.017, rgb=shade(rgb, 0.5))


def chopped(t: Worktop, roots: tuple[RGB, ...]) -> None:
    """Small cubes in heaps, one for each vegetable."""
    rng = Random(t.lot)
    for heap, rgb in enumerate(roots):
        for _ in range(13):
            x, y = t.at(-0.22 + 0.16 * heap + rng.uniform(-0.06, 0.06), rng.uniform(0.83, 0.92))
            t.pen.rect(x - 0.017, y - 0.016, x + 0.017, y + 0.014, shade(rgb, -0.22))
            t.pen.rect(x - 0.017, y - 0.016, x + 0.012, y + 0.008, rgb)


def fried(t: Worktop, dx: float, y: float, half: float, white: RGB, *, crisp: bool = False, alpha: float = 1.0) -> None:
    """An egg without its shell; fried, it has a brown rim."""
    x = t.at(dx, 0)[0]
    blobs = ((0.0, 0.0, 1.0), (-0.42, 0.012, 0.62), (0.45, -0.010, 0.58))
    if crisp:
        for bx, by, size in blobs:
            t.pen.oval(x + bx * half, y + by, half * size + 0.014, 0.30 * half * size + 0.010, rgb=(178, 116, 52))
    for bx, by, size in blobs:
        t.pen.oval(x + bx * half, y + by, half * size, 0.30 * half * size, rgb=white, alpha=alpha)
    t.pen.oval(x + 0.02, y - 0.010, 0.062, 0.034, rgb=shade(YOLK, -0.15))
    t.pen.oval(x + 0.02, y - 0.016, 0.058, 0.031, rgb=YOLK)
    t.pen.oval(x + 0.002, y - 0.026, 0.014, 0.008, rgb=(255, 236, 150))


def smear(t: Worktop, rgb: RGB) -> None:
    for dx, dy, rx in ((-0.06, 0.0, 0.06), (0.04, 0.012, 0.08), (0.10, -0.012, 0.03)):
        t.pen.oval(t.at(dx, 0)[0], 0.875 + dy, rx, 0.010, rgb=rgb)


def dough_ball(t: Worktop, rgb: RGB) -> None:
    t.easel.shadow(t.x, 0.925, 0.18)
    t.pen.oval(t.x, 0.83, 0.17, 0.115, rgb=shade(rgb, -0.12))
    t.pen.oval(t.x - 0.01, 0.82, 0.155, 0.100, rgb=rgb)
    t.pen.oval(t.x - 0.06, 0.77, 0.04, 0.020, rgb=shade(rgb, 0.5))
    for dx in (-0.28, -0.23, 0.24, 0.30, 0.34):
        t.pen.oval(t.at(dx, 0)[0], 0.92, 0.028, 0.007, rgb=(250, 248, 240))


def disc(
    t: Worktop,
    rgb: RGB,
    sauce: RGB | None = None,
    bits: tuple[RGB, ...] = (),
    y: float = 0.86,
    grow: float = 1.0,
    slice_gone: bool = False,
) -> None:
    """Flat dough with what is on it; a slice may be gone."""
    x, rx, ry = t.x, 0.40 * grow, 0.088 * grow
    t.pen.oval(x, y + 0.012, rx, ry, rgb=shade(rgb, -0.25))
    t.pen.oval(x, y, rx, ry, rgb=rgb)
    if sauce is not None:
        t.pen.oval(x, y, rx * 0.88, ry * 0.84, rgb=sauce)
    for number, tone in enumerate(((250, 236, 190), *bits) * 4 if bits else ()):
        left, top, right, low = bit(number % 16, rx * 0.60, ry * 0.56, 0.034 * grow, y)
        t.pen.oval(x + (left + right) / 2, (top + low) / 2, 0.042 * grow, 0.014 * grow, rgb=tone)
    if slice_gone:
        turns = [turn / 10 for turn in range(2, 13)]
        rim = [t.at(1.03 * rx * math.cos(turn), y + 1.16 * ry * math.sin(turn)) for turn in turns]
        t.pen.poly([(x, y), *rim], PLATE)


def bowl(
    t: Worktop,
    dx: float,
    fill: RGB | None = None,
    yolks: int = 0,
    bits: tuple[RGB, ...] = (),
    smear: RGB | None = None,
    hot: bool = False,
) -> None:
    """A bowl of the colour: empty, full, or with the rest of a meal."""
    height = 0.25
    t.easel.shadow(t.at(dx, 0)[0], FOOT, 0.16)
    pen = t.sub(dx, FOOT, height)
    table.bowl(pen, t.rgb, Random(0))
    if fill is not None:
        pen.oval(0, 0.225, 0.80, 0.145, rgb=shade(fill, -0.12))
        pen.oval(0, 0.235, 0.74, 0.125, rgb=fill)
    for yolk in range(yolks):
        pen.oval(-0.42 + 0.84 * yolk / max(1, yolks - 1), 0.23, 0.13, 0.06, rgb=YOLK)
    for number, rgb in enumerate(bits * 3):
        pen.rect(*bit(number, 0.60, 0.08, 0.05, 0.235), rgb, round_by=0.02)
    if smear is not None:
        pen.oval(0.05, 0.29, 0.40, 0.05, rgb=smear)
        pen.oval(0.12, 0.27, 0.30, 0.03, rgb=shade(t.rgb, -0.26))
    if hot:
        steam(t, dx, FOOT - height)


def whisk(t: Worktop, dx: float) -> None:
    """A whisk that stands in a bowl."""
    low, top = t.at(dx, 0.73), t.at(dx + 0.16, 0.44)
    t.pen.limb((low, top), 0.016, shade(STEEL, -0.2))
    t.pen.limb((t.at(dx + 0.10, 0.55), top), 0.030, WOOD)
    for spread in (-0.03, 0.0, 0.03):
        t.pen.line((low, t.at(dx + 0.05 + spread, 0.66), t.at(dx + 0.07, 0.605)), 0.007, STEEL)


def tin(t: Worktop, dx: float, fill: RGB, *, risen: bool, foot: float = FOOT, grow: float = 1.0) -> None:
    """A baking tin with something in it that may have risen."""
    x = t.at(dx, 0)[0]
    high, half = 0.16 * grow, 0.24 * grow
    top = foot - high
    if foot == FOOT:
        t.easel.shadow(x, foot, half)
    if risen:
        t.pen.oval(x, top, half * 0.95, 0.075 * grow, rgb=fill)
    t.pen.poly(((x - half, top), (x + half, top), (x + half * 0.86, foot), (x - half * 0.86, foot)), shade(STEEL, -0.1))
    t.pen.poly(((x + half * 0.5, top), (x + half, top), (x + half * 0.86, foot), (x + half * 0.46, foot)),
               shade(STEEL, -0.3))  # fmt: skip
    if not risen:
        t.pen.oval(x, top, half, 0.040 * grow, rgb=shade(STEEL, 0.3))
        t.pen.oval(x, top + 0.004, half * 0.93, 0.030 * grow, rgb=fill)


def oven(t: Worktop) -> None:
    """The open front of an oven that glows."""
    x = t.x
    t.pen.rect(x - 0.44, 0.48, x + 0.44, 0.99, (206, 210, 214), round_by=0.02)
    for knob in range(5):
        t.pen.oval(x - 0.32 + 0.16 * knob, 0.53, 0.022, rgb=_BLACK)
    t.pen.rect(x - 0.40, 0.58, x + 0.40, 0.96, _BLACK, round_by=0.02)
    t.pen.rect(x - 0.36, 0.62, x + 0.36, 0.92, (150, 58, 22), round_by=0.02, lit=True)
    for y in (0.635, 0.905):
        t.pen.line(((x - 0.34, y), (x + 0.34, y)), 0.016, (255, 150, 40), lit=True)
    t.pen.line(((x - 0.36, 0.865), (x + 0.36, 0.865)), 0.008, (90, 92, 96))


def board(t: Worktop) -> None:
    x = t.x
    t.pen.poly(((x - 0.36, 0.94), (x - 0.32, 0.82), (x + 0.32, 0.82), (x + 0.36, 0.94)), (226, 190, 136))
    t.pen.rect(x - 0.36, 0.94, x + 0.36, 0.962, (176, 134, 84))


def knife(t: Worktop, dx: float) -> None:
    (x0, y0), (x1, y1), (x2, y2) = t.at(dx - 0.05, 0.93), t.at(dx + 0.05, 0.80), t.at(dx + 0.11, 0.72)
    t.pen.poly(((x0, y0), (x0 - 0.01, y0 - 0.05), (x1 - 0.02, y1), (x1 + 0.02, y1 + 0.02)), (206, 212, 218))
    t.pen.limb(((x1, y1), (x2, y2)), 0.034, _BLACK)


def hob(t: Worktop) -> None:
    """A cooker with a flame on it."""
    x = t.x
    t.pen.rect(x - 0.34, 0.885, x + 0.34, 0.975, _BLACK, round_by=0.02)
    for knob in (-0.24, -0.12, 0.12, 0.24):
        t.pen.oval(x + knob, 0.93, 0.020, rgb=(196, 200, 204))
    for flame in range(9):
        fx = x - 0.16 + 0.04 * flame
        t.pen.poly(((fx - 0.016, 0.888), (fx, 0.815), (fx + 0.016, 0.888)), (70, 140, 250), lit=True)
        t.pen.poly(((fx - 0.008, 0.888), (fx, 0.850), (fx + 0.008, 0.888)), (200, 230, 255), lit=True)


def pot(t: Worktop, *, water: bool = False, bits: tuple[RGB, ...] = (), lid: bool = False) -> None:
    """A pot of the colour on the flame."""
    x, top, low = t.x, 0.60, 0.83
    for side in (-1, 1):
        t.pen.rect(min(x + side * 0.20, x + side * 0.27), 0.655, max(x + side * 0.20, x + side * 0.27), 0.685, _BLACK)
    if lid:
        t.pen.oval(x, top - 0.115, 0.030, 0.024, rgb=_BLACK)
        t.pen.oval(x, top, 0.205, 0.10, rgb=shade(t.rgb, -0.28))
    t.pen.rect(x - 0.21, top, x + 0.21, low, t.rgb, round_by=0.03)
    t.pen.rect(x + 0.09, top + 0.01, x + 0.21, low, shade(t.rgb, -0.16), round_by=0.03)
    t.pen.oval(x, top, 0.21, 0.050, rgb=(206, 208, 210) if is_pale(t.rgb) else shade(t.rgb, 0.35))
    if water:
        t.pen.oval(x, top + 0.004, 0.19, 0.040, rgb=(150, 202, 226))
        for number, rgb in enumerate(bits * 3):
            left, high, right, bottom = bit(number, 0.15, 0.026, 0.016, top)
            t.pen.rect(x + left, high, x + right, bottom, rgb)
    if lid:
        t.pen.oval(x, top, 0.215, 0.042, rgb=shade(t.rgb, -0.12))
        t.pen.oval(x, top - 0.008, 0.205, 0.036, rgb=shade(t.rgb, -0.28))
        steam(t, 0.0, top - 0.13)


def spoon(t: Worktop, dx: float) -> None:
    low, top = t.at(dx - 0.03, 0.93), t.at(dx + 0.06, 0.74)
    t.pen.limb((low, top), 0.014, shade(STEEL, -0.1))
    t.pen.oval(*low, 0.032, 0.022, rgb=STEEL)
    t.pen.oval(low[0], low[1] - 0.003, 0.022, 0.013, rgb=shade(STEEL, 0.4))


def fork(t: Worktop, dx: float) -> None:
    low, top = t.at(dx, 0.95), t.at(dx + 0.02, 0.80)
    t.pen.limb((low, top), 0.014, shade(STEEL, -0.1))
    for prong in (-0.020, 0.0, 0.020):
        t.pen.line(((top[0] + prong, top[1]), (top[0] + prong, top[1] - 0.06)), 0.009, shade(STEEL, -0.1))
    t.pen.line(((top[0] - 0.024, top[1]), (top[0] + 0.024, top[1])), 0.014, shade(STEEL, -0.1))


def plate(t: Worktop, half: float) -> None:
    t.pen.oval(t.x, 0.885, half, 0.092, rgb=shade(PLATE, -0.3))
    t.pen.oval(t.x, 0.875, half, 0.090, rgb=shade(PLATE, 0.25))
    t.pen.oval(t.x, 0.877, half * 0.84, 0.070, rgb=PLATE)


def pan(
    t: Worktop,
    *,
    butter: bool = False,
    egg: RGB | None = None,
    foot: float = FOOT,
    see_through: bool = False,
    crisp: bool = False,
) -> None:
    """A pan with a long handle, seen from above."""
    x, y = t.x, foot - 0.07
    t.pen.limb((t.at(0.28, y + 0.01), t.at(0.60, y + 0.03)), 0.040, (96, 64, 44))
    t.pen.oval(x, y + 0.03, 0.32, 0.10, rgb=shade(_BLACK, -0.3))
    t.pen.oval(x, y, 0.32, 0.10, rgb=(96, 98, 104))
    t.pen.oval(x, y + 0.004, 0.29, 0.084, rgb=_BLACK)
    if butter:
        t.pen.oval(x + 0.01, y + 0.012, 0.12, 0.032, rgb=(226, 190, 84))
        t.pen.poly(((x - 0.05, y - 0.02), (x + 0.04, y - 0.03), (x + 0.06, y), (x - 0.03, y + 0.012)), (250, 226, 128))
    if egg is not None:
        fried(t, 0.0, y + 0.006, 0.19, egg, crisp=crisp, alpha=0.42 if see_through else 1.0)


def rolling_pin(t: Worktop) -> None:
    (x0, y0), (x1, y1) = t.at(-0.30, 0.74), t.at(0.24, 0.78)
    t.pen.limb(((x0, y0), (x1, y1)), 0.030, shade(WOOD, -0.2))
    t.pen.limb((t.at(-0.22, 0.746), t.at(0.16, 0.774)), 0.066, (206, 160, 104))
    t.pen.line((t.at(-0.22, 0.736), t.at(0.16, 0.764)), 0.014, (226, 190, 140))
