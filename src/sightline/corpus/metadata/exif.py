"""EXIF: when, where and with what a picture was taken, and the TIFF directories in which it is kept.

Only the tags that are wanted are read, from any bytes, without raising. Pillow's reader decodes every tag, the maker's
notes and thumbnails too; this one takes a fifth of its time.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeAlias

from sightline.corpus.metadata.facts import (
    BROKEN_EXIF,
    IMPLAUSIBLE_ALTITUDE,
    IMPLAUSIBLE_POSITION,
    IMPLAUSIBLE_TIME,
    MetadataFacts,
    believe,
)
from sightline.corpus.metadata.values import (
    Angle,
    Position,
    altitude,
    decode_ascii,
    decode_utf16,
    parse_time,
    position,
    ratio,
    read_angle,
    read_number,
    read_rating,
    signed,
    split_keywords,
)
from sightline.types import Json

Value: TypeAlias = bytes | tuple[float, ...]
"""Text and bytes as they stand; numbers as a tuple, a rational being NaN or infinite where it divides by zero."""
ReadAt: TypeAlias = Callable[[int, int], bytes]
"""The bytes from an offset, at most so many; fewer where the data end."""

MAX_VALUE = 8 << 20
_MAX_NUMBERS = 64
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8, 129: 1}
_NUMBERS = {
    3: "H",
    4: "I",
    5: "I",
    6: "b",
    8: "h",
    9: "i",
    10: "i",
    11: "f",
    12: "d",
    13: "I",
    16: "Q",
    17: "q",
    18: "Q",
}
_RATIONALS = (5, 10)
# By byte order and whether it is BigTIFF: the number of entries, and one entry.
_LAYOUTS = {
    (order, big): (
        struct.Struct(order + ("Q" if big else "H")),
        struct.Struct(order + ("HHQ8s" if big else "HHI4s")),
        struct.Struct(order + ("Q" if big else "I")),
    )
    for order in "<>"
    for big in (False, True)
}
DESCRIPTION, MAKE, MODEL, ORIENTATION, ARTIST, COPYRIGHT = 0x010E, 0x010F, 0x0110, 0x0112, 0x013B, 0x8298
RATING, XP_TITLE, XP_COMMENT, XP_AUTHOR, XP_KEYWORDS = 0x4746, 0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E
LENS_MODEL = 0xA434
_SETTINGS = {0x829A: "exposure_seconds", 0x829D: "aperture", 0x8827: "iso", 0x920A: "focal_length_mm"}
"""How the camera was set: numbers above zero."""
EXIF_POINTER, GPS_POINTER = 0x8769, 0x8825
XMP, IPTC, PHOTOSHOP = 700, 33723, 34377
"""Whole blocks of other metadata that a TIFF file keeps among its tags."""
LAT_REF, LAT, LON_REF, LON, ALTITUDE_REF, ALTITUDE = 1, 2, 3, 4, 5, 6
# DateTimeOriginal, DateTimeDigitized, DateTime: each with its fraction of a second and its offset from UTC.
_TIMES = ((0x9003, 0x9291, 0x9011), (0x9004, 0x9292, 0x9012), (0x0132, 0x9290, 0x9010))
_WORDS = {DESCRIPTION, MAKE, MODEL, ARTIST, COPYRIGHT, RATING, XP_TITLE, XP_COMMENT, XP_AUTHOR, XP_KEYWORDS, LENS_MODEL}
_POINTERS = (EXIF_POINTER, GPS_POINTER)
_WANTED = frozenset({ORIENTATION, *_POINTERS, *_WORDS, *_SETTINGS, *(tag for group in _TIMES for tag in group)})
_BLOCKS = frozenset({XMP, IPTC, PHOTOSHOP})
_WANTED_FIRST = _WANTED | _BLOCKS
# EXIF 2's and 3's way to say "below the sea", as a number and as the digit that some write instead.
_BELOW_SEA = (1, 3, ord("1"), ord("3"))
_GPS = frozenset(range(LAT_REF, ALTITUDE + 1))
# What cameras write as the description of every picture.
_BOILERPLATE = frozenset(
    {
        "digital camera",
        "exif_jpeg_picture",
        "jpeg",
        "konica minolta digital camera",
        "minolta digital camera",
        "olympus digital camera",
        "samsung camera pictures",
        "sony dsc",
    }
)


class Directory(NamedTuple):
    """The wanted tags of one directory; `broken` when some of it could not be read."""

    values: dict[int, Value]
    broken: bool


@dataclass(frozen=True, slots=True)
class Tiff:
    """TIFF data and where the first directory is."""

    read: ReadAt
    order: str
    big: bool
    first: int

    def directory(self, offset: int, wanted: Set[int], raw: Set[int] = frozenset()) -> Directory:
        """The wanted tags at `offset`; those in `raw` as bytes, whatever their type."""
        count, entry, _ = _LAYOUTS[self.order, self.big]
        head = self.read(offset, count.size)
        if len(head) < count.size:
            return Directory({}, True)
        (entries,) = count.unpack(head)
        block = self.read(offset + count.size, min(entries, 65_535) * entry.size)
        whole = len(block) // entry.size
        values: dict[int, Value] = {}
        broken = whole < entries
        for tag, kind, length, inline in entry.iter_unpack(block[: whole * entry.size]):
            if tag in wanted and tag not in values:
                value = self._value(kind, length, inline, tag in raw)
                if value is None:
                    broken = True
                elif value:
                    values[tag] = value
        return Directory(values, broken)

    def _value(self, kind: int, length: int, inline: bytes, raw: bool) -> Value | None:
        size = _SIZES.get(kind, MAX_VALUE + 1) * length
        if size > MAX_VALUE:
            return None
        data = inline[:size]
        if size > len(inline):
            (start,) = _LAYOUTS[self.order, self.big][2].unpack(inline)
            data = self.read(start, size)
            if len(data) < size:
                return None
        if raw or kind not in _NUMBERS:
            return data
        if length > _MAX_NUMBERS:
            return None
        numbers = struct.unpack(f"{self.order}{size // struct.calcsize(_NUMBERS[kind])}{_NUMBERS[kind]}", data)
        return tuple(map(ratio, numbers[::2], numbers[1::2])) if kind in _RATIONALS else numbers


def open_tiff(read: ReadAt) -> Tiff | None:
    """The TIFF that begins at offset 0; None when its first bytes are not those of one."""
    head = read(0, 16)
    order = {b"II": "<", b"MM": ">"}.get(head[:2])
    if order is None or len(head) < 8:
        return None
    big = head[2:4] in (b"+\0", b"\0+")
    if big and len(head) < 16:
        return None
    (first,) = struct.unpack(order + ("Q" if big else "I"), head[8:16] if big else head[4:8])
    return Tiff(read, order, big, first)


def bytes_reader(data: bytes) -> ReadAt:
    """Reads from bytes in memory."""
    return lambda offset, size: data[offset : offset + size]


class Tags(NamedTuple):
    """The tags that are wanted; `broken` when some of the EXIF data could not be read."""

    main: Mapping[int, Value] = {}
    gps: Mapping[int, Value] = {}
    broken: bool = False


def read_block(data: bytes) -> Tags:
    """The tags of an EXIF block as JPEG, PNG, WebP and HEIC carry it."""
    for _ in range(2):  # Some writers put the marker in twice.
        data = data.removeprefix(b"Exif\0\0")
    if not data:
        return Tags()
    tiff = open_tiff(bytes_reader(data))
    return Tags(broken=True) if tiff is None else read_tags(tiff)


def read_tags(tiff: Tiff) -> Tags:
    """The tags of the first directory and of the EXIF and GPS directories that it points to."""
    main, broken = tiff.directory(tiff.first, _WANTED_FIRST, raw=_BLOCKS)
    gps: dict[int, Value] = {}
    if EXIF_POINTER in main:
        inner, inner_broken = tiff.directory(_pointer(main[EXIF_POINTER]), _WANTED)
        main |= inner
        broken |= inner_broken
    if GPS_POINTER in main:
        gps, gps_broken = tiff.directory(_pointer(main[GPS_POINTER]), _GPS)
        broken |= gps_broken
    return Tags(main, gps, broken)


def orientation(tags: Tags) -> int | None:
    """1 to 8; 1 where it is invalid, None where EXIF does not say."""
    value = tags.main.get(ORIENTATION)
    if value is None:
        return None
    return int(value[0]) if value[0] in range(1, 9) else 1


def facts(tags: Tags) -> MetadataFacts:
    """What EXIF says, without the orientation."""
    warnings = [BROKEN_EXIF] if tags.broken else []
    main, gps = tags.main, tags.gps
    taken_at = _time(main, warnings)
    lat, lon = believe(IMPLAUSIBLE_POSITION, warnings, _place, gps) or (None, None)
    height = None if lat is None else believe(IMPLAUSIBLE_ALTITUDE, warnings, _altitude, gps)
    description = _ascii(main, DESCRIPTION)
    if description is not None and description.lower() in _BOILERPLATE:
        description = None
    return MetadataFacts(
        taken_at=taken_at,
        lat=lat,
        lon=lon,
        altitude=height,
        device=device_name(_ascii(main, MAKE), _ascii(main, MODEL)),
        lens=_ascii(main, LENS_MODEL),
        title=_utf16(main, XP_TITLE),
        description=description or _utf16(main, XP_COMMENT),
        keywords=split_keywords(_utf16(main, XP_KEYWORDS), ";"),
        rating=_rating(main.get(RATING)),
        creator=_ascii(main, ARTIST) or _utf16(main, XP_AUTHOR),
        copyright=_ascii(main, COPYRIGHT),
        extra=_settings(main),
        warnings=tuple(warnings),
    )


def device_name(make: str | None, model: str | None) -> str | None:
    """`Make Model`; the model alone where it begins with the make's first word, as in `NIKON D90`."""
    if not make or not model:
        return model or make
    if model.lower().startswith(make.split()[0].lower()):
        return model
    return f"{make} {model}"


