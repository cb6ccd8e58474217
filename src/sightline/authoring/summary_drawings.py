"""Drawings of a summary as SVG for its page, in the report's style, where every number is also text; and as PNG."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path

from PIL import ImageFont

from sightline.authoring.summary_charts import Bars, Boxes, Chart, Curves, Histogram, Shares
from sightline.errors import needs_extra
from sightline.markup import Markup, tag
from sightline.plain_text import short
from sightline.reports.charts import (
    COLOURS,
    WIDTH,
    Band,
    PlotDot,
    Scale,
    dot_plot,
    frame,
    level_grid,
    linear,
    marker,
    text,
    upright_grid,
)
from sightline.reports.html import page_style

_TOP, _BELOW = 26, 34
_LABELS, _VALUES = 110, 84
_LINE, _BAR = 18, 11
_PLOT = 150
_LEFT = 40


def to_svg(drawing: Chart) -> Markup:
    """One drawing, with its description."""
    ident = f"chart-{drawing.name}"
    match drawing:
        case Bars():
            return _bars(drawing, ident)
        case Histogram():
            return _histogram(drawing, ident)
        case Boxes():
            return _boxes(drawing, ident)
        case Curves():
            return _curves(drawing, ident)
        case Shares(rows=rows):
            bands = [Band(name, [PlotDot(0, name, estimate)], f"n = {estimate.n:,}") for name, estimate in rows]
            return dot_plot(drawing.title, bands, ident)


def _bars(drawing: Bars, ident: str) -> Markup:
    most = max((bar.value for bar in drawing.bars), default=0) or 1
    left, right = _LABELS + 8, WIDTH - _VALUES
    parts: list[Markup] = []
    for number, bar in enumerate(drawing.bars):
        top = _TOP + number * _LINE
        width = round(max(1.0, bar.value / most * (right - left)), 1)
        parts += (
            text(short(bar.label, 17), _LABELS, top + 10, "label", "end"),
            tag("rect", x=left, y=top, width=width, height=_BAR, rx=2, class_="c0"),
            text(bar.shown, left + width + 5, top + 10, "tick"),
        )
    said = "; ".join(f"{bar.label}: {bar.shown}" for bar in drawing.bars)
    return frame(drawing.title, said, _TOP + len(drawing.bars) * _LINE + 6, ident, parts)


def _histogram(drawing: Histogram, ident: str) -> Markup:
    edges = drawing.edges
    across = _axis(edges, _LEFT, WIDTH - 6)
    most = max(max(counts) for counts in drawing.series.values())
    up = linear([0, most or 1], _TOP + _PLOT, _key_room(drawing.series))
    up = replace(up, ticks=tuple(tick for tick in up.ticks if tick % 1 == 0))  # There is no half a value.
    parts = [*level_grid(up, _LEFT, WIDTH, ",.10g"), *upright_grid(across, _TOP + _PLOT, _TOP + _PLOT)]
    for series, (name, counts) in enumerate(drawing.series.items()):
        style = f"c{series % COLOURS}"
        for at, count in enumerate(counts):
            left, right, top = across.at(edges[at]), across.at(edges[at + 1]), up.at(count)
            if count:
                title = tag("title", f"{name}, {edges[at]:.4g} to {edges[at + 1]:.4g}: {count:,}")
                bar = tag("rect", title, x=left + 0.5, y=top, width=max(0.5, right - left - 1),
                          height=_TOP + _PLOT - top, class_=style, opacity=0.6)  # fmt: skip
                parts.append(bar)
    parts += [*_key(tuple(drawing.series)), *_below(drawing.across)]
    said = "; ".join(f"{name}: {sum(counts):,} values" for name, counts in drawing.series.items())
    return frame(drawing.title, said, _TOP + _PLOT + _BELOW, ident, parts)


def _boxes(drawing: Boxes, ident: str) -> Markup:
    across = linear([edge for box in drawing.boxes for edge in box.quantiles], _LABELS + 12, WIDTH - 8)
    bottom = _TOP + len(drawing.boxes) * _LINE
    parts = upright_grid(across, _TOP, bottom)
    before = ""
    for number, box in enumerate(drawing.boxes):
        middle, style = _TOP + number * _LINE + _LINE / 2, f"c{box.series % COLOURS}"
        low, first, median, third, high = (across.at(value) for value in box.quantiles)
        if box.label != before:
            parts.append(text(short(box.label, 17), _LABELS, middle + 4, "label", "end"))
        before = box.label
        parts += (
            tag("line", x1=low, y1=middle, x2=high, y2=middle, class_=style, opacity=0.7),
            tag("rect", x=first, y=middle - 5, width=max(1.0, third - first), height=10, class_=style, opacity=0.45),
            tag("g", tag("title", f"{box.label}: median {box.quantiles[2]:.4g}, n = {box.n:,}"),
                marker(box.series, median, middle)),
        )  # fmt: skip
    several = ("relevant", "not relevant") if any(box.series for box in drawing.boxes) else ()
    parts += [*_below(drawing.across, bottom), *_key(several)]
    said = "; ".join(f"{box.label}: median {box.quantiles[2]:.4g}, n = {box.n:,}" for box in drawing.boxes)
    return frame(drawing.title, said, bottom + _BELOW, ident, parts)


def _curves(drawing: Curves, ident: str) -> Markup:
    across = linear([x for xs, _ in drawing.lines.values() for x in (xs[0], xs[-1])], _LEFT, WIDTH - 6)
    up = linear([0, 1], _TOP + _PLOT, _key_room(drawing.lines))
    parts = [*level_grid(up, _LEFT, WIDTH, ",.10g"), *upright_grid(across, _TOP + _PLOT, _TOP + _PLOT)]
    for series, (xs, ys) in enumerate(drawing.lines.values()):
        points = " ".join(f"{across.at(x):g},{up.at(y):g}" for x, y in zip(xs, ys, strict=True))
        parts.append(tag("polyline", points=points, class_=f"c{series % COLOURS} curve"))
    parts += [*_key(tuple(drawing.lines)), *_below(drawing.across)]
    return frame(drawing.title, ", ".join(drawing.lines), _TOP + _PLOT + _BELOW, ident, parts)


def _axis(edges: Sequence[float], start: float, end: float) -> Scale:
    """From the first edge to the last, with the round values between them that are named."""
    round_ones = linear([edges[0], edges[-1]], start, end).ticks
    whole = float(edges[0]) % 1 == 0.5  # Bins around whole numbers.
    ticks = tuple(tick for tick in round_ones if edges[0] <= tick <= edges[-1] and not (whole and tick % 1))
    return Scale(edges[0], edges[-1], start, end, ticks)


def _key_room(series: object) -> float:
    return _TOP + (16 if isinstance(series, dict) and len(series) > 1 else 4)


def _key(names: Sequence[str]) -> Iterator[Markup]:
    """Which colour is what, at the upper right."""
    if len(names) < 2:
        return
    right = float(WIDTH)
    for series in reversed(range(len(names))):
        yield text(names[series], right, 14, "tick", "end")
        right -= 6.2 * len(names[series]) + 8
        yield marker(series, right, 10)
        right -= 12


def _below(words: str, bottom: float = _TOP + _PLOT) -> Iterator[Markup]:
    yield text(words, WIDTH, bottom + 29, "tick", "end")


_ZOOM = 3
_FAMILY = "Aileron"


def to_png(drawing: Chart) -> bytes:
    """One drawing; the same drawing gives the same bytes."""
    with needs_extra("drawing PNG files", "charts"):
        import resvg_py
    svg = to_svg(drawing).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    with tempfile.TemporaryDirectory() as folder:
        font = Path(folder) / "font.ttf"
        font.write_bytes(_font())
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=svg,
                style_sheet=_style(),
                background="white",
                zoom=_ZOOM,
                font_files=[str(font)],
                font_family=_FAMILY,
            )
        )


@cache
def _style() -> str:
    """The rules of the page about drawings, with the colours of its light theme in place of their names."""
    colours: dict[str, str] = {}
    for name, colour in re.findall(r"(--[\w-]+):\s*([^;]+);", page_style()):
        colours.setdefault(name, colour)
    rules = re.findall(r"^(?:svg |\.c\d ).*$", page_style(), re.MULTILINE)
    return re.sub(r"var\((--\w+)\)", lambda found: colours[found[1]], "\n".join(rules))


@cache
def _font() -> bytes:
    """Pillow's own font: the same on every machine, also on one that has none."""
    font = ImageFont.load_default(12)
    assert isinstance(font, ImageFont.FreeTypeFont) and isinstance(font.path, BytesIO)
    return font.path.getvalue()
