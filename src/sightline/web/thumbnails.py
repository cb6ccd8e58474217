"""Small copies of pictures: made when they are first asked for, kept in the workspace, never with metadata.

And regions of pictures, as a drawing over them takes them.
"""

from __future__ import annotations

import io
import re
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from sightline.corpus.pixels import RefusedError, read_file
from sightline.corpus.small_copy import small_copy
from sightline.io.temporary_files import name_beside
from sightline.types import Box, Failure

WHOLE = 0
SIZES = (256, 512, 1600, WHOLE)
"""The longer side may be one of these; all pixels of a picture are never kept."""
KEY = re.compile("[0-9a-f]{64}")
_QUALITY, _WHOLE_QUALITY = 82, 92
_ANY = 1 << 16
Region: TypeAlias = tuple[float, float, float, float]
"""Left, top, width and height, in percent."""


def shrink(data: bytes, side: int) -> bytes | Failure:
    """A JPEG of the upright picture, its longer side at most `side`; or why there is none."""
    try:
        small = small_copy(data, side or _ANY)
    except RefusedError as refused:
        return Failure(refused.reason, refused.detail)
    out = io.BytesIO()
    small.save(out, "JPEG", quality=_QUALITY if side else _WHOLE_QUALITY)
    return out.getvalue()


class Thumbs:
    """The folder of small copies, each named by the picture's key and its size."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str, side: int, source: Path) -> bytes | Failure:
        """The small copy of a file, from the folder or made now."""
        kept = self._folder / key[:2] / f"{key}-{side}.jpg"
        with suppress(OSError):
            return kept.read_bytes()
        try:
            made = shrink(read_file(source), side)
        except RefusedError as refused:
            return Failure(refused.reason, refused.detail)
        if isinstance(made, bytes) and side != WHOLE:
            with suppress(OSError):  # Where nothing can be kept, it is made again.
                self._keep(kept, made)
        return made

    @staticmethod
    def _keep(path: Path, data: bytes) -> None:
        """Whole or not at all; it need not survive a power cut, since it can be made again."""
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = name_beside(path)
        temporary.write_bytes(data)
        temporary.replace(path)


def region_of(box: Box | None) -> Region | None:
    """The part of a picture that is meant; None for all of it."""
    if box is None:
        return None
    return 100 * box.left, 100 * box.top, 100 * (box.right - box.left), 100 * (box.bottom - box.top)
