"""A quantity against the cut-off: a line for each run, with an interval at each point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sightline.report.charts.draw import COLOURS, WIDTH, bar, frame, marker, text
from sightline.report.charts.scale import Scale, linear
from sightline.report.markup import Markup, tag
from sightline.report.words import estimate
from sightline.types import Estimate

_TOP, _LEFT, _RIGHT, _BOTTOM, _HEIGHT = 30, 40, WIDTH - 16, 214, 252
_APART = 2.5
"""Pixels between the intervals of two runs at one cut-off."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A run: what it reaches at each cut-off."""

    series: int
    name: str
    points: Mapping[int, Estimate]


def curve_plot(title: str, curves: Sequence[Curve], across: str, ident: str) -> Markup:
    """Lines over cut-offs, which stand evenly spaced; `across` says what they are."""
    cuts = sorted({k for curve in curves for k in curve.points})
    step = (_RIGHT - _LEFT - 24) / max(1, len(cuts) - 1)
    place = {k: _LEFT + 12 + number * step for number, k in enumerate(cuts)}
    edges = [edge for curve in curves for one in curve.points.values() for edge in (one.low, one.high)]
    up = linear(edges, _BOTTOM, _TOP)
    parts = [*_grid(up, place), text(across, (_LEFT + _RIGHT) / 2, _HEIGHT - 4, "tick", "middle")]
    for number, curve in enumerate(curves):
        aside = (number - (len(curves) - 1) / 2) * min(_APART, step / (2 * len(curves)))
        parts.append(_drawn(curve, {k: round(x + aside, 1) for k, x in place.items()}, up))
    said = "; ".join(f"{one.name} at {k}: {estimate(found)}" for one in curves for k, found in one.points.items())
    return frame(title, said, _HEIGHT, ident, parts)


def _grid(up: Scale, place: Mapping[int, float]) -> list[Markup]:
    parts = []
    for tick in up.ticks:
        y = up.at(tick)
        parts.append(tag("line", x1=_LEFT, y1=y, x2=_RIGHT, y2=y, class_="grid"))
        parts.append(text(f"{tick:g}", _LEFT - 6, y + 4, "tick", "end"))
    for k, x in place.items():
        parts.append(text(f"{k:,}", round(x, 1), _BOTTOM + 17, "tick", "middle"))
    return parts


def _drawn(curve: Curve, place: Mapping[int, float], up: Scale) -> Markup:
    points = sorted(curve.points.items())
    line = " ".join(f"{place[k]:g},{up.at(found.mean):g}" for k, found in points)
    marks = [
        tag(
            "g",
            tag("title", f"{curve.name} at {k:,}: {estimate(found)}, n = {found.n:,}"),
            bar(curve.series, place[k], up.at(found.low), place[k], up.at(found.high)),
            marker(curve.series, place[k], up.at(found.mean)),
        )
        for k, found in points
    ]
    return tag("g", tag("polyline", points=line, class_=f"c{curve.series % COLOURS} curve"), *marks)
