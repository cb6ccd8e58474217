"""What one cooks with, each drawn at its distance from the middle of the work."""

from __future__ import annotations

from random import Random

from sightline_world.choose.easel import STEEL, WOOD
from sightline_world.choose.food import YOLK, fried
from sightline_world.choose.worktop import FOOT, PLATE, Table, bit, steam
from sightline_world.draw import table
from sightline_world.draw.palette import RGB, is_pale, shade

_BLACK: RGB = (52, 52, 58)


def bowl(
    t: Table,
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


def whisk(t: Table, dx: float) -> None:
    """A whisk that stands in a bowl."""
    low, top = t.at(dx, 0.73), t.at(dx + 0.16, 0.44)
    t.pen.limb((low, top), 0.016, shade(STEEL, -0.2))
    t.pen.limb((t.at(dx + 0.10, 0.55), top), 0.030, WOOD)
    for spread in (-0.03, 0.0, 0.03):
        t.pen.line((low, t.at(dx + 0.05 + spread, 0.66), t.at(dx + 0.07, 0.605)), 0.007, STEEL)


def tin(t: Table, dx: float, fill: RGB, *, risen: bool, foot: float = FOOT, grow: float = 1.0) -> None:
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


def oven(t: Table) -> None:
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


def board(t: Table) -> None:
    x = t.x
    t.pen.poly(((x - 0.36, 0.94), (x - 0.32, 0.82), (x + 0.32, 0.82), (x + 0.36, 0.94)), (226, 190, 136))
    t.pen.rect(x - 0.36, 0.94, x + 0.36, 0.962, (176, 134, 84))


def knife(t: Table, dx: float) -> None:
    (x0, y0), (x1, y1), (x2, y2) = t.at(dx - 0.05, 0.93), t.at(dx + 0.05, 0.80), t.at(dx + 0.11, 0.72)
    t.pen.poly(((x0, y0), (x0 - 0.01, y0 - 0.05), (x1 - 0.02, y1), (x1 + 0.02, y1 + 0.02)), (206, 212, 218))
    t.pen.limb(((x1, y1), (x2, y2)), 0.034, _BLACK)


def hob(t: Table) -> None:
    """A cooker with a flame on it."""
    x = t.x
    t.pen.rect(x - 0.34, 0.885, x + 0.34, 0.975, _BLACK, round_by=0.02)
    for knob in (-0.24, -0.12, 0.12, 0.24):
        t.pen.oval(x + knob, 0.93, 0.020, rgb=(196, 200, 204))
    for flame in range(9):
        fx = x - 0.16 + 0.04 * flame
        t.pen.poly(((fx - 0.016, 0.888), (fx, 0.815), (fx + 0.016, 0.888)), (70, 140, 250), lit=True)
        t.pen.poly(((fx - 0.008, 0.888), (fx, 0.850), (fx + 0.008, 0.888)), (200, 230, 255), lit=True)


def pot(t: Table, *, water: bool = False, bits: tuple[RGB, ...] = (), lid: bool = False) -> None:
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


def spoon(t: Table, dx: float) -> None:
    low, top = t.at(dx - 0.03, 0.93), t.at(dx + 0.06, 0.74)
    t.pen.limb((low, top), 0.014, shade(STEEL, -0.1))
    t.pen.oval(*low, 0.032, 0.022, rgb=STEEL)
    t.pen.oval(low[0], low[1] - 0.003, 0.022, 0.013, rgb=shade(STEEL, 0.4))


def fork(t: Table, dx: float) -> None:
    low, top = t.at(dx, 0.95), t.at(dx + 0.02, 0.80)
    t.pen.limb((low, top), 0.014, shade(STEEL, -0.1))
    for prong in (-0.020, 0.0, 0.020):
        t.pen.line(((top[0] + prong, top[1]), (top[0] + prong, top[1] - 0.06)), 0.009, shade(STEEL, -0.1))
    t.pen.line(((top[0] - 0.024, top[1]), (top[0] + 0.024, top[1])), 0.014, shade(STEEL, -0.1))


def plate(t: Table, half: float) -> None:
    t.pen.oval(t.x, 0.885, half, 0.092, rgb=shade(PLATE, -0.3))
    t.pen.oval(t.x, 0.875, half, 0.090, rgb=shade(PLATE, 0.25))
    t.pen.oval(t.x, 0.877, half * 0.84, 0.070, rgb=PLATE)


def pan(
    t: Table,
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


def rolling_pin(t: Table) -> None:
    (x0, y0), (x1, y1) = t.at(-0.30, 0.74), t.at(0.24, 0.78)
    t.pen.limb(((x0, y0), (x1, y1)), 0.030, shade(WOOD, -0.2))
    t.pen.limb((t.at(-0.22, 0.746), t.at(0.16, 0.774)), 0.066, (206, 160, 104))
    t.pen.line((t.at(-0.22, 0.736), t.at(0.16, 0.764)), 0.014, (226, 190, 140))
