"""Animals, each one unit high: the top at y = 0, the ground at y = 1, the middle at x = 0; they face right."""

from __future__ import annotations

from random import Random

from sightline_world.draw.palette import RGB, is_dark, is_pale, shade
from sightline_world.draw.pen import Pen, Point, closed

_EYE: RGB = (30, 24, 22)
_PINK: RGB = (232, 160, 160)
_BEAK: RGB = (240, 146, 40)
_HORSE: tuple[Point, ...] = (
    (-0.47, 0.46), (-0.41, 0.35), (-0.26, 0.32), (-0.06, 0.36), (0.10, 0.32), (0.22, 0.20), (0.31, 0.07), (0.39, 0.05),
    (0.46, 0.11), (0.58, 0.25), (0.58, 0.31), (0.52, 0.33), (0.45, 0.26), (0.39, 0.28), (0.36, 0.40), (0.32, 0.53),
    (0.20, 0.61), (0.0, 0.62), (-0.22, 0.59), (-0.36, 0.64), (-0.46, 0.58),
)  # fmt: skip
_MANE: tuple[Point, ...] = (
    (0.33, 0.02), (0.40, 0.08), (0.31, 0.20), (0.25, 0.33), (0.13, 0.40), (0.09, 0.31), (0.19, 0.20), (0.26, 0.08)
)  # fmt: skip
_TAIL: tuple[Point, ...] = (
    (-0.42, 0.36), (-0.50, 0.38), (-0.59, 0.52), (-0.58, 0.72), (-0.62, 0.84), (-0.51, 0.76), (-0.48, 0.58)
)  # fmt: skip
_COW: tuple[Point, ...] = (
    (-0.62, 0.36), (-0.58, 0.24), (-0.40, 0.21), (-0.10, 0.24), (0.18, 0.20), (0.36, 0.22), (0.46, 0.34), (0.44, 0.54),
    (0.32, 0.68), (0.05, 0.72), (-0.24, 0.69), (-0.48, 0.71), (-0.60, 0.60),
)  # fmt: skip
_COW_PATCHES: tuple[tuple[Point, ...], ...] = (
    ((-0.44, 0.22), (-0.24, 0.24), (-0.18, 0.36), (-0.30, 0.48), (-0.44, 0.42)),
    ((0.06, 0.42), (0.20, 0.38), (0.28, 0.48), (0.22, 0.60), (0.08, 0.58)),
)
_COW_HEAD: tuple[Point, ...] = (
    (0.40, 0.16), (0.52, 0.08), (0.62, 0.12), (0.70, 0.28), (0.72, 0.40), (0.64, 0.45), (0.54, 0.40), (0.42, 0.32)
)  # fmt: skip
_FLEECE = (
    (-0.44, 0.36, 0.17), (-0.26, 0.22, 0.18), (-0.04, 0.19, 0.18), (0.17, 0.24, 0.17), (0.30, 0.40, 0.16),
    (0.22, 0.58, 0.17), (0.02, 0.64, 0.17), (-0.20, 0.64, 0.17), (-0.40, 0.56, 0.18),
)  # fmt: skip
_RABBIT: tuple[Point, ...] = (
    (-0.34, 0.82), (-0.33, 0.64), (-0.20, 0.52), (0.0, 0.50), (0.18, 0.56), (0.26, 0.72), (0.24, 0.90), (0.10, 0.97),
    (-0.22, 0.97),
)  # fmt: skip
_EARS: tuple[tuple[Point, ...], ...] = (
    ((0.04, 0.34), (-0.06, 0.18), (-0.08, 0.03), (-0.02, 0.0), (0.07, 0.10), (0.13, 0.30)),
    ((0.12, 0.32), (0.10, 0.14), (0.14, 0.01), (0.20, 0.0), (0.24, 0.12), (0.21, 0.32)),
)
_DUCK: tuple[Point, ...] = (
    (-0.56, 0.46), (-0.42, 0.54), (-0.18, 0.52), (0.06, 0.50), (0.16, 0.40), (0.34, 0.38), (0.42, 0.54), (0.40, 0.74),
    (0.26, 0.90), (0.0, 0.95), (-0.28, 0.90), (-0.48, 0.72),
)  # fmt: skip
_DUCK_WING: tuple[Point, ...] = (
    (-0.44, 0.62), (-0.24, 0.58), (0.02, 0.58), (0.16, 0.66), (0.08, 0.78), (-0.12, 0.82), (-0.30, 0.76)
)  # fmt: skip
_BIRD: tuple[Point, ...] = (
    (-0.44, 0.74), (-0.17, 0.66), (0.17, 0.60), (0.39, 0.50), (0.56, 0.48), (0.67, 0.57), (0.66, 0.70), (0.51, 0.87),
    (0.22, 0.99), (-0.12, 0.97), (-0.34, 0.87),
)  # fmt: skip
_FAR_WING: tuple[Point, ...] = ((0.37, 0.60), (0.37, 0.32), (0.27, 0.06), (0.15, 0.01), (0.07, 0.27), (0.07, 0.65))
_NEAR_WING: tuple[Point, ...] = (
    (0.27, 0.72), (0.12, 0.37), (-0.17, 0.08), (-0.41, 0.01), (-0.44, 0.15), (-0.37, 0.41), (-0.17, 0.72), (0.07, 0.82)
)  # fmt: skip


