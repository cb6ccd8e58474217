"""Picture files: pixels encoded in a format, turned as the camera was held, with what is known of them inside."""

from __future__ import annotations

import io
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from PIL import Image, PngImagePlugin

from sightline_world import metadata as written
from sightline_world.metadata import Metadata

TURNS: Mapping[int, Image.Transpose] = MappingProxyType(
    {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
)
"""What turns an upright picture into the one that is stored under that EXIF orientation."""


def encode(
    upright: Image.Image,
    metadata: Metadata,
    *,
    file_format: str = "JPEG",
    orientation: int = 1,
    exif: bool = True,
    xmp: bool = False,
    quality: int = 86,
) -> bytes:
    """The bytes of a file with the metadata that belongs inside it; GIF and BMP have no room for any."""
    turn = TURNS.get(orientation)
    stored = upright if turn is None else upright.transpose(turn)
    options: dict[str, Any] = {"exif": written.exif(metadata, orientation)} if exif else {}
    packet = written.xmp(metadata, facts=False) if xmp else None
    buffer = io.BytesIO()
    match file_format:
        case "PNG":
            text = PngImagePlugin.PngInfo()
            if packet is not None:
                text.add_itxt("XML:com.adobe.xmp", packet.decode())
            stored.save(buffer, "PNG", pnginfo=text, compress_level=4, **options)
        case "GIF":
            stored.quantize(128, method=Image.Quantize.FASTOCTREE).save(buffer, "GIF")
        case "TIFF":
            tags = written.exif(metadata, orientation)
            if packet is not None:
                tags[0x02BC] = packet
            # As bytes: from an Exif object Pillow takes over only the outer directory.
            stored.save(buffer, "TIFF", exif=tags.tobytes())
        case "BMP":
            stored.save(buffer, "BMP")
        case _:
            if packet is not None:
                options["xmp"] = packet
            stored.save(buffer, file_format, quality=quality, **options)
    return buffer.getvalue()
