"""Drawing in unit coordinates: a pen for shapes, smooth outlines, and a canvas that becomes a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw

from sightline.types import Box
from sightline_world.draw.palette import RGB, Light

Point: TypeAlias = tuple[float, float]
OVERSAMPLING = 2
"""Shapes are drawn at twice the size and reduced, which smooths their edges."""
_STEPS = 5


@dataclass(frozen=True, slots=True)
class Glow:
    """A light that is switched on, in the coordinates of the pen that drew it."""

    x: float
    y: float
    radius: float
    rgb: RGB
    strength: float


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was drawn: what, in which colour, how many, and where in the picture."""

    kind: str
    colour: str
    count: int
    box: Box


class Pen:
    """Shapes on an image; `scale` pixels are one unit, and `ink` turns a colour into what the light makes of it.

    `dark` says that lamps are on.
    """

    def __init__(
        self, image: Image.Image, scale: float, origin: Point, ink: Callable[[RGB, float], RGB], dark: bool
    ) -> None:
        self.image = image
        self.scale = scale
        self.origin = origin
        self.glows: list[Glow] = []
        self._ink = ink
        self.dark = dark
        self._solid = ImageDraw.Draw(image)
        # Blending is several times slower than painting, so only what is translucent goes through it.
        self._blending = ImageDraw.Draw(image, "RGBA") if image.mode == "RGB" else self._solid

    def at(self, point: Point) -> Point:
        """A point in pixels."""
        return (self.origin[0] + point[0] * self.scale, self.origin[1] + point[1] * self.scale)

    def _all(self, points: Sequence[Point]) -> list[Point]:
        """Points in pixels."""
        (left, top), scale = self.origin, self.scale
        return [(left + x * scale, top + y * scale) for x, y in points]

    def colour(self, rgb: RGB, depth: float = 0.0, alpha: float = 1.0, lit: bool = False) -> tuple[int, ...]:
        """The colour to paint with; what is lit shines by itself and is not tinted."""
        return (*(rgb if lit else self._ink(rgb, depth)), round(alpha * 255))

    def _on(self, alpha: float) -> ImageDraw.ImageDraw:
        return self._solid if alpha >= 1.0 else self._blending

    def poly(
        self, points: Sequence[Point], rgb: RGB, depth: float = 0.0, alpha: float = 1.0, lit: bool = False
    ) -> None:
        self._on(alpha).polygon(self._all(points), fill=self.colour(rgb, depth, alpha, lit))

    def rect(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        rgb: RGB,
        depth: float = 0.0,
        alpha: float = 1.0,
        lit: bool = False,
        round_by: float = 0.0,
    ) -> None:
        corners = [self.at((left, top)), self.at((right, bottom))]
        fill = self.colour(rgb, depth, alpha, lit)
        if round_by:
            self._on(alpha).rounded_rectangle(corners, radius=round_by * self.scale, fill=fill)
        else:
            self._on(alpha).rectangle(corners, fill=fill)

    def oval(
        self,
        x: float,
        y: float,
        rx: float,
        ry: float | None = None,
        rgb: RGB = (0, 0, 0),
        depth: float = 0.0,
        alpha: float = 1.0,
        lit: bool = False,
    ) -> None:
        """An ellipse about (x, y); a circle when `ry` is left out."""
        ry = rx if ry is None else ry
        corners = [self.at((x - rx, y - ry)), self.at((x + rx, y + ry))]
        self._on(alpha).ellipse(corners, fill=self.colour(rgb, depth, alpha, lit))

    def ring(self, x: float, y: float, radius: float, width: float, rgb: RGB) -> None:
        corners = [self.at((x - radius, y - radius)), self.at((x + radius, y + radius))]
        self._solid.ellipse(corners, outline=self.colour(rgb), width=max(1, round(width * self.scale)))

    def wedge(self, x: float, y: float, radius: float, start: float, end: float, rgb: RGB) -> None:
        """A slice of a disc, in degrees clockwise from three o'clock."""
        corners = [self.at((x - radius, y - radius)), self.at((x + radius, y + radius))]
        self._solid.pieslice(corners, start, end, fill=self.colour(rgb))

    def line(
        self,
        points: Sequence[Point],
        width: float,
        rgb: RGB,
        depth: float = 0.0,
        alpha: float = 1.0,
        lit: bool = False,
    ) -> None:
        pixels = max(1, round(width * self.scale))
        fill = self.colour(rgb, depth, alpha, lit)
        self._on(alpha).line(self._all(points), fill=fill, width=pixels, joint="curve")

    def limb(self, points: Sequence[Point], width: float, rgb: RGB, depth: float = 0.0) -> None:
        """A line with round ends."""
        self.line(points, width, rgb, depth)
        for x, y in (points[0], points[-1]):
            self.oval(x, y, width / 2, rgb=rgb, depth=depth)

    def glow(self, x: float, y: float, radius: float, rgb: RGB, strength: float = 0.6) -> None:
        """Remember a light; the canvas paints it when all else is drawn."""
        self.glows.append(Glow(x, y, radius, rgb, strength))


