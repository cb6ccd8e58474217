"""TIFF directories, in which EXIF is kept: only the tags that are wanted, from any bytes, without raising.

Pillow's reader decodes every tag, the maker's notes and thumbnails too; this one takes a fifth of its time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sightline.corpus.metadata.places import ratio

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
