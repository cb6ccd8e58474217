"""Signs cut out of a picture, in the one way that their reader is trained on and used with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.types import Box

WIDE, HIGH = 160, 96
_MARGIN = 0.05
_TALLEST = 1.35
"""No board with words is higher than this many times its width; what reaches further down is what carries it."""


def cut_sign(pixels: NDArray[np.uint8], box: Box, margin: float = _MARGIN) -> NDArray[np.uint8]:
    """The upper part of a sign in grey, stretched to the size that the network reads."""
    high, wide = pixels.shape[:2]
    dx, dy = margin * (box.right - box.left), margin * (box.bottom - box.top)
    left, right = max(0.0, (box.left - dx) * wide), min(float(wide), (box.right + dx) * wide)
    top, bottom = max(0.0, (box.top - dy) * high), min(float(high), (box.bottom + dy) * high)
    bottom = min(bottom, top + _TALLEST * (right - left))
    if right - left < 1 or bottom - top < 1:
        return np.zeros((HIGH, WIDE), np.uint8)
    image = Image.fromarray(pixels).convert("L")
    return np.asarray(image.resize((WIDE, HIGH), Image.Resampling.BILINEAR, box=(left, top, right, bottom)))
