"""Things that people travel in or on, each one unit high, as in `animals`; they face right."""

from __future__ import annotations

import math
from random import Random

from sightline_world.draw.palette import RGB, is_pale, mix, shade
from sightline_world.draw.pen import Pen, Point, closed

_TYRE: RGB = (44, 44, 48)
_STEEL: RGB = (176, 182, 188)
_GLASS: RGB = (176, 212, 232)
_WARM: RGB = (255, 214, 120)
_DARK: RGB = (64, 62, 66)
_FAIRING: tuple[Point, ...] = (
    (0.06, 0.36), (0.24, 0.24), (0.40, 0.20), (0.50, 0.32), (0.42, 0.48), (0.36, 0.70), (0.16, 0.84), (-0.12, 0.82),
    (-0.10, 0.62), (0.04, 0.52),
)  # fmt: skip
_TANK: tuple[Point, ...] = ((-0.20, 0.40), (-0.06, 0.26), (0.14, 0.24), (0.28, 0.34), (0.22, 0.50), (-0.12, 0.54))
_REAR: tuple[Point, ...] = ((-0.16, 0.42), (-0.44, 0.34), (-0.70, 0.22), (-0.62, 0.38), (-0.38, 0.54), (-0.14, 0.56))
_FUSELAGE: tuple[Point, ...] = (
    (-1.08, 0.40), (-0.84, 0.38), (-0.40, 0.36), (0.30, 0.35), (0.78, 0.37), (1.00, 0.46), (1.10, 0.57), (1.00, 0.65),
    (0.60, 0.70), (-0.20, 0.70), (-0.70, 0.60),
)  # fmt: skip


def _wheel(pen: Pen, x: float, y: float, radius: float) -> None:
    """A wheel with a hub."""
    pen.oval(x, y, radius, rgb=_TYRE)
    pen.oval(x, y, radius * 0.54, rgb=_STEEL)
    pen.oval(x, y, radius * 0.20, rgb=(90, 92, 98))


def _lamps(pen: Pen, front: float, back: float, y: float, size: float) -> None:
    """A headlamp and a tail lamp, which shine after dark."""
    pen.rect(front - size, y, front, y + size, (255, 244, 200), lit=True, round_by=size * 0.3)
    pen.rect(back, y, back + size * 0.7, y + size, (206, 30, 34), lit=True, round_by=size * 0.3)
    pen.glow(front, y + size / 2, 0.5, (255, 236, 170), 0.7)
    pen.glow(back, y + size / 2, 0.28, (255, 60, 50), 0.5)


