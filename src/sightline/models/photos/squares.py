"""Pictures as the classifier takes them: the middle of the picture, upright, 260 × 260 pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from sightline.corpus import metadata
from sightline.corpus.pixels import RefusedError, load_rgb, upright
from sightline.errors import UserError
from sightline.models.failures import failure
from sightline.models.photos.classifier import SIDE
from sightline.models.pictures import MAX_FILE_BYTES, open_one
from sightline.models.protocols import Pixels
from sightline.types import Failure

SHORTER = 292
"""The shorter side is brought to this length; the middle 260 of it are looked at."""
_LONGEST = 4
_GAP = 3.0
"""A picture more than this many times as large is first averaged over whole pixels; the eye sees no difference."""


def square_of(pixels: Pixels) -> Pixels:
    """The square of an array of height × width × 3; anything else is a `UserError`."""
    array = np.asarray(pixels)
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8:
        shape = " × ".join(map(str, array.shape)) or "a single value"
        raise UserError(
            f"a picture is {shape} of {array.dtype}; height × width × 3 of uint8 is needed.",
            'grey, transparent or deeper pictures: Image.convert("RGB") first',
        )
    if array.size == 0:
        raise UserError(f"a picture has no pixels ({array.shape[0]} × {array.shape[1]}).", "leave it out")
    return _middle(Image.fromarray(np.ascontiguousarray(array)))


def read_square(path: Path) -> Pixels | Failure:
    """The square of a picture file, decoded no larger than needed; a file that gives no picture is a failure."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return failure("bad-picture", f"{path}: over {MAX_FILE_BYTES:,} bytes")
        data = path.read_bytes()
        image = open_one(data)
        turned = metadata.read_facts(image).orientation
        scale = SHORTER / min(image.size)
        small = load_rgb(image, data, (round(image.width * scale), round(image.height * scale)))
        return np.ascontiguousarray(upright(_middle(small), turned))
    except OSError as error:
        return failure("bad-picture", f"{path}: {error.strerror or error}")
    except RefusedError as refused:
        return failure("bad-picture", f"{path}: {refused}")


def _middle(image: Image.Image) -> Pixels:
    """Resized, then cropped, exactly as the pictures that the head was trained on."""
    image = _trimmed(image)
    scale = SHORTER / min(image.size)
    size = (round(image.width * scale), round(image.height * scale))
    small = image.resize(size, Image.Resampling.BICUBIC, reducing_gap=_GAP)
    left, top = (small.width - SIDE) // 2, (small.height - SIDE) // 2
    return np.asarray(small.crop((left, top, left + SIDE, top + SIDE)))


def _trimmed(image: Image.Image) -> Image.Image:
    """The middle of a very long picture: of 30,000 × 10 pixels, the whole would take gigabytes to resize."""
    longest = _LONGEST * min(image.size)
    if max(image.size) <= longest:
        return image
    width, height = min(image.width, longest), min(image.height, longest)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))
