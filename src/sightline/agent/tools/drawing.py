"""Drawing on pictures, and putting them side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageOps

from sightline.types import Box

COMPARED_HIGH = 640
_COLOURS = ("#ff2d2d", "#00c853", "#2962ff", "#ffd600", "#d500f9", "#00b8d4")


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
