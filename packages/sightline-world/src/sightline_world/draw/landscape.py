"""What outdoor places share: skies, hills, water, trees, grass, and textures of many small marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import pairwise
from random import Random
from types import MappingProxyType
from typing import TypeAlias

from PIL import Image, ImageDraw

from sightline_world.draw.palette import RGB, mix, shade
from sightline_world.draw.pen import Canvas, Pen, Point

_Mark: TypeAlias = Callable[[ImageDraw.ImageDraw, Random, float, float, float], None]
"""Draws one mark: on what, by which dice, in a sheet how wide and how high, with how many pixels to the unit."""
_TRANSLUCENT = ("ripples", "stars", "wood")


def strew(
    c: Canvas,
    texture: str,
    density: float,
    top: float,
    bottom: float,
    tones: tuple[RGB, ...],
    depth: float = 0.0,
    lit: bool = False,
    sheet: int = 0,
) -> None:
    """Cover a band of the picture with marks: `density` of them for each tone and square unit.

    Every tone has a sheet of its own, counted from `sheet`.
    """
    first, last = round(top * c.scale), min(c.image.height, round(bottom * c.scale))
    for number, tone in enumerate(tones, sheet):
        mask = _sheet(texture, density, number, c.image.width, last - first, round(c.scale))
        c.image.paste(c.colour(tone, depth, lit=lit)[:3], (0, first), mask)


@lru_cache(maxsize=96)
def _sheet(texture: str, density: float, number: int, width: int, height: int, unit: int) -> Image.Image:
    # Pasting through a mask of one bit is several times faster, so only what is translucent has eight.
    sheet = Image.new("L" if texture in _TRANSLUCENT else "1", (width, height))
    draw, rng, mark = ImageDraw.Draw(sheet), Random(f"{texture}/{number}"), _MARKS[texture]
    for _ in range(round(density * width * height / unit**2)):
        mark(draw, rng, width, height, unit)
    return sheet


def _oval(draw: ImageDraw.ImageDraw, x: float, y: float, rx: float, ry: float, value: int) -> None:
    draw.ellipse((x - rx, y - ry, x + rx, y + ry), fill=value)


def _tuft(draw: ImageDraw.ImageDraw, rng: Random, width: float, height: float, unit: float) -> None:
    near = rng.random() ** 0.7
    x, y, tall = rng.uniform(0, width), height * near, (0.008 + 0.022 * near) * unit
    thick = max(1, round((0.0022 + 0.0012 * near) * unit))
    draw.line((x, y, x + rng.uniform(-0.5, 0.5) * tall, y - tall), fill=255, width=thick)


def _ripple(draw: ImageDraw.ImageDraw, rng: Random, width: float, height: float, unit: float) -> None:
    near = rng.random() ** 1.5
    half = (0.012 + 0.05 * near * rng.random()) * unit
    _oval(draw, rng.uniform(0, width), height * near, half, (0.0010 + 0.0034 * near) * unit, 84)


def _grain(draw: ImageDraw.ImageDraw, rng: Random, width: float, height: float, unit: float) -> None:
    _oval(draw, rng.uniform(0, width), rng.uniform(0, height), 0.0018 * unit, 0.0012 * unit, 255)


def _petal(draw: ImageDraw.ImageDraw, rng: Random, width: float, height: float, unit: float) -> None:
    near = rng.random()
    size = (0.0026 + 0.0040 * near) * unit
    _oval(draw, rng.uniform(0, width), height * near, size, size, 255)


def _leaf(draw: ImageDraw.ImageDraw, rng: Random, width: float, height: float, unit: float) -> None:
    size = rng.uniform(0.024, 0.052) * unit
    _oval(draw, rng.uniform(0, width), abs(rng.gauss(0, 0.36)) * height - size / 2, size, size * 0.75, 255)


def _star(draw: ImageDraw.ImageDraw, rng: Random, width: float, height: float, unit: float) -> None:
    size = rng.uniform(0.0007, 0.0020) * unit
    _oval(draw, rng.uniform(0, width), rng.uniform(0, height), size, size, rng.randint(90, 255))


def _vein(draw: ImageDraw.ImageDraw, rng: Random, width: float, height: float, unit: float) -> None:
    _oval(draw, rng.uniform(0, width), rng.uniform(0, height), rng.uniform(0.02, 0.07) * unit, 0.0016 * unit, 128)


_MARKS: Mapping[str, _Mark] = MappingProxyType(
    {
        "grass": _tuft,
        "ripples": _ripple,
        "sand": _grain,
        "petals": _petal,
        "leaves": _leaf,
        "stars": _star,
        "wood": _vein,
    }
)


def sky(c: Canvas, rng: Random, horizon: float, clouds: int = 4) -> None:
    """The sky of the hour down to the horizon, with its sun or moon, its clouds or stars."""
    light = c.light
    c.gradient(0.0, horizon + 0.02, light.sky_top, light.sky_bottom, lit=True)
    x, y = c.w * rng.uniform(0.2, 0.8), horizon * rng.uniform(0.22, 0.40)
    if light.dark:
        strew(c, "stars", 130, 0.0, horizon * 0.9, ((255, 250, 232),), lit=True)
    if light.fall is None:
        _disc(c, x, horizon * 0.80 if light.name == "sunset" else y)
    else:
        _overcast(c, horizon)
    for _ in range(clouds):
        cloud(c, rng, rng.uniform(-0.05, 1.05) * c.w, rng.uniform(0.12, 0.62) * horizon, rng.uniform(0.05, 0.11))


def _disc(c: Canvas, x: float, y: float) -> None:
    """The sun or the moon, and the light about it."""
    size, reach, strength = {
        "day": (0.042, 0.24, 0.55),
        "sunset": (0.062, 0.42, 0.85),
        "night": (0.036, 0.20, 0.40),
    }.get(c.light.name, (0.040, 0.20, 0.35))
    c.glow(x, y, reach, c.light.disc, strength)
    c.shine()
    c.oval(x, y, size, rgb=c.light.disc, alpha=0.35 if c.light.name == "fog" else 1.0, lit=True)


def _overcast(c: Canvas, horizon: float) -> None:
    """A ceiling of cloud without a gap."""
    for row, y in enumerate((0.36, 0.12)):
        tone = mix(c.light.cloud, c.light.sky_top, 0.25 + 0.5 * row)
        for number in range(7):
            rx = 0.13 + 0.03 * ((number * 5 + row * 3) % 4)
            c.oval(c.w * (number + 0.5 * row) / 6, horizon * y, rx, rx * 0.42, rgb=tone, lit=True)
        c.rect(0, 0, c.w, horizon * y, tone, lit=True)


def cloud(c: Canvas, rng: Random, x: float, y: float, size: float) -> None:
    """A flat-bottomed heap of puffs."""
    puffs = [(x + rng.uniform(-1.6, 1.6) * size, rng.uniform(0.35, 0.8) * size) for _ in range(8)]
    lower = mix(c.light.cloud, c.light.sky_bottom, 0.45)
    for dy, tone in ((size * 0.12, lower), (0.0, c.light.cloud)):
        for px, radius in puffs:
            c.oval(px, y - radius * 0.45 + dy, radius, radius * 0.62, rgb=tone, lit=True)
        c.rect(
            x - 1.7 * size,
            y - size * 0.18 + dy,
            x + 1.7 * size,
            y + size * 0.16 + dy,
            tone,
            lit=True,
            round_by=size * 0.17,
        )


def ridge(rng: Random, width: float, base: float, height: float) -> list[Point]:
    """A skyline from the left edge to the right, by midpoint displacement."""
    line = [base - rng.uniform(0.3, 1.0) * height, base - rng.uniform(0.3, 1.0) * height]
    spread = height * 0.35
    for _ in range(5):
        finer = []
        for left, right in pairwise(line):
            finer += [left, (left + right) / 2 + rng.uniform(-spread, spread)]
        line = [*finer, line[-1]]
        spread *= 0.52
    last = len(line) - 1
    return [(width * i / last, min(base, y)) for i, y in enumerate(line)]


def hills(c: Canvas, rng: Random, base: float, height: float, rgb: RGB, depth: float) -> None:
    """One row of hills that stands on `base`."""
    tone = c.light.dust(rgb, 0.6)
    c.poly([(0, base + 0.02), *ridge(rng, c.w, base, height), (c.w, base + 0.02)], tone, depth)


def mountain(c: Canvas, rng: Random, x: float, base: float, height: float, width: float, depth: float) -> None:
    """A peak with a lit and a shaded flank and snow on top."""
    peak = (x, base - height)
    left = _flank(rng, peak, (x - width / 2, base))
    right = _flank(rng, peak, (x + width / 2, base))
    spine = [
        peak,
        (x + width * 0.03, base - height * 0.66),
        (x - width * 0.03, base - height * 0.34),
        (x + width * 0.04, base),
    ]
    rock = (122, 124, 140)
    c.poly([*left, *reversed(spine)], shade(rock, 0.16), depth)
    c.poly([*right, *reversed(spine)], shade(rock, -0.18), depth)
    snow = max(2, len(left) // 3)
    ragged = [
        (x + width * dx, base - height * dy) for dx, dy in ((0.07, 0.60), (0.03, 0.70), (-0.02, 0.56), (-0.06, 0.68))
    ]
    edge = [(px, max(py, peak[1])) for px, py in ragged]
    c.poly([*left[:snow], *reversed(edge[2:]), spine[1]], (250, 252, 255), depth)
    c.poly([*right[:snow], *edge[:2], spine[1]], (206, 218, 236), depth)


def _flank(rng: Random, top: Point, foot: Point) -> list[Point]:
    points = [top]
    for step in range(1, 9):
        share = step / 9
        wobble = rng.uniform(-0.06, 0.06) * abs(foot[0] - top[0])
        points.append((top[0] + (foot[0] - top[0]) * share + wobble, top[1] + (foot[1] - top[1]) * share**0.9))
    return [*points, foot]


def conifer(
    pen: Pen, rng: Random, x: float, base: float, height: float, depth: float, rgb: RGB, snow: bool = False
) -> None:
    """A fir of three tiers, the right half in shade; with `snow` its boughs are white."""
    pen.rect(x - height * 0.025, base - height * 0.12, x + height * 0.025, base, (92, 66, 46), depth)
    dark = shade(rgb, -0.22)
    for tier in (2, 1, 0):
        top, low = base - height * (1.0 - tier * 0.24), base - height * (0.54 - tier * 0.22)
        half = height * (0.14 + tier * 0.065) * rng.uniform(0.92, 1.08)
        pen.poly(((x, top), (x - half, low), (x, low + height * 0.035)), rgb, depth)
        pen.poly(((x, top), (x + half, low), (x, low + height * 0.035)), dark, depth)
        if snow:
            cap, drop = half * 0.62, height * 0.25
            rim = ((x + cap, top + drop), (x + cap * 0.3, top + drop * 0.8), (x - cap * 0.25, top + drop * 1.15))
            pen.poly(((x, top), *rim, (x - cap, top + drop)), (243, 247, 253), depth)


def palm(c: Canvas, rng: Random, x: float, base: float, height: float, lean: float) -> None:
    """A palm that leans by `lean` of its height."""
    trunk = [(x + lean * height * (step / 9) ** 1.6, base - height * step / 9) for step in range(10)]
    for step, (a, b) in enumerate(pairwise(trunk)):
        c.limb((a, b), height * (0.056 - 0.003 * step), (142, 108, 74) if step % 2 else (124, 92, 62))
    top = trunk[-1]
    for frond in range(9):
        angle = math.radians(-205 + frond * 29 + rng.uniform(-8, 8))
        tone = c.light.dust(shade((58, 138, 66), 0.12 if frond % 2 else -0.16), 0.3)
        _frond(c, top, angle, height * rng.uniform(0.36, 0.46), tone)
    for dx in (-0.02, 0.015, 0.0):
        c.oval(top[0] + dx * height, top[1] + height * 0.03, height * 0.024, rgb=(96, 66, 40))


def _frond(c: Canvas, root: Point, angle: float, length: float, rgb: RGB) -> None:
    upper, lower = [], []
    for step in range(8):
        share = step / 7
        x = root[0] + math.cos(angle) * length * share
        y = root[1] + math.sin(angle) * length * share + 0.42 * length * share**2
        half = length * 0.085 * math.sin(math.pi * min(1.0, share * 0.9 + 0.1))
        upper.append((x, y - half))
        lower.append((x - length * 0.03, y + half))
    c.poly([*upper, *reversed(lower)], rgb)


def water(c: Canvas, top: float, bottom: float, upper: RGB, lower: RGB) -> None:
    """Open water that takes some of the sky's colour."""
    sheen = c.light.sky_bottom
    share = 0.15 if c.light.name in ("day", "night") else 0.5
    far, near = mix(c.light.ink(upper), sheen, share), mix(c.light.ink(lower), sheen, share * 0.5)
    c.gradient(top, bottom, far, near, lit=True)
    ripples(c, top, bottom)


