"""Places in the open: beach, forest, mountain lake, snowy hill, garden."""

from __future__ import annotations

import math
from random import Random

from sightline.world.draw.nature import (
    bunting,
    conifer,
    flowers,
    grass,
    hills,
    mountain,
    palm,
    ripples,
    sky,
    water,
)
from sightline.world.draw.palette import COLOURS, RGB, mix, shade
from sightline.world.draw.pen import Canvas

_FLAGS = tuple(COLOURS[name] for name in ("red", "yellow", "blue", "green", "orange"))


def beach(c: Canvas, rng: Random) -> None:
    """Sea to the horizon, a curved shore with foam, sand, and a palm at one side."""
    horizon = 0.40
    sky(c, rng, horizon)
    hills(c, rng, horizon + 0.004, 0.055, (96, 130, 110), 0.8)
    water(c, rng, horizon, 0.72, (24, 102, 162), (86, 192, 200))
    sand: RGB = (238, 212, 160)
    phase = rng.uniform(0, 6)

    def shore(offset: float) -> list[tuple[float, float]]:
        xs = [c.w * step / 40 for step in range(41)]
        return [(x, 0.645 + offset + 0.022 * math.sin(x * 3.1 + phase) + 0.006 * math.sin(x * 13 + phase)) for x in xs]

    for offset, tone, alpha in (
        (-0.035, (255, 255, 255), 0.35),
        (-0.012, (255, 255, 255), 0.75),
        (0.0, (200, 170, 124), 1.0),
    ):
        c.poly([(0, 1), *shore(offset), (c.w, 1)], tone, alpha=alpha)
    for step in range(9):
        lower = step / 8
        c.poly([(0, 1), *shore(0.022 + lower * 0.10), (c.w, 1)], mix(mix(sand, (206, 176, 128), 0.6), sand, lower))
    for _ in range(170):
        x, y = rng.uniform(0, c.w), rng.uniform(0.74, 1.0)
        c.oval(x, y, 0.0018, 0.0012, rgb=shade(sand, rng.choice((-0.20, -0.12, 0.35))))
    side = rng.choice((0.02, 0.98))
    palm(c, rng, c.w * side, 1.02, 0.86, 0.22 if side < 0.5 else -0.22)
    c.note("tree", "green", max(0.0, c.w * side - 0.28), 0.02, min(c.w, c.w * side + 0.28), 1.0)


def forest(c: Canvas, rng: Random) -> None:
    """Trunks that fade into the light behind them, a path, and shafts of light."""
    horizon = 0.46
    sky(c, rng, horizon + 0.1, clouds=0)
    leaf: RGB = (70, 128, 62)
    c.poly(((0, 0), (c.w, 0), (c.w, 0.62), (0, 0.62)), (176, 206, 134), 0.55, alpha=0.75)
    trunks = 0
    for layer in range(4):
        near = layer / 3
        depth = 1.0 - near * 0.9
        count = (13, 9, 6, 4)[layer]
        for number in range(count):
            x = c.w * (number + rng.uniform(0.1, 0.9)) / count
            if layer == 3 and 0.22 < x / c.w < 0.78:
                continue
            half, base = 0.007 + 0.030 * near**1.6, 0.53 + 0.27 * near**1.5
            bark = shade((112, 82, 58), -0.3 * near)
            c.poly(((x - half, base), (x - half * 0.7, -0.02), (x + half * 0.7, -0.02), (x + half, base)), bark, depth)
            c.poly(
                ((x + half * 0.2, base), (x + half * 0.1, 0), (x + half * 0.7, 0), (x + half, base)),
                shade(bark, -0.25),
                depth,
            )
            trunks += 1
        for _ in range(90):
            x, y = rng.uniform(0, c.w), abs(rng.gauss(0.0, 0.10)) - 0.02
            size = rng.uniform(0.018, 0.036) * (1 + near)
            c.oval(x, y, size, size * 0.75, rgb=shade(leaf, rng.uniform(-0.30, 0.14) - 0.08 * near), depth=depth)
        top = 0.50 + 0.20 * near
        c.poly(
            ((0, 1), (0, top + 0.02), (c.w * 0.3, top), (c.w * 0.7, top), (c.w, top + 0.02), (c.w, 1)),
            shade((104, 132, 66), -0.12 * near),
            depth * 0.7,
        )
    grass(c, rng, 0.66, 1.0, (88, 128, 56), 320)
    _path(c, c.w * (0.5 + rng.uniform(-0.10, 0.10)))
    if c.light.name in ("day", "sunset"):
        for _ in range(4):
            x = rng.uniform(0.1, 0.8) * c.w
            c.poly(((x, 0), (x + 0.07, 0), (x + 0.36, 1.0), (x + 0.14, 1.0)), c.light.disc, alpha=0.08, lit=True)
    c.note("tree", "green", 0.0, 0.0, c.w, 0.8, count=trunks)


