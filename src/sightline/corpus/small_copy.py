"""Small upright copies of pictures, without their metadata."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
from PIL import Image

from sightline.corpus import metadata
from sightline.corpus.pixels import MAX_PIXELS, RefusedError, load_rgb, open_picture, read_file, upright
from sightline.markup import Markup

_QUALITY = 78


def small_copy(data: bytes, side: int) -> Image.Image:
    """The upright picture in RGB, its longer side at most `side`; `RefusedError` for what is not a picture."""
    image = open_picture(data, MAX_PIXELS)
    turned = metadata.read_facts(image).orientation
    scale = min(1.0, side / max(image.size))
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    small = load_rgb(image, data, size).resize(size, Image.Resampling.BICUBIC)
    return Image.fromarray(np.ascontiguousarray(upright(np.asarray(small), turned)))


def fitted_copy(path: Path, box: tuple[int, int]) -> Image.Image | None:
    """A small copy that fits into a box; None for what can't be read."""
    try:
        found = small_copy(read_file(path), 2 * max(box))
    except RefusedError:
        return None
    found.thumbnail(box, Image.Resampling.LANCZOS)
    return found


def data_url(picture: Image.Image | bytes) -> Markup:
    """A small copy, or a JPEG, as an address that holds all of it."""
    if isinstance(picture, Image.Image):
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=_QUALITY, optimize=True)
        picture = out.getvalue()
    return Markup(f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}")
