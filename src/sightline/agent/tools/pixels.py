"""Pixels of the pictures that tools open and make: decoded with limits, upright, encoded small.

Also marks drawn on pictures, and pictures put side by side.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageOps

from sightline.corpus.pixels import MAX_FILE_BYTES, MAX_PIXELS
from sightline.models.embedders.pixels import decode_region, read_bytes
from sightline.retrieval.index.content import absolute, local_path
from sightline.types import Box, Failure, Picture

LONGEST_SIDE = 2048
"""Of a picture that a tool makes."""
_WORKING_SIDE = 1536
_QUALITY = 92
COMPARED_HIGH = 640
_COLOURS = ("#ff2d2d", "#00c853", "#2962ff", "#ffd600", "#d500f9", "#00b8d4")


def picture_path(picture: Picture, base: Path | None) -> Path | Failure:
    """The file of a picture; only what is on this machine has one."""
    path = local_path(absolute(picture, base).uri)
    if path is None:
        return Failure("not-local", "the picture is not on this machine")
    return Path(os.fsdecode(path))


def read_file(path: Path) -> bytes | Failure:
    """The bytes of a picture's file, or why there are none; the file's place is not told."""
    return read_bytes(os.fsencode(path))


def load(data: bytes, side: int = _WORKING_SIDE, region: Box | None = None) -> Image.Image | Failure:
    """The picture upright, or a region of it, its shorter side at least `side` where it has as many pixels."""
    if len(data) > MAX_FILE_BYTES:
        return Failure("bomb", f"the file is over {MAX_FILE_BYTES:,} bytes")
    pixels = decode_region(data, side, MAX_PIXELS, region)
    return pixels if isinstance(pixels, Failure) else Image.fromarray(pixels)


def encode(image: Image.Image) -> bytes:
    """A JPEG that keeps small coloured letters readable; larger pictures are scaled to the longest side."""
    buffer = io.BytesIO()
    scaled_down(image.convert("RGB"), LONGEST_SIDE).save(buffer, "JPEG", quality=_QUALITY, subsampling=0)
    return buffer.getvalue()


def scaled_down(image: Image.Image, longest: int) -> Image.Image:
    """The image, no longer than this along its longer side."""
    scale = longest / max(image.size)
    if scale >= 1:
        return image
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS)


def magnified(image: Image.Image, longest: int, most: float) -> Image.Image:
    """The image scaled up to this length of its longer side, but not beyond `most` times its size."""
    scale = min(most, longest / max(image.size))
    if scale <= 1:
        return image
    size = (math.ceil(image.width * scale), math.ceil(image.height * scale))
    return image.resize(size, Image.Resampling.LANCZOS)


def draw_marks(
    image: Image.Image, boxes: Sequence[Box], points: Sequence[tuple[float, float]], labels: Sequence[str]
) -> None:
    """Boxes, then points, each with its label or number, onto the image itself."""
    pen = ImageDraw.Draw(image)
    wide = max(2, max(image.size) // 300)
    size = max(12, max(image.size) // 40)
    for at, box in enumerate(boxes):
        corners = (box.left * image.width, box.top * image.height, box.right * image.width, box.bottom * image.height)
        pen.rectangle(corners, outline=_COLOURS[at % len(_COLOURS)], width=wide)
        _label(pen, (corners[0] + wide, corners[1] + wide), _word(labels, at), at, size)
    for at, (x, y) in enumerate(points, len(boxes)):
        middle, radius = (x * image.width, y * image.height), 2 * wide
        pen.ellipse(
            (middle[0] - radius, middle[1] - radius, middle[0] + radius, middle[1] + radius),
            fill=_COLOURS[at % len(_COLOURS)],
            outline="white",
        )
        _label(pen, (middle[0] + radius, middle[1] + radius), _word(labels, at), at, size)


def _word(labels: Sequence[str], at: int) -> str:
    word = labels[at] if at < len(labels) else str(at + 1)
    return "".join(letter if letter.isprintable() else " " for letter in word)[:40]


def _label(pen: ImageDraw.ImageDraw, place: tuple[float, float], word: str, at: int, size: int) -> None:
    colour = _COLOURS[at % len(_COLOURS)]
    pen.text(place, word, fill=colour, font_size=size, stroke_width=2, stroke_fill="white")


def beside(images: Sequence[Image.Image]) -> Image.Image:
    """The images at one height, from left to right."""
    high = min(COMPARED_HIGH, max(image.height for image in images))
    # A strip of a panorama must not leave the others no room.
    fitted = [ImageOps.contain(image, (3 * high, high)) for image in images]
    gap = 8
    sheet = Image.new("RGB", (sum(image.width for image in fitted) + gap * (len(fitted) - 1), high), "white")
    left = 0
    for image in fitted:
        sheet.paste(image, (left, 0))
        left += image.width + gap
    return sheet
