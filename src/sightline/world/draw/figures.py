"""Living things, each one unit high: the top at y = 0, the ground at y = 1, the middle at x = 0."""

from __future__ import annotations

from random import Random

from sightline.world.draw.palette import RGB, mix, shade
from sightline.world.draw.pen import Pen, Point

_SKINS: tuple[RGB, ...] = ((246, 208, 178), (224, 172, 132), (176, 122, 84), (116, 76, 52))
_HAIRS: tuple[RGB, ...] = ((42, 32, 28), (92, 60, 36), (206, 164, 92), (150, 72, 36), (120, 116, 114))
_TROUSERS: tuple[RGB, ...] = ((52, 66, 98), (74, 72, 70), (112, 96, 74), (44, 82, 84))


def person(pen: Pen, rgb: RGB, rng: Random) -> None:
    """A person whose shirt has the colour; the pose, skin and hair are drawn by lot."""
    skin, hair, trousers = rng.choice(_SKINS), rng.choice(_HAIRS), rng.choice(_TROUSERS)
    arms, legs = rng.choice(_POSES)
    dark = shade(trousers, -0.25)
    for side, leg in zip((dark, trousers), legs, strict=True):
        pen.limb(((leg[0][0] * 0.4, 0.50), *leg), 0.086, side)
        x, y = leg[-1]
        pen.limb(((x - 0.005, y + 0.005), (x + 0.060, y + 0.008)), 0.044, (52, 46, 44))
    long_hair = rng.random() < 0.45
    if long_hair:
        pen.rect(-0.090, 0.05, 0.015, 0.25, shade(hair, -0.15), round_by=0.045)
    _arm(pen, arms[0], shade(rgb, -0.22), skin)
    pen.rect(-0.105, 0.175, 0.105, 0.54, rgb, round_by=0.055)
    pen.rect(-0.105, 0.30, -0.055, 0.54, shade(rgb, -0.14), round_by=0.025)
    _arm(pen, arms[1], shade(rgb, 0.08), skin)
    pen.rect(-0.030, 0.13, 0.030, 0.20, shade(skin, -0.12))
    pen.oval(0.004, 0.088, 0.070, 0.080, rgb=skin)
    pen.wedge(-0.004, 0.080, 0.080, 150, 342, hair)
    if long_hair:
        pen.rect(-0.085, 0.06, -0.045, 0.215, hair, round_by=0.018)
    pen.oval(0.032, 0.094, 0.008, rgb=(40, 32, 30))
    pen.line(((0.022, 0.130), (0.046, 0.128)), 0.008, mix(skin, (150, 40, 40), 0.5))


def _arm(pen: Pen, joints: tuple[Point, Point], sleeve: RGB, skin: RGB) -> None:
    elbow, hand = joints
    shoulder = (0.085 if elbow[0] > 0 else -0.085, 0.215)
    pen.limb((elbow, hand), 0.046, skin)
    pen.limb((shoulder, elbow), 0.060, sleeve)


# For each pose: (far arm, near arm), each elbow and hand; (far leg, near leg), each knee and foot.
_POSES: tuple[tuple[tuple[tuple[Point, Point], ...], tuple[tuple[Point, Point], ...]], ...] = (
    (  # standing
        (((-0.14, 0.37), (-0.15, 0.51)), ((0.14, 0.37), (0.15, 0.51))),
        (((-0.06, 0.73), (-0.07, 0.97)), ((0.06, 0.73), (0.07, 0.97))),
    ),
    (  # walking
        (((-0.16, 0.36), (-0.12, 0.48)), ((0.15, 0.36), (0.22, 0.45))),
        (((-0.07, 0.72), (-0.19, 0.95)), ((0.10, 0.72), (0.13, 0.97))),
    ),
    (  # waving
        (((-0.14, 0.37), (-0.13, 0.51)), ((0.19, 0.17), (0.20, 0.03))),
        (((-0.05, 0.73), (-0.06, 0.97)), ((0.06, 0.73), (0.08, 0.97))),
    ),
    (  # running
        (((-0.18, 0.33), (-0.10, 0.43)), ((0.17, 0.33), (0.26, 0.30))),
        (((-0.03, 0.74), (-0.27, 0.84)), ((0.16, 0.68), (0.16, 0.96))),
    ),
    (  # both arms up
        (((-0.20, 0.16), (-0.17, 0.02)), ((0.20, 0.16), (0.17, 0.02))),
        (((-0.07, 0.73), (-0.10, 0.97)), ((0.07, 0.73), (0.10, 0.97))),
    ),
)


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
