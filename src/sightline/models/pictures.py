"""A picture as a provider takes it: refused if hostile, upright, no larger than the limit, untouched where possible."""

from __future__ import annotations

import base64
import binascii
import io
import math
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

import numpy as np
import orjson
from PIL import Image

from sightline.corpus import metadata
from sightline.corpus.names import path_of
from sightline.corpus.pixels import (
    MAX_FILE_BYTES,
    MAX_PIXELS,
    MIMES,
    RefusedError,
    decode,
    identify,
    load_rgb,
    notes_on,
    open_picture,
    upright,
)
from sightline.models.failures import clip, failure
from sightline.models.providers import PictureLimit
from sightline.types import Failure, ImagePart

_QUALITIES = (90, 80, 65)
_SHRINK = 0.75
_SMALLEST_SIDE = 64
# A photo of 4,000 pixels decodes at half its size in a quarter of the time: 2,000 will do where 2,048 are allowed.
_NEARLY = 0.9
_CHECK_SIZE = (64, 64)
# What a model's decoder may not read, or reads differently from what a person sees.
_AWKWARD = frozenset({"animated", "several pages", "cmyk", "16-bit"})


@dataclass(frozen=True, slots=True)
class PreparedPicture:
    """A picture ready to be sent: `url` is JSON text, quotes included (a data URL, or an address on the web)."""

    url: bytes

    @property
    def text(self) -> str:
        """The address without its quotes."""
        return self.url[1:-1].decode()

    @property
    def data(self) -> bytes:
        """The bytes inside a data URL."""
        return base64.b64decode(self.url[1:-1].partition(b",")[2])


def is_web(source: str) -> bool:
    """Is the picture an address on the web, passed on as it is?"""
    return source[:8].lower().startswith(("http://", "https://"))


def read_source(part: ImagePart) -> bytes | Failure:
    """The bytes of a picture at hand, in a file or in a data URL."""
    if part.data is not None:
        return part.data
    if part.source[:5].lower() == "data:":
        return _read_data_url(part.source)
    path = path_of(part.source)
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            return bad_picture(part, f"{size:,} bytes are over the limit of {MAX_FILE_BYTES:,}")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        return bad_picture(part, getattr(error, "strerror", None) or str(error))


def _read_data_url(url: str) -> bytes | Failure:
    head, comma, body = url.partition(",")
    if not comma:
        return failure("bad-picture", "a data URL without data")
    try:
        return base64.b64decode(body, validate=True) if head.lower().endswith(";base64") else unquote_to_bytes(body)
    except (binascii.Error, ValueError):
        return failure("bad-picture", "a data URL whose base64 can't be decoded")


def bad_picture(part: ImagePart, reason: str) -> Failure:
    """The failure of a call whose picture can't be sent."""
    where = "the picture at hand" if part.source[:5].lower() == "data:" else part.source or "the picture at hand"
    return failure("bad-picture", f"{clip(where, 200)}: {clip(reason, 200)}")


def web_address(source: str) -> PreparedPicture:
    """An address on the web, which the provider fetches by itself."""
    return PreparedPicture(orjson.dumps(source.encode("utf-8", "replace").decode()))


def as_data_url(data: bytes, mime: str) -> PreparedPicture:
    """Bytes of a picture as a data URL."""
    return PreparedPicture(b'"data:' + mime.encode() + b";base64," + binascii.b2a_base64(data, newline=False) + b'"')


def open_one(data: bytes) -> Image.Image:
    """A picture, opened with our limits and not yet decoded. Raises `RefusedError`."""
    return open_picture(data, MAX_PIXELS)


def fit(data: bytes, limit: PictureLimit, detail: str = "auto") -> tuple[bytes, str]:
    """The bytes to send and their media type; raises `RefusedError` for what is not a picture.

    A picture within the limit goes out byte for byte, if it is upright, still, and of a format that the provider
    reads. Anything else becomes a JPEG: first frame, turned upright, transparency on white, without metadata.
    """
    image = open_one(data)
    facts = metadata.read_facts(image)
    size = _target(image.size, limit.side_for(detail))
    format_ = identify(data) or ""
    as_it_is = (
        size == image.size
        and len(data) <= limit.bytes
        and format_ in limit.formats
        and facts.orientation == 1
        and _AWKWARD.isdisjoint(_notes(image, data))
    )
    if as_it_is:
        decode(image, data, _CHECK_SIZE)  # A broken one is told here, before it is paid for.
        return data, MIMES[format_]
    pixels = load_rgb(image, data, (math.ceil(size[0] * _NEARLY), math.ceil(size[1] * _NEARLY)))
    if pixels.width > size[0] or pixels.height > size[1]:
        pixels = pixels.resize(size, Image.Resampling.BICUBIC)
    if facts.orientation != 1:
        pixels = Image.fromarray(np.ascontiguousarray(upright(np.asarray(pixels), facts.orientation)))
    return _encode(pixels, limit.bytes), "image/jpeg"


def _notes(image: Image.Image, data: bytes) -> list[str]:
    try:
        return notes_on(image, data, "")
    except Exception:  # Looking for later frames may raise anything on hostile bytes; only the first one is sent.
        return ["animated"]


def _target(size: tuple[int, int], side: int) -> tuple[int, int]:
    scale = min(1.0, side / max(size))
    return (max(1, round(size[0] * scale)), max(1, round(size[1] * scale))) if scale < 1 else size


def _encode(pixels: Image.Image, most: int) -> bytes:
    while True:
        for quality in _QUALITIES:
            buffer = io.BytesIO()
            # Full colour resolution: small coloured letters stay readable.
            pixels.save(buffer, "JPEG", quality=quality, subsampling=0)
            if buffer.tell() <= most:
                return buffer.getvalue()
        if max(pixels.size) <= _SMALLEST_SIDE:
            raise RefusedError("unreadable", f"it can't be made smaller than {most:,} bytes")
        shrunk = (max(1, math.floor(side * _SHRINK)) for side in pixels.size)
        pixels = pixels.resize((next(shrunk), next(shrunk)), Image.Resampling.BICUBIC)


def stamp(source: str) -> tuple[str, int, int] | None:
    """What tells that a file has not changed since it was read; None if it can't be seen."""
    try:
        status = path_of(source).stat()
    except (OSError, ValueError):
        return None
    return (source, status.st_mtime_ns, status.st_size)