def _marking(rgb: RGB, amount: float) -> RGB:
    """The colour darker, or lighter where it is already too dark for that to be seen."""
    return shade(rgb, 0.4 * amount if is_dark(rgb) else -amount)


def _leg(pen: Pen, joints: tuple[Point, ...], width: float, rgb: RGB, hoof: RGB) -> None:
    """A leg that ends in a hoof on the ground."""
    pen.line(joints, width, rgb)
    x, y = joints[-1]
    half = width * 0.56
    pen.poly(((x - half, y), (x + half, y), (x + half * 1.25, 1.0), (x - half * 1.1, 1.0)), hoof)


def dog(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A dog that stands and looks to the right, with a collar."""
    far, light = shade(rgb, -0.28), shade(rgb, 0.16)
    lift = rng.uniform(-0.06, 0.06)
    for x, foot in ((-0.36, -0.42), (0.20, 0.26)):
        pen.limb(((x + 0.06, 0.66), (foot + 0.06, 0.95)), 0.11, far)
    pen.limb(((-0.46, 0.50), (-0.62, 0.32 + lift), (-0.60, 0.14 + lift)), 0.085, rgb)
    pen.rect(-0.53, 0.40, 0.34, 0.74, rgb, round_by=0.17)
    pen.oval(0.20, 0.58, 0.18, 0.185, rgb=rgb)
    pen.oval(-0.08, 0.68, 0.30, 0.06, rgb=light)
    for x, foot in ((-0.40, -0.38), (0.22, 0.20)):
        pen.limb(((x, 0.64), (foot, 0.95)), 0.125, rgb)
        pen.oval(foot + 0.03, 0.965, 0.085, 0.035, rgb=light)
    pen.limb(((0.24, 0.52), (0.38, 0.30)), 0.24, rgb)
    pen.limb(((0.27, 0.38), (0.41, 0.46)), 0.05, (206, 52, 56) if rgb[0] < 200 else (46, 104, 190))
    pen.oval(0.42, 0.22, 0.185, 0.175, rgb=rgb)
    pen.rect(0.44, 0.20, 0.72, 0.36, light, round_by=0.075)
    pen.oval(0.705, 0.235, 0.045, 0.038, rgb=(34, 28, 28))
    pen.line(((0.54, 0.325), (0.68, 0.315)), 0.014, far)
    pen.oval(0.485, 0.175, 0.026, rgb=(30, 24, 22))
    pen.poly(((0.26, 0.06), (0.40, 0.10), (0.37, 0.34), (0.27, 0.38), (0.20, 0.24)), far)


def cat(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A cat that sits and looks at you."""
    dark, light = shade(rgb, -0.30), shade(rgb, 0.30)
    swing = rng.uniform(-0.05, 0.08)
    pen.limb(((0.16, 0.93), (0.32, 0.92), (0.42, 0.86), (0.46, 0.76), (0.46 + swing, 0.64)), 0.075, dark)
    pen.oval(0.0, 0.74, 0.27, 0.26, rgb=rgb)
    pen.rect(-0.17, 0.40, 0.17, 0.92, rgb, round_by=0.16)
    pen.oval(0.0, 0.64, 0.095, 0.16, rgb=light)
    for x in (-0.09, 0.09):
        pen.limb(((x, 0.66), (x, 0.94)), 0.105, shade(rgb, 0.06))
        pen.oval(x, 0.965, 0.075, 0.035, rgb=light)
    for side in (-1, 1):
        ear = ((side * 0.215, 0.24), (side * 0.20, 0.00), (side * 0.05, 0.14))
        pen.poly(ear, rgb)
        pen.poly(((side * 0.18, 0.18), (side * 0.18, 0.07), (side * 0.09, 0.15)), (226, 150, 150))
    pen.oval(0.0, 0.29, 0.225, 0.19, rgb=rgb)
    for x in (-0.055, 0.0, 0.055):
        pen.line(((x, 0.11), (x * 0.7, 0.18)), 0.026, dark)
    for side in (-1, 1):
        pen.oval(side * 0.088, 0.275, 0.038, 0.034, rgb=(150, 196, 84))
        pen.oval(side * 0.088, 0.275, 0.013, 0.032, rgb=(24, 22, 22))
        for drop in (-0.02, 0.025):
            pen.line(((side * 0.07, 0.375), (side * 0.30, 0.36 + drop)), 0.010, shade(rgb, 0.55))
    pen.oval(0.0, 0.375, 0.075, 0.052, rgb=light)
    pen.poly(((-0.025, 0.345), (0.025, 0.345), (0.0, 0.372)), (214, 120, 124))


def horse(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A horse with a mane and a long tail."""
    far, hair, hoof = shade(rgb, -0.28), _marking(rgb, 0.5), (66, 58, 54)
    step = rng.uniform(-0.05, 0.05)
    _leg(pen, ((-0.30, 0.56), (-0.29 - step, 0.76), (-0.25 - step, 0.95)), 0.085, far, hoof)
    _leg(pen, ((0.16, 0.56), (0.18 + step, 0.76), (0.14 + step, 0.95)), 0.080, far, hoof)
    pen.poly(closed(_TAIL), hair)
    pen.poly(((0.29, 0.10), (0.30, -0.01), (0.37, 0.08)), far)
    pen.poly(closed(_HORSE), rgb)
    _leg(pen, ((-0.39, 0.52), (-0.43 + step, 0.75), (-0.38 + step, 0.95)), 0.095, rgb, hoof)
    _leg(pen, ((0.25, 0.54), (0.27 - step, 0.76), (0.25 - step, 0.95)), 0.090, rgb, hoof)
    pen.oval(-0.36, 0.52, 0.11, 0.13, rgb=rgb)
    pen.poly(closed(_MANE), hair)
    pen.poly(((0.34, 0.09), (0.36, 0.0), (0.42, 0.09)), rgb)
    pen.oval(0.55, 0.29, 0.045, 0.045, rgb=_marking(rgb, 0.22))
    pen.oval(0.56, 0.275, 0.011, rgb=_EYE)
    pen.oval(0.425, 0.135, 0.020, rgb=_EYE)


def cow(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A cow with horns, patches and an udder."""
    far, hoof = shade(rgb, -0.28), (62, 54, 50)
    patch: RGB = (62, 54, 52) if is_pale(rgb) else (246, 240, 230)
    swing = rng.uniform(-0.04, 0.04)
    for x in (-0.42, 0.22):
        _leg(pen, ((x, 0.62), (x, 0.94)), 0.11, far, hoof)
    pen.line(((-0.58, 0.27), (-0.67, 0.36), (-0.67 + swing, 0.62)), 0.030, far)
    pen.oval(-0.67 + swing, 0.66, 0.040, 0.075, rgb=patch)
    pen.oval(-0.30, 0.73, 0.10, 0.075, rgb=_PINK)
    pen.poly(closed(_COW), rgb)
    for x in (-0.53, 0.34):
        _leg(pen, ((x, 0.58), (x, 0.94)), 0.125, rgb, hoof)
    for spot in _COW_PATCHES:
        pen.poly(closed(spot), patch)
    for tip, root in (((0.39, -0.01), (0.47, 0.12)), ((0.66, 0.0), (0.58, 0.12))):
        pen.line((root, ((tip[0] * 3 + root[0]) / 4, (tip[1] + root[1]) / 2 + 0.01), tip), 0.042, (238, 226, 196))
    pen.oval(0.38, 0.18, 0.085, 0.042, rgb=far)
    pen.poly(closed(_COW_HEAD), rgb)
    pen.oval(0.655, 0.375, 0.095, 0.080, rgb=_PINK)
    pen.oval(0.685, 0.36, 0.014, 0.019, rgb=(120, 66, 70))
    pen.oval(0.575, 0.21, 0.026, rgb=(240, 236, 230) if is_dark(rgb) else _EYE)
    pen.oval(0.580, 0.21, 0.017, rgb=_EYE)


def sheep(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A sheep in thick wool with a dark face."""
    skin: RGB = (166, 150, 138) if is_dark(rgb) else (66, 58, 58)
    nod = rng.uniform(-0.02, 0.04)
    for x in (-0.32, 0.08):
        pen.line(((x + 0.07, 0.68), (x + 0.07, 1.0)), 0.075, shade(skin, -0.2))
    shadow, curl = shade(rgb, -0.13), _marking(rgb, 0.15)
    for x, y, radius in _FLEECE:
        pen.oval(x, y + 0.02, radius, rgb=shadow)
    for x, y, radius in _FLEECE:
        pen.oval(x - 0.01, y - 0.012, radius * 0.93, rgb=rgb)
    pen.rect(-0.42, 0.24, 0.26, 0.64, rgb)
    for x, y in ((-0.34, 0.34), (-0.10, 0.30), (-0.22, 0.50), (0.04, 0.50)):
        pen.wedge(x, y, 0.075, 20, 160, curl)
        pen.wedge(x, y - 0.022, 0.075, 20, 160, rgb)
    for x in (-0.36, 0.12):
        pen.line(((x, 0.70), (x, 1.0)), 0.085, skin)
    pen.oval(0.29, 0.33 + nod, 0.10, 0.042, rgb=shade(skin, -0.15))
    pen.oval(0.46, 0.38 + nod, 0.145, 0.175, rgb=skin)
    pen.oval(0.52, 0.46 + nod, 0.10, 0.095, rgb=skin)
    pen.oval(0.40, 0.22 + nod, 0.13, 0.095, rgb=rgb)
    pen.oval(0.48, 0.35 + nod, 0.034, rgb=(246, 244, 238))
    pen.oval(0.49, 0.355 + nod, 0.019, rgb=_EYE)


def rabbit(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A rabbit that sits with its ears up."""
    far, light = shade(rgb, -0.16), _marking(rgb, 0.20)
    lean = rng.uniform(-0.02, 0.02)
    pen.oval(-0.35, 0.83, 0.085, 0.08, rgb=(214, 214, 218) if is_pale(rgb) else (250, 248, 244))
    ear = tuple((x + lean, y) for x, y in closed(_EARS[0]))
    pen.poly(ear, far)
    pen.poly(closed(_RABBIT), rgb)
    pen.poly(closed(_EARS[1]), rgb)
    pen.poly(((0.13, 0.28), (0.145, 0.12), (0.17, 0.06), (0.20, 0.14), (0.19, 0.28)), _PINK)
    pen.oval(0.17, 0.43, 0.175, 0.155, rgb=rgb)
    pen.oval(0.26, 0.47, 0.085, 0.075, rgb=rgb)
    pen.wedge(-0.12, 0.78, 0.19, 180, 330, light)
    pen.wedge(-0.115, 0.80, 0.185, 178, 332, rgb)
    pen.limb(((-0.16, 0.95), (0.06, 0.95)), 0.085, light)
    pen.limb(((0.16, 0.74), (0.19, 0.94)), 0.085, light)
    pen.oval(0.335, 0.455, 0.026, 0.022, rgb=(206, 110, 116))
    pen.oval(0.205, 0.395, 0.030, rgb=(240, 236, 230) if is_dark(rgb) else _EYE)
    pen.oval(0.210, 0.397, 0.018, rgb=_EYE)


def duck(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A duck with an orange bill."""
    del rng
    for x in (-0.10, 0.12):
        pen.rect(x, 0.92, x + 0.14, 1.0, shade(_BEAK, -0.1), round_by=0.03)
    pen.poly(closed(_DUCK), rgb)
    pen.poly(closed(_DUCK_WING), _marking(rgb, 0.20))
    pen.line(((-0.30, 0.70), (-0.08, 0.72), (0.04, 0.68)), 0.025, _marking(rgb, 0.34))
    pen.poly(((0.40, 0.19), (0.64, 0.24), (0.65, 0.31), (0.40, 0.36)), _BEAK)
    pen.line(((0.46, 0.278), (0.64, 0.280)), 0.014, shade(_BEAK, -0.35))
    pen.oval(0.27, 0.22, 0.21, 0.22, rgb=rgb)
    pen.rect(0.10, 0.26, 0.40, 0.52, rgb, round_by=0.10)
    pen.oval(0.345, 0.175, 0.042, rgb=(250, 248, 244))
    pen.oval(0.352, 0.178, 0.027, rgb=_EYE)


def bird(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A bird in flight, its wings up."""
    beat, dark = rng.uniform(0.0, 0.06), _marking(rgb, 0.28)

    def raised(wing: tuple[Point, ...]) -> tuple[Point, ...]:
        return tuple((x, y + beat * (0.7 - y)) for x, y in closed(wing))

    pen.poly(raised(_FAR_WING), dark)
    pen.poly(((-0.27, 0.73), (-0.80, 0.68), (-0.68, 0.83), (-0.78, 0.98), (-0.27, 0.92)), dark)
    pen.poly(((0.61, 0.52), (0.81, 0.61), (0.62, 0.68)), _BEAK)
    pen.poly(closed(_BIRD), rgb)
    pen.oval(0.22, 0.895, 0.27, 0.085, rgb=shade(rgb, -0.12) if is_pale(rgb) else shade(rgb, 0.45))
    pen.poly(raised(_NEAR_WING), shade(rgb, -0.10))
    for root, tip in (((-0.02, 0.58), (-0.37, 0.20)), ((0.05, 0.53), (-0.27, 0.13))):
        pen.line((root, tip), 0.022, dark)
    pen.oval(0.52, 0.58, 0.042, rgb=(250, 248, 244))
    pen.oval(0.53, 0.583, 0.026, rgb=_EYE)