class Canvas(Pen):
    """A picture in the making: `w` wide and 1 high, the origin at its top left."""

    def __init__(self, width: int, height: int, light: Light) -> None:
        size = (width * OVERSAMPLING, height * OVERSAMPLING)
        super().__init__(Image.new("RGB", size), size[1], (0.0, 0.0), light.ink, light.dark)
        self.w = width / height
        self.light = light
        self.notes: list[Note] = []

    def note(
        self, kind: str, colour: str, left: float, top: float, right: float, bottom: float, count: int = 1
    ) -> None:
        """Remember what was drawn, and where: this becomes the truth about the picture."""
        corners = [min(1.0, max(0.0, value)) for value in (left / self.w, top, right / self.w, bottom)]
        self.notes.append(Note(kind, colour, count, Box(*corners)))

    def gradient(self, top: float, bottom: float, upper: RGB, lower: RGB, lit: bool = False) -> None:
        """A band across the picture that goes from one colour to another."""
        first, last = round(top * self.scale), round(bottom * self.scale)
        ends = [np.array(self.colour(rgb, lit=lit)[:3], dtype=np.float64) for rgb in (upper, lower)]
        rows = ends[0] + np.linspace(0.0, 1.0, max(1, last - first))[:, None] * (ends[1] - ends[0])
        strip = Image.fromarray(np.rint(rows).astype(np.uint8)[:, None, :])
        self.image.paste(strip.resize((self.image.width, strip.height), Image.Resampling.NEAREST), (0, first))

    def mirror(self, line: float, depth: float, rgb: RGB, share: float) -> None:
        """Turn the band below `line` into water that mirrors what stands above it, with a share of `rgb`."""
        y, height = round(line * self.scale), round(depth * self.scale)
        above = self.image.crop((0, max(0, y - height), self.image.width, y))
        flipped = above.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
        water = Image.new("RGB", flipped.size, self.colour(rgb)[:3])
        self.image.paste(Image.blend(flipped, water, share), (0, y))

    def shine(self) -> None:
        """Paint all lights that were remembered."""
        for glow in self.glows:
            radius = round(glow.radius * self.scale)
            x, y = (round(value) for value in self.at((glow.x, glow.y)))
            mask = falloff(glow.strength).resize((2 * radius, 2 * radius), Image.Resampling.BILINEAR)
            self.image.paste(glow.rgb, (x - radius, y - radius), mask)
        self.glows.clear()


@lru_cache(maxsize=64)
def falloff(strength: float) -> Image.Image:
    """Bright in the middle, as far as the strength says, and dark at the rim."""
    curve = [round(round(255 * max(0.0, 1.0 - value / 127.0) ** 1.8) * strength) for value in range(256)]
    return Image.radial_gradient("L").point(curve)


@lru_cache(maxsize=256)
def closed(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """A closed curve through the points (Catmull-Rom)."""
    count = len(points)
    return tuple(
        _between([points[(start + offset) % count] for offset in (-1, 0, 1, 2)], step / _STEPS)
        for start in range(count)
        for step in range(_STEPS)
    )


@lru_cache(maxsize=256)
def opened(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """A curve through the points from the first to the last."""
    padded = (points[0], *points, points[-1])
    spans = [padded[start : start + 4] for start in range(len(points) - 1)]
    inner = (_between(span, step / _STEPS) for span in spans for step in range(_STEPS))
    return (*inner, points[-1])


@lru_cache(maxsize=256)
def turned(profile: tuple[Point, ...], left: float = -1.0, right: float = 1.0) -> tuple[Point, ...]:
    """What a lathe makes of a profile (half widths from the top down), or the part of it between two sides."""
    side = opened(profile)
    return (*((x * right, y) for x, y in side), *((x * left, y) for x, y in reversed(side)))


@lru_cache(maxsize=256)
def ribbon(points: tuple[Point, ...], width: float) -> tuple[Point, ...]:
    """The outline of a band of that width along a curve; filling it is several times faster than a thick line."""
    path = opened(points)
    ahead, behind = (*path[1:], path[-1]), (path[0], *path[:-1])
    sides: tuple[list[Point], list[Point]] = ([], [])
    for (x, y), (x1, y1), (x0, y0) in zip(path, ahead, behind, strict=True):
        length = math.hypot(x1 - x0, y1 - y0) or 1.0
        dx, dy = (y1 - y0) / length * width / 2, (x0 - x1) / length * width / 2
        sides[0].append((x + dx, y + dy))
        sides[1].append((x - dx, y - dy))
    return (*sides[0], *reversed(sides[1]))


def _between(span: Sequence[Point], share: float) -> Point:
    """The point at that share of the way from the second to the third of four."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = span
    return (_blend(ax, bx, cx, dx, share), _blend(ay, by, cy, dy, share))


def _blend(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t * t * t)
