"""The pictures of a curriculum: copied or linked into its folder, so that it can go to another machine, or left.

One that a tool could show otherwise than models saw it (by its EXIF orientation, say) is drawn again instead. The name
of a copy ends as what it is, whatever the picture is called.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from PIL import Image, UnidentifiedImageError

from sightline.corpus.metadata import read_facts
from sightline.corpus.pixels import as_rgb, identify, upright
from sightline.errors import UserError
from sightline.reason.curriculum.lessons import Lesson
from sightline.reason.curriculum.pool import QuestionPool

Bringing: TypeAlias = Literal["copy", "link", "leave"]
BRINGING: tuple[Bringing, ...] = get_args(Bringing)
FOLDER = "pictures"
_PLAIN = frozenset({"1", "L", "P", "RGB"})
"""Modes that every tool shows alike."""
_WRITTEN: dict[str, dict[str, Any]] = {"JPEG": {"quality": 95, "subsampling": 0}, "PNG": {}, "WEBP": {"quality": 95}}
_ENDINGS = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "PNG": (".png", ".apng"),
    "WEBP": (".webp",),
    "GIF": (".gif",),
    "BMP": (".bmp", ".dib"),
    "TIFF": (".tif", ".tiff"),
    "HEIF": (".heic", ".heif", ".hif"),
    "AVIF": (".avif",),
}
"""Of each format; the first is given to names that have none of them."""
_LONGEST = 255
"""Bytes of a file's name."""


class _Copy(NamedTuple):
    """What becomes of a file: the format of its copy, and whether that is drawn again."""

    format: str
    anew: bool


@dataclass(frozen=True, slots=True)
class CurriculumPictures:
    """Where pictures are to be, seen from the curriculum's folder `out`."""

    pool: QuestionPool
    out: Path
    how: Bringing = "copy"
    _copy: Callable[[Path], _Copy] = field(default_factory=lambda: lru_cache(maxsize=4096)(_copy_of))

    def path(self, name: str) -> str:
        """The path of a picture from the folder, with forward slashes."""
        if self.how == "leave":
            return Path(os.path.relpath(self._source(name), self.out.resolve())).as_posix()
        called = _ending(name, self._copy(self._source(name)).format)
        if not _is_usable(called) or self._meets_another(name, called):
            called = f"{blake2b(name.encode(), digest_size=12).hexdigest()}{PurePosixPath(called).suffix}"
        return f"{FOLDER}/{PurePosixPath(called)}"

    def bring(self, lessons: Iterable[Lesson], folder: Path) -> None:
        """Put the pictures of the lessons into a folder that is being written."""
        if self.how == "leave":
            return
        for name in (name for lesson in lessons for name in lesson.images):
            target = folder / self.path(name)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                self._put(self._source(name), target)

    def _meets_another(self, name: str, called: str) -> bool:
        """Would the copy have the name of another picture, or lie in a folder that has?"""
        above = [str(folder) for folder in PurePosixPath(called).parents if folder.suffix]
        wanted = above if called == name else [called, *above]
        return any(self.pool.picture(other).path is not None for other in wanted)

    def _put(self, source: Path, target: Path) -> None:
        copy = self._copy(source)
        try:
            if copy.anew:
                _draw(source, target, copy.format)
            else:
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


def _copy_of(source: Path) -> _Copy:
    """A file that looks otherwise to tools that turn nothing than models were shown it is drawn again."""
    try:
        with source.open("rb") as file:
            format_ = identify(file.read(64)) or ""
        image = Image.open(source)
    except UnidentifiedImageError:  # Of a format that needs an extra package here; the tools may have it.
        return _Copy(format_, anew=False)
    except OSError as error:
        raise UserError(
            f"{source} can't be read: {error.strerror}.", "check that it exists, and run it again"
        ) from None
    with image:
        if image.mode in _PLAIN and "transparency" not in image.info and read_facts(image).orientation == 1:
            return _Copy(format_, anew=False)
    return _Copy(format_ if format_ in _WRITTEN else "PNG", anew=True)


def _draw(source: Path, target: Path, format_: str) -> None:
    """Upright, on white."""
    with Image.open(source) as image:
        turn = read_facts(image).orientation
        pixels = np.ascontiguousarray(upright(np.asarray(as_rgb(image)), turn))
    Image.fromarray(pixels).save(target, format_, **_WRITTEN[format_])


def _ending(name: str, format_: str) -> str:
    """The name with an ending of the format, which is added to a wrong one: "a.jpg" and "a.png" stay two files."""
    endings = _ENDINGS.get(format_, ("",))
    return name if name.lower().endswith(endings) else f"{name}{endings[0]}"


def _is_usable(name: str) -> bool:
    """Does it stay below the folder, and is no part of it too long for a file's name?"""
    parts = PurePosixPath(name).parts
    below = bool(parts) and parts[0] != "/" and ".." not in parts and "\\" not in name
    return below and all(len(part.encode()) <= _LONGEST for part in parts)
