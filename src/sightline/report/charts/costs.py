"""Quality against money: who gives how much for what price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sightline.report.charts.draw import WIDTH, bar, frame, marker, text
from sightline.report.charts.scale import Scale, linear, logarithmic
from sightline.report.markup import Markup, tag
from sightline.report.words import estimate, money, short
from sightline.types import Estimate

_TOP, _LEFT, _RIGHT, _BOTTOM, _HEIGHT = 30, 40, WIDTH - 26, 214, 252
_NAME_COLUMNS = 20
_LINE = 13


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
    up = linear([edge for one in found for edge in (one.low, one.high)], _BOTTOM, _TOP)
    parts = [*_grid(across, up), text("US dollars per task", (_LEFT + _RIGHT) / 2, _HEIGHT - 4, "tick", "middle")]
    for point, label_y in zip(points, _labels(points, up), strict=True):
        parts.append(_drawn(point, across, up, label_y))
    description = "; ".join(f"{one.name}: {estimate(one.estimate)} at {money(one.usd)} per task" for one in points)
    return frame(title, description, _HEIGHT, ident, parts)


def _money_scale(prices: Sequence[float]) -> Scale:
    if min(prices) > 0:
        return logarithmic(prices, _LEFT, _RIGHT)
    return linear([0.0, max(prices) or 0.01], _LEFT, _RIGHT)


def _grid(across: Scale, up: Scale) -> list[Markup]:
    parts = []
    for tick in up.ticks:
        y = up.at(tick)
        parts += [tag("line", x1=_LEFT, y1=y, x2=_RIGHT, y2=y, class_="grid")]
        parts += [text(f"{tick:g}", _LEFT - 6, y + 4, "tick", "end")]
    for tick in across.ticks:
        x = across.at(tick)
        parts += [tag("line", x1=x, y1=_BOTTOM, x2=x, y2=_BOTTOM + 4, class_="grid")]
        parts += [text(_dollars(tick), x, _BOTTOM + 17, "tick", "middle")]
    return parts


def _dollars(tick: float) -> str:
    return "$" + f"{tick:.9f}".rstrip("0").rstrip(".")


def _drawn(point: Point, across: Scale, up: Scale, label_y: float) -> Markup:
    x, y, found = across.at(point.usd), up.at(point.estimate.mean), point.estimate
    # Towards the middle, where there is room.
    beside, anchor = (x - 9, "end") if x > (_LEFT + _RIGHT) / 2 else (x + 9, None)
    return tag(
        "g",
        tag("title", f"{point.name}: {estimate(found)} at {money(point.usd)} per task"),
        bar(point.series, x, up.at(found.low), x, up.at(found.high)),
        marker(point.series, x, y),
        text(short(point.name, _NAME_COLUMNS), beside, label_y, "label", anchor),
    )


def _labels(points: Sequence[Point], up: Scale) -> list[float]:
    """Where each name goes: beside its point, pushed down as far as it takes not to lie on another."""
    places = [up.at(point.estimate.mean) + 4 for point in points]
    taken: list[float] = []
    for index in sorted(range(len(points)), key=places.__getitem__):
        while any(abs(places[index] - other) < _LINE for other in taken):
            places[index] = round(places[index] + 1, 1)
        taken.append(places[index])
    return places