def _path(c: Canvas, end: float) -> None:
    """A path that winds from the viewer to `end`, under the trees."""
    left, right = [], []
    for step in range(15):
        near = step / 14
        y = 0.655 + 0.36 * near**1.4
        x = end + (c.w / 2 - end) * near + 0.07 * math.sin(near * 5.0) * (1 - near)
        half = 0.022 + 0.24 * near**1.5
        left.append((x - half, y))
        right.append((x + half, y))
    c.poly([*left, *reversed(right)], (182, 152, 110), 0.12)
    c.line(left, 0.008, (136, 126, 76), 0.1)
    c.line(right, 0.008, (136, 126, 76), 0.1)


def lake(c: Canvas, rng: Random) -> None:
    """Snowy peaks and firs mirrored in still water, seen from a grassy shore."""
    line = 0.52
    sky(c, rng, line - 0.05)
    for x, height, depth in ((0.12, 0.30, 0.75), (0.88, 0.33, 0.7), (rng.uniform(0.40, 0.60), 0.42, 0.55)):
        mountain(c, rng, c.w * x, line, height * rng.uniform(0.92, 1.05), height * 1.9, depth)
    hills(c, rng, line, 0.11, (74, 112, 80), 0.45)
    firs = 0
    for _ in range(34):
        x = rng.uniform(0, 1) ** 1.4 * 0.42
        x = x if rng.random() < 0.5 else 1 - x
        conifer(c, rng, x * c.w, line + 0.004, rng.uniform(0.07, 0.15), 0.35, (44, 96, 68))
        firs += 1
    c.mirror(line, 0.36, (60, 110, 140), 0.32)
    ripples(c, rng, line, 0.88, 90)
    c.line(((0, line), (c.w, line)), 0.004, c.light.sky_bottom, alpha=0.5, lit=True)
    shore = [(c.w * step / 24, 0.865 + 0.014 * math.sin(step * 0.7) + rng.uniform(-0.004, 0.004)) for step in range(25)]
    c.poly([(0, 1), *[(x, y - 0.012) for x, y in shore], (c.w, 1)], (150, 140, 118))
    c.poly([(0, 1), *shore, (c.w, 1)], (98, 142, 70))
    grass(c, rng, 0.90, 1.02, (92, 138, 62), 260)
    flowers(c, rng, 0.90, 1.0, ((250, 240, 180), (236, 120, 150), (240, 240, 250)), 34)
    c.note("tree", "green", 0.0, line - 0.15, c.w, line, count=firs)


