"""What is true of the world's lives: owners, friends, belongings, events, what links them, and every picture.

One owner's life is a `Life`; several on one map are a `World`. Names are lasting identities that no picture tells:
a system under test sees looks, words on signs, times and positions only.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from sightline.class_names import known_as
from sightline_world.scene import SceneGraph

Setting: TypeAlias = Literal["inland", "coast", "lake", "mountain", "desert"]
CopyKind: TypeAlias = Literal["exact", "smaller", "crop", "received", "screenshot"]
"""`exact` has the same bytes; `smaller` and `crop` keep time and device; the other two are files that say nothing."""
LinkKind: TypeAlias = Literal["belonging", "bought", "friend", "met", "town", "team"]
"""`bought` is a belonging that came from one of the events; `met` is a friend who was met at the first of them."""


@dataclass(frozen=True, slots=True)
class Town:
    """An invented town at a real spot: `country` and offsets from UTC (standard time, in hours) are the real ones."""

    name: str
    country: str
    setting: Setting
    lat: float
    lon: float
    altitude: float
    utc_offset: int
    summer_time: bool


@dataclass(frozen=True, slots=True)
class Home:
    """Where the owner lives from a day on."""

    town: str
    address: str
    since: date


@dataclass(frozen=True, slots=True)
class Friend:
    """Someone with lasting looks; `met` is the event of the first meeting, None for an old friend.

    The owner is in this list too (`name` equals the life's `owner`), since friends take pictures of the owner.
    """

    name: str
    hair: str
    headgear: str
    headgear_colour: str | None
    coats: tuple[str, ...]
    met: str | None = None


@dataclass(frozen=True, slots=True)
class Belonging:
    """A thing or an animal of the owner's, the same in every picture; `bought` is the event that it came from."""

    name: str
    kind: str
    colour: str
    size: str
    since: date
    until: date | None = None
    bought: str | None = None


@dataclass(frozen=True, slots=True)
class Team:
    """The owner's team: its name stands on banners, its colour is on coats and flags."""

    name: str
    colour: str


@known_as("Device")
@dataclass(frozen=True, slots=True)
class Device:
    """What takes pictures; without an offset its times are naive, without a receiver it knows no position."""

    make: str
    model: str
    lens: str
    f_number: float
    focal_mm: float
    writes_offset: bool = True
    has_gps: bool = True


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was worth taking pictures of; `pictures` counts them, copies left out.

    `friends` and `belongings` are those who were there, whether or not a picture shows them.
    """

    id: str
    kind: str
    title: str
    town: str
    first: date
    last: date
    pictures: int
    friends: tuple[str, ...] = ()
    belongings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """What connects events: `via` (a name, or the words of a sign) can be seen in each of `pictures`.

    Events and pictures are in the order of time, copies left out; every event has at least one of the pictures.
    """

    kind: LinkKind
    via: str
    events: tuple[str, ...]
    pictures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SyntheticHistory:
    """One owner's years."""

    owner: str
    homes: tuple[Home, ...]
    towns: tuple[Town, ...]
    friends: tuple[Friend, ...]
    belongings: tuple[Belonging, ...]
    team: Team
    devices: tuple[Device, ...]
    events: tuple[Event, ...]
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class World:
    """Lives in one folder: `pictures/OWNER/…`, and beside it `truth.jsonl`, `life.json` and `addresses.jsonl`."""

    folder: Path
    seed: int
    lives: tuple[SyntheticHistory, ...]

    @property
    def pictures(self) -> Path:
        return self.folder / "pictures"


@dataclass(frozen=True, slots=True)
class Captions:
    """A picture in words, from few to many."""

    tags: str
    short: str
    sentence: str
    full: str


@dataclass(frozen=True, slots=True)
class ShotTruth:
    """What is true of one picture file.

    `when` and `town` are always known here; `taken_at`, `lat`, `lon`, `altitude` and `device` are what the file says,
    None where it says nothing. `people` and `belongings` are the names of those that the picture shows.
    `event` is None for what was taken between events. `burst` holds the ids of all its frames, this one included.
    `plan` is a print of what the picture was planned as: equal prints mean equal pictures.
    """

    id: str
    owner: str
    event: str | None
    when: datetime
    town: str
    address: str
    graph: SceneGraph
    captions: Captions
    people: tuple[str, ...]
    belongings: tuple[str, ...]
    width: int
    height: int
    sha256: str
    plan: str
    taken_at: datetime | None = None
    lat: float | None = None
    lon: float | None = None
    altitude: float | None = None
    device: str | None = None
    orientation: int = 1
    burst: tuple[str, ...] = ()
    duplicate_of: str | None = None
    copy: CopyKind | None = None
