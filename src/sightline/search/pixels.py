"""Pixels of one picture, or of a region of it, for what looks at pictures one by one."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np

from sightline.corpus.pixels import RefusedError
from sightline.models.embedders.decode import load_pixels
from sightline.models.pictures import MAX_FILE_BYTES
from sightline.models.protocols import Pixels
from sightline.types import Box, Failure

_LEAST = 0.001
"""A region narrower than this share of a picture is none."""
# Opening a picture sets what threads share.
_OPENING = threading.Lock()


def read_bytes(path: bytes) -> bytes | Failure:
    """The bytes of a file, or why there are none."""
    file = Path(os.fsdecode(path))
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            return Failure("bomb", f"the file is over {MAX_FILE_BYTES:,} bytes")
        return file.read_bytes()
    except OSError as error:
        return Failure("unreadable", error.strerror or str(error))


def decode(data: bytes, side: int, max_pixels: int, region: Box | None = None) -> Pixels | Failure:
    """Height × width × 3, upright, cut to the region, the shorter side at least `side` where there is as much."""
    if region is not None:
        side = round(side / max(_LEAST, min(region.right - region.left, region.bottom - region.top)))
    try:
        with _OPENING:
            pixels = load_pixels(data, side, max_pixels)
    except RefusedError as refused:
        return Failure(refused.reason, refused.detail)
    return pixels if region is None else _cut(pixels, region)


def _cut(pixels: Pixels, region: Box) -> Pixels:
    high, wide = pixels.shape[:2]
    left, top = int(region.left * wide), int(region.top * high)
    right, bottom = max(left + 1, round(region.right * wide)), max(top + 1, round(region.bottom * high))
    return np.ascontiguousarray(pixels[top:bottom, left:right])
