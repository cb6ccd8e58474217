"""Pictures that come as bytes inside another file: is it a picture, and which ending fits it?"""

from __future__ import annotations

from functools import cache

from sightline.config import Config
from sightline.corpus.pixels import MissingDecoderError, RefusedError, identify, load_small, open_picture

_ENDINGS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tif", "HEIF": "heic"}


def why_no_picture(content: bytes, *, decode: bool = False) -> str | None:
    """Why these bytes are refused as a picture; None if they are one, also when its decoder is not installed.

    Only with `decode` is the whole of it looked at, and found out when it ends too early.
    """
    try:
        with open_picture(content, _most_pixels()) as image:
            if decode:
                load_small(image, content, _most_pixels())
    except MissingDecoderError:
        return None
    except RefusedError as error:
        return f"expected a picture: {error}"
    return None


def ending_of(content: bytes) -> str:
    """The usual ending of a file with this content."""
    found = identify(content[:64])
    return _ENDINGS.get(found or "", "avif" if found == "AVIF" else "bin")


@cache
def _most_pixels() -> int:
    return Config().scan.max_pixels
