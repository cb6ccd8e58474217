"""Things that stand on a table, each one unit high, as in `animals`."""

from __future__ import annotations

import math
from random import Random

from sightline_world.draw.palette import RGB, is_pale, shade
from sightline_world.draw.pen import Pen, Point, closed, ribbon, turned

_BOTTLE: tuple[Point, ...] = (
    (0.058, 0.08), (0.058, 0.16), (0.062, 0.28), (0.13, 0.38), (0.165, 0.48), (0.165, 0.72), (0.165, 0.96), (0.14, 1.0)
)  # fmt: skip
_POT: tuple[Point, ...] = (
    (0.20, 0.24), (0.33, 0.30), (0.44, 0.44), (0.47, 0.62), (0.40, 0.80), (0.27, 0.93), (0.25, 0.99)
)  # fmt: skip
_SPOUT: tuple[Point, ...] = (
    (0.36, 0.70), (0.50, 0.64), (0.57, 0.46), (0.66, 0.30), (0.76, 0.28), (0.71, 0.42), (0.64, 0.62), (0.52, 0.80),
    (0.38, 0.84),
)  # fmt: skip
_GRIP: tuple[Point, ...] = ((-0.36, 0.38), (-0.54, 0.32), (-0.68, 0.44), (-0.62, 0.66), (-0.40, 0.80))
_VASE: tuple[Point, ...] = (
    (0.15, 0.38), (0.105, 0.46), (0.15, 0.54), (0.25, 0.66), (0.265, 0.78), (0.20, 0.91), (0.15, 0.96), (0.17, 1.0)
)  # fmt: skip
_PEAR: tuple[Point, ...] = (
    (0.0, 0.14), (0.085, 0.16), (0.135, 0.26), (0.155, 0.40), (0.23, 0.54), (0.315, 0.68), (0.31, 0.84), (0.20, 0.97),
    (0.0, 1.0),
)  # fmt: skip
_FOOT: tuple[Point, ...] = (
    (0.05, 0.48), (0.06, 0.54), (0.15, 0.66), (0.17, 0.76), (0.09, 0.90), (0.20, 0.97), (0.21, 1.0)
)  # fmt: skip
_BOWL: tuple[Point, ...] = ((0.92, 0.20), (0.86, 0.44), (0.68, 0.70), (0.42, 0.88), (0.34, 0.93), (0.37, 1.0))


