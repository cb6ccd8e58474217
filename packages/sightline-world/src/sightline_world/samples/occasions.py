"""What happened in two invented lives: the owners, what they carry, and the days they took pictures of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from sightline_world.data import read_data
from sightline_world.draw import COLOURS, KINDS
from sightline_world.truth import Device


@dataclass(frozen=True, slots=True)
class SampleCamera:
    """What took a picture, and how large its pictures are."""

    device: Device
    size: tuple[int, int]


@dataclass(frozen=True, slots=True)
class SampleWish:
    """What should be in a picture: people go by the colour of their coats."""

    kind: str
    colour: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class SampleShot:
    """One picture worth taking: place, light, things ("2 red balloon", colours by lot where none is given)."""

    place: str
    light: str
    things: str
    moving: str | None = None


@dataclass(frozen=True, slots=True)
class SampleOccasion:
    """An event in an owner's life, with the hour of dusk there and then."""

    id: str
    owner: str
    title: str
    town: str
    day: date
    days: int
    lat: float
    lon: float
    altitude: float
    utc_offset: int
    dusk: float
    shots: tuple[SampleShot, ...]


LUMEN = SampleCamera(Device("Lumen", "Lumen G2", "Lumen 24-70mm F4", 4.0, 35.0), (1024, 768))
HERON = SampleCamera(Device("Heron", "Heron 40", "Heron 35mm F2", 2.0, 35.0, writes_offset=False), (900, 600))
PHONE = SampleCamera(Device("Kestrel", "Kestrel Phone 5", "Kestrel Phone 5 back camera", 1.9, 5.4), (800, 600))

CAMERAS = {"ana": (LUMEN, PHONE), "ben": (HERON, PHONE)}
BELONGINGS = ("dog", "cat", "car", "bicycle", "tent", "mug")
"""What an owner has one of, so that it keeps its colour from picture to picture."""

OCCASIONS = tuple(
    SampleOccasion(**{**told, "shots": tuple(SampleShot(**shot) for shot in told["shots"])})
    for told in read_data("samples/occasions.toml")["occasion"]
)


def parse_thing(words: str) -> tuple[str, str | None, int]:
    """`2 red balloon` → kind, colour (None: by lot), count."""
    parts = words.split()
    count = int(parts.pop(0)) if parts[0].isdigit() else 1
    colour = parts.pop(0) if parts[0] in COLOURS else None
    kind = " ".join(parts)
    if kind not in KINDS:
        raise ValueError(f"unknown kind of thing: {kind}")
    return kind, colour, count
