"""Files that are to be written: a scene with its metadata, and the name that its device and its owner give it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from random import Random

from sightline.class_names import known_as
from sightline_world.draw import ScenePlan
from sightline_world.histories.devices import file_stem, folder_of
from sightline_world.histories.visits import Moment
from sightline_world.histories.years import LifePlan
from sightline_world.metadata import Metadata
from sightline_world.truth import CopyKind, Device

COPIES: tuple[CopyKind, ...] = ("exact", "smaller", "crop", "received", "screenshot")
"""What becomes of copied pictures, in turn."""


@known_as("Frame")
@dataclass(frozen=True, slots=True)
class Frame:
    """A file that is to be written; a copy has the plan of its source."""

    id: str
    plan: ScenePlan
    metadata: Metadata
    when: datetime
    town: str
    address: str
    orientation: int = 1
    burst: tuple[str, ...] = ()
    copy: CopyKind | None = None
    copy_of: str | None = None


@known_as("Batch")
@dataclass(frozen=True, slots=True)
class Batch:
    """The pictures of one event (or of the days between events) with all copies of them."""

    owner: str
    event: str | None
    frames: tuple[Frame, ...]


def make_frame(plan: LifePlan, moment: Moment, scene: ScenePlan, device: Device, number: int, rng: Random) -> Frame:
    visit, when = moment.visit, moment.when
    found = device.has_gps and (scene.place != "kitchen" or rng.random() < 0.8)
    metadata = Metadata(
        taken_at=when if device.writes_offset else when.replace(tzinfo=None),
        lat=round(visit.lat + rng.gauss(0, 0.0003), 6) if found else None,
        lon=round(visit.lon + rng.gauss(0, 0.0003), 6) if found else None,
        altitude=round(visit.town.altitude + rng.uniform(-3, 3), 1) if found else None,
        device=device,
    )
    stem = file_stem(device, number, when.strftime("%Y%m%d_%H%M%S"))
    folder = folder_of(plan.folders, when.date(), device)
    turned = 3 if rng.random() < 0.04 else 1
    id_ = f"{plan.life.owner}/{folder}/{stem}.jpg"
    return Frame(id_, scene, metadata, when, visit.town.name, visit.address, turned)


def make_copy(source: Frame, number: int) -> Frame:
    """The next kind of copy of a picture, under the name that it gets."""
    kind = COPIES[number % len(COPIES)]
    stem, owner = source.id.rpartition(".")[0], source.id.partition("/")[0]
    name = stem.rpartition("/")[2]
    id_ = {
        "exact": f"{stem} (1).jpg",
        "smaller": f"{owner}/exports/{name}-edited.jpg",
        "crop": f"{owner}/exports/{name}-crop.jpg",
        "received": f"{owner}/received/IMG-WA{number + 1:04}.jpg",
        "screenshot": f"{owner}/screenshots/Screenshot_{number + 1:04}.png",
    }[kind]
    known = replace(source, id=id_, copy=kind, copy_of=source.id)
    if kind == "exact":
        return known
    silent = kind in ("received", "screenshot")
    return replace(known, orientation=1, metadata=Metadata() if silent else source.metadata)
