"""The pictures of a curriculum: copied or linked into its folder, so that it can go to another machine, or left."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from sightline.errors import UserError
from sightline.reason.curriculum.lessons import Lesson
from sightline.reason.curriculum.pool import Pool

Bringing: TypeAlias = Literal["copy", "link", "leave"]
FOLDER = "pictures"


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
        if self.how == "link":
            try:
                os.link(source, target)
                return
            except OSError:  # Another disk, or one without hard links.
                pass
        try:
            shutil.copyfile(source, target)
        except OSError as error:  # Python names the source, also where there is no room for the copy.
            raise UserError(
                f"{source} can't be copied to {self.out}: {error.strerror}.", "make room, or add --pictures leave"
            ) from None

    def _source(self, name: str) -> Path:
        path = self.pool.picture(name).path
        assert path is not None  # Proved before.
        return path.resolve()


def _inside(name: str) -> str:
    """The name itself where it stays below the folder, else one made of it."""
    parts = PurePosixPath(name).parts
    if parts and parts[0] != "/" and ".." not in parts and "\\" not in name:
        return "/".join(parts)
    return f"{blake2b(name.encode(), digest_size=12).hexdigest()}{PurePosixPath(name).suffix}"
