"""Signs with readable words: on a post, hung from a bracket, on a banner between two poles, in a frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from sightline_world.draw.palette import RGB
from sightline_world.draw.plan import SignStyle

_LETTERS = {"small": 0.10, "medium": 0.20, "large": 0.32}
"""Heights of the capital letters in metres, where the sign stands on the ground."""
_POST, _BANNER_CLEAR = 0.75, 1.1
_DARK: tuple[RGB, ...] = ((28, 52, 96), (24, 74, 52), (110, 28, 36), (40, 40, 46))
_PALE: tuple[RGB, ...] = ((252, 250, 242), (250, 236, 188), (226, 240, 250), (246, 246, 246))
_WOOD: RGB = (112, 82, 56)
_STEEL: RGB = (96, 100, 108)


@dataclass(frozen=True, slots=True)
class Board:
    """A sign's measures in letter heights: its lines, the board, and the whole with what carries it."""

    lines: tuple[str, ...]
    wide: float
    high: float
    total_wide: float
    total_high: float


def letter_metres(size: str) -> float:
    """How high the letters of a sign of that size are."""
    return _LETTERS[size]


@lru_cache(maxsize=4096)
def board(words: str, style: SignStyle, size: str) -> Board:
    """The measures of a sign; two words are two lines, but side by side on a banner."""
    lines = (words,) if style == "banner" else tuple(words.split(" "))
    font = _font(100)
    wide = max(font.getlength(line) for line in lines) / _cap(100) + 1.5
    high = 1.55 * len(lines) + 0.55
    letter = _LETTERS[size]
    match style:
        case "post":
            return Board(lines, wide, high, wide, high + _POST / letter)
        case "banner":
            return Board(lines, wide, high, wide + 0.6, high + _BANNER_CLEAR / letter)
        case "shop":
            return Board(lines, wide, high, wide + 0.4, high + 0.9)
        case _:
            return Board(lines, wide + 0.5, high + 0.5, wide + 0.5, high + 0.5)


def paint(words: str, style: SignStyle, size: str, dark: bool, tone: int, letter_px: float) -> Image.Image:
    """The sign alone, with capital letters that many pixels high."""
    plan = board(words, style, size)
    unit = letter_px
    image = Image.new("RGBA", (max(2, round(plan.total_wide * unit)), max(2, round(plan.total_high * unit))))
    pen = ImageDraw.Draw(image)
    back, ink = (_DARK[tone % 4], _PALE[tone // 4 % 4]) if dark else (_PALE[tone % 4], _DARK[tone // 4 % 4])
    left, top = (image.width - plan.wide * unit) / 2, 0.0
    right, bottom = left + plan.wide * unit, plan.high * unit
    middle = image.width / 2
    rim = max(1, round(0.16 * unit))
    if style == "post":
        _leg(pen, middle, bottom - rim, image.height, max(1.0, 0.07 / _LETTERS[size] * unit), _WOOD)
    elif style == "banner":
        thick = max(1.0, 0.07 / _LETTERS[size] * unit)
        for x in (thick / 2, image.width - 1 - thick / 2):
            _leg(pen, x, 0, image.height, thick, _STEEL)
    elif style == "shop":
        top, bottom = 0.9 * unit, image.height - 1
        pen.rectangle((0, 0, image.width, 0.2 * unit), fill=(*_STEEL, 255))
        for x in (left + 0.6 * unit, right - 0.6 * unit):
            _leg(pen, x, 0, top + rim, 0.10 * unit, _STEEL)
    box = (left, top, right - 1, bottom - 1)
    edge = _WOOD if style == "frame" else ink
    pen.rounded_rectangle(box, 0 if style == "banner" else 0.25 * unit, (*back, 255), (*edge, 255), rim)
    _write(pen, plan.lines, ((left + right) / 2, (top + bottom) / 2), unit, ink)
    return image


def _leg(pen: ImageDraw.ImageDraw, x: float, top: float, bottom: float, wide: float, rgb: RGB) -> None:
    pen.rectangle((x - wide / 2, top, x + wide / 2, bottom), fill=(*rgb, 255))


def _write(
    pen: ImageDraw.ImageDraw, lines: tuple[str, ...], middle: tuple[float, float], unit: float, ink: RGB
) -> None:
    font = _font(max(4, round(100 * unit / _cap(100))))
    for number, line in enumerate(lines):
        y = middle[1] + (number - (len(lines) - 1) / 2) * 1.55 * unit
        # Anchored at the baseline: capitals reach from there one unit up.
        stroke = round(0.045 * unit)
        pen.text((middle[0], y + unit / 2), line, (*ink, 255), font, anchor="ms", stroke_width=stroke)


@lru_cache(maxsize=128)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)  # Pillow without FreeType can't write at a size
    return font


@lru_cache(maxsize=128)
def _cap(size: int) -> float:
    """The height of a capital letter."""
    _, top, _, bottom = _font(size).getbbox("H", anchor="ls")
    return float(bottom - top)