def ripples(c: Canvas, top: float, bottom: float) -> None:
    """Glints that grow longer and thicker towards the viewer."""
    bright = mix(c.light.sky_bottom, (255, 255, 255), 0.35)
    dark = mix(c.light.ink((30, 70, 110)), c.light.sky_top, 0.3)
    strew(c, "ripples", 150, top, bottom, (bright, dark), lit=True)


def grass(c: Canvas, top: float, rgb: RGB, density: float = 320) -> None:
    """Tufts from `top` to the viewer's feet, some lighter and some darker than `rgb`."""
    tone = c.light.dust(rgb, 0.45)
    strew(c, "grass", density, top, 1.0, (shade(tone, -0.18), shade(tone, 0.12)), depth=0.12)


def flowers(c: Canvas, top: float, bottom: float, tones: tuple[RGB, ...], density: float) -> None:
    """Dots of colour in the grass, where snow doesn't cover them."""
    if c.light.fall != "snow":
        strew(c, "petals", density, top, bottom, tones, depth=0.15)


def bunting(c: Canvas, rng: Random, start: Point, end: Point, sag: float, tones: tuple[RGB, ...]) -> None:
    """Small flags on a string that sags between two points."""

    def on_string(share: float) -> Point:
        return (
            start[0] + (end[0] - start[0]) * share,
            start[1] + (end[1] - start[1]) * share + sag * 4 * share * (1 - share),
        )

    flags = max(4, round(abs(end[0] - start[0]) / 0.065))
    c.line([on_string(step / 24) for step in range(25)], 0.003, (120, 112, 104))
    first = rng.randrange(len(tones))
    for number in range(flags):
        (x0, y0), (x1, y1) = on_string((number + 0.15) / flags), on_string((number + 0.85) / flags)
        c.poly(((x0, y0), (x1, y1), ((x0 + x1) / 2, max(y0, y1) + 0.042)), tones[(first + number) % len(tones)])
