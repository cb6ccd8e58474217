"""One file, or bytes at hand, become pixels: upright, no larger than an embedder needs, or cut to a region.

`read_picture` runs in the worker processes.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from sightline.corpus import metadata
from sightline.corpus.jpeg_header import JpegHeader
from sightline.corpus.pixels import RefusedError, identify, load_rgb, open_picture, read_file, upright
from sightline.models.protocols import Pixels, Vectors
from sightline.types import Box, Failure

_HEAD = 64
_MOST_BYTES = 1 << 30
"""A larger file is not a photograph; it is refused before it fills the memory."""
_LEAST = 0.001
"""A region narrower than this share of a picture is none."""


@dataclass(frozen=True, slots=True)
class DecodeJob:
    """A file to read for an embedder; `cache` and `space` say where its vectors lie, so that none is made twice."""

    number: int
    path: bytes
    side: int
    max_pixels: int
    cache: Path
    space: int | None


class JpegFile(NamedTuple):
    """A plain photograph as it lies on disk, for an embedder that decodes it itself."""

    number: int
    sha256: bytes
    data: bytearray
    header: JpegHeader


@dataclass(frozen=True, slots=True)
class Decoded:
    """A picture that has to be embedded."""

    sha256: bytes
    pixels: Pixels


@dataclass(frozen=True, slots=True)
class EmbeddedPicture:
    """A picture of which a worker of a cluster made the vector."""

    sha256: bytes
    vector: Vectors


@dataclass(frozen=True, slots=True)
class AlreadyKnown:
    """A picture whose vector is there already, under this hash."""

    sha256: bytes


@dataclass(frozen=True, slots=True)
class DecodeRefused:
    """No picture, and why: one of the reasons that a scan counts."""

    reason: str
    detail: str


def read_picture(job: DecodeJob) -> Decoded | AlreadyKnown | DecodeRefused:
    """Read one file; never raises for what the file contains."""
    try:
        data = _read(Path(os.fsdecode(job.path)))
        sha256 = hashlib.sha256(data).digest()
        if _is_known(job, sha256):
            return AlreadyKnown(sha256)
        return Decoded(sha256, load_pixels(data, job.side, job.max_pixels))
    except OSError as error:
        return DecodeRefused("unreadable", error.strerror or str(error))
    except RefusedError as refused:
        return DecodeRefused(refused.reason, refused.detail)


def load_pixels(data: bytes, side: int, max_pixels: int) -> Pixels:
    """Height × width × 3, upright; scaled down while decoding, but never below `side` along the shorter side.

    Raises `RefusedError`.
    """
    image = open_picture(data, max_pixels)
    orientation = metadata.read_facts(image).orientation
    if min(image.size) < 1:
        raise RefusedError("unreadable", "it has no pixels")
    scale = min(1.0, side / min(image.size))
    rgb = _shrunk(load_rgb(image, data, (round(image.width * scale), round(image.height * scale))), side)
    return np.ascontiguousarray(upright(np.asarray(rgb), orientation))


def _shrunk(image: Image.Image, side: int) -> Image.Image:
    """What could not be scaled while it was decoded is averaged over whole blocks of pixels now."""
    factor = min(image.size) // side
    return image.reduce(factor) if factor >= 2 else image


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(_HEAD)
        if head and identify(head) is None:  # A film of four gigabytes is told by its first bytes.
            raise RefusedError("not a picture", "its content is none of the formats that are read")
        if os.fstat(file.fileno()).st_size > _MOST_BYTES:
            raise RefusedError("bomb", f"the file is over {_MOST_BYTES:,} bytes")
        return head + file.read(_MOST_BYTES)


def _is_known(job: DecodeJob, sha256: bytes) -> bool:
    if job.space is None:
        return False
    query = "SELECT 1 FROM vectors WHERE space = ? AND key = ?"
    return _reader(job.cache).execute(query, (job.space, sha256)).fetchone() is not None


@lru_cache(maxsize=1)
def _reader(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=60)


def read_bytes(path: bytes) -> bytes | Failure:
    """The bytes of a file, or why there are none."""
    try:
        return read_file(Path(os.fsdecode(path)))
    except RefusedError as refused:
        return Failure(refused.reason, refused.detail)


def decode_region(data: bytes, side: int, max_pixels: int, region: Box | None = None) -> Pixels | Failure:
    """Height × width × 3, upright, cut to the region, the shorter side at least `side` where there is as much."""
    if region is not None:
        side = round(side / max(_LEAST, min(region.right - region.left, region.bottom - region.top)))
    try:
        pixels = load_pixels(data, side, max_pixels)
    except RefusedError as refused:
        return Failure(refused.reason, refused.detail)
    return pixels if region is None else _cut(pixels, region)


def _cut(pixels: Pixels, region: Box) -> Pixels:
    high, wide = pixels.shape[:2]
    left, top = int(region.left * wide), int(region.top * high)
    right, bottom = max(left + 1, round(region.right * wide)), max(top + 1, round(region.bottom * high))
    return np.ascontiguousarray(pixels[top:bottom, left:right])
