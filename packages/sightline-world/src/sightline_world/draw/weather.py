"""Rain and snow: in the air over a finished picture, behind a window, and on the ground."""

from __future__ import annotations

from functools import lru_cache
from random import Random

from PIL import Image, ImageChops, ImageDraw

from sightline_world.draw.palette import Fall, Light, mix
from sightline_world.draw.pen import Canvas

# Sheets are larger than the picture by this much, so that each picture can take another part of one.
_SPARE = 64


def fall(image: Image.Image, light: Light, at: int, box: tuple[int, int, int, int] | None = None) -> None:
    """Rain or snow in the air over `image`, or over the part of it in `box`; `at` chooses the drops."""
    if light.fall is None:
        return
    left, top, right, bottom = box or (0, 0, image.width, image.height)
    sheet = _sheet(light.fall, right - left, bottom - top, image.height)
    x, y = at % _SPARE, at // _SPARE % _SPARE
    drops = sheet.crop((x, y, x + right - left, y + bottom - top))
    image.paste(ImageChops.add(image.crop((left, top, right, bottom)), drops), (left, top))


@lru_cache(maxsize=16)
def _sheet(kind: Fall, width: int, height: int, unit: int) -> Image.Image:
    """Drops for a picture that is `unit` pixels high, as the brightness that they add to what is behind them."""
    wide, high = width + _SPARE, height + _SPARE
    # Drawn at twice the size and reduced, which smooths them.
    sheet = Image.new("L", (2 * wide, 2 * high))
    draw, rng, mark = ImageDraw.Draw(sheet), Random(kind), _streak if kind == "rain" else _flake
    for _ in range(round((360 if kind == "rain" else 240) * wide * high / unit**2)):
        mark(draw, rng.uniform(0, 2 * wide), rng.uniform(0, 2 * high), rng.random() ** 2, 2 * unit)
    drops = sheet.reduce(2)
    return Image.merge("RGB", (drops, drops, drops))


def _streak(draw: ImageDraw.ImageDraw, x: float, y: float, near: float, unit: int) -> None:
    long, thick = (0.035 + 0.055 * near) * unit, max(1, round((0.003 + 0.002 * near) * unit))
    draw.line((x, y, x - 0.22 * long, y + long), fill=round(48 + 34 * near), width=thick)


def _flake(draw: ImageDraw.ImageDraw, x: float, y: float, near: float, unit: int) -> None:
    size = (0.0030 + 0.0062 * near) * unit
    draw.ellipse((x - size, y - size, x + size, y + size), fill=230)


def settle(c: Canvas, rng: Random, top: float) -> None:
    """What the weather does to the ground below `top`: puddles that show the sky, drifts of snow, a veil of fog."""
    dice = Random(rng.getrandbits(32))
    if c.light.name == "fog":
        _veil(c, top - 0.40)
    if c.light.fall is None:
        return
    rain = c.light.fall == "rain"
    tone, alpha = (mix(c.light.sky_bottom, c.light.sky_top, 0.2), 0.42) if rain else ((250, 252, 255), 0.50)
    for number in range(7):
        near = (number + dice.random()) / 7
        y, half = top + (1.0 - top) * near**1.3, (0.04 + 0.11 * near) * dice.uniform(0.6, 1.2)
        x, dx = dice.uniform(0, c.w), dice.uniform(-0.9, 0.9) * half
        c.oval(x + dx, y + 0.010, half * 0.6, half * 0.10, rgb=tone, alpha=alpha, lit=True)
        c.oval(x, y, half, half * 0.16, rgb=tone, alpha=alpha, lit=True)


def _veil(c: Canvas, top: float) -> None:
    """Fog that lies over the middle distance and thins out towards the viewer."""
    first = round(top * c.scale)
    mask = _thinning(c.image.width, c.image.height - first)
    c.image.paste(c.light.haze_rgb, (0, first), mask)


@lru_cache(maxsize=24)
def _thinning(width: int, height: int) -> Image.Image:
    peak = height * 2 // 5
    rows = [120 * y // peak if y < peak else 120 - 90 * (y - peak) // (height - peak) for y in range(height)]
    strip = Image.frombytes("L", (1, height), bytes(rows))
    return strip.resize((width, height), Image.Resampling.NEAREST)


def gloss(c: Canvas, line: float, share: float = 0.34) -> None:
    """Make hard ground below `line` shine in the rain, by a faint mirror image of what stands above it."""
    if c.light.fall != "rain":
        return
    width, height = c.image.size
    y = round(line * c.scale)
    above = c.image.crop((0, max(0, 2 * y - height), width, y)).transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    ground = c.image.crop((0, y, width, height))
    c.image.paste(Image.blend(ground, above.resize(ground.size, Image.Resampling.NEAREST), share), (0, y))
