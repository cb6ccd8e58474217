"""The photo histories of DISBench's users: `metadata/{user_id}.jsonl` and `photo_ids/{user_id}.txt`.

A photo's id is unique within its owner's history only, and names its file.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from sightline.benchmark.formats.base import Complaints, FormatOptions
from sightline.benchmark.formats.retrieval import finite_number, picture_uri, some
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, checked, read_rows
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.jsonl import read_lines
from sightline.types import Benchmark, Json, Picture, Task

EVERYONE = "all"
"""The one user that is written for a corpus without owners."""

_NO_FILE_NAME = str.maketrans({"/": "%2F", "\0": "%00"})
_SHA256 = re.compile("[0-9a-fA-F]{64}")
_BETWEEN = re.compile(r"[\s,;]+")
_KNOWN = ("taken_time", "latitude", "longitude", "address", "capturedevice")


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


class Histories:
    """The photos of users: of all whose files are there, or of those that the option `users` names."""

    def __init__(self, folder: Path, options: FormatOptions, complaints: Complaints) -> None:
        self._complaints = complaints
        self._metadata = _files(folder / "metadata", ".jsonl")
        self._lists = _files(folder / "photo_ids", ".txt")
        self._images = options.pictures or folder / "images"
        self._photo = options.column("photo_id")
        self.pictures: dict[str, Picture] = {}
        self.warnings: list[str] = []
        self.users = self._wanted(folder, options)

    def _wanted(self, folder: Path, options: FormatOptions) -> tuple[str, ...]:
        there = sorted({*self._metadata, *self._lists})
        if not there:
            raise UserError(
                f"{folder} has no metadata/{{user_id}}.jsonl.",
                "give the folder that holds queries.jsonl and metadata/",
            )
        given = options.extra.get("users")
        if given is None:
            return tuple(there)
        wanted = [name.strip() for name in given.split(",")]
        for name in wanted:
            if name not in there:
                raise UserError(f'there is no user "{name}" in {folder}.', f"there are {some(there)}")
        return tuple(dict.fromkeys(wanted))

    def read(self, user: str) -> tuple[str, ...]:
        """Take in a user's photos; their ids in the order of the file."""
        uri = picture_uri(file_name(user), self._images)
        described = self._described(self._metadata[user]) if user in self._metadata else {}
        hashes = dict(self._listed(user, described))
        found: list[Picture] = []
        if user in self._metadata:
            for photo, row in described.items():
                with checked(row, self._complaints):
                    place = f"{uri}/{_jpg(photo)}"
                    found.append(_picture(row, self._photo, picture_id(user, photo), place, hashes.get(photo)))
            self._report_strangers(user, [photo for photo in hashes if photo not in described])
        else:
            for photo, hashed in hashes.items():
                known = _hashes(hashed)
                found.append(Picture(picture_id(user, photo), f"{uri}/{_jpg(photo)}", known.sha256, extra=known.extra))
        self.pictures |= {picture.id: picture for picture in found}
        return tuple(picture.id for picture in found)

    def _described(self, file: Path) -> dict[str, TableRow]:
        """The rows of a user's metadata by photo id."""
        rows: dict[str, TableRow] = {}
        for row in read_rows(file, self._complaints):
            with checked(row, self._complaints):
                photo = row.id(self._photo)
                if photo in rows:
                    raise WrongFieldError(self._photo, f'"{photo}" is already on line {rows[photo].line}')
                if "/" in photo:
                    raise WrongFieldError(self._photo, f'expected an id that can name a file, got "{photo}"')
                rows[photo] = row
        return rows

    def _report_strangers(self, user: str, strangers: list[str]) -> None:
        if strangers:
            said = counted(len(strangers), "line names", "lines name")
            self.warnings.append(f"{self._lists[user]}: {said} no photo of metadata/{user}.jsonl: {some(strangers)}")

    def _listed(self, user: str, known: Container[str]) -> Iterator[tuple[str, str | None]]:
        if user in self._lists:
            for _, line in read_lines(self._lists[user]):
                yield _photo_and_hash(line.decode(errors="replace").strip(), known)


def _files(folder: Path, suffix: str) -> dict[str, Path]:
    """The files of a folder by user."""
    return {
        path.name.removesuffix(".gz").removesuffix(suffix): path
        for path in sorted(folder.glob("*"))
        if path.name.removesuffix(".gz").endswith(suffix)
    }


def _jpg(photo: str) -> str:
    return f"{photo if photo.isalnum() and photo.isascii() else quote(photo, safe='')}.jpg"


def _picture(row: TableRow, photo: str, name: str, uri: str, hashed: str | None) -> Picture:
    given = row.values.get("metadata")
    if not isinstance(given, dict | None):
        raise WrongFieldError("metadata", f"expected an object, got {given!r:.60}")
    known = given or {key: value for key, value in row.values.items() if key in _KNOWN}
    extra = {key: value for key, value in known.items() if key not in _KNOWN and value is not None}
    if len(row.values) > 2:
        extra |= row.rest(photo, "metadata", *(() if given else _KNOWN))
    stated = _hashes(hashed)
    return Picture(
        name,
        uri,
        sha256=stated.sha256,
        taken_at=_time(known.get("taken_time")),
        lat=_degrees(known, "latitude", 90),
        lon=_degrees(known, "longitude", 180),
        address=_text(known, "address"),
        device=_text(known, "capturedevice"),
        extra=extra | stated.extra,
    )


def _time(value: object) -> datetime | None:
    """Wall-clock time: DISBench does not say in which zone."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        with suppress(ValueError):
            return datetime.fromisoformat(value)
    raise WrongFieldError("metadata.taken_time", f"expected a time like 2010-04-10 13:52:57, got {value!r:.60}")


def _degrees(known: Mapping[str, object], field: str, limit: int) -> float | None:
    value = known.get(field)
    if value is None or value == "":
        return None
    number = finite_number(value)
    if number is None or abs(number) > limit:
        message = f"expected a number from -{limit} to {limit}, got {value!r:.60}"
        raise WrongFieldError(f"metadata.{field}", message)
    return number


def _text(known: Mapping[str, object], field: str) -> str | None:
    value = known.get(field)
    if value is not None and not isinstance(value, str):
        raise WrongFieldError(f"metadata.{field}", f"expected text, got {value!r:.60}")
    return value or None


def _photo_and_hash(line: str, known: Container[str]) -> tuple[str, str | None]:
    """The layout is not published: the part that is a known id is the id (else the first), another is the hash."""
    if line in known:
        return line, None
    parts = [part.strip() for part in line.split("\t")] if "\t" in line else _BETWEEN.split(line)
    photo = next((part for part in parts if part in known), parts[0])
    others = [part for part in parts if part and part != photo]
    return photo, next((part for part in others if _SHA256.fullmatch(part)), others[0] if others else None)


class _Hashes(NamedTuple):
    """What a list says of a photo's content."""

    sha256: str | None
    extra: dict[str, Json]


def _hashes(hashed: str | None) -> _Hashes:
    if hashed is None:
        return _Hashes(None, {})
    return _Hashes(hashed.lower(), {}) if _SHA256.fullmatch(hashed) else _Hashes(None, {"hash": hashed})
