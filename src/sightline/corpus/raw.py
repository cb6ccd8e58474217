"""Camera RAW files (extra `raw`): told by their content, seen through the preview that the camera put into them."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec

from PIL import Image

_MARKS = (b"FUJIFILMCCD-RAW", b"IIU\0", b"IIRO", b"IIRS", b"MMOR")
"""How RAF, RW2 and ORF begin."""
_TIFF = {b"II*\0": "<", b"MM\0*": ">"}
_REDUCED, _COMPRESSION, _PARTS, _DNG_VERSION = 254, 259, 330, 50706
_RAW_COMPRESSIONS = frozenset({32767, 34713, 65535})
"""Sony's, Nikon's and Pentax's own."""
_MOST_TAGS = 500
_LARGE = 1024
"""A preview whose longer side has so many pixels stands for the picture; a smaller one is a thumbnail."""


def has_raw() -> bool:
    """Is the extra that reads camera RAW installed?"""
    return find_spec("rawpy") is not None


def is_raw(data: bytes) -> bool:
    """Is this a camera RAW file: CR2, CR3, RAF, RW2, ORF by their first bytes, NEF, ARW, DNG, PEF by their tags?"""
    if data.startswith(_MARKS) or data[4:12] == b"ftypcrx ":
        return True
    if data[:4] not in _TIFF:
        return False
    if data[8:10] == b"CR":
        return True
    tags = dict(_first_tags(data))
    is_thumbnail = tags.get(_REDUCED) == 1 and _PARTS in tags
    return _DNG_VERSION in tags or is_thumbnail or tags.get(_COMPRESSION) in _RAW_COMPRESSIONS


def _first_tags(data: bytes) -> Iterator[tuple[int, int]]:
    """The tags of the first directory, each with its value as a number."""
    order = _TIFF[data[:4]]
    with suppress(struct.error):
        (at,) = struct.unpack_from(f"{order}I", data, 4)
        (count,) = struct.unpack_from(f"{order}H", data, at)
        for number in range(min(count, _MOST_TAGS)):
            tag, kind = struct.unpack_from(f"{order}HH", data, at + 2 + 12 * number)
            yield tag, struct.unpack_from(f"{order}{'H' if kind == 3 else 'I'}", data, at + 10 + 12 * number)[0]


def open_raw(data: bytes) -> Image.Image:
    """The preview, where it is large enough, else a decode at half size; with the EXIF of the whole file."""
    import rawpy

    with rawpy.imread(io.BytesIO(data)) as raw:
        image = _preview(raw)
        if image is None:
            pixels = raw.postprocess(half_size=True, use_camera_wb=True, user_flip=0)
            image = Image.fromarray(pixels)
    if data[:2] in (b"II", b"MM"):
        # Two makers changed the number behind the byte order; the rest is as in any TIFF.
        magic = b"II*\0" if data[:2] == b"II" else b"MM\0*"
        image.info["exif"] = b"Exif\0\0" + magic + data[4:]
    return image


def _preview(raw: object) -> Image.Image | None:
    import rawpy

    try:
        found = raw.extract_thumb()  # type: ignore[attr-defined]
    except (rawpy.LibRawNoThumbnailError, rawpy.LibRawUnsupportedThumbnailError):
        return None
    if found.format == rawpy.ThumbFormat.JPEG:
        image: Image.Image = Image.open(io.BytesIO(found.data), formats=("JPEG",))
    else:
        image = Image.fromarray(found.data)
    return image if max(image.size) >= _LARGE else None
