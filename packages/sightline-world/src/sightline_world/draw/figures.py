"""People, one unit high: the top at y = 0, the ground at y = 1, the middle at x = 0, looking to the right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import TypeAlias

from sightline_world.draw.palette import RGB, mix, shade
from sightline_world.draw.pen import Pen, Point
from sightline_world.draw.plan import POSES
from sightline_world.scene import HAIR

SKINS: tuple[RGB, ...] = ((246, 208, 178), (224, 172, 132), (176, 122, 84), (116, 76, 52))
HAIRS: Mapping[str, RGB] = MappingProxyType(
    {
        "black": (30, 26, 28),
        "brown": (112, 68, 34),
        "blond": (244, 206, 92),
        "red": (206, 84, 26),
        "grey": (174, 174, 176),
    }
)
_TROUSERS: tuple[RGB, ...] = ((52, 66, 98), (74, 72, 70), (112, 96, 74), (44, 82, 84))
_Joints: TypeAlias = tuple[Point, Point]

HAND: Point = (0.235, 0.405)
"""Where the hand of someone who holds something is."""
LOW_HAND: Point = (0.165, 0.520)
"""Where it is when the thing hangs from it."""
# For each pose: (far arm, near arm), each elbow and hand; (far leg, near leg), each knee and foot.
_STAND: tuple[_Joints, _Joints] = (((-0.06, 0.74), (-0.07, 0.97)), ((0.06, 0.74), (0.07, 0.97)))
_POSES: Mapping[str, tuple[tuple[_Joints, _Joints], tuple[_Joints, _Joints]]] = MappingProxyType(
    {
        "standing": ((((-0.14, 0.38), (-0.15, 0.52)), ((0.14, 0.38), (0.15, 0.52))), _STAND),
        "walking": (
            (((-0.16, 0.37), (-0.12, 0.49)), ((0.15, 0.37), (0.22, 0.46))),
            (((-0.07, 0.73), (-0.19, 0.95)), ((0.10, 0.73), (0.13, 0.97))),
        ),
        "running": (
            (((-0.18, 0.34), (-0.10, 0.44)), ((0.17, 0.34), (0.26, 0.31))),
            (((-0.03, 0.75), (-0.27, 0.85)), ((0.16, 0.69), (0.16, 0.96))),
        ),
        "waving": ((((-0.14, 0.38), (-0.13, 0.52)), ((0.19, 0.18), (0.20, 0.04))), _STAND),
        "cheering": (
            (((-0.20, 0.17), (-0.17, 0.03)), ((0.20, 0.17), (0.17, 0.03))),
            (((-0.07, 0.74), (-0.10, 0.97)), ((0.07, 0.74), (0.10, 0.97))),
        ),
        "holding": ((((-0.14, 0.38), (-0.13, 0.52)), ((0.13, 0.39), HAND)), _STAND),
        "carrying": ((((-0.14, 0.38), (-0.13, 0.52)), ((0.14, 0.38), LOW_HAND)), _STAND),
    }
)


@dataclass(frozen=True, slots=True)
class Looks:
    """How someone looks; `build` decides skin, trousers and the length of the hair."""

    coat: RGB
    hair: str
    headgear: str
    headgear_rgb: RGB | None
    pose: str
    build: int


def person(pen: Pen, rgb: RGB, rng: Random) -> None:
    """Someone with a coat of the colour; the rest by lot."""
    figure(pen, Looks(rgb, rng.choice(HAIR), "none", None, rng.choice(POSES), rng.getrandbits(8)))


def figure(pen: Pen, looks: Looks) -> None:
    """Someone with these looks."""
    skin, trousers = SKINS[looks.build % 4], _TROUSERS[looks.build // 4 % 4]
    hair, long_hair = HAIRS[looks.hair], looks.build // 16 % 2 == 1
    coat = looks.coat
    arms, legs = _POSES[looks.pose]
    for tone, leg in zip((shade(trousers, -0.25), trousers), legs, strict=True):
        pen.line(((leg[0][0] * 0.4, 0.52), *leg), 0.090, tone)
        x, y = leg[-1]
        pen.oval(x + 0.022, y + 0.004, 0.062, 0.026, rgb=(52, 46, 44))
    if long_hair:
        pen.rect(-0.105, 0.06, 0.015, 0.27, shade(hair, -0.15), round_by=0.045)
    _arm(pen, arms[0], shade(coat, -0.22), skin)
    pen.rect(-0.110, 0.190, 0.110, 0.60, coat, round_by=0.050)
    pen.rect(-0.110, 0.31, -0.062, 0.56, shade(coat, -0.14))
    pen.line(((0.02, 0.23), (0.02, 0.59)), 0.010, shade(coat, -0.25))
    _arm(pen, arms[1], shade(coat, 0.08), skin)
    _head(pen, looks, skin, hair, long_hair)


def _head(pen: Pen, looks: Looks, skin: RGB, hair: RGB, long_hair: bool) -> None:
    pen.rect(-0.030, 0.14, 0.030, 0.21, shade(skin, -0.12))
    pen.oval(0.004, 0.105, 0.076, 0.084, rgb=skin)
    pen.wedge(-0.006, 0.094, 0.090, 140, 345, hair)
    pen.oval(-0.062, 0.110, 0.030, 0.052, rgb=hair)
    if long_hair:
        pen.rect(-0.096, 0.07, -0.040, 0.235, hair, round_by=0.022)
    pen.oval(0.036, 0.112, 0.009, rgb=(40, 32, 30))
    pen.line(((0.024, 0.150), (0.050, 0.148)), 0.009, mix(skin, (150, 40, 40), 0.5))
    if looks.headgear_rgb is not None and looks.headgear != "none":
        _HEADGEAR[looks.headgear](pen, looks.headgear_rgb)


def _cap(pen: Pen, rgb: RGB) -> None:
    """A cap with a peak over the eyes."""
    pen.wedge(-0.004, 0.080, 0.093, 180, 360, rgb)
    pen.limb(((0.04, 0.078), (0.155, 0.088)), 0.026, shade(rgb, -0.28))
    pen.oval(-0.004, -0.010, 0.014, rgb=shade(rgb, -0.28))


def _hat(pen: Pen, rgb: RGB) -> None:
    """A hat with a wide brim and a band."""
    pen.rect(-0.078, -0.075, 0.074, 0.060, rgb, round_by=0.030)
    pen.rect(-0.080, 0.015, 0.076, 0.045, shade(rgb, -0.35))
    pen.limb(((-0.150, 0.062), (0.148, 0.062)), 0.032, rgb)


def _beanie(pen: Pen, rgb: RGB) -> None:
    """A knitted hat with a bobble."""
    pen.oval(-0.004, -0.045, 0.036, rgb=shade(rgb, 0.45))
    pen.wedge(-0.004, 0.070, 0.096, 180, 360, rgb)
    pen.rect(-0.102, 0.048, 0.094, 0.090, shade(rgb, -0.20))


_HEADGEAR = MappingProxyType({"cap": _cap, "hat": _hat, "beanie": _beanie})


def _arm(pen: Pen, joints: _Joints, sleeve: RGB, skin: RGB) -> None:
    elbow, hand = joints
    shoulder = (0.085 if elbow[0] > 0 else -0.085, 0.225)
    pen.oval(*shoulder, 0.029, rgb=sleeve)
    pen.line((shoulder, elbow, hand), 0.058, sleeve)
    pen.oval(*hand, 0.030, rgb=skin)
