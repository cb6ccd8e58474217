"""Bar, line and pie charts with labels that can be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from PIL import Image, ImageDraw, ImageFont

from sightline.types import Box
from sightline_world.choose.easel import pixel_box
from sightline_world.choose.question import Size
from sightline_world.draw.palette import RGB, shade

Form: TypeAlias = Literal["bars", "line", "pie"]
Corners: TypeAlias = tuple[int, int, int, int]
TOP = 100
"""The largest value of an axis."""

_TONES: tuple[tuple[RGB, ...], ...] = (
    ((66, 120, 196), (232, 126, 56), (86, 160, 92), (196, 70, 80), (138, 100, 180), (222, 182, 62)),
    ((30, 136, 140), (236, 160, 60), (178, 72, 120), (96, 130, 60), (84, 94, 170), (206, 110, 84)),
    ((52, 86, 130), (120, 170, 210), (240, 180, 90), (210, 90, 70), (110, 150, 110), (150, 120, 160)),
)
_PAPER: tuple[RGB, ...] = ((255, 255, 255), (250, 246, 236), (240, 245, 250))
_INK: RGB = (44, 48, 56)
_GRID: RGB = (204, 208, 214)
_OVER = 2


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: its form, title, labels and values (0 to 100); `told` writes the values beside what shows them."""

    form: Form
    title: str
    labels: tuple[str, ...]
    values: tuple[int, ...]
    tone: int
    told: bool


@dataclass(frozen=True, slots=True)
class Plotted:
    """The picture of a chart, and where each value is shown."""

    image: Image.Image
    boxes: tuple[Box, ...]


def plot(chart: Chart, size: Size) -> Plotted:
    """Draw a chart."""
    large = (size[0] * _OVER, size[1] * _OVER)
    image = Image.new("RGB", large, _PAPER[chart.tone % len(_PAPER)])
    pen = ImageDraw.Draw(image)
    unit = large[1]
    pen.text((large[0] / 2, 0.075 * unit), chart.title, _INK, _font(round(0.075 * unit)), anchor="mm")
    form = {"bars": _bars, "line": _line, "pie": _pie}[chart.form]
    corners = form(pen, chart, large)
    return Plotted(image.reduce(_OVER), tuple(pixel_box(box, large) for box in corners))


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(max(6, size))
    assert isinstance(font, ImageFont.FreeTypeFont)  # Pillow without FreeType can't write at a size
    return font


def _fitting(labels: Sequence[str], wide: float, most: float) -> ImageFont.FreeTypeFont:
    """The largest font in which each label is no wider than that."""
    font = _font(round(most))
    longest = max(font.getlength(label) for label in labels)
    return font if longest <= wide else _font(math.floor(most * wide / longest))


def _axes(pen: ImageDraw.ImageDraw, chart: Chart, size: Size) -> tuple[list[float], float, float]:
    """Grid, numbers and labels; the columns' middles, and where 0 and the top of the axis are."""
    wide, high = size
    left, right, top, low = 0.115 * wide, 0.97 * wide, 0.17 * high, 0.87 * high
    for value in range(0, TOP + 1, 20):
        y = low - (low - top) * value / TOP
        pen.line((left, y, right, y), _GRID if value else _INK, max(1, high // 240))
        pen.text((left - 0.012 * wide, y), str(value), _INK, _font(round(0.052 * high)), anchor="rm")
    step = (right - left) / len(chart.labels)
    middles = [left + step * (place + 0.5) for place in range(len(chart.labels))]
    font = _fitting(chart.labels, 0.94 * step, 0.066 * high)
    for x, label in zip(middles, chart.labels, strict=True):
        pen.text((x, 0.93 * high), label, _INK, font, anchor="mm")
    return middles, low, top


def _tell(pen: ImageDraw.ImageDraw, chart: Chart, value: int, x: float, y: float, high: int) -> None:
    if chart.told:
        pen.text((x, y), str(value), _INK, _font(round(0.056 * high)), anchor="mb")


def _bars(pen: ImageDraw.ImageDraw, chart: Chart, size: Size) -> list[Corners]:
    middles, low, top = _axes(pen, chart, size)
    half = 0.30 * (size[0] * 0.855 / len(middles))
    boxes = []
    tones = _TONES[chart.tone % len(_TONES)]
    for place, (x, value) in enumerate(zip(middles, chart.values, strict=True)):
        y, rgb = low - (low - top) * value / TOP, tones[place % len(tones)]
        pen.rectangle((x - half, y, x + half, low), rgb)
        pen.rectangle((x + half * 0.55, y, x + half, low), shade(rgb, -0.12))
        _tell(pen, chart, value, x, y - 2, size[1])
        boxes.append((round(x - half), round(y), round(x + half), round(low)))
    return boxes


def _line(pen: ImageDraw.ImageDraw, chart: Chart, size: Size) -> list[Corners]:
    middles, low, top = _axes(pen, chart, size)
    rgb = _TONES[chart.tone % len(_TONES)][chart.tone % 4]
    points = [(x, low - (low - top) * value / TOP) for x, value in zip(middles, chart.values, strict=True)]
    pen.line(points, rgb, max(2, size[1] // 80), joint="curve")
    radius = 0.020 * size[1]
    boxes = []
    for (x, y), value in zip(points, chart.values, strict=True):
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), rgb, (255, 255, 255), 2)
        _tell(pen, chart, value, x, y - radius - 1, size[1])
        boxes.append((round(x - radius), round(y - radius), round(x + radius), round(y + radius)))
    return boxes


def _pie(pen: ImageDraw.ImageDraw, chart: Chart, size: Size) -> list[Corners]:
    """Slices clockwise from the top, each with its label beside it."""
    wide, high = size
    x, y, radius = wide / 2, 0.56 * high, 0.30 * high
    tones, total, start = _TONES[chart.tone % len(_TONES)], sum(chart.values), -90.0
    disc = (x - radius, y - radius, x + radius, y + radius)
    boxes = []
    for place, (label, value) in enumerate(zip(chart.labels, chart.values, strict=True)):
        end = start + 360 * value / total
        pen.pieslice(disc, start, end, tones[place % len(tones)], (255, 255, 255), max(1, high // 160))
        middle = math.radians((start + end) / 2)
        cos, sin = math.cos(middle), math.sin(middle)
        words = f"{label} {round(100 * value / total)} %" if chart.told else label
        pen.text((x + 1.10 * radius * cos, y + 1.14 * radius * sin), words, _INK,
                 _font(round(0.062 * high)), anchor="lm" if cos >= 0 else "rm")  # fmt: skip
        boxes.append(_slice_box(x, y, radius, start, end))
        start = end
    return boxes


def _slice_box(x: float, y: float, radius: float, start: float, end: float) -> Corners:
    """The corners about a slice."""
    turns = [start, end, *(turn for turn in range(-90, 361, 90) if start < turn < end)]
    xs = [x, *(x + radius * math.cos(math.radians(turn)) for turn in turns)]
    ys = [y, *(y + radius * math.sin(math.radians(turn)) for turn in turns)]
    return (math.floor(min(xs)), math.floor(min(ys)), math.ceil(max(xs)), math.ceil(max(ys)))
