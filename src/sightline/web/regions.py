"""Parts of pictures, as a drawing over them takes them."""

from __future__ import annotations

from typing import TypeAlias

from sightline.types import Box

Region: TypeAlias = tuple[float, float, float, float]
"""Left, top, width and height, in percent."""


def region_of(box: Box | None) -> Region | None:
    """The part of a picture that is meant; None for all of it."""
    if box is None:
        return None
    return 100 * box.left, 100 * box.top, 100 * (box.right - box.left), 100 * (box.bottom - box.top)
