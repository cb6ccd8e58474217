"""Checksums of what an index keeps in files, so that damage which leaves their size is noticed.

They are made when something is written. Whoever writes again looks at all of it; whoever only reads looks at all of it
where that is little, else at a part, chosen again each time: opening stays fast, and damage does not stay hidden.
"""

from __future__ import annotations

import mmap
import random
import zlib
from collections.abc import Sequence
from pathlib import Path

AT_ONCE = 1 << 25
"""Bytes that are looked at where not all are: some hundredths of a second."""
_BLOCK = 1 << 22

checksum = zlib.crc32


def chosen(sizes: Sequence[int], *, whole: bool) -> list[int]:
    """Which of some pieces to look at: all, or the first, the last and others at random, up to `AT_ONCE` bytes."""
    if whole or sum(sizes) <= AT_ONCE or len(sizes) <= 2:
        return list(range(len(sizes)))
    taken = [0, len(sizes) - 1]
    room = AT_ONCE - sizes[0] - sizes[-1]
    for at in random.sample(range(1, len(sizes) - 1), len(sizes) - 2):
        room -= sizes[at]
        if room < 0:
            break
        taken.append(at)
    return taken


def sums_of(path: Path) -> list[int]:
    """The checksum of each block of a file."""
    with path.open("rb") as file:
        return [checksum(block) for block in iter(lambda: file.read(_BLOCK), b"")]


def is_damaged(path: Path, sums: Sequence[int], *, whole: bool = False) -> bool:
    """Is a file, as far as it is looked at, not the one that these checksums are of?"""
    size = path.stat().st_size
    if len(sums) != -(-size // _BLOCK):
        return True
    if not size:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        sizes = [min(_BLOCK, size - at * _BLOCK) for at in range(len(sums))]
        return any(checksum(data[at * _BLOCK : (at + 1) * _BLOCK]) != sums[at] for at in chosen(sizes, whole=whole))