def snow(c: Canvas, rng: Random) -> None:
    """White slopes, firs with snow on them, and flakes in the air."""
    sky(c, rng, 0.50, clouds=3)
    mountain(c, rng, c.w * rng.uniform(0.2, 0.4), 0.50, 0.30, 0.75, 0.75)
    mountain(c, rng, c.w * rng.uniform(0.65, 0.9), 0.50, 0.25, 0.70, 0.8)
    hills(c, rng, 0.52, 0.12, (214, 226, 242), 0.35)
    c.rect(0, 0.515, c.w, 0.62, (222, 232, 246), 0.3)
    firs = [(rng.uniform(0, 1), rng.uniform(0.50, 0.57)) for _ in range(16)]
    firs += [(rng.choice((rng.uniform(0, 0.2), rng.uniform(0.8, 1))), rng.uniform(0.60, 0.66)) for _ in range(5)]
    for x, base in sorted(firs, key=lambda fir: fir[1]):
        conifer(c, rng, x * c.w, base, 0.10 + (base - 0.48) * 1.5, 0.5 - (base - 0.48) * 2, (52, 100, 84), snow=True)
        c.oval(x * c.w, base, 0.05, 0.008, rgb=(226, 235, 247), depth=0.2)
    waves = ((0.555, (226, 235, 248)), (0.66, (238, 244, 252)), (0.82, (249, 251, 254)))
    for number, (top, tone) in enumerate(waves):
        phase = rng.uniform(0, 6)
        slope = [(c.w * step / 30, top + 0.028 * math.sin(step * 0.16 + phase)) for step in range(31)]
        c.poly([(0, 1), *slope, (c.w, 1)], tone, 0.25 - number * 0.1)
        c.line(slope, 0.006, (190, 206, 230), alpha=0.45)
    for _ in range(110):
        size = rng.uniform(0.0015, 0.0055)
        c.oval(rng.uniform(0, c.w), rng.uniform(0, 1), size, rgb=(255, 255, 255), alpha=0.75)
    c.note("tree", "green", 0.0, 0.26, c.w, 0.66, count=len(firs))


def garden(c: Canvas, rng: Random) -> None:
    """A lawn with a picket fence, a hedge, flower beds, bunting and a laid table at the right."""
    sky(c, rng, 0.46)
    hills(c, rng, 0.47, 0.10, (104, 148, 96), 0.7)
    for step in range(40):
        x = c.w * step / 39
        c.oval(
            x, 0.475 + rng.uniform(-0.012, 0.006), 0.05, rgb=shade((58, 116, 66), rng.uniform(-0.15, 0.12)), depth=0.25
        )
    c.gradient(0.50, 1.0, (122, 172, 84), (92, 156, 66))
    for stripe in range(0, 14, 2):
        left, right = (stripe - 7) * 0.10, (stripe - 6) * 0.10
        c.poly(
            ((c.w / 2 + left, 0.53), (c.w / 2 + right, 0.53), (c.w / 2 + right * 4, 1), (c.w / 2 + left * 4, 1)),
            (132, 186, 88),
            alpha=0.5,
        )
    for x in range(round(c.w / 0.042) + 1):
        left = x * 0.042
        c.poly(
            ((left, 0.545), (left, 0.455), (left + 0.013, 0.44), (left + 0.026, 0.455), (left + 0.026, 0.545)),
            (246, 244, 238),
            0.2,
        )
    for y in (0.475, 0.515):
        c.rect(0, y, c.w, y + 0.010, (232, 228, 220), 0.2)
    flowers(c, rng, 0.545, 0.575, ((232, 70, 90), (250, 208, 70), (240, 150, 190), (250, 250, 250)), 80)
    grass(c, rng, 0.60, 1.0, (84, 150, 62), 200)
    bunting(c, rng, (-0.02, 0.13), (c.w * 0.52, 0.10), 0.055, _FLAGS)
    bunting(c, rng, (c.w * 0.52, 0.10), (c.w + 0.02, 0.14), 0.055, _FLAGS)
    if c.light.dark:
        for step in range(1, 16):
            c.glow(c.w * step / 16, 0.16 + 0.03 * math.sin(step), 0.06, (255, 220, 140), 0.9)


def garden_table(c: Canvas, rng: Random) -> None:
    """The table of the garden, over which people and dogs can't stand."""
    del rng
    left, right = c.w * 0.60, c.w * 0.97
    c.oval((left + right) / 2, 0.90, (right - left) * 0.55, 0.025, rgb=(40, 60, 30), alpha=0.35)
    for x in (left + 0.03, right - 0.03):
        c.rect(x - 0.010, 0.74, x + 0.010, 0.90, (132, 98, 66))
    c.poly(((left - 0.01, 0.745), (left + 0.03, 0.67), (right - 0.03, 0.67), (right + 0.01, 0.745)), (250, 248, 244))
    c.rect(left - 0.01, 0.745, right + 0.01, 0.80, (232, 228, 222))
    for step in range(1, 9):
        x = left + (right - left) * step / 9
        c.line(((x, 0.75), (x, 0.80)), 0.010, (226, 110, 120), alpha=0.8)
