"""Places in the open: beach, forest, mountain lake, snowy hill, garden, desert."""

from __future__ import annotations

import math
from random import Random

from sightline_world.draw.landscape import (
    bunting,
    conifer,
    flowers,
    grass,
    hills,
    mountain,
    palm,
    ripples,
    sky,
    strew,
    water,
)
from sightline_world.draw.palette import COLOURS, RGB, mix, shade
from sightline_world.draw.pen import Canvas, Point
from sightline_world.draw.weather import settle

_FLAGS = tuple(COLOURS[name] for name in ("red", "yellow", "blue", "green", "orange"))


def beach(c: Canvas, rng: Random) -> None:
    """Sea to the horizon, a curved shore with foam, sand, and a palm at one side."""
    horizon = 0.40
    sky(c, rng, horizon)
    hills(c, rng, horizon + 0.004, rng.choice((0.02, 0.055, 0.10)), (96, 130, 110), 0.8)
    sea = rng.choice(((24, 102, 162), (20, 120, 150), (40, 84, 150)))
    water(c, horizon, 0.72, sea, (86, 192, 200))
    sand = c.light.dust(rng.choice(((238, 212, 160), (232, 200, 150), (244, 226, 190))), 0.7)
    wet, phase = shade(sand, -0.17), rng.uniform(0, 6)

    def shore(offset: float) -> list[Point]:
        xs = [c.w * step / 40 for step in range(41)]
        return [(x, 0.645 + offset + 0.022 * math.sin(x * 3.1 + phase) + 0.006 * math.sin(x * 13 + phase)) for x in xs]

    for offset, alpha in ((-0.035, 0.35), (-0.012, 0.75)):
        c.poly([*shore(offset), *reversed(shore(0.002))], (255, 255, 255), alpha=alpha)
    c.poly([(0, 1), *shore(0.0), (c.w, 1)], wet)
    for step in range(6):
        c.poly([(0, 1), *shore(0.022 + step * 0.02), (c.w, 1)], mix(shade(sand, -0.09), sand, step / 5))
    strew(c, "sand", 180, 0.74, 1.0, (shade(sand, -0.20), shade(sand, -0.12), shade(sand, 0.35)))
    settle(c, rng, 0.78)
    side = rng.choice((0.02, 0.98))
    palm(c, rng, c.w * side, 1.02, rng.uniform(0.78, 0.90), 0.22 if side < 0.5 else -0.22)
    c.note("tree", "green", max(0.0, c.w * side - 0.28), 0.02, min(c.w, c.w * side + 0.28), 1.0)


def forest(c: Canvas, rng: Random) -> None:
    """Trunks that fade into the light behind them, a path, and shafts of light."""
    light = c.light
    glade = light.ink((176, 206, 134), 0.55)
    c.gradient(0.0, 0.62, mix(glade, light.sky_top, 0.25), mix(glade, light.sky_bottom, 0.25), lit=True)
    leaf = light.dust(rng.choice(((70, 128, 62), (58, 120, 74), (92, 132, 50))), 0.35)
    bark: RGB = rng.choice(((112, 82, 58), (104, 88, 74), (124, 80, 54)))
    ground = light.dust((104, 132, 66), 0.75)
    trunks = 0
    for layer in range(4):
        near = layer / 3
        depth = 1.0 - near * 0.9
        trunks += _trunks(c, rng, near, (13, 9, 6, 4)[layer], shade(bark, -0.3 * near), depth)
        tones = (shade(leaf, -0.20 - 0.08 * near), shade(leaf, 0.04 - 0.08 * near))
        strew(c, "leaves", 110, 0.0, 0.30, tones, depth=depth, sheet=2 * layer)
        top = 0.50 + 0.20 * near
        rim = ((0, top + 0.02), (c.w * 0.3, top), (c.w * 0.7, top), (c.w, top + 0.02))
        c.poly(((0, 1), *rim, (c.w, 1)), shade(ground, -0.12 * near), depth * 0.7)
    grass(c, 0.66, (88, 128, 56), 330)
    _path(c, c.w * (0.5 + rng.uniform(-0.16, 0.16)))
    settle(c, rng, 0.74)
    shafts = [rng.uniform(0.1, 0.8) * c.w for _ in range(3)]
    if light.name in ("day", "sunset"):
        for x in shafts:
            c.poly(((x, 0), (x + 0.07, 0), (x + 0.36, 1.0), (x + 0.14, 1.0)), light.disc, alpha=0.08, lit=True)
    c.note("tree", "green", 0.0, 0.0, c.w, 0.8, count=trunks)


