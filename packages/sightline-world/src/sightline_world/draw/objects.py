"""Things that stand or fly outdoors, each one unit high, as in `animals`."""

from __future__ import annotations

import math
from random import Random

from sightline_world.draw.palette import RGB, is_pale, mix, shade
from sightline_world.draw.pen import Pen, Point, closed, ribbon, turned

_GLASS: RGB = (176, 212, 232)
_WARM: RGB = (255, 214, 120)


_CROWN = ((0.0, 0.30, 0.28), (-0.22, 0.42, 0.19), (0.22, 0.42, 0.19), (-0.12, 0.19, 0.18), (0.13, 0.19, 0.18))
_CLOTH: tuple[Point, ...] = (
    (-0.30, 0.06), (-0.12, 0.02), (0.06, 0.08), (0.22, 0.12), (0.38, 0.07), (0.37, 0.28), (0.38, 0.50), (0.22, 0.55),
    (0.06, 0.51), (-0.12, 0.46), (-0.30, 0.50), (-0.30, 0.28),
)  # fmt: skip
_HANDLE: tuple[Point, ...] = ((-0.41, 0.36), (-0.34, 0.13), (0.0, 0.03), (0.34, 0.13), (0.41, 0.36))
_RUNNER: tuple[Point, ...] = (
    (-1.00, 0.94), (-0.40, 0.94), (0.30, 0.94), (0.66, 0.85), (0.87, 0.60), (0.91, 0.28), (0.78, 0.08), (0.62, 0.13)
)  # fmt: skip
_FAR_RUNNER: tuple[Point, ...] = ((-0.94, 0.80), (0.34, 0.80), (0.68, 0.70), (0.84, 0.50))
_ROPE: tuple[Point, ...] = ((0.88, 0.20), (0.99, 0.46), (0.90, 0.70), (1.03, 0.88))
_BODY: tuple[Point, ...] = (
    (0.0, 0.50), (0.10, 0.49), (0.145, 0.56), (0.115, 0.66), (0.155, 0.74), (0.205, 0.84), (0.165, 0.96), (0.0, 1.0)
)  # fmt: skip