def bicycle(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A bicycle seen from its side."""
    back, front, crank = (-0.50, 0.69), (0.50, 0.69), (-0.06, 0.70)
    seat, head = (-0.20, 0.24), (0.36, 0.22)
    turn = rng.uniform(0, 0.5)
    for x, y in (back, front):
        pen.ring(x, y, 0.31, 0.036, _TYRE)
        pen.ring(x, y, 0.278, 0.030, rgb)
        for spoke in range(6):
            dx, dy = 0.26 * math.cos(turn + spoke * math.pi / 6), 0.26 * math.sin(turn + spoke * math.pi / 6)
            pen.line(((x - dx, y - dy), (x + dx, y + dy)), 0.007, _STEEL)
    for bar in ((back, crank, (0.38, 0.32), (-0.17, 0.33), crank), (back, (-0.17, 0.33)), (front, head)):
        pen.line(bar, 0.072, rgb)
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
        _wheel(pen, x, 0.79, 0.21)
    _lamps(pen, 1.15, -1.14, 0.49, 0.11)


def boat(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A sailing boat whose hull and mainsail have the colour; the jib is white."""
    lean = rng.uniform(-0.015, 0.015)
    pen.line(((0, 0.84), (lean, 0.0)), 0.022, (120, 92, 66))
    pen.poly(((0.03, 0.76), (0.03 + lean, 0.03), (0.43, 0.76)), rgb)
    pen.poly(((0.03, 0.60), (0.03, 0.48), (0.276, 0.48), (0.342, 0.60)), (248, 246, 238))
    pen.poly(((-0.03, 0.76), (-0.03 + lean, 0.12), (-0.33, 0.76)), (236, 234, 228))
    pen.poly(((lean, 0.0), (lean + 0.13, 0.025), (lean, 0.05)), rgb)
    pen.poly(((-0.50, 0.82), (0.56, 0.80), (0.38, 1.0), (-0.34, 1.0)), rgb)
    pen.poly(((-0.42, 0.92), (0.46, 0.91), (0.38, 1.0), (-0.34, 1.0)), shade(rgb, -0.3))
    pen.line(((-0.50, 0.825), (0.56, 0.805)), 0.03, (246, 244, 238))


def hot_air_balloon(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A striped envelope with a basket and a flame."""
    stripe = shade(rgb, -0.18) if is_pale(rgb) else mix(rgb, (255, 248, 226), 0.72)
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


def bus(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A long bus with a row of windows and a door; its windows are lit after dark."""
    del rng
    glass = _WARM if pen.dark else _GLASS
    pen.rect(-1.12, 0.0, 1.12, 0.88, rgb, round_by=0.11)
    pen.rect(-1.12, 0.73, 1.12, 0.88, shade(rgb, -0.24), round_by=0.05)
    pen.rect(-0.92, 0.0, 0.90, 0.045, shade(rgb, 0.35), round_by=0.02)
    for number in range(5):
        left = -1.03 + number * 0.325
        pen.rect(left, 0.14, left + 0.28, 0.42, glass, lit=pen.dark, round_by=0.03)
    pen.rect(0.63, 0.14, 0.86, 0.80, shade(rgb, -0.40), round_by=0.02)
    for left in (0.65, 0.755):
        pen.rect(left, 0.17, left + 0.085, 0.72, glass, lit=pen.dark)
    pen.rect(0.93, 0.14, 1.12, 0.48, glass, lit=pen.dark, round_by=0.03)
    pen.line(((-1.12, 0.55), (0.60, 0.55)), 0.035, (150, 156, 164) if is_pale(rgb) else shade(rgb, 0.55))
    for x in (-0.66, 0.40):
        _wheel(pen, x, 0.83, 0.17)
    _lamps(pen, 1.12, -1.12, 0.60, 0.10)
    pen.glow(-0.1, 0.28, 0.7, _WARM, 0.35)


def truck(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A lorry: a cab in front of a tall box."""
    del rng
    pen.rect(-1.05, 0.76, 1.02, 0.86, _DARK)
    pen.rect(-1.08, 0.0, 0.42, 0.77, rgb, round_by=0.03)
    pen.rect(-1.08, 0.67, 0.42, 0.77, shade(rgb, -0.26), round_by=0.02)
    for x in (-0.71, -0.34, 0.03):
        pen.line(((x, 0.05), (x, 0.66)), 0.016, shade(rgb, -0.22))
    pen.poly(((0.48, 0.82), (0.48, 0.20), (0.80, 0.20), (0.96, 0.48), (1.07, 0.54), (1.07, 0.82)), rgb)
    pen.rect(0.48, 0.70, 1.07, 0.82, shade(rgb, -0.26))
    pen.poly(((0.58, 0.48), (0.58, 0.27), (0.77, 0.27), (0.88, 0.48)), _GLASS)
    pen.line(((0.54, 0.24), (0.54, 0.76)), 0.014, shade(rgb, -0.4))
    pen.limb(((0.60, 0.56), (0.67, 0.56)), 0.028, _DARK)
    for x in (-0.80, -0.44, 0.76):
        _wheel(pen, x, 0.83, 0.17)
    _lamps(pen, 1.07, -1.08, 0.58, 0.09)


def motorbike(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A motorbike with a fairing, a tank and an exhaust."""
    del rng
    for x in (-0.53, 0.55):
        pen.ring(x, 0.72, 0.28, 0.085, _TYRE)
        pen.ring(x, 0.72, 0.20, 0.030, _STEEL)
        pen.oval(x, 0.72, 0.065, rgb=_STEEL)
    pen.line(((0.55, 0.72), (0.36, 0.20)), 0.055, _STEEL)
    pen.line(((-0.53, 0.72), (-0.06, 0.62)), 0.060, _DARK)
    pen.oval(0.02, 0.66, 0.17, 0.15, rgb=(96, 98, 104))
    pen.poly(closed(_REAR), rgb)
    pen.poly(closed(_FAIRING), rgb)
    pen.poly(closed(_TANK), rgb)
    pen.limb(((-0.50, 0.315), (-0.34, 0.345), (-0.20, 0.37)), 0.085, _DARK)
    pen.line(((0.10, 0.56), (0.30, 0.44)), 0.040, shade(rgb, 0.6))
    pen.limb(((-0.04, 0.84), (-0.34, 0.84), (-0.66, 0.76)), 0.070, _STEEL)
    pen.poly(((0.30, 0.20), (0.36, 0.02), (0.50, 0.26)), _GLASS)
    pen.limb(((0.30, 0.17), (0.16, 0.12)), 0.050, _DARK)
    pen.poly(((0.34, 0.52), (0.50, 0.42), (0.76, 0.50), (0.80, 0.60), (0.56, 0.50)), rgb)
    pen.oval(0.475, 0.33, 0.055, 0.065, rgb=(255, 244, 200), lit=True)
    pen.glow(0.50, 0.33, 0.5, (255, 236, 170), 0.75)


def plane(pen: Pen, rgb: RGB, rng: Random) -> None:
    """An airliner with a tail fin, seen a little from below."""
    del rng
    dark = shade(rgb, -0.26)
    pen.poly(((0.28, 0.40), (-0.06, 0.06), (-0.20, 0.06), (-0.08, 0.40)), dark)
    pen.poly(((-1.12, 0.0), (-0.94, 0.0), (-0.58, 0.40), (-1.00, 0.44)), rgb)
    pen.poly(closed(_FUSELAGE), rgb)
    pen.poly(((-1.06, 0.46), (-0.82, 0.46), (-0.96, 0.64), (-1.10, 0.64)), dark)
    for number in range(9):
        x = -0.58 + number * 0.145
        pen.rect(x, 0.44, x + 0.075, 0.525, _WARM if pen.dark else (232, 244, 250), lit=pen.dark, round_by=0.02)
    pen.poly(((0.82, 0.42), (0.94, 0.45), (1.00, 0.51), (0.82, 0.51)), (58, 72, 92))
    pen.limb(((0.02, 0.80), (0.20, 0.80)), 0.13, _STEEL)
    pen.poly(((0.30, 0.60), (-0.34, 1.0), (-0.52, 1.0), (-0.22, 0.60)), dark)
    pen.line(((0.26, 0.60), (-0.36, 0.985)), 0.03, shade(rgb, 0.3))
