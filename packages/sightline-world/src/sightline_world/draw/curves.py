"""Smooth outlines through a few points, worked out once and kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from sightline_world.draw.pen import Point

_STEPS = 5


@lru_cache(maxsize=256)
def closed(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """A closed curve through the points (Catmull-Rom)."""
    count = len(points)
    return tuple(
        _between([points[(start + offset) % count] for offset in (-1, 0, 1, 2)], step / _STEPS)
        for start in range(count)
        for step in range(_STEPS)
    )


@lru_cache(maxsize=256)
def opened(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """A curve through the points from the first to the last."""
    padded = (points[0], *points, points[-1])
    spans = [padded[start : start + 4] for start in range(len(points) - 1)]
    inner = (_between(span, step / _STEPS) for span in spans for step in range(_STEPS))
    return (*inner, points[-1])


@lru_cache(maxsize=256)
def turned(profile: tuple[Point, ...], left: float = -1.0, right: float = 1.0) -> tuple[Point, ...]:
    """What a lathe makes of a profile (half widths from the top down), or the part of it between two sides."""
    side = opened(profile)
    return (*((x * right, y) for x, y in side), *((x * left, y) for x, y in reversed(side)))


@lru_cache(maxsize=256)
def ribbon(points: tuple[Point, ...], width: float) -> tuple[Point, ...]:
    """The outline of a band of that width along a curve; filling it is several times faster than a thick line."""
    path = opened(points)
    ahead, behind = (*path[1:], path[-1]), (path[0], *path[:-1])
    sides: tuple[list[Point], list[Point]] = ([], [])
    for (x, y), (x1, y1), (x0, y0) in zip(path, ahead, behind, strict=True):
        length = math.hypot(x1 - x0, y1 - y0) or 1.0
        dx, dy = (y1 - y0) / length * width / 2, (x0 - x1) / length * width / 2
        sides[0].append((x + dx, y + dy))
        sides[1].append((x - dx, y - dy))
    return (*sides[0], *reversed(sides[1]))


def _between(span: Sequence[Point], share: float) -> Point:
    """The point at that share of the way from the second to the third of four."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = span
    return (_blend(ax, bx, cx, dx, share), _blend(ay, by, cy, dy, share))


def _blend(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t * t * t)