def _trunks(c: Canvas, rng: Random, near: float, count: int, bark: RGB, depth: float) -> int:
    """One row of trunks, and how many there are: the nearest leave the middle free."""
    half, base, drawn = 0.007 + 0.030 * near**1.6, 0.53 + 0.27 * near**1.5, 0
    for number in range(count):
        x = c.w * (number + rng.uniform(0.1, 0.9)) / count
        if near == 1.0 and 0.22 < x / c.w < 0.78:
            continue
        thin = half * 0.7
        c.poly(((x - half, base), (x - thin, -0.02), (x + thin, -0.02), (x + half, base)), bark, depth)
        c.poly(
            ((x + half * 0.2, base), (x + half * 0.1, 0), (x + thin, 0), (x + half, base)), shade(bark, -0.25), depth
        )
        drawn += 1
    return drawn


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
    c.poly([*left, *reversed(right)], c.light.dust((182, 152, 110), 0.55), 0.12)
    for edge in (left, right):
        c.line(edge, 0.008, c.light.dust((136, 126, 76), 0.5), 0.1)


def lake(c: Canvas, rng: Random) -> None:
    """Snowy peaks and firs mirrored in still water, seen from a grassy shore."""
    line = 0.48
    sky(c, rng, line - 0.01)
    for x, height, depth in ((0.12, 0.28, 0.75), (0.88, 0.31, 0.7), (rng.uniform(0.32, 0.68), 0.39, 0.55)):
        mountain(c, rng, c.w * x, line, height * rng.uniform(0.80, 1.05), height * 1.9, depth)
    hills(c, rng, line, 0.11, (74, 112, 80), 0.45)
    firs = [rng.uniform(0, 1) ** 1.4 * 0.42 for _ in range(24)]
    for number, x in enumerate(firs):
        x = x if number % 2 else 1 - x
        fir, tall = (44, 96, 68), rng.uniform(0.07, 0.15)
        conifer(c, rng, x * c.w, line + 0.004, tall, 0.35, fir, snow=c.light.fall == "snow")
    c.mirror(line, 0.32, (60, 110, 140), 0.32)
    ripples(c, line, 0.80)
    c.line(((0, line), (c.w, line)), 0.004, c.light.sky_bottom, alpha=0.5, lit=True)
    bend = rng.uniform(0, 6)
    shore = [
        (c.w * step / 24, 0.785 + 0.014 * math.sin(step * 0.5 + bend) + rng.uniform(-0.004, 0.004))
        for step in range(25)
    ]
    c.poly([(0, 1), *[(x, y - 0.012) for x, y in shore], (c.w, 1)], (150, 140, 118))
    c.poly([(0, 1), *shore, (c.w, 1)], c.light.dust((98, 142, 70), 0.75))
    grass(c, 0.82, (92, 138, 62), 420)
    flowers(c, 0.83, 1.0, ((250, 240, 180), (236, 120, 150), (240, 240, 250)), 60)
    settle(c, rng, 0.84)
    c.note("tree", "green", 0.0, line - 0.15, c.w, line, count=len(firs))


