"""Names of pictures in DISBench: a photo's id is unique within its owner's history only, and names its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sightline.errors import UserError
from sightline.types import Benchmark, Task

EVERYONE = "all"
"""The one user that is written for a corpus without owners."""

_NO_FILE_NAME = str.maketrans({"/": "%2F", "\0": "%00"})


def picture_id(user: str, photo: str) -> str:
    """Our id of a photo: `{user_id}/{photo_id}`."""
    return f"{user}/{photo}"


def file_name(name: str) -> str:
    """A user's or a photo's id as the name of a file: what no file name may hold is percent-encoded."""
    safe = name.translate(_NO_FILE_NAME)
    return safe.replace(".", "%2E") if safe in (".", "..") else safe


def owner_of(task: Task) -> str:
    """Whose history a task searches."""
    return EVERYONE if task.scope.owner is None else task.scope.owner


class PhotoIds:
    """Each owner's pictures by photo id, and the other way round.

    A photo id is what follows `{owner}/` in the picture's id, or all of it, fit to be a file name.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        there = benchmark.corpus.pictures
        owners = benchmark.corpus.groups_of("owner")
        histories = {group.id: [name for name in group.pictures if name in there] for group in owners}
        if not owners:
            histories = {EVERYONE: list(there)}
        self._pictures = {owner: _by_photo(owner, pictures) for owner, pictures in histories.items()}
        self._photos = {
            owner: {picture: photo for photo, picture in pictures.items()} for owner, pictures in self._pictures.items()
        }

    @property
    def owners(self) -> tuple[str, ...]:
        return tuple(self._pictures)

    def history(self, owner: str) -> Mapping[str, str]:
        """Picture ids by photo id, in order."""
        return self._pictures.get(owner, {})

    def picture(self, owner: str, photo: str) -> str:
        """The picture that an owner's photo id stands for; an unknown one stays as it is."""
        return self.history(owner).get(photo, photo)

    def owns(self, owner: str, picture: str) -> bool:
        """Is this one of the owner's pictures?"""
        return picture in self._photos.get(owner, {})

    def photo(self, owner: str, picture: str) -> str:
        """The photo id of an owner's picture; that of a stranger's picture is its whole id."""
        return self._photos.get(owner, {}).get(picture, picture)


def _by_photo(owner: str, pictures: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for picture in pictures:
        photo = file_name(picture.removeprefix(f"{owner}/"))
        if found.setdefault(photo, picture) != picture:
            raise UserError(
                f'pictures "{found[photo]}" and "{picture}" of "{owner}" would both be photo "{photo}".',
                "rename one of them",
            )
    return found
