"""A corpus: pictures (what is known of each, never its pixels), their rights, regions of them, and groups."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote_to_bytes

from sightline.class_names import known_as
from sightline.display import Table, pictures
from sightline.english import counted

_SHOWN = 12
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


@dataclass(frozen=True, slots=True)
class Rights:
    """Under what terms a picture may be used, and whom to name."""

    license: str | None = None
    doi: str | None = None
    source: str | None = None
    attribution: str | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of a corpus; pixels are read from `uri` when they are needed."""

    id: str
    uri: str
    sha256: str | None = None
    phash: int | None = None
    width: int | None = None
    height: int | None = None
    mime: str | None = None
    taken_at: datetime | None = None
    lat: float | None = None
    lon: float | None = None
    altitude: float | None = None
    address: str | None = None
    device: str | None = None
    rights: Rights = Rights()
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def path(self) -> Path | None:
        """The file on this machine, as `uri` has it; None for an address elsewhere."""
        if self.uri.startswith("file://"):
            return Path(os.fsdecode(unquote_to_bytes(self.uri.removeprefix("file://"))))
        return None if "://" in self.uri or self.uri.startswith("data:") else Path(self.uri)

    @property
    def taken_at_is_naive(self) -> bool:
        """The camera wrote wall-clock time with no offset from UTC."""
        return self.taken_at is not None and self.taken_at.tzinfo is None


@known_as("Box")
@dataclass(frozen=True, slots=True)
class Box:
    """A region of a picture, in fractions of its width and height (0 to 1)."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def is_valid(self) -> bool:
        """It has an area, and lies within the picture."""
        return 0 <= self.left < self.right <= 1 and 0 <= self.top < self.bottom <= 1

    def within(self, outer: Box | None) -> Box:
        """This region of a region, as a region of the whole."""
        if outer is None:
            return self
        wide, high = outer.right - outer.left, outer.bottom - outer.top
        return Box(
            outer.left + self.left * wide,
            outer.top + self.top * high,
            outer.left + self.right * wide,
            outer.top + self.bottom * high,
        )


@known_as("PictureRef")
@dataclass(frozen=True, slots=True)
class PictureRef:
    """A picture, or a region of it, mentioned inside a text."""

    id: str
    region: Box | None = None


GroupKind: TypeAlias = Literal["owner", "event", "dataset", "burst", "duplicate", "album", "film"]


@dataclass(frozen=True, slots=True)
class Group:
    """Pictures that belong together, in order; a hidden group is never shown to a system under test."""

    id: str
    kind: GroupKind
    pictures: tuple[str, ...]
    hidden: bool = False


@known_as("Corpus")
@dataclass(frozen=True, slots=True, repr=False)
class Corpus(Table[Picture]):
    """Pictures by id (held in memory, or read from a workspace one at a time) and their groups; rows are pictures."""

    name: str
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    groups: Sequence[Group] = ()

    def groups_of(self, kind: GroupKind) -> tuple[Group, ...]:
        return tuple(group for group in self.groups if group.kind == kind)

    def __iter__(self) -> Iterator[Picture]:
        return iter(self.pictures.values())

    def __len__(self) -> int:
        return len(self.pictures)

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each picture."""
        return [
            {
                "id": picture.id,
                "uri": picture.uri,
                "width": picture.width,
                "height": picture.height,
                "taken_at": picture.taken_at,
                "lat": picture.lat,
                "lon": picture.lon,
                "address": picture.address,
                "license": picture.rights.license,
                "sha256": picture.sha256,
            }
            for picture in self
        ]

    def _line(self) -> str:
        kinds = Counter(group.kind for group in self.groups if not group.hidden)
        groups = "".join(f", {counted(number, kind)}" for kind, number in kinds.items())
        return f"{self.name}: {counted(len(self), 'picture')}{groups}"

    def _blocks(self) -> Iterable[str]:
        from sightline.types.task_table import thumbnail_of

        shown = [thumbnail_of(picture) for picture in islice(self, _SHOWN)]
        if shown:
            yield pictures(shown)
        if len(self) > _SHOWN:
            yield f"… and {counted(len(self) - _SHOWN, 'more picture')}"
