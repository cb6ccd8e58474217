"""Pixels of pictures that tools look at and make: opened with limits, upright, encoded small."""

from __future__ import annotations

import io
import math
import os
from pathlib import Path

from PIL import Image

from sightline.models.pictures import MAX_FILE_BYTES, MAX_PIXELS
from sightline.search.index.content import absolute, local_path
from sightline.search.pixels import decode, read_bytes
from sightline.types import Box, Failure, Picture

LONGEST_SIDE = 2048
"""Of a picture that a tool makes."""
_WORKING_SIDE = 1536
_QUALITY = 92


def picture_path(picture: Picture, base: Path | None) -> Path | Failure:
    """The file of a picture; only what is on this machine has one."""
    path = local_path(absolute(picture, base).uri)
    if path is None:
        return Failure("not-local", "the picture is not on this machine")
    return Path(os.fsdecode(path))


def read_file(path: Path) -> bytes | Failure:
    """The bytes of a picture's file, or why there are none; the file's place is not told."""
    return read_bytes(os.fsencode(path))


def load(data: bytes, side: int = _WORKING_SIDE, region: Box | None = None) -> Image.Image | Failure:
    """The picture upright, or a region of it, its shorter side at least `side` where it has as many pixels."""
    if len(data) > MAX_FILE_BYTES:
        return Failure("bomb", f"the file is over {MAX_FILE_BYTES:,} bytes")
    pixels = decode(data, side, MAX_PIXELS, region)
    return pixels if isinstance(pixels, Failure) else Image.fromarray(pixels)


def encode(image: Image.Image) -> bytes:
    """A JPEG that keeps small coloured letters readable; larger pictures are scaled to the longest side."""
    buffer = io.BytesIO()
    scaled_down(image.convert("RGB"), LONGEST_SIDE).save(buffer, "JPEG", quality=_QUALITY, subsampling=0)
    return buffer.getvalue()


def scaled_down(image: Image.Image, longest: int) -> Image.Image:
    """The image, no longer than this along its longer side."""
    scale = longest / max(image.size)
    if scale >= 1:
        return image
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS)


def magnified(image: Image.Image, longest: int, most: float) -> Image.Image:
    """The image scaled up to this length of its longer side, but not beyond `most` times its size."""
    scale = min(most, longest / max(image.size))
    if scale <= 1:
        return image
    size = (math.ceil(image.width * scale), math.ceil(image.height * scale))
    return image.resize(size, Image.Resampling.LANCZOS)
