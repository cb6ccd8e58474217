"""The map: a graticule, coarse coasts, and a dot for pictures near each other; every dot leads further in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from sightline.web.app_state import AppState, address, missing
from sightline.web.corpus_view import MapSpot, PictureChoice

LAND: tuple[tuple[tuple[int, int], ...], ...] = (
    # North and Central America
    (
        (-168, 66), (-156, 71), (-141, 70), (-128, 70), (-115, 68), (-108, 68), (-95, 72), (-94, 68), (-88, 68),
        (-82, 68), (-86, 64), (-94, 59), (-92, 57), (-82, 55), (-79, 52), (-78, 58), (-78, 62), (-70, 60),
        (-64, 60), (-56, 52), (-66, 50), (-60, 46), (-70, 43), (-74, 40), (-76, 35), (-81, 31), (-80, 25),
        (-82, 28), (-84, 30), (-90, 29), (-97, 28), (-97, 22), (-91, 18), (-87, 21), (-88, 16), (-83, 15),
        (-82, 9), (-77, 8), (-80, 7), (-85, 10), (-88, 13), (-96, 16), (-105, 20), (-109, 26), (-113, 31),
        (-110, 23), (-115, 29), (-118, 34), (-124, 40), (-124, 48), (-130, 54), (-140, 60), (-151, 60),
        (-164, 54), (-158, 58), (-166, 62),
    ),
    # South America
    (
        (-77, 8), (-72, 12), (-62, 10), (-52, 5), (-50, 0), (-44, -3), (-35, -6), (-39, -14), (-41, -22),
        (-48, -26), (-53, -33), (-57, -38), (-62, -39), (-65, -45), (-69, -52), (-74, -51), (-73, -42),
        (-71, -30), (-70, -19), (-76, -14), (-81, -5), (-80, 0), (-77, 4),
    ),
    # Greenland, Iceland
    ((-55, 82), (-30, 83), (-20, 76), (-22, 70), (-40, 65), (-44, 60), (-52, 65), (-54, 71), (-68, 76), (-60, 80)),
    ((-24, 65), (-15, 66), (-14, 64), (-20, 63)),
    # Europe and Asia
    (
        (-9, 37), (-9, 43), (-2, 43), (-1, 46), (-5, 48), (2, 51), (8, 54), (8, 57), (11, 56), (14, 54), (21, 55),
        (24, 59), (30, 60), (22, 60), (25, 65), (18, 62), (17, 58), (13, 55), (11, 59), (6, 58), (5, 62),
        (14, 68), (25, 71), (40, 67), (34, 65), (44, 66), (54, 69), (68, 69), (70, 73), (80, 73), (105, 78),
        (114, 74), (130, 71), (141, 73), (160, 70), (180, 69), (180, 65), (170, 60), (163, 60), (157, 51),
        (156, 58), (142, 59), (135, 55), (141, 52), (135, 43), (129, 41), (129, 35), (126, 35), (125, 39),
        (118, 39), (122, 37), (120, 34), (122, 30), (117, 24), (108, 21), (106, 19), (109, 12), (105, 9),
        (100, 13), (103, 2), (101, 3), (98, 9), (97, 17), (91, 22), (87, 21), (80, 15), (80, 10), (77, 8),
        (73, 17), (72, 21), (67, 25), (57, 26), (51, 29), (48, 30), (51, 25), (56, 26), (60, 22), (55, 17),
        (45, 13), (43, 14), (35, 28), (35, 32), (36, 36), (30, 37), (27, 37), (26, 40), (29, 41), (41, 42),
        (38, 46), (33, 45), (29, 45), (28, 42), (23, 40), (23, 37), (20, 40), (14, 45), (12, 45), (18, 40),
        (16, 38), (10, 44), (3, 43), (0, 39), (-2, 37),
    ),
    # Africa, Madagascar
    (
        (-6, 36), (10, 37), (11, 34), (20, 31), (32, 31), (35, 28), (37, 21), (43, 12), (51, 12), (47, 4),
        (40, -4), (40, -15), (35, -20), (33, -27), (27, -34), (18, -34), (15, -27), (12, -17), (13, -8),
        (9, 0), (9, 4), (3, 6), (-8, 4), (-13, 9), (-17, 14), (-17, 21), (-10, 30),
    ),
    ((44, -25), (47, -25), (50, -15), (49, -12), (44, -17)),
    # Great Britain, Ireland, Japan, Sri Lanka, Taiwan
    ((-5, 50), (1, 51), (2, 53), (-2, 56), (-3, 59), (-6, 57), (-3, 54), (-5, 52)),
    ((-10, 52), (-6, 52), (-6, 55), (-10, 54)),
    ((130, 32), (136, 34), (140, 35), (142, 40), (145, 43), (142, 45), (140, 41), (137, 37), (131, 34)),
    ((80, 7), (82, 7), (80, 10)),
    ((120, 23), (121, 25), (121, 22)),
    # Islands of South-East Asia
    ((95, 5), (104, -2), (106, -6), (102, -4), (98, 1)),
    ((105, -6), (114, -7), (114, -9), (106, -8)),
    ((109, 1), (117, 7), (119, 1), (116, -4), (110, -3)),
    ((120, 0), (125, 1), (121, -1), (123, -5), (120, -5), (119, -3)),
    ((131, -1), (141, -3), (150, -10), (143, -9), (138, -8), (133, -4)),
    ((120, 16), (122, 18), (124, 13), (126, 7), (122, 7), (121, 13)),
    # Australia, Tasmania, New Zealand
    (
        (114, -22), (122, -18), (126, -14), (131, -12), (136, -12), (136, -15), (140, -17), (142, -11),
        (146, -19), (153, -26), (153, -31), (150, -37), (144, -38), (138, -35), (132, -32), (124, -33),
        (115, -34),
    ),
    ((145, -41), (148, -41), (147, -43)),
    ((173, -35), (178, -38), (175, -41), (174, -39)),
    ((172, -41), (174, -42), (170, -46), (167, -46)),
    # Cuba, Hispaniola, Newfoundland, Baffin, Victoria
    ((-85, 22), (-80, 23), (-74, 20), (-78, 20)),
    ((-74, 18), (-68, 18), (-70, 20)),
    ((-59, 48), (-53, 47), (-56, 51)),
    ((-80, 73), (-62, 66), (-68, 62), (-75, 65), (-88, 71)),
    ((-115, 73), (-102, 72), (-106, 69), (-117, 69)),
    # Antarctica
    (
        (-180, -78), (-150, -77), (-100, -73), (-60, -64), (-62, -74), (-30, -78), (0, -70), (60, -67), (110, -66),
        (160, -70), (170, -78), (180, -78), (180, -90), (-180, -90),
    ),
)  # fmt: skip
"""Rings of (longitude, latitude)."""


WIDTH, HEIGHT = 1000.0, 500.0
"""Of the coasts; all else is placed by shares of these, so that dots and words are as large on a phone."""
_WORLD = (-180.0, -90.0, 180.0, 90.0)
_CELLS = 24
_STEPS = (30.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
_EDGE = 4.0
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
    desk = AppState.of(request)
    corpus = desk.library.corpus
    if corpus is None:
        raise missing("corpus")
    extent = corpus.extent()
    box = shaped(PictureChoice.read(request.query_params).box or extent or _WORLD)
    cell = (box[2] - box[0]) / _CELLS
    spots = [] if extent is None else corpus.spots(box, cell)
    return desk.show(
        request,
        "map.html",
        width=WIDTH,
        height=HEIGHT,
        coasts=[path for ring in LAND if (path := _path(ring, box))],
        lines=[line for line in _graticule(box) if _EDGE < line.at < 100 - _EDGE],
        dots=[_dot(spot, box, cell) for spot in spots],
        count=sum(spot.count for spot in spots),
        box=",".join(f"{edge:.4f}" for edge in box),
        wider=_wider(box),
    )


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


def _path(ring: tuple[tuple[int, int], ...], box: Box) -> str | None:
    """A coast as the points of a polygon; None where all of it lies on one side of the map."""
    points = [_at(lon, lat, box) for lon, lat in ring]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    if max(xs) < 0 or min(xs) > WIDTH or max(ys) < 0 or min(ys) > HEIGHT:
        return None
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


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
    href = address("/corpus" if spot.count <= _FEW or cell < 0.001 else "/map", box=around)
    return MapDot(100 * x / WIDTH, 100 * y / HEIGHT, min(22.0, 6 + 3 * math.log2(spot.count)), spot.count, href)
