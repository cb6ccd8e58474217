"""Small upright copies of pictures, without their metadata."""

from __future__ import annotations

import numpy as np
from PIL import Image

from sightline.corpus import metadata
from sightline.corpus.pixels import MAX_PIXELS, load_rgb, open_picture, upright


def small_copy(data: bytes, side: int) -> Image.Image:
    """The upright picture in RGB, its longer side at most `side`; `RefusedError` for what is not a picture."""
    image = open_picture(data, MAX_PIXELS)
    turned = metadata.read_facts(image).orientation
    scale = min(1.0, side / max(image.size))
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    small = load_rgb(image, data, size).resize(size, Image.Resampling.BICUBIC)
    return Image.fromarray(np.ascontiguousarray(upright(np.asarray(small), turned)))
