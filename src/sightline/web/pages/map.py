"""The map: a graticule, coasts, and a dot for pictures near each other; every dot leads further in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response

from sightline.web.app_state import AppState, address, missing
from sightline.web.corpus_view import MapSpot
from sightline.web.picture_choice import PictureChoice

WIDTH, HEIGHT = 2000.0, 1000.0
"""Of the coasts; all else is placed by shares of these, so that dots and words are as large on a phone."""
_WORLD = (-180.0, -90.0, 180.0, 90.0)
_CELLS = 24
_STEPS = (30.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
_EDGE = 4.0
_AROUND = 25.0
_FEW = 60
"""So many pictures are better looked at than zoomed into."""
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class MapDot:
    """A spot as it is drawn, in percent of the map and a radius in pixels, and where it leads."""

    x: float
    y: float
    radius: float
    count: int
    href: str


@dataclass(frozen=True, slots=True)
class GraticuleLine:
    """A line of the graticule, in percent from the left (down the map) or from the top (across it), and its name."""

    at: float
    is_down: bool
    label: str


def world(request: Request) -> Response:
    """The whole of it, or a part."""
    state = AppState.of(request)
    corpus = state.library.corpus
    if corpus is None:
        raise missing("corpus")
    extent = corpus.extent()
    box = shaped(PictureChoice.read(request.query_params).box or extent or _WORLD)
    cell = (box[2] - box[0]) / _CELLS
    spots = [] if extent is None else corpus.spots(box, cell)
    return state.show(
        request,
        "map.html",
        width=WIDTH,
        height=HEIGHT,
        coasts=_paths(box),
        lines=[line for line in _graticule(box) if _EDGE < line.at < 100 - _EDGE],
        dots=[_dot(spot, box, cell) for spot in spots],
        count=sum(spot.count for spot in spots),
        box=",".join(f"{edge:.4f}" for edge in box),
        wider=_wider(box),
    )


@dataclass(frozen=True, slots=True)
class PictureSpot:
    """Where a picture was taken, in the middle of a small map."""

    coasts: list[str]
    width: float = WIDTH
    height: float = HEIGHT


def spot_of(lon: float | None, lat: float | None) -> PictureSpot | None:
    """The map around a place; nothing where the place is not known."""
    if lon is None or lat is None:
        return None
    box = (lon - _AROUND, lat - _AROUND / 2, lon + _AROUND, lat + _AROUND / 2)
    return PictureSpot(_paths(box))


def shaped(box: Box) -> Box:
    """A box twice as wide as high around the given one, with a margin, inside the world."""
    west, south, east, north = box
    wide = min(360.0, max((east - west) * 1.2, (north - south) * 2.4, 0.02))
    middle, centre = (west + east) / 2, (south + north) / 2
    left = min(max(middle - wide / 2, -180.0), 180.0 - wide)
    bottom = min(max(centre - wide / 4, -90.0), 90.0 - wide / 2)
    return (left, bottom, left + wide, bottom + wide / 2)


def _wider(box: Box) -> str | None:
    west, south, east, north = box
    if east - west >= 359:
        return None
    wide = east - west
    return address("/map", box=f"{west - wide:g},{south - wide / 2:g},{east + wide:g},{north + wide / 2:g}")


def _at(lon: float, lat: float, box: Box) -> tuple[float, float]:
    west, south, east, north = box
    return (lon - west) / (east - west) * WIDTH, (north - lat) / (north - south) * HEIGHT


@cache
def _coasts() -> list[NDArray[np.float64]]:
    """Outlines of the land as (longitude, latitude): Natural Earth's 1:110m, without the smallest islands."""
    rings = orjson.loads(Path(__file__).parents[1].joinpath("coasts.json").read_bytes())
    return [np.array(ring, np.float64) for ring in rings]


def _paths(box: Box) -> list[str]:
    return [path for ring in _coasts() if (path := _path(ring, box))]


def _path(ring: NDArray[np.float64], box: Box) -> str | None:
    """A coast as the points of a polygon; None where all of it lies on one side of the map."""
    west, south, east, north = box
    if (ring.max(axis=0) < (west, south)).any() or (ring.min(axis=0) > (east, north)).any():
        return None
    points = (ring - (west, north)) * (WIDTH / (east - west), HEIGHT / (south - north))
    return " ".join(f"{x:.0f},{y:.0f}" for x, y in points.tolist())


def _graticule(box: Box) -> Iterator[GraticuleLine]:
    """Lines at round degrees; not at the very edge, where their names would lie over each other."""
    west, south, east, north = box
    step = next((each for each in _STEPS if (east - west) / each >= 6), _STEPS[-1])
    for number in range(math.ceil(west / step), math.floor(east / step) + 1):
        yield GraticuleLine(100 * _at(number * step, 0, box)[0] / WIDTH, True, _degrees(number * step, "E", "W"))
    for number in range(math.ceil(south / step), math.floor(north / step) + 1):
        yield GraticuleLine(100 * _at(0, number * step, box)[1] / HEIGHT, False, _degrees(number * step, "N", "S"))


def _degrees(value: float, plus: str, minus: str) -> str:
    return f"{abs(value):g}°{'' if not value else plus if value > 0 else minus}"


def _dot(spot: MapSpot, box: Box, cell: float) -> MapDot:
    x, y = _at(spot.lon, spot.lat, box)
    # A rounded square of the grid is centred on a multiple of its size.
    lon, lat = round(spot.lon / cell) * cell, round(spot.lat / cell) * cell
    around = f"{lon - cell / 2:.5f},{lat - cell / 2:.5f},{lon + cell / 2:.5f},{lat + cell / 2:.5f}"
    href = address("/search" if spot.count <= _FEW or cell < 0.001 else "/map", box=around)
    return MapDot(100 * x / WIDTH, 100 * y / HEIGHT, min(22.0, 6 + 3 * math.log2(spot.count)), spot.count, href)
