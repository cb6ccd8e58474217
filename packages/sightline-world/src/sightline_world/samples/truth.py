"""The truth about the built-in samples, and a contact sheet that shows many of them at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from PIL import Image, ImageOps

from sightline.types import Box

Carrier: TypeAlias = Literal["exif", "xmp", "xmp sidecar", "takeout"]
"""Where a picture's facts are written: inside the file, or in a file beside it."""
_GAP = 6
_PAPER = (250, 249, 246)


@dataclass(frozen=True, slots=True)
class SampleThing:
    """Things of one kind and colour in a picture; `box` (upright) holds them all."""

    kind: str
    colour: str
    count: int
    box: Box


@dataclass(frozen=True, slots=True)
class SampleScene:
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
    objects: tuple[SampleThing, ...]
    scenery: tuple[SampleThing, ...]
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
    scenes: tuple[SampleScene, ...]

    def __getitem__(self, picture_id: str) -> SampleScene:
        for scene in self.scenes:
            if scene.id == picture_id:
                return scene
        raise KeyError(picture_id)


def contact_sheet(
    samples: Samples, *, columns: int = 8, cell: tuple[int, int] = (180, 135), copies: bool = False
) -> Image.Image:
    """The samples side by side, upright; without `copies`, duplicates and later frames of a burst are left out."""
    shown = [
        scene
        for scene in samples.scenes
        if copies or (scene.duplicate_of is None and scene.burst[:1] in ((), (scene.id,)))
    ]
    wide, high = cell[0] + _GAP, cell[1] + _GAP
    rows = -(-len(shown) // columns)
    sheet = Image.new("RGB", (columns * wide + _GAP, rows * high + _GAP), _PAPER)
    for number, scene in enumerate(shown):
        with Image.open(samples.folder / scene.id) as image:
            upright = ImageOps.exif_transpose(image).convert("RGB")
        small = ImageOps.pad(upright, cell, Image.Resampling.LANCZOS, color=_PAPER)
        sheet.paste(small, (_GAP + number % columns * wide, _GAP + number // columns * high))
    return sheet