def mug(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A mug with a handle, a drink and steam."""
    drift = rng.uniform(-0.05, 0.05)
    for x in (-0.14, 0.12):
        steam = [(x + drift + 0.035 * math.sin(step * 1.4), 0.22 - step * 0.037) for step in range(7)]
        pen.line(steam, 0.032, (236, 236, 234))
    pen.ring(0.34, 0.60, 0.20, 0.075, shade(rgb, -0.10))
    pen.rect(-0.36, 0.29, 0.34, 0.98, rgb, round_by=0.12)
    pen.rect(0.16, 0.40, 0.34, 0.94, shade(rgb, -0.14), round_by=0.08)
    pen.rect(-0.29, 0.42, -0.21, 0.86, shade(rgb, 0.5), round_by=0.04)
    pen.oval(-0.01, 0.31, 0.35, 0.085, rgb=shade(rgb, 0.25))
    pen.oval(-0.01, 0.32, 0.30, 0.062, rgb=(92, 56, 36))


def apple(pen: Pen, rgb: RGB, rng: Random) -> None:
    """An apple with its stalk and a leaf."""
    tilt = rng.uniform(-0.06, 0.06)
    pen.line(((0, 0.26), (tilt, 0.04)), 0.06, (98, 66, 40))
    pen.poly(((tilt, 0.16), (0.18, 0.02), (0.34, 0.08), (0.20, 0.20)), (70, 150, 70))
    for x in (-0.17, 0.17):
        pen.oval(x, 0.58, 0.32, 0.40, rgb=shade(rgb, -0.08 if x > 0 else 0.0))
    pen.oval(-0.06, 0.56, 0.34, 0.36, rgb=rgb)
    pen.oval(-0.22, 0.42, 0.07, 0.11, rgb=shade(rgb, 0.65))


def cake(pen: Pen, rgb: RGB, rng: Random, candles: int = 5) -> None:
    """A cake of two tiers under icing of the colour, with that many candles, all of them lit."""
    del rng
    sponge: RGB = (226, 184, 124)
    cream: RGB = (236, 160, 180) if is_pale(rgb) else (252, 246, 234)
    pen.oval(0, 0.95, 0.72, 0.05, rgb=(206, 210, 218))
    pen.rect(-0.58, 0.70, 0.58, 0.95, sponge, round_by=0.05)
    pen.rect(-0.58, 0.60, 0.58, 0.86, rgb, round_by=0.06)
    pen.rect(-0.42, 0.35, 0.42, 0.62, rgb, round_by=0.05)
    pen.line(((-0.42, 0.60), (0.42, 0.60)), 0.022, shade(rgb, -0.2))
    for step in range(7):
        pen.oval(-0.50 + step / 6, 0.85, 0.055, 0.06, rgb=rgb)
        pen.oval(-0.36 + step * 0.12, 0.50, 0.032, rgb=cream)
        pen.oval(-0.48 + step * 0.16, 0.73, 0.038, rgb=cream)
    stripes: tuple[RGB, ...] = ((255, 255, 255), shade(rgb, -0.25), (92, 160, 214))
    for number in range(candles):
        x = 0.0 if candles == 1 else -0.36 + 0.72 * number / (candles - 1)
        pen.rect(x - 0.018, 0.17, x + 0.018, 0.37, stripes[number % 3])
        pen.oval(x, 0.11, 0.026, 0.055, rgb=(255, 170, 50), lit=True)
        pen.oval(x, 0.125, 0.013, 0.030, rgb=(255, 240, 170), lit=True)
        pen.glow(x, 0.11, 0.14, (255, 206, 110), 0.5)


def bottle(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A bottle of coloured glass with a cap and a paper label."""
    del rng
    label: RGB = (164, 190, 206) if is_pale(rgb) else (246, 238, 216)
    pen.poly(turned(_BOTTLE), rgb)
    pen.poly(turned(_BOTTLE, 0.45, 1.0), shade(rgb, -0.12))
    pen.rect(-0.066, 0.0, 0.066, 0.10, (196, 168, 98), round_by=0.02)
    pen.rect(-0.165, 0.60, 0.165, 0.80, label)
    pen.line(((-0.10, 0.67), (0.10, 0.67)), 0.026, shade(rgb, -0.3))
    pen.line(((-0.07, 0.74), (0.07, 0.74)), 0.018, shade(label, -0.3))
    pen.rect(-0.125, 0.46, -0.095, 0.57, shade(rgb, 0.6), round_by=0.015)


def book(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A closed book that stands, seen from its spine and front, with pages and a gilt title."""
    del rng
    gilt: RGB = (250, 224, 140) if sum(rgb) < 480 else (120, 84, 50)
    pen.poly(((-0.36, 0.10), (-0.20, 0.0), (0.38, 0.0), (0.38, 0.12), (-0.22, 0.12)), (250, 246, 232))
    for y in (0.035, 0.065):
        pen.line(((-0.24, y), (0.37, y)), 0.008, (206, 196, 170))
    pen.poly(((-0.38, 0.11), (-0.22, 0.10), (-0.22, 1.0), (-0.38, 0.95)), shade(rgb, -0.30))
    pen.poly(((-0.22, 0.10), (0.38, 0.08), (0.38, 0.96), (-0.22, 1.0)), rgb)
    pen.line(((-0.165, 0.10), (-0.165, 0.99)), 0.018, shade(rgb, -0.22))
    for y in (0.24, 0.84):
        pen.line(((-0.37, y - 0.02), (-0.23, y)), 0.030, gilt)
    pen.line(((-0.06, 0.30), (0.28, 0.29)), 0.050, gilt)
    pen.line(((0.0, 0.40), (0.22, 0.395)), 0.034, gilt)
    pen.poly(((0.11, 0.56), (0.21, 0.68), (0.11, 0.80), (0.01, 0.68)), gilt)


def teapot(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A round teapot with a spout, a handle and a lid."""
    del rng
    pen.poly(ribbon(_GRIP, 0.085), shade(rgb, -0.12))
    pen.poly(closed(_SPOUT), shade(rgb, -0.10))
    pen.poly(turned(_POT), rgb)
    pen.poly(turned(_POT, 0.62, 1.0), shade(rgb, -0.12))
    pen.wedge(0, 0.26, 0.22, 180, 360, rgb)
    pen.rect(-0.25, 0.235, 0.25, 0.285, shade(rgb, -0.26), round_by=0.02)
    pen.oval(0, 0.055, 0.062, 0.055, rgb=shade(rgb, -0.26))
    pen.oval(-0.25, 0.46, 0.055, 0.11, rgb=shade(rgb, 0.6))
    pen.rect(-0.26, 0.955, 0.26, 1.0, shade(rgb, -0.26), round_by=0.02)


def vase(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A bellied vase with three daisies."""
    petal: RGB = (244, 176, 196) if is_pale(rgb) else (252, 250, 246)
    for x, y in ((-0.17, 0.16), (0.02, 0.08), (0.18, 0.19)):
        x += rng.uniform(-0.02, 0.02)
        pen.line(((x * 0.2, 0.42), (x * 0.7, 0.28), (x, y)), 0.022, (70, 140, 76))
        for dx, dy in ((-0.048, 0.0), (0.048, 0.0), (0.0, -0.042), (0.0, 0.042)):
            pen.oval(x + dx, y + dy, 0.038, rgb=petal)
        pen.oval(x, y, 0.028, rgb=(244, 190, 60))
    pen.poly(turned(_VASE), rgb)
    pen.poly(turned(_VASE, 0.5, 1.0), shade(rgb, -0.12))
    pen.oval(0, 0.385, 0.15, 0.026, rgb=shade(rgb, -0.35))
    pen.oval(-0.135, 0.70, 0.034, 0.075, rgb=shade(rgb, 0.6))


def pear(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A pear with its stalk and a leaf."""
    tilt = rng.uniform(-0.05, 0.05)
    pen.line(((0, 0.18), (0.03 + tilt, 0.0)), 0.050, (98, 66, 40))
    pen.poly(((0.03, 0.12), (0.14, 0.01), (0.29, 0.03), (0.18, 0.13)), (70, 150, 70))
    pen.poly(turned(_PEAR), rgb)
    pen.poly(turned(_PEAR, 0.55, 1.0), shade(rgb, -0.12))
    pen.oval(-0.155, 0.66, 0.045, 0.10, rgb=shade(rgb, 0.6))


def clock(pen: Pen, rgb: RGB, rng: Random) -> None:
    """An alarm clock with two bells; its hands show any hour."""
    hour = rng.uniform(0, 12)
    for side in (-1, 1):
        pen.line(((side * 0.20, 0.84), (side * 0.33, 0.99)), 0.075, shade(rgb, -0.30))
        pen.oval(side * 0.25, 0.14, 0.17, 0.13, rgb=rgb)
    pen.line(((0, 0.05), (0, 0.22)), 0.045, (110, 112, 118))
    pen.limb(((-0.07, 0.03), (0.07, 0.03)), 0.050, (110, 112, 118))
    pen.oval(0, 0.56, 0.40, rgb=shade(rgb, -0.24))
    pen.oval(-0.008, 0.552, 0.385, rgb=rgb)
    pen.oval(0, 0.56, 0.262, rgb=(252, 250, 244))
    for dx, dy in ((0, -1), (1, 0), (0, 1), (-1, 0)):
        pen.oval(dx * 0.215, 0.56 + dy * 0.215, 0.019, rgb=(70, 70, 76))
    for turn, length, width in ((hour / 12, 0.13, 0.042), (hour % 1, 0.20, 0.030)):
        angle = 2 * math.pi * turn
        pen.line(((0, 0.56), (length * math.sin(angle), 0.56 - length * math.cos(angle))), width, (48, 48, 54))
    pen.oval(0, 0.56, 0.030, rgb=(206, 52, 50))


def lamp(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A table lamp: a wide shade on a bellied foot; it shines after dark."""
    del rng
    pen.line(((0.20, 0.46), (0.20, 0.62)), 0.014, (150, 140, 120))
    pen.oval(0.20, 0.63, 0.020, rgb=(206, 180, 110))
    pen.poly(turned(_FOOT), shade(rgb, -0.30))
    pen.poly(turned(_FOOT, -0.9, 0.4), shade(rgb, -0.12))
    pen.poly(((-0.17, 0.0), (0.17, 0.0), (0.36, 0.48), (-0.36, 0.48)), rgb)
    pen.poly(((0.07, 0.0), (0.17, 0.0), (0.36, 0.48), (0.16, 0.48)), shade(rgb, -0.10))
    pen.rect(-0.36, 0.455, 0.36, 0.49, shade(rgb, -0.30))
    pen.rect(-0.17, 0.0, 0.17, 0.025, shade(rgb, -0.30))
    pen.oval(0, 0.50, 0.13, 0.022, rgb=(255, 236, 170), lit=True)
    pen.glow(0, 0.46, 0.75, (255, 226, 150), 0.55)


def bowl(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A wide, empty bowl on a small foot."""
    del rng
    pen.poly(turned(_BOWL), rgb)
    pen.poly(turned(_BOWL, 0.55, 1.0), shade(rgb, -0.12))
    pen.oval(0, 0.20, 0.93, 0.20, rgb=(214, 214, 216) if is_pale(rgb) else shade(rgb, 0.30))
    pen.oval(0, 0.215, 0.83, 0.155, rgb=shade(rgb, -0.42))
    pen.oval(0.06, 0.27, 0.66, 0.095, rgb=shade(rgb, -0.26))
    pen.poly(((-0.72, 0.46), (-0.62, 0.48), (-0.44, 0.74), (-0.52, 0.72)), shade(rgb, 0.5))


def camera(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A camera with a large lens, a viewfinder and a flash."""
    del rng
    black: RGB = (44, 46, 52)
    metal: RGB = (206, 210, 214)
    pen.rect(-0.56, 0.06, -0.32, 0.24, metal, round_by=0.04)
    pen.rect(-0.24, 0.0, 0.26, 0.32, shade(rgb, -0.16), round_by=0.07)
    pen.rect(-0.15, 0.06, 0.17, 0.18, (250, 246, 220), round_by=0.03)
    pen.rect(-0.70, 0.18, 0.70, 1.0, rgb, round_by=0.11)
    pen.rect(-0.70, 0.86, 0.70, 1.0, shade(rgb, -0.20), round_by=0.09)
    pen.rect(0.40, 0.26, 0.60, 0.36, metal, round_by=0.03)
    pen.oval(0.01, 0.60, 0.335, rgb=metal)
    pen.oval(0.01, 0.60, 0.290, rgb=black)
    pen.oval(0.01, 0.60, 0.190, rgb=(62, 88, 128))
    pen.oval(0.01, 0.60, 0.090, rgb=(28, 34, 50))
    pen.oval(-0.09, 0.51, 0.055, rgb=(220, 236, 250))
    pen.oval(-0.54, 0.32, 0.040, rgb=(206, 48, 48))
