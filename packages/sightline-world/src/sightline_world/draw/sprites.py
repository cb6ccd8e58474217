"""Things, people and signs drawn alone: made once in plain light and kept, then sized and lit for each picture."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline_world.draw import signs
from sightline_world.draw.figures import Looks, figure
from sightline_world.draw.kinds import KINDS
from sightline_world.draw.palette import COLOURS, RGB, Light
from sightline_world.draw.pen import OVERSAMPLING, Glow, Pen
from sightline_world.draw.plan import SignWish
from sightline_world.draw.table import cake

Value = TypeVar("Value")
VARIANTS = 2
"""Drawings of one kind and colour that differ in what is drawn by lot."""
PERSON_WIDE = 0.46
_DEPTHS = 24
_STEP = 2**0.5
# Of what is fainter than a quarter nobody would say that it is there.
_SOLID = 64
# As much as most kinds in most colours at the sizes of a small picture take.
_MEMORY = 128 << 20


class Cache(Generic[Value]):
    """Keeps what was used last, up to a number of bytes; what is made must depend on the key alone."""

    def __init__(self, limit: int, size: Callable[[Value], int]) -> None:
        self._limit = limit
        self._size = size
        self._held = 0
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value for the key, made now if it is not known."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
                return value
        made = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = made
                self._held += self._size(made)
            while self._held > self._limit and len(self._values) > 1:
                self._held -= self._size(self._values.popitem(last=False)[1])
        return made


@dataclass(frozen=True, slots=True)
class Sprite:
    """Something drawn alone, cut to its outline, its colours multiplied by its opacity (which is quick to resize).

    `unit` pixels are its height; `left` and `top` are where its edges are, in units.
    """

    image: Image.Image
    unit: float
    left: float
    top: float
    glows: tuple[Glow, ...]


@dataclass(frozen=True, slots=True)
class Stamp:
    """A sprite as it goes into a picture: `axis` is where its middle line is, and its lights are in pixels.

    `solid` are the pixels that one sees, and `area` is their number.
    """

    image: Image.Image
    axis: float
    glows: tuple[Glow, ...]
    solid: NDArray[np.bool_]
    area: int

    @property
    def mask(self) -> Image.Image:
        """What is solid, as a picture of 0 and 255."""
        return Image.fromarray(self.solid.astype(np.uint8) * 255)


def thing(kind: str, colour: str, look: int, height: float, dark: bool, candles: int) -> Stamp:
    """A thing that many pixels high."""
    variant, level = look // 2 % VARIANTS, _level(height)
    own = candles if kind == "cake" else 0
    sprite = _SPRITES.get(
        (kind, colour, variant, dark, own, level), lambda: _thing(kind, colour, variant, dark, own, level)
    )
    return _sized(sprite, height, look % 2 == 1)


def person(looks: Looks, flip: bool, height: float) -> Stamp:
    """A person that many pixels high; no two are alike, so none is kept."""
    return _sized(_drawn(lambda pen: figure(pen, looks), height, PERSON_WIDE, False), height, flip)


def sign(wish: SignWish, look: int, height: float) -> Stamp:
    """A sign that many pixels high."""
    letter = height / signs.board(wish.words, wish.style, wish.size).total_high
    image = signs.paint(wish.words, wish.style, wish.size, wish.dark, look // 2 % 16, letter)
    return _stamp(image, image.width / 2, ())


def _stamp(image: Image.Image, axis: float, glows: tuple[Glow, ...]) -> Stamp:
    opacity = np.frombuffer(image.tobytes("raw", "A"), np.uint8).reshape(image.height, image.width)
    solid = opacity >= _SOLID
    return Stamp(image, axis, glows, solid, int(np.count_nonzero(solid)))


def lit(image: Image.Image, light: Light, depth: float) -> Image.Image:
    """The sprite's colours, without its opacity, in that light and as far away as that."""
    return image.convert("RGB").convert("RGB", _matrix(light, round(depth * _DEPTHS)))


def _level(height: float) -> int:
    """The height in pixels at which a sprite is kept: the next of a few steps."""
    level = 16.0
    while level < height:
        level *= _STEP
    return round(level)


def _thing(kind: str, colour: str, variant: int, dark: bool, candles: int, level: int) -> Sprite:
    rng, rgb = Random(f"{kind}/{variant}"), COLOURS[colour]

    def paint(pen: Pen) -> None:
        if candles:
            cake(pen, rgb, rng, candles)
        else:
            KINDS[kind].draw(pen, rgb, rng)

    return _drawn(paint, level, KINDS[kind].aspect, dark)


def _drawn(paint: Callable[[Pen], None], level: float, aspect: float, dark: bool) -> Sprite:
    unit = level * OVERSAMPLING
    image = Image.new("RGBA", (round(unit * (aspect * 1.3 + 0.1)), round(unit * 1.2)))
    pen = Pen(image, unit, (image.width / 2, unit * 0.15), _plain, dark)
    paint(pen)
    left, top, right, bottom = image.getbbox() or (0, 0, 2, 2)
    left, top = left - left % OVERSAMPLING, top - top % OVERSAMPLING
    small = image.crop((left, top, right + right % OVERSAMPLING, bottom + bottom % OVERSAMPLING)).reduce(OVERSAMPLING)
    return Sprite(small.convert("RGBa"), level, (left - image.width / 2) / unit, top / unit - 0.15, tuple(pen.glows))


def _plain(rgb: RGB, depth: float) -> RGB:
    del depth
    return rgb


def _sized(sprite: Sprite, height: float, flip: bool) -> Stamp:
    factor = height / sprite.unit
    size = (max(1, round(sprite.image.width * factor)), max(1, round(sprite.image.height * factor)))
    image = sprite.image if size == sprite.image.size else sprite.image.resize(size, Image.Resampling.BILINEAR)
    image = image.convert("RGBA")
    axis = -sprite.left * height
    glows = [
        Glow((g.x - sprite.left) * height, (g.y - sprite.top) * height, g.radius * height, g.rgb, g.strength)
        for g in sprite.glows
    ]
    if flip:
        image, axis = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), size[0] - axis
        glows = [Glow(size[0] - g.x, g.y, g.radius, g.rgb, g.strength) for g in glows]
    return _stamp(image, axis, tuple(glows))


@lru_cache(maxsize=512)
def _matrix(light: Light, depth: int) -> tuple[float, ...]:
    """What `Light.ink` does, as a matrix: each channel tinted, with a share of the haze."""
    haze = min(1.0, light.haze * depth / _DEPTHS)
    (red, green, blue), keep = light.tint, 1 - haze
    fog = [haze * value for value in light.haze_rgb]
    return (red * keep, 0, 0, fog[0], 0, green * keep, 0, fog[1], 0, 0, blue * keep, fog[2])


_SPRITES: Cache[Sprite] = Cache(_MEMORY, lambda sprite: sprite.image.width * sprite.image.height * 4)
