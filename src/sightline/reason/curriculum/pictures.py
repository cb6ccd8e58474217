"""The pictures of a curriculum: copied or linked into its folder, so that it can go to another machine, or left.

One that a tool could show otherwise than models saw it (by its EXIF orientation, say) is drawn anew instead.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

import numpy as np
from PIL import Image, UnidentifiedImageError

from sightline.corpus.metadata import read_facts
from sightline.corpus.pixels import as_rgb, upright
from sightline.errors import UserError
from sightline.reason.curriculum.lessons import Lesson
from sightline.reason.curriculum.pool import Pool

Bringing: TypeAlias = Literal["copy", "link", "leave"]
FOLDER = "pictures"
_PLAIN = frozenset({"1", "L", "P", "RGB"})
"""Modes that every tool shows alike."""
_WRITTEN: dict[str, dict[str, Any]] = {"JPEG": {"quality": 95, "subsampling": 0}, "PNG": {}, "WEBP": {"quality": 95}}


@dataclass(frozen=True, slots=True)
class Pictures:
    """Where pictures are to be, seen from the curriculum's folder `out`."""

    pool: Pool
    out: Path
    how: Bringing = "copy"

    def path(self, name: str) -> str:
        """The path of a picture from the folder, with forward slashes."""
        if self.how == "leave":
            return Path(os.path.relpath(self._source(name), self.out.resolve())).as_posix()
        return f"{FOLDER}/{_inside(name)}"

    def bring(self, lessons: Iterable[Lesson], folder: Path) -> None:
        """Put the pictures of the lessons into a folder that is being written."""
        if self.how == "leave":
            return
        for name in (name for lesson in lessons for name in lesson.images):
            target = folder / self.path(name)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                self._put(self._source(name), target)

    def _put(self, source: Path, target: Path) -> None:
        try:
            if not _redrawn(source, target):
                self._take(source, target)
        except OSError as error:  # Python names the source, also where there is no room for the copy.
            raise UserError(
                f"{source} can't be copied to {self.out}: {error.strerror}.", "make room, or add --pictures leave"
            ) from None

    def _take(self, source: Path, target: Path) -> None:
        if self.how == "link":
            try:
                os.link(source, target)
                return
            except OSError:  # Another disk, or one without hard links.
                pass
        shutil.copyfile(source, target)

    def _source(self, name: str) -> Path:
        path = self.pool.picture(name).path
        assert path is not None  # Proved before.
        return path.resolve()


def _redrawn(source: Path, target: Path) -> bool:
    """Where a file looks otherwise to tools that turn nothing than models were shown it: written upright, on white."""
    try:
        image = Image.open(source)
    except UnidentifiedImageError:  # Of a format that needs an extra package here; the tools may have it.
        return False
    with image:
        turn = read_facts(image).orientation
        if turn == 1 and image.mode in _PLAIN and "transparency" not in image.info:
            return False
        format_ = image.format if image.format in _WRITTEN else "PNG"
        pixels = np.ascontiguousarray(upright(np.asarray(as_rgb(image)), turn))
        Image.fromarray(pixels).save(target, format_, **_WRITTEN[format_])
        return True


def _inside(name: str) -> str:
    """The name itself where it stays below the folder, else one made of it."""
    parts = PurePosixPath(name).parts
    if parts and parts[0] != "/" and ".." not in parts and "\\" not in name:
        return "/".join(parts)
    return f"{blake2b(name.encode(), digest_size=12).hexdigest()}{PurePosixPath(name).suffix}"