def snow(c: Canvas, rng: Random) -> None:
    """White slopes, and firs with snow on them."""
    sky(c, rng, 0.50, clouds=3)
    mountain(c, rng, c.w * rng.uniform(0.15, 0.45), 0.50, rng.uniform(0.22, 0.32), 0.75, 0.75)
    mountain(c, rng, c.w * rng.uniform(0.60, 0.9), 0.50, rng.uniform(0.18, 0.30), 0.70, 0.8)
    hills(c, rng, 0.52, 0.12, (214, 226, 242), 0.35)
    c.rect(0, 0.515, c.w, 0.62, (222, 232, 246), 0.3)
    firs = [(rng.uniform(0, 1), rng.uniform(0.50, 0.57)) for _ in range(15)]
    firs += [(number % 2 + rng.uniform(-0.08, 0.08), rng.uniform(0.60, 0.66)) for number in range(4)]
    for x, base in sorted(firs, key=lambda fir: fir[1]):
        conifer(c, rng, x * c.w, base, 0.10 + (base - 0.48) * 1.5, 0.5 - (base - 0.48) * 2, (52, 100, 84), snow=True)
        c.oval(x * c.w, base, 0.05, 0.008, rgb=(226, 235, 247), depth=0.2)
    waves = ((0.555, (226, 235, 248)), (0.66, (238, 244, 252)), (0.82, (249, 251, 254)))
    for number, (top, tone) in enumerate(waves):
        phase = rng.uniform(0, 6)
        slope = [(c.w * step / 30, top + 0.028 * math.sin(step * 0.16 + phase)) for step in range(31)]
        c.poly([(0, 1), *slope, (c.w, 1)], tone, 0.25 - number * 0.1)
        c.line(slope, 0.006, (190, 206, 230), alpha=0.45)
    settle(c, rng, 0.70)
    c.note("tree", "green", 0.0, 0.26, c.w, 0.66, count=len(firs))


def garden(c: Canvas, rng: Random) -> None:
    """A mown lawn with a picket fence, a hedge, flower beds and bunting."""
    sky(c, rng, 0.46)
    hills(c, rng, 0.47, 0.10, (104, 148, 96), 0.7)
    hedge: RGB = rng.choice(((58, 116, 66), (74, 124, 56), (48, 104, 74)))
    for step in range(30):
        tone = c.light.dust(shade(hedge, rng.uniform(-0.15, 0.12)), 0.45)
        c.oval(c.w * step / 29, 0.475 + rng.uniform(-0.012, 0.006), 0.05, rgb=tone, depth=0.25)
    dust = c.light.dust
    c.gradient(0.50, 1.0, dust((122, 172, 84), 0.72), dust((92, 156, 66), 0.72))
    for stripe in range(0, 14, 2):
        left, right = (stripe - 7) * 0.10, (stripe - 6) * 0.10
        c.poly(
            ((c.w / 2 + left, 0.53), (c.w / 2 + right, 0.53), (c.w / 2 + right * 4, 1), (c.w / 2 + left * 4, 1)),
            dust((120, 176, 80), 0.78),
        )
    _fence(c, rng.choice(((246, 244, 238), (178, 134, 92), (246, 244, 238), (150, 176, 188))))
    flowers(c, 0.545, 0.575, ((232, 70, 90), (250, 208, 70), (240, 150, 190), (250, 250, 250)), 500)
    grass(c, 0.60, (84, 150, 62), 190)
    settle(c, rng, 0.66)
    peak = rng.uniform(0.35, 0.65) * c.w
    bunting(c, rng, (-0.02, 0.13), (peak, 0.10), 0.055, _FLAGS)
    bunting(c, rng, (peak, 0.10), (c.w + 0.02, 0.14), 0.055, _FLAGS)
    if c.light.dark:
        for step in range(1, 16):
            c.glow(c.w * step / 16, 0.16 + 0.03 * math.sin(step), 0.06, (255, 220, 140), 0.9)


def _fence(c: Canvas, rgb: RGB) -> None:
    tone = c.light.dust(rgb, 0.4)
    for picket in range(round(c.w / 0.042) + 1):
        left, right = picket * 0.042, picket * 0.042 + 0.026
        top = ((left, 0.455), (left + 0.013, 0.44), (right, 0.455))
        c.poly(((left, 0.545), *top, (right, 0.545)), tone, 0.2)
    for y in (0.475, 0.515):
        c.rect(0, y, c.w, y + 0.010, shade(tone, -0.06), 0.2)


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


