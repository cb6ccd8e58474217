"""Drawing straight onto a painted place: for what no plan of a scene can say."""

from __future__ import annotations

from PIL import Image, ImageChops

from sightline.types import Box
from sightline_world.choose.question import Size
from sightline_world.draw import sprites
from sightline_world.draw.backdrop import backdrop
from sightline_world.draw.palette import RGB
from sightline_world.draw.pen import OVERSAMPLING, Pen

STEEL: RGB = (150, 156, 164)
WOOD: RGB = (150, 104, 62)


class Easel:
    """A place to draw on: coordinates are in heights of the picture from its top left, `w` is its width in them."""

    def __init__(self, place: str, light: str, variant: int, size: Size) -> None:
        self._drop = backdrop(place, light, variant, size)
        self._large = self._drop.image.resize(
            (size[0] * OVERSAMPLING, size[1] * OVERSAMPLING), Image.Resampling.NEAREST
        )
        self.size = size
        self.w = size[0] / size[1]
        self.pen = self.sub(0.0, 0.0, 1.0)

    def sub(self, x: float, y: float, unit: float) -> Pen:
        """A pen whose origin is at that point and whose unit is so many heights."""
        scale = self._large.height
        light = self._drop.light.on_things()
        return Pen(self._large, unit * scale, (x * scale, y * scale), light.ink, light.dark)

    def shadow(self, x: float, y: float, half: float) -> None:
        """A soft dark oval under what stands there."""
        self.pen.oval(x, y, half, 0.018, rgb=(30, 26, 24), alpha=0.28)

    def done(self) -> Image.Image:
        """The picture."""
        return self._large.reduce(OVERSAMPLING)

    def changed(self, image: Image.Image) -> Box:
        """The part of the picture that was drawn on."""
        corners = ImageChops.difference(image, self._drop.image).getbbox()
        assert corners is not None  # something was drawn
        return pixel_box(corners, self.size)

    def stamped(self, image: Image.Image, kind: str, colour: str, x: float, foot: float, height: float) -> Box:
        """Put a thing of the world onto the finished picture, and say where it is."""
        high, dark = self.size[1], self._drop.light.dark
        stamp = sprites.thing(kind, colour, 0, height * high, dark, 5)
        left, top = round(x * high - stamp.image.width / 2), round(foot * high) - stamp.image.height
        image.paste(sprites.lit(stamp.image, self._drop.light.on_things(), 0.0), (left, top), stamp.image)
        corners = stamp.mask.getbbox()
        assert corners is not None  # every kind has an outline
        return pixel_box((left + corners[0], top + corners[1], left + corners[2], top + corners[3]), self.size)


def pixel_box(corners: tuple[int, int, int, int], size: Size) -> Box:
    """Pixels as a box, cut to the picture."""
    wide, high = size
    shares = (corners[0] / wide, corners[1] / high, corners[2] / wide, corners[3] / high)
    left, top, right, bottom = (round(min(1.0, max(0.0, share)), 4) for share in shares)
    return Box(left, top, right, bottom)