def _pointer(value: Value) -> int:
    """Where a directory is; past the end of any data when the pointer is none."""
    return value[0] if isinstance(value, tuple) and isinstance(value[0], int) and value[0] > 0 else 1 << 62


def _ascii(tags: Mapping[int, Value], tag: int) -> str | None:
    value = tags.get(tag)
    return decode_ascii(value) if isinstance(value, bytes) else None


def _utf16(tags: Mapping[int, Value], tag: int) -> str | None:
    value = tags.get(tag)
    return decode_utf16(value) if isinstance(value, bytes) else None


def _rating(value: Value | None) -> int | None:
    return read_rating(str(value[0])) if isinstance(value, tuple) else None


def _settings(tags: Mapping[int, Value]) -> dict[str, Json]:
    found = ((name, tags.get(tag)) for tag, name in _SETTINGS.items())
    return {name: value[0] for name, value in found if isinstance(value, tuple) and 0 < value[0] < math.inf}


def _time(tags: Mapping[int, Value], warnings: list[str]) -> datetime | None:
    for tag, fraction, offset in _TIMES:
        if text := _ascii(tags, tag):
            time = believe(
                IMPLAUSIBLE_TIME,
                warnings,
                parse_time,
                text,
                subseconds=_ascii(tags, fraction),
                offset=_ascii(tags, offset),
            )
            if time is not None:
                return time
    return None


def _place(gps: Mapping[int, Value]) -> Position | None:
    if LAT not in gps and LON not in gps:
        return None
    return position(signed(_angle(gps, LAT, LAT_REF), "NS"), signed(_angle(gps, LON, LON_REF), "EW"))


def _angle(gps: Mapping[int, Value], tag: int, ref: int) -> Angle:
    value = gps.get(tag, ())
    letter = _ascii(gps, ref) or ""
    if isinstance(value, tuple):
        return Angle(value, letter)
    written = read_angle(decode_ascii(value) or "")
    return Angle(written.parts, written.letter or letter)


def _altitude(gps: Mapping[int, Value]) -> float | None:
    value = gps.get(ALTITUDE)
    if value is None:
        return None
    metres = value[0] if isinstance(value, tuple) else read_number(decode_ascii(value) or "")
    return altitude(metres, below_sea=gps.get(ALTITUDE_REF, (0,))[0] in _BELOW_SEA)