def desert(c: Canvas, rng: Random) -> None:
    """Flat-topped rocks in the haze, dunes with a sharp crest, and cacti."""
    sky(c, rng, 0.50, clouds=1)
    rock, sand = c.light.dust((188, 112, 76), 0.3), c.light.dust(rng.choice(((226, 172, 104), (232, 182, 118))), 0.72)
    for number in range(3):
        x = c.w * (number + rng.uniform(0.05, 0.95)) / 3
        _mesa(c, x, 0.52, rng.uniform(0.08, 0.20), rng.uniform(0.10, 0.26), rock, 0.75 - 0.12 * number)
    c.rect(0, 0.505, c.w, 0.70, sand, 0.35)
    for base, tall, depth in ((0.56, 0.055, 0.30), (0.62, 0.060, 0.20)):
        for number in range(3):
            _dune(c, rng, c.w * (number + rng.uniform(0.0, 1.0)) / 3, base, tall * rng.uniform(0.6, 1.2), sand, depth)
    spots = [(rng.uniform(0.02, 0.98), rng.uniform(0.545, 0.575)) for _ in range(4)]
    spots += [(rng.choice((rng.uniform(0.01, 0.06), rng.uniform(0.94, 0.99))), rng.uniform(0.66, 0.72))]
    for x, y in sorted(spots, key=lambda spot: spot[1]):
        _cactus(c, rng, x * c.w, y, 0.05 + (y - 0.50) * 1.25, max(0.05, 0.9 - y))
    phase = rng.uniform(0, 6)
    for top, tone in ((0.625, shade(sand, -0.05)), (0.70, shade(sand, 0.06)), (0.84, shade(sand, 0.16))):
        crest = [(c.w * step / 30, top + 0.024 * math.sin(step * 0.21 + phase + top * 9)) for step in range(31)]
        c.poly([(0, 1), *crest, (c.w, 1)], tone, 0.1)
    for row in range(9):
        y = 0.74 + 0.03 * row
        wave = [(c.w * step / 24, y + 0.008 * math.sin(step * 0.8 + phase + row * 1.7)) for step in range(25)]
        c.line(wave, 0.0035, shade(sand, -0.16), alpha=0.5)
    strew(c, "sand", 150, 0.70, 1.0, (shade(sand, -0.22), shade(sand, 0.35)))
    settle(c, rng, 0.74)


def _mesa(c: Canvas, x: float, base: float, tall: float, half: float, rgb: RGB, depth: float) -> None:
    """A flat-topped rock with bands, its right side in shade."""
    foot, top = half * 1.35, base - tall
    left = ((x - foot, base), (x - half, top + tall * 0.45), (x - half * 0.9, top))
    right = ((x + half * 0.9, top), (x + half, top + tall * 0.45), (x + foot, base))
    c.poly((*left, *right), rgb, depth)
    c.poly(((x + half * 0.35, base), (x + half * 0.45, top), *right), shade(rgb, -0.22), depth)
    for share in (0.22, 0.40):
        c.rect(
            x - half * 0.95, top + tall * share, x + half * 0.95, top + tall * (share + 0.06), shade(rgb, 0.18), depth
        )


def _dune(c: Canvas, rng: Random, x: float, base: float, tall: float, sand: RGB, depth: float) -> None:
    """A dune whose crest parts light from shade."""
    half, lean = tall * rng.uniform(4.5, 6.5), rng.uniform(-0.3, 0.3)
    ridge = (x + lean * half, base - tall)
    bend = (ridge[0] + half * 0.10, base - tall * 0.42)
    crest = (ridge, bend, (x + half * 0.25, base))
    c.poly(((x - half, base), (x - half * 0.3, base - tall * 0.62), *crest), shade(sand, 0.16), depth)
    c.poly((*crest, (x + half, base), (x + half * 0.55, base - tall * 0.45)), shade(sand, -0.20), depth)


def _cactus(c: Canvas, rng: Random, x: float, base: float, tall: float, depth: float) -> None:
    """A column with two arms."""
    green = c.light.dust((72, 128, 78), 0.25)
    thick, dark = tall * 0.17, shade(green, -0.22)
    c.oval(x, base, tall * 0.3, tall * 0.04, rgb=(60, 44, 30), depth=depth, alpha=0.3)
    for side in (-1, 1):
        low, reach = base - tall * rng.uniform(0.30, 0.52), x + side * tall * 0.27
        c.limb(((x, low), (reach, low), (reach, low - tall * rng.uniform(0.18, 0.34))), thick * 0.72, green, depth)
    c.limb(((x, base - thick / 3), (x, base - tall)), thick, green, depth)
    c.line(((x + thick * 0.22, base), (x + thick * 0.22, base - tall)), thick * 0.25, dark, depth)
