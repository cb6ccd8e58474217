"""What is cooked, each drawn at its distance from the middle of the work."""

from __future__ import annotations

import math
from random import Random

from sightline_world.choose.worktop import FOOT, PLATE, Table, bit
from sightline_world.draw.palette import RGB, shade

YOLK: RGB = (248, 184, 34)
_SHELL: RGB = (246, 226, 200)
_ROOTS: tuple[RGB, ...] = ((238, 128, 38), (208, 50, 44), (88, 160, 62), (236, 204, 92), (140, 62, 122))


def vegetables(lot: int) -> tuple[RGB, RGB, RGB]:
    """Three kinds of vegetables, by their colours."""
    first, second, third = Random(lot).sample(_ROOTS, 3)
    return first, second, third


def egg(t: Table, dx: float, y: float, grow: float = 1.0) -> None:
    x = t.at(dx, 0)[0]
    t.pen.oval(x, y + 0.004, 0.034 * grow, 0.012, rgb=(40, 34, 30), alpha=0.25)
    t.pen.oval(x, y - 0.034 * grow, 0.028 * grow, 0.037 * grow, rgb=_SHELL)
    t.pen.oval(x - 0.008 * grow, y - 0.046 * grow, 0.009 * grow, 0.013 * grow, rgb=(255, 246, 232))


def shells(t: Table, dx: float) -> None:
    """Two halves of a broken shell."""
    for offset, tilt in ((-0.05, 0.016), (0.04, -0.010)):
        x, y = t.at(dx + offset, 0.915)
        edge = [(x - 0.038, y - 0.036), (x - 0.018, y - 0.022), (x, y - 0.042), (x + 0.02, y - 0.022)]
        round_ = [(x + 0.038, y - 0.036 + tilt), (x + 0.034, y - 0.008), (x, y + 0.010), (x - 0.034, y - 0.008)]
        t.pen.poly([*edge, *round_], _SHELL)
        t.pen.poly([*edge, (x + 0.036, y - 0.030), (x, y - 0.016)], shade(_SHELL, -0.2))


def flour(t: Table, dx: float) -> None:
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


def root(t: Table, dx: float, rgb: RGB) -> None:
    """A whole vegetable with green at its top."""
    x, y = t.at(dx, 0.865)
    for leaf in (-0.05, 0.0, 0.05):
        t.pen.line(((x, y - 0.04), (x + leaf, y - 0.16)), 0.020, (70, 148, 66))
    t.pen.oval(x, y, 0.066, 0.062, rgb=shade(rgb, -0.12))
    t.pen.oval(x - 0.006, y - 0.006, 0.058, 0.054, rgb=rgb)
    t.pen.oval(x - 0.024, y - 0.026, 0.013, 0.017, rgb=shade(rgb, 0.5))


def chopped(t: Table, roots: tuple[RGB, ...]) -> None:
    """Small cubes in heaps, one for each vegetable."""
    rng = Random(t.lot)
    for heap, rgb in enumerate(roots):
        for _ in range(13):
            x, y = t.at(-0.22 + 0.16 * heap + rng.uniform(-0.06, 0.06), rng.uniform(0.83, 0.92))
            t.pen.rect(x - 0.017, y - 0.016, x + 0.017, y + 0.014, shade(rgb, -0.22))
            t.pen.rect(x - 0.017, y - 0.016, x + 0.012, y + 0.008, rgb)


def fried(t: Table, dx: float, y: float, half: float, white: RGB, *, crisp: bool = False, alpha: float = 1.0) -> None:
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


def smear(t: Table, rgb: RGB) -> None:
    for dx, dy, rx in ((-0.06, 0.0, 0.06), (0.04, 0.012, 0.08), (0.10, -0.012, 0.03)):
        t.pen.oval(t.at(dx, 0)[0], 0.875 + dy, rx, 0.010, rgb=rgb)


def dough_ball(t: Table, rgb: RGB) -> None:
    t.easel.shadow(t.x, 0.925, 0.18)
    t.pen.oval(t.x, 0.83, 0.17, 0.115, rgb=shade(rgb, -0.12))
    t.pen.oval(t.x - 0.01, 0.82, 0.155, 0.100, rgb=rgb)
    t.pen.oval(t.x - 0.06, 0.77, 0.04, 0.020, rgb=shade(rgb, 0.5))
    for dx in (-0.28, -0.23, 0.24, 0.30, 0.34):
        t.pen.oval(t.at(dx, 0)[0], 0.92, 0.028, 0.007, rgb=(250, 248, 240))


def disc(
    t: Table,
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
