"""Pictures for the tests, made on the spot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

Draw = Callable[..., Path]
"""What the fixture `draw` gives."""


def random_picture(seed: int, size: tuple[int, int] = (160, 120)) -> Image.Image:
    """Smooth blobs: no two seeds look alike."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8))
    return coarse.resize(size, Image.Resampling.BICUBIC)
