"""Reverse picture search: which picture of the web looks most like a given one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline_world.draw import ScenePlan, draw

_DRAWN = (96, 72)
_SIDE = 24


class Likeness:
    """Thumbnails of all pictures; the plans are drawn small, once, when this is made."""

    def __init__(self, plans: Sequence[ScenePlan]) -> None:
        self._thumbnails = np.stack([_thumbnail(draw(replace(plan, size=_DRAWN)).image) for plan in plans])

    def nearest(self, image: Image.Image, top_k: int) -> list[tuple[int, float]]:
        """Numbers of plans with their distance (root mean square, in grey levels), the most alike first."""
        apart = self._thumbnails - _thumbnail(image)
        distances = np.sqrt(np.mean(apart * apart, axis=1))
        order = np.argsort(distances, kind="stable")[:top_k]
        return [(int(number), float(distances[number])) for number in order]


def _thumbnail(image: Image.Image) -> NDArray[np.float32]:
    small = image.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float32).ravel()
