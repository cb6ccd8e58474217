"""The files that are to be written for an event: a scene with its metadata, and the name that its device gives it.

Also where an event goes on its days, and at which times pictures are taken there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from random import Random

from sightline.class_names import known_as
from sightline_world.draw import PLACES, ScenePlan
from sightline_world.histories.events import EventKind, EventStage
from sightline_world.histories.people import file_stem, folder_of
from sightline_world.histories.towns import address_in, zone_of
from sightline_world.histories.years import HistoryPlan
from sightline_world.picture_files import Metadata
from sightline_world.truth import CopyKind, Device, Home, Town

PAUSE = timedelta(seconds=20)
ANY_TIME, EARLY, LATE = (0.0, 1.0), (0.0, 0.3), (0.7, 1.0)
_AT_HOME = ("kitchen", "garden")
COPIES: tuple[CopyKind, ...] = ("exact", "smaller", "crop", "received", "screenshot")
"""What becomes of copied pictures, in turn."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A stage on one day: where exactly it was."""

    stage: EventStage
    town: Town
    variant: int
    lat: float
    lon: float
    address: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A picture before it is known what it shows."""

    when: datetime
    visit: Visit


def visits_on(occasion: EventKind, town: Town, home: Home, rng: Random) -> list[Visit]:
    """The places of one day: the first, the last, and some of those in between."""
    middle = [stage for stage in occasion.stages[1:-1] if rng.random() < 0.6]
    return [visit_to(stage, town, home, rng) for stage in (occasion.stages[0], *middle, occasion.stages[-1])]


def visit_to(stage: EventStage, town: Town, home: Home, rng: Random) -> Visit:
    """Rooms and garden of a home keep their look; elsewhere it is another spot of the town."""
    at_home = stage.place in _AT_HOME and town.name == home.town
    lot = Random(f"{home.address}/{stage.place}") if at_home else rng
    variant = lot.randrange(PLACES[stage.place].variants)
    spot = Random(home.address) if at_home else rng
    lat, lon = (round(value + spot.uniform(-0.011, 0.011), 6) for value in (town.lat, town.lon))
    return Visit(stage, town, variant, lat, lon, home.address if at_home else address_in(town, rng))


def clock(town: Town, day: date, stage: EventStage, rng: Random, span: tuple[float, float]) -> datetime:
    """A time within a share of the stage's hours, by the town's clocks."""
    first, last = stage.hours
    start, end = (round(3600 * (first + share * (last - first))) for share in span)
    return datetime.combine(day, time(), zone_of(town, day)) + timedelta(seconds=rng.randrange(start, end))


def spaced(moments: list[Moment]) -> list[Moment]:
    """In the order of time, with pauses that no burst has."""
    spaced: list[Moment] = []
    for moment in sorted(moments, key=lambda each: each.when):
        if spaced and moment.when - spaced[-1].when < PAUSE:
            moment = replace(moment, when=spaced[-1].when + PAUSE)
        spaced.append(moment)
    return spaced


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


def make_frame(plan: HistoryPlan, moment: Moment, scene: ScenePlan, device: Device, number: int, rng: Random) -> Frame:
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
