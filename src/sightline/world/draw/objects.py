"""Things that people own and places are full of, each one unit high, as in `figures`."""

from __future__ import annotations

import math
from random import Random

from sightline.world.draw.palette import RGB, mix, shade
from sightline.world.draw.pen import Pen

_TYRE: RGB = (44, 44, 48)
_STEEL: RGB = (176, 182, 188)
_GLASS: RGB = (176, 212, 232)
_WARM: RGB = (255, 214, 120)


def ball(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A ball with white panels and a highlight."""
    turn = rng.uniform(0, 60)
    pen.oval(0, 0.5, 0.5, rgb=shade(rgb, -0.28))
    pen.oval(-0.03, 0.47, 0.46, rgb=rgb)
    for step in range(3):
        angle = math.radians(turn + step * 120)
        pen.oval(0.27 * math.cos(angle), 0.49 + 0.27 * math.sin(angle), 0.14, rgb=(245, 244, 240))
    pen.oval(-0.17, 0.26, 0.10, 0.07, rgb=shade(rgb, 0.72))


def balloon(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A party balloon on its string."""
    sway = rng.uniform(-0.06, 0.06)
    pen.line(((0, 0.60), (sway, 0.72), (-sway, 0.86), (sway * 0.5, 1.0)), 0.012, (150, 150, 150))
    pen.poly(((-0.045, 0.625), (0.045, 0.625), (0, 0.565)), shade(rgb, -0.2))
    pen.oval(0, 0.29, 0.24, 0.29, rgb=shade(rgb, -0.16))
    pen.oval(-0.018, 0.275, 0.215, 0.265, rgb=rgb)
    pen.oval(-0.09, 0.15, 0.05, 0.075, rgb=shade(rgb, 0.65))


def hot_air_balloon(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A striped envelope with a basket and a flame."""
    stripe = mix(rgb, (255, 248, 226), 0.72)
    for band, share in enumerate((1.0, 0.78, 0.52, 0.20)):
        tone = stripe if band % 2 else rgb
        pen.oval(0, 0.36, 0.37 * share, 0.36, rgb=tone)
        pen.poly(((-0.33 * share, 0.52), (0.33 * share, 0.52), (0.09 * share, 0.79), (-0.09 * share, 0.79)), tone)
    pen.line(((-0.365, 0.33), (0.365, 0.33)), 0.03, shade(rgb, -0.3))
    for x in (-0.08, 0.08):
        pen.line(((x, 0.79), (x * 0.75, 0.90)), 0.010, (92, 76, 60))
    pen.rect(-0.075, 0.895, 0.075, 1.0, (150, 104, 60), round_by=0.015)
    pen.rect(-0.085, 0.89, 0.085, 0.912, (108, 72, 42))
    if rng.random() < 0.5:
        pen.oval(0, 0.815, 0.018, 0.035, rgb=(255, 190, 70), lit=True)


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


def bicycle(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A bicycle seen from its side."""
    back, front, crank = (-0.50, 0.69), (0.50, 0.69), (-0.06, 0.70)
    seat, head = (-0.20, 0.24), (0.36, 0.22)
    turn = rng.uniform(0, 0.5)
    for x, y in (back, front):
        pen.ring(x, y, 0.31, 0.042, _TYRE)
        pen.ring(x, y, 0.265, 0.014, _STEEL)
        for spoke in range(6):
            dx, dy = 0.26 * math.cos(turn + spoke * math.pi / 6), 0.26 * math.sin(turn + spoke * math.pi / 6)
            pen.line(((x - dx, y - dy), (x + dx, y + dy)), 0.007, _STEEL)
    for bar in ((back, crank, (0.38, 0.32), (-0.17, 0.33), crank), (back, (-0.17, 0.33)), (front, head)):
        pen.line(bar, 0.056, rgb)
    pen.line(((-0.17, 0.33), seat), 0.03, _STEEL)
    pen.limb(((-0.30, 0.21), (-0.10, 0.21)), 0.055, (52, 44, 40))
    pen.limb((head, (0.33, 0.09), (0.22, 0.06)), 0.036, (64, 62, 66))
    pen.oval(*crank, 0.075, rgb=(84, 84, 90))
    pen.limb((crank, (0.04, 0.84), (0.12, 0.84)), 0.03, (64, 62, 66))


def car(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A small car seen from its side, facing right; its lights are on after dark."""
    del rng
    pen.poly(((-0.80, 0.50), (-0.56, 0.08), (0.24, 0.05), (0.62, 0.46)), rgb)
    pen.rect(-1.14, 0.42, 1.16, 0.82, rgb, round_by=0.15)
    pen.rect(-1.14, 0.66, 1.16, 0.84, shade(rgb, -0.24), round_by=0.07)
    pen.poly(((-0.66, 0.45), (-0.49, 0.15), (-0.17, 0.14), (-0.17, 0.45)), _GLASS)
    pen.poly(((-0.08, 0.45), (-0.08, 0.14), (0.20, 0.13), (0.46, 0.45)), _GLASS)
    pen.poly(((-0.30, 0.14), (-0.20, 0.14), (-0.40, 0.45), (-0.52, 0.45)), shade(_GLASS, 0.55))
    for x in (-0.125, 0.50):
        pen.line(((x, 0.46), (x, 0.78)), 0.012, shade(rgb, -0.4))
    pen.limb(((0.0, 0.54), (0.10, 0.54)), 0.03, shade(rgb, 0.5))
    for x in (-0.66, 0.68):
        pen.oval(x, 0.79, 0.225, 0.21, rgb=_TYRE)
        pen.oval(x, 0.79, 0.12, rgb=_STEEL)
        pen.oval(x, 0.79, 0.045, rgb=(90, 92, 98))
    pen.rect(1.02, 0.49, 1.15, 0.59, (255, 244, 200), lit=True, round_by=0.04)
    pen.rect(-1.14, 0.49, -1.03, 0.60, (206, 30, 34), lit=True, round_by=0.03)
    pen.glow(1.12, 0.54, 0.55, (255, 236, 170), 0.75)
    pen.glow(-1.10, 0.54, 0.30, (255, 60, 50), 0.5)


def boat(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A sailing boat with a coloured hull and a stripe of the same colour in its sail."""
    lean = rng.uniform(-0.015, 0.015)
    pen.line(((0, 0.84), (lean, 0.0)), 0.022, (120, 92, 66))
    pen.poly(((0.03, 0.76), (0.03 + lean, 0.03), (0.43, 0.76)), (248, 246, 238))
    pen.poly(((0.03, 0.50), (0.03, 0.36), (0.21, 0.36), (0.29, 0.50)), rgb)
    pen.poly(((-0.03, 0.76), (-0.03 + lean, 0.12), (-0.33, 0.76)), shade(rgb, 0.35))
    pen.poly(((lean, 0.0), (lean + 0.13, 0.025), (lean, 0.05)), rgb)
    pen.poly(((-0.50, 0.82), (0.56, 0.80), (0.38, 1.0), (-0.34, 1.0)), rgb)
    pen.poly(((-0.42, 0.92), (0.46, 0.91), (0.38, 1.0), (-0.34, 1.0)), shade(rgb, -0.3))
    pen.line(((-0.50, 0.825), (0.56, 0.805)), 0.03, (246, 244, 238))


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
    """A cake of two tiers with icing of the colour and that many candles, all of them lit."""
    del rng
    sponge = (226, 184, 124)
    pen.oval(0, 0.95, 0.72, 0.05, rgb=(236, 236, 238))
    pen.rect(-0.58, 0.62, 0.58, 0.94, sponge, round_by=0.05)
    pen.rect(-0.58, 0.60, 0.58, 0.72, rgb, round_by=0.06)
    pen.rect(-0.42, 0.38, 0.42, 0.64, mix(sponge, (255, 255, 255), 0.25), round_by=0.04)
    pen.rect(-0.42, 0.35, 0.42, 0.46, rgb, round_by=0.05)
    for step in range(7):
        pen.oval(-0.50 + step / 6, 0.72, 0.055, 0.06, rgb=rgb)
        pen.oval(-0.36 + step * 0.12, 0.46, 0.05, 0.05, rgb=rgb)
        pen.oval(-0.48 + step * 0.16, 0.84, 0.032, rgb=shade(rgb, 0.5))
    stripes = ((255, 255, 255), shade(rgb, -0.25), (92, 160, 214))
    for number in range(candles):
        x = 0.0 if candles == 1 else -0.36 + 0.72 * number / (candles - 1)
        pen.rect(x - 0.018, 0.17, x + 0.018, 0.37, stripes[number % 3])
        pen.oval(x, 0.11, 0.026, 0.055, rgb=(255, 170, 50), lit=True)
        pen.oval(x, 0.125, 0.013, 0.030, rgb=(255, 240, 170), lit=True)
        pen.glow(x, 0.11, 0.14, (255, 206, 110), 0.5)


def house(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A house with a gable roof, a door and windows that are lit after dark."""
    wall, roof = mix(rgb, (255, 255, 255), 0.12), rng.choice(((150, 70, 54), (92, 84, 92), (116, 72, 58)))
    pen.rect(0.22, 0.04, 0.34, 0.34, shade(roof, -0.25))
    pen.rect(-0.50, 0.40, 0.50, 1.0, wall)
    pen.rect(0.30, 0.40, 0.50, 1.0, shade(wall, -0.10))
    pen.poly(((-0.60, 0.44), (-0.34, 0.08), (0.34, 0.08), (0.60, 0.44)), roof)
    pen.poly(((-0.60, 0.44), (-0.56, 0.39), (0.56, 0.39), (0.60, 0.44)), shade(roof, -0.3))
    pen.rect(-0.09, 0.66, 0.11, 1.0, (104, 70, 48))
    pen.oval(0.07, 0.84, 0.015, rgb=(236, 206, 110))
    for x in (-0.32, 0.32):
        pen.rect(x - 0.12, 0.56, x + 0.12, 0.80, (250, 248, 242))
        _pane(pen, x - 0.10, 0.58, x + 0.10, 0.78)
        pen.line(((x, 0.58), (x, 0.78)), 0.016, (250, 248, 242))


def _pane(pen: Pen, left: float, top: float, right: float, bottom: float) -> None:
    """A window pane: glass by day, lit from inside after dark."""
    pen.rect(left, top, right, bottom, _WARM if pen.dark else _GLASS, lit=pen.dark)
    pen.glow((left + right) / 2, (top + bottom) / 2, (right - left) * 1.2, _WARM, 0.5)


def tree(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A broad-leaved tree with a round crown."""
    rgb = mix(rgb, (112, 132, 34), 0.35) if rgb[1] > rgb[0] else rgb
    pen.poly(((-0.06, 1.0), (-0.035, 0.55), (0.035, 0.55), (0.07, 1.0)), (110, 78, 52))
    pen.line(((0.0, 0.72), (0.13, 0.52)), 0.035, (110, 78, 52))
    blobs = [(0.0, 0.30, 0.28), (-0.22, 0.42, 0.19), (0.22, 0.42, 0.19), (-0.12, 0.19, 0.18), (0.13, 0.19, 0.18)]
    for dx, dy, tone in ((0.02, 0.03, -0.26), (0.0, 0.0, 0.0), (-0.03, -0.03, 0.13)):
        size = 1.0 if tone <= 0 else 0.72
        for x, y, radius in blobs:
            pen.oval(x + dx, y + dy, radius * size, rgb=shade(rgb, tone))
    for _ in range(26):
        x, y = rng.gauss(0, 0.16), rng.gauss(0.32, 0.11)
        pen.oval(x, y, 0.022, 0.016, rgb=shade(rgb, rng.choice((-0.2, 0.22, 0.3))))


def tent(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A ridge tent with its door open."""
    del rng
    pen.poly(((-0.85, 1.0), (-0.28, 0.04), (0.62, 0.04), (0.95, 1.0)), shade(rgb, -0.18))
    pen.poly(((-0.85, 1.0), (-0.28, 0.04), (0.30, 1.0)), rgb)
    pen.poly(((-0.50, 1.0), (-0.28, 0.30), (-0.02, 1.0)), (58, 50, 46))
    pen.poly(((-0.50, 1.0), (-0.28, 0.30), (-0.36, 1.0)), shade(rgb, 0.4))
    pen.line(((-0.28, 0.04), (0.62, 0.04)), 0.03, shade(rgb, 0.35))
    pen.glow(-0.24, 0.85, 0.5, _WARM, 0.7)


def umbrella(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A sunshade in two colours."""
    pale, lean = mix(rgb, (255, 252, 240), 0.82), rng.uniform(-0.03, 0.03)
    pen.line(((0, 0.10), (lean, 1.0)), 0.03, (236, 226, 206))
    pen.wedge(0, 0.48, 0.48, 180, 360, rgb)
    for left, right in ((-0.36, -0.12), (0.12, 0.36)):
        pen.poly(((0, 0.02), (left, 0.49), (right, 0.49)), pale)
    for step in range(6):
        pen.oval(-0.40 + step * 0.16, 0.485, 0.08, 0.03, rgb=pale if step in (1, 4) else rgb)
    pen.oval(0, 0.015, 0.02, rgb=(236, 226, 206))
