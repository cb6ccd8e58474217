"""Small drawings in SVG, written by hand: no script, no font, no image, and every number also as text.

Axes and markers, then dots with their intervals, curves over a cut-off, and quality against cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sightline.markup import Markup, lines, tag
from sightline.plain_text import dollars, short
from sightline.reports.text import estimate, score
from sightline.types import Estimate

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)
_MOST_STEPS = 5
_NEARLY = 1e-9
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
_DOT_TOP = 26
_BELOW = 20
_LABELS = 118
_VALUES = 44
_LABEL_COLUMNS = 17
_DOT_LINE = 12
_PLOT_TOP, _PLOT_LEFT, _PLOT_BOTTOM, _PLOT_HEIGHT = 30, 40, 214, 252
"""Of drawings with an upright axis."""
_CURVE_RIGHT = WIDTH - 16
_APART = 2.5
"""Pixels between the intervals of two runs at one cut-off."""
_COST_RIGHT = WIDTH - 26
_NAME_COLUMNS = 20
_COST_LINE = 13


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` at `start` to `high` at `end` (in pixels), and the values to name on it."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """The place of a value, to a tenth of a pixel."""
        low, high, here = (math.log10(x) if self.logarithmic else x for x in (self.low, self.high, value))
        return round(self.start + (here - low) / (high - low) * (self.end - self.start), 1)


def linear(values: Iterable[float], start: float, end: float) -> Scale:
    """An axis that holds all values, between round ones."""
    known = list(values)
    low, high = min(known), max(known)
    if high - low < _NEARLY:  # Scores that all agree: an axis around them that stays between 0 and 1 if they do.
        low, high = (low - 0.1, low) if 0.9 < low <= 1 else (low, low + 0.1)
    size = 10.0 ** math.floor(math.log10((high - low) / _MOST_STEPS))
    ends = (_ends(low, high, size * factor) for factor in _STEPS)
    step, first, last = next(found for found in ends if found[2] - found[1] <= _MOST_STEPS)
    ticks = tuple(round(number * step, 12) for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], start, end, ticks)


def logarithmic(values: Iterable[float], start: float, end: float) -> Scale:
    """An axis for values above zero, with a little room on both sides; powers of ten are named, or 1, 2 and 5 times."""
    known = list(values)
    low, high = min(known) / 1.6, max(known) * 1.6
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = _between(low, high, [10.0**power for power in powers])
    if len(ticks) < 2:
        ticks = _between(low, high, [10.0**power * factor for power in powers for factor in (1, 2, 5)])
    return Scale(low, high, start, end, ticks, logarithmic=True)


def _ends(low: float, high: float, step: float) -> tuple[float, int, int]:
    return step, math.floor(low / step + _NEARLY), math.ceil(high / step - _NEARLY)


def _between(low: float, high: float, values: Sequence[float]) -> tuple[float, ...]:
    return tuple(value for value in values if low <= value <= high)


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


def _drawn(found: Estimate) -> list[tuple[float, float]]:
    """The interval to draw: none over too few clusters; over few tasks its width says enough."""
    return [] if found.reason is not None else [(found.low, found.high)]


def _ends_of(found: Estimate) -> tuple[float, ...]:
    """What an axis must hold of an estimate."""
    return (found.mean, *(end for ends in _drawn(found) for end in ends))


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


def level_grid(scale: Scale, left: float, right: float, form: str = "g") -> list[Markup]:
    """A thin line from each tick of the upright axis, and its value, in this format, before it."""
    parts = []
    for tick in scale.ticks:
        y = scale.at(tick)
        parts.append(tag("line", x1=left, y1=y, x2=right, y2=y, class_="grid"))
        parts.append(text(f"{tick:{form}}", left - 6, y + 4, "tick", "end"))
    return parts


@dataclass(frozen=True, slots=True)
class PlotDot:
    """An estimate of one series."""

    series: int
    name: str
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Band:
    """A label, what stands small under it, and one dot or more."""

    label: str
    dots: Sequence[PlotDot]
    detail: str = ""

    @property
    def height(self) -> int:
        return _DOT_LINE * max(len(self.dots), 2 if self.detail else 1) + (_DOT_LINE + 6 if self.detail else _DOT_LINE)


def dot_plot(title: str, bands: Sequence[Band], ident: str) -> Markup:
    """A dot and an interval for each estimate; where every band has one dot, its value is written beside it."""
    valued = all(len(band.dots) == 1 for band in bands)
    edges = [edge for band in bands for dot in band.dots for edge in _ends_of(dot.estimate)]
    scale = linear(edges, _LABELS + 12, WIDTH - (_VALUES if valued else _DOT_LINE))
    bottom = _DOT_TOP + sum(band.height for band in bands)
    parts, top = upright_grid(scale, _DOT_TOP, bottom), _DOT_TOP
    for band in bands:
        parts += _dot_labels(band, top, valued)
        parts += _dots(band, top, scale)
        top += band.height
    description = "; ".join(_said(band, dot) for band in bands for dot in band.dots)
    return frame(title, description, bottom + _BELOW, ident, parts)


def _dot_labels(band: Band, top: float, valued: bool) -> Iterator[Markup]:
    middle = top + band.height / 2 + 4
    yield text(short(band.label, _LABEL_COLUMNS), _LABELS, middle - (6 if band.detail else 0), "label", "end")
    if band.detail:
        yield text(band.detail, _LABELS, middle + 7, "tick", "end")
    if valued:
        yield text(score(band.dots[0].estimate.mean), WIDTH, middle, "value", "end")


def _dots(band: Band, top: float, scale: Scale) -> Iterator[Markup]:
    first = top + (band.height - _DOT_LINE * (len(band.dots) - 1)) / 2
    for number, dot in enumerate(band.dots):
        y, found = first + _DOT_LINE * number, dot.estimate
        yield tag(
            "g",
            tag("title", f"{_said(band, dot)}, n = {found.n:,}"),
            *(bar(dot.series, scale.at(low), y, scale.at(high), y) for low, high in _drawn(found)),
            marker(dot.series, scale.at(found.mean), y),
        )


def _said(band: Band, dot: PlotDot) -> str:
    name = band.label if band.label == dot.name else f"{band.label}, {dot.name}"
    return f"{name}: {estimate(dot.estimate)}"


@dataclass(frozen=True, slots=True)
class Curve:
    """A run: what it reaches at each cut-off."""

    series: int
    name: str
    points: Mapping[int, Estimate]


def curve_plot(title: str, curves: Sequence[Curve], across: str, ident: str) -> Markup:
    """Lines over cut-offs, which stand evenly spaced; `across` says what they are."""
    cuts = sorted({k for curve in curves for k in curve.points})
    step = (_CURVE_RIGHT - _PLOT_LEFT - 24) / max(1, len(cuts) - 1)
    place = {k: _PLOT_LEFT + 12 + number * step for number, k in enumerate(cuts)}
    edges = [edge for curve in curves for one in curve.points.values() for edge in _ends_of(one)]
    up = linear(edges, _PLOT_BOTTOM, _PLOT_TOP)
    parts = [
        *level_grid(up, _PLOT_LEFT, _CURVE_RIGHT),
        *(text(f"{k:,}", round(x, 1), _PLOT_BOTTOM + 17, "tick", "middle") for k, x in place.items()),
        text(across, (_PLOT_LEFT + _CURVE_RIGHT) / 2, _PLOT_HEIGHT - 4, "tick", "middle"),
    ]
    for number, curve in enumerate(curves):
        aside = (number - (len(curves) - 1) / 2) * min(_APART, step / (2 * len(curves)))
        parts.append(_curve_line(curve, {k: round(x + aside, 1) for k, x in place.items()}, up))
    said = "; ".join(f"{one.name} at {k}: {estimate(found)}" for one in curves for k, found in one.points.items())
    return frame(title, said, _PLOT_HEIGHT, ident, parts)


def _curve_line(curve: Curve, place: Mapping[int, float], up: Scale) -> Markup:
    points = sorted(curve.points.items())
    line = " ".join(f"{place[k]:g},{up.at(found.mean):g}" for k, found in points)
    marks = [
        tag(
            "g",
            tag("title", f"{curve.name} at {k:,}: {estimate(found)}, n = {found.n:,}"),
            *(bar(curve.series, place[k], up.at(low), place[k], up.at(high)) for low, high in _drawn(found)),
            marker(curve.series, place[k], up.at(found.mean)),
        )
        for k, found in points
    ]
    return tag("g", tag("polyline", points=line, class_=f"c{curve.series % COLOURS} curve"), *marks)


@dataclass(frozen=True, slots=True)
class Point:
    """A run: what a task costs, and how good it is."""

    series: int
    name: str
    usd: float
    estimate: Estimate


def cost_plot(title: str, points: Sequence[Point], ident: str) -> Markup:
    """A dot with an upright interval for each run; the axis of money is logarithmic where no run is free."""
    across = _money_scale([point.usd for point in points])
    found = [point.estimate for point in points]
    up = linear([edge for one in found for edge in _ends_of(one)], _PLOT_BOTTOM, _PLOT_TOP)
    parts = [
        *_cost_grid(across, up),
        text("US dollars per task", (_PLOT_LEFT + _COST_RIGHT) / 2, _PLOT_HEIGHT - 4, "tick", "middle"),
    ]
    for point, label_y in zip(points, _cost_labels(points, up), strict=True):
        parts.append(_cost_point(point, across, up, label_y))
    description = "; ".join(f"{one.name}: {estimate(one.estimate)} at {dollars(one.usd)} per task" for one in points)
    return frame(title, description, _PLOT_HEIGHT, ident, parts)


def _money_scale(prices: Sequence[float]) -> Scale:
    if min(prices) > 0:
        return logarithmic(prices, _PLOT_LEFT, _COST_RIGHT)
    return linear([0.0, max(prices) or 0.01], _PLOT_LEFT, _COST_RIGHT)


def _cost_grid(across: Scale, up: Scale) -> list[Markup]:
    parts = level_grid(up, _PLOT_LEFT, _COST_RIGHT)
    for tick in across.ticks:
        x = across.at(tick)
        parts += [tag("line", x1=x, y1=_PLOT_BOTTOM, x2=x, y2=_PLOT_BOTTOM + 4, class_="grid")]
        dollars = f"{tick:.9f}".rstrip("0").rstrip(".")
        parts += [text(f"${dollars}", x, _PLOT_BOTTOM + 17, "tick", "middle")]
    return parts


def _cost_point(point: Point, across: Scale, up: Scale, label_y: float) -> Markup:
    x, y, found = across.at(point.usd), up.at(point.estimate.mean), point.estimate
    # Towards the middle, where there is room.
    beside, anchor = (x - 9, "end") if x > (_PLOT_LEFT + _COST_RIGHT) / 2 else (x + 9, None)
    return tag(
        "g",
        tag("title", f"{point.name}: {estimate(found)} at {dollars(point.usd)} per task"),
        *(bar(point.series, x, up.at(low), x, up.at(high)) for low, high in _drawn(found)),
        marker(point.series, x, y),
        text(short(point.name, _NAME_COLUMNS), beside, label_y, "label", anchor),
    )


def _cost_labels(points: Sequence[Point], up: Scale) -> list[float]:
    """Where each name goes: beside its point, pushed down as far as it takes not to lie on another."""
    places = [up.at(point.estimate.mean) + 4 for point in points]
    taken: list[float] = []
    for index in sorted(range(len(points)), key=places.__getitem__):
        while any(abs(places[index] - other) < _COST_LINE for other in taken):
            places[index] = round(places[index] + 1, 1)
        taken.append(places[index])
    return places
