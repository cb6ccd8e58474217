"""Textures of many small marks: each sheet is drawn once for a size, and then pasted in the colour of the light."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random
from types import MappingProxyType
from typing import TypeAlias

from PIL import Image, ImageDraw

from sightline_world.draw.palette import RGB
from sightline_world.draw.pen import Canvas

_Mark: TypeAlias = Callable[[ImageDraw.ImageDraw, Random, float, float, float], None]
"""Draws one mark: on what, by which dice, in a sheet how wide and how high, with how many pixels to the unit."""


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


_TRANSLUCENT = ("ripples", "stars", "wood")
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
