"""Pixels of a picture file, upright and no larger than needed; and a small copy of them for a page."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

from sightline.corpus import metadata
from sightline.corpus.names import path_of
from sightline.corpus.pixels import RefusedError, load_rgb, upright
from sightline.models.failures import failure
from sightline.models.pictures import MAX_FILE_BYTES, open_one
from sightline.models.protocols import Pixels
from sightline.report.markup import Markup
from sightline.types import Failure, Picture

LONGEST = 1280
"""Of the longer side of what is looked at: words are still to be read at this size."""
_SMALL = (320, 240)
_QUALITY = 78
_BEFORE = 480
"""Of the longer side of what a thumbnail is made of."""


def read_pixels(picture: Picture, longest: int = LONGEST) -> Pixels | Failure:
    """Height × width × 3, or why there is none."""
    path = path_of(picture.uri)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return failure("bad-picture", f"over {MAX_FILE_BYTES:,} bytes")
        data = path.read_bytes()
        image = open_one(data)
        turned = metadata.read_facts(image).orientation
        scale = min(1.0, longest / max(image.size))
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        small = load_rgb(image, data, size).resize(size, Image.Resampling.BICUBIC)
        return np.ascontiguousarray(upright(np.asarray(small), turned))
    except OSError as error:
        return failure("bad-picture", error.strerror or str(error))
    except RefusedError as refused:
        return failure("bad-picture", str(refused))


def thumbnail(pixels: Pixels) -> Markup:
    """A data URL: a JPEG of the pixels alone, so without place, time or anything else that the file knows."""
    image = Image.fromarray(pixels)
    image.thumbnail(_SMALL, Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=_QUALITY, optimize=True)
    return Markup(f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}")


class Thumbnails:
    """Made once for each picture, however often it is shown."""

    def __init__(self) -> None:
        self._made: dict[str, Markup | None] = {}

    def __call__(self, picture: Picture) -> Markup | None:
        """A data URL; None where the picture can't be read."""
        if picture.id not in self._made:
            pixels = read_pixels(picture, _BEFORE)
            self._made[picture.id] = None if isinstance(pixels, Failure) else thumbnail(pixels)
        return self._made[picture.id]