def tree(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A broad-leaved tree with a round crown: leaves of the colour, or blossom where it is pink or white."""
    bark: RGB = (110, 78, 52)
    pen.poly(((-0.06, 1.0), (-0.035, 0.55), (0.035, 0.55), (0.07, 1.0)), bark)
    pen.line(((0.0, 0.72), (0.13, 0.52)), 0.035, bark)
    for x, y, radius in _CROWN:
        pen.oval(x + 0.02, y + 0.03, radius, rgb=shade(rgb, -0.26))
    for x, y, radius in _CROWN:
        pen.oval(x - 0.01, y - 0.01, radius * 0.93, rgb=rgb)
    for _ in range(22):
        x, y = rng.uniform(-0.28, 0.28), rng.uniform(0.12, 0.50)
        pen.oval(x, y, 0.026, 0.018, rgb=shade(rgb, rng.choice((-0.2, 0.25, 0.35))))


def house(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A house with a gable roof, a door and windows that are lit after dark."""
    roof = rng.choice(((92, 84, 92), (112, 98, 92), (82, 88, 100)))
    pen.rect(0.22, 0.0, 0.34, 0.34, shade(roof, -0.25))
    pen.rect(-0.52, 0.36, 0.52, 1.0, rgb)
    pen.rect(0.36, 0.36, 0.52, 1.0, shade(rgb, -0.10))
    pen.poly(((-0.61, 0.39), (-0.38, 0.08), (0.38, 0.08), (0.61, 0.39)), roof)
    pen.poly(((-0.61, 0.39), (-0.575, 0.34), (0.575, 0.34), (0.61, 0.39)), shade(roof, -0.3))
    pen.rect(-0.09, 0.66, 0.11, 1.0, (104, 70, 48))
    pen.oval(0.07, 0.84, 0.015, rgb=(236, 206, 110))
    for x in (-0.32, 0.32):
        pen.rect(x - 0.115, 0.53, x + 0.115, 0.76, (250, 248, 242))
        _pane(pen, x - 0.095, 0.55, x + 0.095, 0.74)
        pen.line(((x, 0.55), (x, 0.74)), 0.016, (250, 248, 242))


def _pane(pen: Pen, left: float, top: float, right: float, bottom: float) -> None:
    """A window pane: glass by day, lit from inside after dark."""
    pen.rect(left, top, right, bottom, _WARM if pen.dark else _GLASS, lit=pen.dark)
    pen.glow((left + right) / 2, (top + bottom) / 2, (right - left) * 1.2, _WARM, 0.5)


def tent(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A ridge tent with its door open."""
    del rng
    pen.poly(((-0.85, 1.0), (-0.28, 0.04), (0.62, 0.04), (0.95, 1.0)), rgb)
    pen.poly(((-0.85, 1.0), (-0.28, 0.04), (0.30, 1.0)), shade(rgb, -0.20))
    pen.poly(((-0.50, 1.0), (-0.28, 0.30), (-0.02, 1.0)), (58, 50, 46))
    pen.poly(((-0.50, 1.0), (-0.28, 0.30), (-0.36, 1.0)), shade(rgb, 0.3))
    pen.line(((-0.28, 0.04), (0.62, 0.04)), 0.03, shade(rgb, 0.35))
    pen.glow(-0.24, 0.85, 0.5, _WARM, 0.7)


def umbrella(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A sunshade with panels in two tones, on a pole."""
    pale, lean = mix(rgb, (255, 252, 240), 0.55), rng.uniform(-0.03, 0.03)
    if is_pale(rgb):
        pale = shade(rgb, -0.16)
    pen.line(((0, 0.10), (lean, 1.0)), 0.034, (170, 156, 132))
    pen.wedge(0, 0.48, 0.48, 180, 360, rgb)
    for left, right in ((-0.33, -0.13), (0.13, 0.33)):
        pen.poly(((0, 0.02), (left, 0.49), (right, 0.49)), pale)
    for step in range(6):
        pen.oval(-0.40 + step * 0.16, 0.485, 0.08, 0.03, rgb=pale if step in (1, 4) else rgb)
    pen.oval(0, 0.015, 0.02, rgb=(170, 156, 132))


def bench(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A park bench: slats of the colour on iron legs."""
    del rng
    iron: RGB = (72, 74, 80)
    for x in (-0.70, 0.70):
        pen.line(((x, 0.04), (x, 0.70)), 0.060, iron)
        pen.line(((x * 0.94, 0.60), (x * 0.94, 0.98)), 0.060, shade(iron, -0.3))
    for top in (0.02, 0.20, 0.38):
        pen.rect(-0.82, top, 0.82, top + 0.145, rgb, round_by=0.03)
        pen.rect(-0.82, top + 0.115, 0.82, top + 0.145, shade(rgb, -0.18))
    pen.rect(-0.86, 0.585, 0.86, 0.72, rgb, round_by=0.03)
    pen.rect(-0.86, 0.72, 0.86, 0.80, shade(rgb, -0.30), round_by=0.02)
    pen.line(((-0.84, 0.65), (0.84, 0.65)), 0.014, shade(rgb, -0.30))
    for x in (-0.76, 0.76):
        pen.line(((x, 0.76), (x, 1.0)), 0.070, iron)
        pen.limb(((x, 0.46), (x * 1.06, 0.46), (x * 1.06, 0.62)), 0.050, iron)


def snowman(pen: Pen, rgb: RGB, rng: Random) -> None:
    """Three balls of snow with a hat, a scarf and a carrot."""
    cold = mix(rgb, (150, 176, 210), 0.35)
    scarf = rng.choice(((206, 52, 56), (46, 104, 190), (48, 150, 82)))
    for side in (-1, 1):
        pen.line(((side * 0.17, 0.48), (side * 0.40, 0.36)), 0.022, (96, 66, 44))
        pen.line(((side * 0.34, 0.39), (side * 0.38, 0.30)), 0.016, (96, 66, 44))
    for y, radius in ((0.79, 0.235), (0.49, 0.185), (0.255, 0.135)):
        pen.oval(0.0, y, radius, radius * 0.95, rgb=cold)
        pen.oval(-radius * 0.12, y - radius * 0.10, radius * 0.86, radius * 0.82, rgb=rgb)
    pen.rect(-0.14, 0.345, 0.14, 0.40, scarf, round_by=0.025)
    pen.rect(0.04, 0.37, 0.10, 0.54, shade(scarf, -0.12), round_by=0.02)
    pen.poly(((0.0, 0.255), (0.17, 0.285), (0.0, 0.295)), (240, 128, 36))
    for x, y in ((-0.05, 0.215), (0.05, 0.215), (0.0, 0.47), (0.0, 0.56)):
        pen.oval(x, y, 0.017, rgb=(36, 34, 38))
    pen.rect(-0.155, 0.12, 0.155, 0.15, (44, 42, 50), round_by=0.012)
    pen.rect(-0.095, 0.0, 0.095, 0.14, (44, 42, 50), round_by=0.012)
    pen.rect(-0.095, 0.085, 0.095, 0.12, scarf)


def flag(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A flag that waves from its pole."""
    wave = rng.uniform(-0.03, 0.03)
    pole: RGB = (176, 170, 160)
    pen.line(((-0.32, 0.02), (-0.32, 1.0)), 0.042, pole)
    pen.oval(-0.32, 0.025, 0.034, rgb=(226, 190, 90))
    pen.rect(-0.39, 0.965, -0.25, 1.0, shade(pole, -0.35), round_by=0.012)
    pen.poly(tuple((x, y + wave * (x + 0.30)) for x, y in closed(_CLOTH)), rgb)
    for fold in (
        ((-0.02, 0.055), (0.08, 0.085), (0.06, 0.30), (0.09, 0.515), (-0.01, 0.495), (-0.04, 0.28)),
        ((0.27, 0.118), (0.36, 0.08), (0.352, 0.30), (0.36, 0.505), (0.27, 0.54), (0.25, 0.32)),
    ):
        pen.poly(tuple((x, y + wave * (x + 0.30)) for x, y in fold), shade(rgb, -0.13))


def kite(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A diamond with a tail of bows."""
    sway = rng.uniform(0.03, 0.09)
    tail = [(sway * math.sin(step * 1.1), 0.58 + step * 0.06) for step in range(8)]
    pen.line(tail, 0.012, (120, 110, 110))
    for x, y in tail[2::2]:
        pen.poly(((x - 0.06, y - 0.03), (x + 0.06, y + 0.03), (x + 0.06, y - 0.03), (x - 0.06, y + 0.03)), rgb)
    pen.poly(((0, 0), (0.25, 0.22), (0, 0.60), (-0.25, 0.22)), rgb)
    pen.poly(((0, 0), (0.25, 0.22), (0, 0.22)), shade(rgb, 0.45))
    pen.poly(((0, 0.60), (-0.25, 0.22), (0, 0.22)), shade(rgb, -0.25))


def balloon(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A party balloon on its string."""
    sway = rng.uniform(-0.06, 0.06)
    pen.line(((0, 0.60), (sway, 0.72), (-sway, 0.86), (sway * 0.5, 1.0)), 0.012, (150, 150, 150))
    pen.poly(((-0.045, 0.625), (0.045, 0.625), (0, 0.565)), shade(rgb, -0.2))
    pen.oval(0, 0.29, 0.24, 0.29, rgb=shade(rgb, -0.16))
    pen.oval(-0.018, 0.275, 0.215, 0.265, rgb=rgb)
    pen.oval(-0.09, 0.15, 0.05, 0.075, rgb=shade(rgb, 0.65))


def ball(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A ball with panels, pale ones or on a white ball dark ones, and a highlight."""
    turn = rng.uniform(0, 60)
    panel: RGB = (78, 84, 96) if is_pale(rgb) else (245, 244, 240)
    pen.oval(0, 0.5, 0.5, rgb=shade(rgb, -0.28))
    pen.oval(-0.025, 0.475, 0.47, rgb=rgb)
    for step in range(3):
        angle = math.radians(turn + step * 120)
        pen.oval(0.27 * math.cos(angle), 0.49 + 0.27 * math.sin(angle), 0.14, rgb=panel)
    pen.oval(-0.17, 0.26, 0.10, 0.07, rgb=shade(rgb, 0.72))


def bucket(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A bucket with its handle up."""
    del rng
    pen.poly(ribbon(_HANDLE, 0.044), (150, 156, 162))
    pen.limb(((-0.11, 0.03), (0.11, 0.03)), 0.06, (236, 228, 210))
    pen.poly(((-0.44, 0.36), (0.44, 0.36), (0.31, 0.96), (-0.31, 0.96)), rgb)
    pen.oval(0, 0.955, 0.31, 0.045, rgb=rgb)
    pen.poly(((0.20, 0.40), (0.42, 0.36), (0.30, 0.96), (0.14, 0.98)), shade(rgb, -0.14))
    pen.poly(((-0.34, 0.48), (-0.26, 0.48), (-0.20, 0.88), (-0.25, 0.88)), shade(rgb, 0.5))
    pen.oval(0, 0.36, 0.45, 0.105, rgb=(222, 222, 222) if is_pale(rgb) else shade(rgb, 0.25))
    pen.oval(0, 0.365, 0.385, 0.075, rgb=shade(rgb, -0.5))
    for x in (-0.42, 0.42):
        pen.oval(x, 0.38, 0.035, rgb=(150, 156, 162))


def sled(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A sledge: a deck of boards on two curved runners, with its rope."""
    del rng
    pen.poly(ribbon(_ROPE, 0.030), (196, 170, 120))
    pen.poly(ribbon(_FAR_RUNNER, 0.085), shade(rgb, -0.45))
    for x in (-0.72, -0.05, 0.50):
        pen.poly(((x - 0.06, 0.40), (x + 0.06, 0.40), (x + 0.10, 0.92), (x - 0.10, 0.92)), shade(rgb, -0.24))
    pen.poly(ribbon(_RUNNER, 0.125), rgb)
    pen.rect(-1.02, 0.22, 0.78, 0.47, rgb, round_by=0.06)
    pen.rect(-1.02, 0.40, 0.78, 0.47, shade(rgb, -0.26), round_by=0.03)
    pen.line(((-0.98, 0.305), (0.74, 0.305)), 0.026, (176, 180, 186) if is_pale(rgb) else shade(rgb, 0.5))


def mailbox(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A letter box with a round top on a post, its little flag up or down."""
    wood: RGB = (128, 96, 66)
    pen.rect(-0.055, 0.46, 0.055, 1.0, wood)
    pen.rect(-0.055, 0.46, -0.015, 1.0, shade(wood, -0.2))
    pen.poly(((-0.05, 0.72), (0.05, 0.72), (0.22, 0.50), (0.10, 0.50)), shade(wood, -0.1))
    pen.wedge(0.22, 0.24, 0.19, 180, 360, rgb)
    pen.rect(0.03, 0.24, 0.41, 0.52, rgb)
    pen.rect(-0.22, 0.05, 0.22, 0.52, rgb)
    pen.rect(-0.22, 0.44, 0.40, 0.52, shade(rgb, -0.2))
    pen.wedge(-0.22, 0.24, 0.19, 180, 360, shade(rgb, -0.13))
    pen.rect(-0.41, 0.24, -0.03, 0.52, shade(rgb, -0.13))
    pen.rect(-0.32, 0.20, -0.12, 0.235, shade(rgb, -0.6), round_by=0.015)
    pen.oval(-0.22, 0.34, 0.028, rgb=(226, 206, 140))
    signal: RGB = (236, 196, 60) if rgb[0] > 190 and rgb[1] < 100 else (214, 52, 50)
    if rng.random() < 0.6:
        pen.rect(0.19, 0.06, 0.225, 0.34, signal)
        pen.rect(0.19, 0.06, 0.33, 0.15, signal)
    else:
        pen.rect(0.06, 0.30, 0.32, 0.335, signal)
        pen.rect(0.04, 0.26, 0.12, 0.375, signal)


def suitcase(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A suitcase with a handle and two straps with buckles."""
    del rng
    leather: RGB = (206, 168, 116) if sum(rgb) < 280 else (92, 62, 42)
    pen.rect(-0.18, 0.0, 0.18, 0.22, leather, round_by=0.07)
    pen.rect(-0.115, 0.065, 0.115, 0.22, shade(rgb, -0.5))
    pen.rect(-0.56, 0.15, 0.56, 0.98, rgb, round_by=0.10)
    pen.rect(-0.56, 0.84, 0.56, 0.98, shade(rgb, -0.20), round_by=0.08)
    pen.line(((-0.555, 0.42), (0.555, 0.42)), 0.020, shade(rgb, -0.4))
    for x in (-0.34, 0.34):
        pen.rect(x - 0.055, 0.15, x + 0.055, 0.98, leather)
        pen.rect(x - 0.06, 0.37, x + 0.06, 0.49, (222, 196, 120), round_by=0.02)
    for x in (-0.44, 0.44):
        pen.oval(x, 0.985, 0.05, 0.02, rgb=(60, 58, 60))


def guitar(pen: Pen, rgb: RGB, rng: Random) -> None:
    """An acoustic guitar, upright."""
    del rng
    wood, dark = (112, 76, 48), (54, 42, 38)
    pen.poly(turned(_BODY), shade(rgb, -0.32))
    pen.poly([(x * 0.90, 0.75 + (y - 0.75) * 0.94) for x, y in turned(_BODY)], rgb)
    pen.oval(0, 0.675, 0.062, 0.062, rgb=(190, 160, 110) if is_pale(rgb) else shade(rgb, 0.5))
    pen.oval(0, 0.675, 0.047, 0.047, rgb=dark)
    pen.rect(-0.036, 0.10, 0.036, 0.63, wood)
    for y in (0.18, 0.26, 0.34, 0.42, 0.50):
        pen.line(((-0.034, y), (0.034, y)), 0.008, (214, 206, 190))
    pen.poly(((-0.040, 0.12), (-0.066, 0.01), (0.066, 0.01), (0.040, 0.12)), shade(wood, -0.25))
    for y in (0.035, 0.075):
        pen.limb(((-0.085, y), (0.085, y)), 0.022, (206, 202, 194))
    pen.rect(-0.030, 0.01, 0.030, 0.11, shade(wood, -0.25))
    pen.rect(-0.085, 0.845, 0.085, 0.880, dark, round_by=0.012)
    for x in (-0.018, 0.018):
        pen.line(((x, 0.10), (x, 0.85)), 0.007, (240, 236, 226))
