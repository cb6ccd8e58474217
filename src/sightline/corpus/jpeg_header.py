"""What the markers of a JPEG file say, read without a decoder: a few microseconds instead of Pillow's hundreds."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

_FRAMES = {0xC0, 0xC1, 0xC2}
"""Baseline, extended and progressive with Huffman codes."""
_ALONE = {0x01, *range(0xD0, 0xD9)}
"""Markers without a length."""
_TAIL = 1024
_IN_SCANS = np.isin(
    np.arange(256), [0, 0xC4, *range(0xD0, 0xD8), 0xD9, 0xDA, 0xDB, 0xDD, *range(0xE0, 0xF0), 0xFE, 0xFF]
)
"""What may follow 0xFF after the first scan has begun; any other marker ends a decoder with an error."""
_ORIENTATION = 0x0112


class JpegHeader(NamedTuple):
    """Size as stored, and how it has to be turned (EXIF orientation)."""

    height: int
    width: int
    orientation: int = 1


def read_jpeg_header(data: bytes | bytearray) -> JpegHeader | None:
    """The header of a plain photograph: eight bits, YCbCr, complete; None for all that decoders differ on."""
    if not data.startswith(b"\xff\xd8\xff") or b"\xff\xd9" not in data[-_TAIL:]:
        return None
    at, size, orientation, tables = 2, None, 1, 0
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _ALONE or marker == 0xFF:
            at += 1 if marker == 0xFF else 2
            continue
        length = int.from_bytes(data[at + 2 : at + 4])
        body = data[at + 4 : at + 2 + length]
        if marker == 0xDA:
            start = at + 2 + length
            whole = size is not None and tables == 3 and start < len(data) and _is_scan(data, start)
            return JpegHeader(*size, orientation) if size is not None and whole else None
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            size = _size(body) if marker in _FRAMES else None
            if size is None:
                return None
        elif marker in (0xDB, 0xC4):
            tables |= 1 if marker == 0xDB else 2
        elif marker == 0xEE and body[:5] == b"Adobe" and body[11:12] != b"\x01":
            return None  # RGB or CMYK as they are.
        elif marker == 0xE1 and body[:6] == b"Exif\0\0":
            orientation = _orientation(body[6:])
        at += 2 + length
    return None


def _is_scan(data: bytes | bytearray, start: int) -> bool:
    """Are there only such markers? One scan up to the end, the usual case, is told by counting."""
    if data.count(0xFF, start) == data.count(b"\xff\x00", start) + 1:
        return True
    coded = np.frombuffer(data, dtype=np.uint8)[start:]
    return bool(_IN_SCANS[coded[np.flatnonzero(coded[:-1] == 0xFF) + 1]].all())


def _size(body: bytes | bytearray) -> tuple[int, int] | None:
    if len(body) < 6 or body[0] != 8 or body[5] != 3:
        return None
    height, width = struct.unpack_from(">HH", body, 1)
    return (height, width) if height and width else None


def _orientation(tiff: bytes | bytearray) -> int:
    order = {b"II": "<", b"MM": ">"}.get(bytes(tiff[:2]))
    try:
        (start,) = struct.unpack_from(f"{order}I", tiff, 4)
        (count,) = struct.unpack_from(f"{order}H", tiff, start)
        for at in range(start + 2, start + 2 + 12 * count, 12):
            tag, kind, _, value = struct.unpack_from(f"{order}HHIH", tiff, at)
            if tag == _ORIENTATION:
                return value if kind == 3 and 1 <= value <= 8 else 1
    except struct.error:  # Not TIFF, or cut short: as stored.
        pass
    return 1
