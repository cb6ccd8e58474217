"""The pieces that drawings share: the frame with its description, text, lines, and a marker for each series."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.report.charts.scale import Scale
from sightline.report.markup import Markup, lines, tag

WIDTH = 360
COLOURS = 8
# Polygons around (0, 0); the first series is a circle.
_SHAPES: tuple[Sequence[tuple[float, float]], ...] = (
    (),
    ((-3.8, -3.8), (3.8, -3.8), (3.8, 3.8), (-3.8, 3.8)),
    ((0, -5), (4.8, 3.8), (-4.8, 3.8)),
    ((0, -5.4), (5.4, 0), (0, 5.4), (-5.4, 0)),
    ((0, 5), (4.8, -3.8), (-4.8, -3.8)),
)


def frame(title: str, description: str, height: float, ident: str, parts: Sequence[Markup]) -> Markup:
    """An SVG that says in words what it shows."""
    return tag(
        "svg",
        tag("title", title, id=f"{ident}-title"),
        tag("desc", description, id=f"{ident}-desc"),
        tag("text", title, x=0, y=14, class_="chart-title"),
        lines(parts),
        viewBox=f"0 0 {WIDTH} {height:g}",
        width=WIDTH,
        height=height,
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
    )


def marker(series: int, x: float, y: float) -> Markup:
    """The point of a series, in its colour and its shape."""
    shape = _SHAPES[series % len(_SHAPES)]
    style = f"c{series % COLOURS}"
    if not shape:
        return tag("circle", cx=x, cy=y, r=4.4, class_=style)
    return tag("polygon", points=" ".join(f"{x + dx:g},{y + dy:g}" for dx, dy in shape), class_=style)


def bar(series: int, x1: float, y1: float, x2: float, y2: float) -> Markup:
    """The interval of a series."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=f"c{series % COLOURS} interval")


def text(words: str, x: float, y: float, style: str | None = None, anchor: str | None = None) -> Markup:
    """Words at a place."""
    return tag("text", words, x=x, y=y, class_=style, text_anchor=anchor)


def upright_grid(scale: Scale, top: float, bottom: float) -> list[Markup]:
    """A thin line up from each tick of the lower axis, and its value below."""
    parts = []
    for tick in scale.ticks:
        x = scale.at(tick)
        parts.append(tag("line", x1=x, y1=top, x2=x, y2=bottom, class_="grid"))
        parts.append(text(f"{tick:g}", x, bottom + 14, "tick", "middle"))
    return parts
