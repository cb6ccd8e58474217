"""Names and regions of what was cut and turned: always told as a region of the original picture."""

from __future__ import annotations

import re

from sightline.agent.tools.given import MistakeError
from sightline.types import Box

WHOLE = Box(0.0, 0.0, 1.0, 1.0)
_DECIMALS = 4
_REGION = re.compile(r"#(\d[\d.]{0,20}),(\d[\d.]{0,20}),(\d[\d.]{0,20}),(\d[\d.]{0,20})$", re.ASCII)
_TURN = re.compile(r"~rotate-(\d+)(?=~|#|$)")


def split_name(name: str) -> tuple[str, Box | None]:
    """`a.jpg#0.1,0.2,0.5,0.9` → the picture's name and the region; no region where the name has none."""
    found = _REGION.search(name)
    if found is None:
        return name, None
    try:
        box = Box(*map(float, found.groups()))
    except ValueError:
        box = Box(1, 1, 0, 0)
    if not (0 <= box.left < box.right <= 1 and 0 <= box.top < box.bottom <= 1):
        raise MistakeError(f'"{found[0]}" is no region; give #left,top,right,bottom in fractions from 0 to 1.')
    return name[: found.start()], box


def region_name(base: str, box: Box) -> str:
    """The name of a region of a picture."""
    edges = ",".join(f"{edge:.{_DECIMALS}f}".rstrip("0").rstrip(".") for edge in _edges(box))
    return f"{base}#{edges}"


def rounded(box: Box) -> Box:
    """The region as its name tells it."""
    return Box(*(round(edge, _DECIMALS) for edge in _edges(box)))


def within(outer: Box | None, inner: Box) -> Box:
    """A region of a region, as a region of the whole."""
    if outer is None:
        return inner
    wide, high = outer.right - outer.left, outer.bottom - outer.top
    return Box(
        outer.left + inner.left * wide,
        outer.top + inner.top * high,
        outer.left + inner.right * wide,
        outer.top + inner.bottom * high,
    )


def turns(name: str) -> int | None:
    """By how many degrees clockwise what has this name was turned in all; None where not by right angles."""
    total = sum(int(angle) for angle in _TURN.findall(name))
    return total % 360 if total % 90 == 0 else None


def turned_back(box: Box, degrees: int) -> Box:
    """A region of a picture that was turned clockwise, as a region of the picture before it was."""
    for _ in range(degrees // 90):
        box = Box(box.top, 1 - box.right, box.bottom, 1 - box.left)
    return box


def _edges(box: Box) -> tuple[float, float, float, float]:
    return box.left, box.top, box.right, box.bottom
