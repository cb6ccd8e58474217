"""Dots with their intervals, in bands one below the other: systems in a metric, or slices of the tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sightline.report.charts.draw import WIDTH, bar, frame, marker, text, upright_grid
from sightline.report.charts.scale import Scale, linear
from sightline.report.markup import Markup, tag
from sightline.report.words import estimate, score, short
from sightline.types import Estimate

_TOP = 26
_BELOW = 20
_LABELS = 118
_VALUES = 44
_LABEL_COLUMNS = 17
_LINE = 12


@dataclass(frozen=True, slots=True)
class Dot:
    """An estimate of one series."""

    series: int
    name: str
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Band:
    """A label, what stands small under it, and one dot or more."""

    label: str
    dots: Sequence[Dot]
    detail: str = ""

    @property
    def height(self) -> int:
        return _LINE * max(len(self.dots), 2 if self.detail else 1) + (_LINE + 6 if self.detail else _LINE)


def dot_plot(title: str, bands: Sequence[Band], ident: str) -> Markup:
    """A dot and an interval for each estimate; where every band has one dot, its value is written beside it."""
    valued = all(len(band.dots) == 1 for band in bands)
    edges = [edge for band in bands for dot in band.dots for edge in (dot.estimate.low, dot.estimate.high)]
    scale = linear(edges, _LABELS + 12, WIDTH - (_VALUES if valued else _LINE))
    bottom = _TOP + sum(band.height for band in bands)
    parts, top = upright_grid(scale, _TOP, bottom), _TOP
    for band in bands:
        parts += _labels(band, top, valued)
        parts += _dots(band, top, scale)
        top += band.height
    description = "; ".join(_said(band, dot) for band in bands for dot in band.dots)
    return frame(title, description, bottom + _BELOW, ident, parts)


def _labels(band: Band, top: float, valued: bool) -> Iterator[Markup]:
    middle = top + band.height / 2 + 4
    yield text(short(band.label, _LABEL_COLUMNS), _LABELS, middle - (6 if band.detail else 0), "label", "end")
    if band.detail:
        yield text(band.detail, _LABELS, middle + 7, "tick", "end")
    if valued:
        yield text(score(band.dots[0].estimate.mean), WIDTH, middle, "value", "end")


def _dots(band: Band, top: float, scale: Scale) -> Iterator[Markup]:
    first = top + (band.height - _LINE * (len(band.dots) - 1)) / 2
    for number, dot in enumerate(band.dots):
        y, found = first + _LINE * number, dot.estimate
        yield tag(
            "g",
            tag("title", f"{_said(band, dot)}, n = {found.n:,}"),
            bar(dot.series, scale.at(found.low), y, scale.at(found.high), y),
            marker(dot.series, scale.at(found.mean), y),
        )


def _said(band: Band, dot: Dot) -> str:
    name = band.label if band.label == dot.name else f"{band.label}, {dot.name}"
    return f"{name}: {estimate(dot.estimate)}"
