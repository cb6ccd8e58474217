"""The truth about the built-in samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from sightline.types import Box

Carrier: TypeAlias = Literal["exif", "xmp", "xmp sidecar", "takeout"]
"""Where a picture's facts are written: inside the file, or in a file beside it."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Things of one kind and colour in a picture; `box` (upright) holds them all."""

    kind: str
    colour: str
    count: int
    box: Box


@dataclass(frozen=True, slots=True)
class Scene:
    """What is true of one picture.

    Sizes and boxes are those of the upright picture. Time, place and device are what the file and its
    sidecars say, so None where they say nothing; a copy's `duplicate_of` leads to the picture that knows.
    `objects` are the things that someone would name; `scenery` are those that belong to the place.
    """

    id: str
    owner: str
    event: str | None
    place: str
    light: str
    objects: tuple[Thing, ...]
    scenery: tuple[Thing, ...]
    caption: str
    width: int
    height: int
    format: str
    sha256: str
    taken_at: datetime | None = None
    lat: float | None = None
    lon: float | None = None
    altitude: float | None = None
    device: str | None = None
    lens: str | None = None
    orientation: int = 1
    title: str | None = None
    keywords: tuple[str, ...] = ()
    rating: int | None = None
    carriers: tuple[Carrier, ...] = ()
    duplicate_of: str | None = None
    exact: bool = False
    burst: tuple[str, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Samples:
    """A folder of sample pictures and the truth about each, in the order of their ids."""

    folder: Path
    scenes: tuple[Scene, ...]

    def __getitem__(self, picture_id: str) -> Scene:
        for scene in self.scenes:
            if scene.id == picture_id:
                return scene
        raise KeyError(picture_id)
