"""What a chart shows, before it is SVG or PNG: bars, histograms, boxes, curves, and shares with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sightline.types import Estimate

Floats = NDArray[np.float64]
_POINTS = 120
_AROUND = 2


@dataclass(frozen=True, slots=True)
class Bar:
    """A label, how long its bar is, and what is written beside it."""

    label: str
    value: float
    shown: str


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars one below the other."""

    name: str
    title: str
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many values lie between each two edges, for one series or several."""

    name: str
    title: str
    across: str
    edges: Sequence[float]
    series: Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Box:
    """Quantiles of `n` values: 5, 25, 50, 75 and 95 percent; `series` tells its colour."""

    label: str
    quantiles: tuple[float, float, float, float, float]
    n: int
    series: int = 0


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes one below the other."""

    name: str
    title: str
    across: str
    boxes: Sequence[Box]


@dataclass(frozen=True, slots=True)
class Curves:
    """For each series, the share of its values that are at most x."""

    name: str
    title: str
    across: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares with their intervals."""

    name: str
    title: str
    rows: Sequence[tuple[str, Estimate]]


Drawing: TypeAlias = Bars | Histogram | Boxes | Curves | Shares


def box_of(label: str, values: Floats, series: int = 0) -> Box:
    """The box of these values; there must be one at least."""
    low, first, middle, third, high = (float(value) for value in np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)))
    return Box(label, (low, first, middle, third, high), len(values), series)


def curve_of(values: Floats) -> tuple[list[float], list[float]]:
    """The cumulative distribution of values, at no more points than a drawing can show."""
    ordered = np.sort(values)
    places = np.unique(np.linspace(0, len(ordered) - 1, min(_POINTS, len(ordered))).round().astype(int))
    return ordered[places].tolist(), ((places + 1) / len(ordered)).tolist()


def binned(name: str, title: str, across: str, series: Mapping[str, Floats], bins: int = 24) -> Histogram:
    """A histogram with the same edges for all series; whole numbers of a small range get a bin each."""
    together = np.concatenate(list(series.values()))
    low, high = float(together.min()), float(together.max())
    if np.array_equal(together, together.round()):
        step = max(1, int(np.ceil((high - low + 1) / bins)))
        # A few empty bins around, so that one value alone is a bar and not a wall.
        first, last = max(0.0, low - _AROUND * step) if low >= 0 else low, high + (_AROUND + 1) * step
        edges = np.arange(first, last + 0.5, step) - 0.5
    else:
        edges = np.linspace(low, high if high > low else low + 1, bins + 1)
    counts = {key: np.histogram(values, edges)[0].tolist() for key, values in series.items()}
    return Histogram(name, title, across, edges.tolist(), counts)
