"""What happened in two invented lives: the owners, what they carry, and the days they took pictures of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

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

OCCASIONS = (
    SampleOccasion(
        id="ana-2023-02-winter-weekend",
        owner="ana",
        title="Winter weekend",
        town="Zermatt",
        day=date(2023, 2, 11),
        days=2,
        lat=46.0207,
        lon=7.7491,
        altitude=1620.0,
        utc_offset=1,
        dusk=17.4,
        shots=(
            SampleShot("snow", "day", "snowman, person, red house"),
            SampleShot("snow", "sunset", "yellow house, 2 person"),
            SampleShot("snow", "day", "dog, ball, person", moving="ball"),
            SampleShot("snow", "night", "house, snowman"),
            SampleShot("snow", "fog", "person, dog"),
        ),
    ),
    SampleOccasion(
        id="ben-2023-04-match",
        owner="ben",
        title="The match",
        town="Sheffield",
        day=date(2023, 4, 22),
        days=1,
        lat=53.3703,
        lon=-1.4709,
        altitude=72.0,
        utc_offset=1,
        dusk=18.2,
        shots=(
            SampleShot("stadium", "day", "3 red person, 2 white person, ball", moving="ball"),
            SampleShot("street", "day", "car, 2 red person"),
            SampleShot("stadium", "day", "2 red person, 3 white person, ball"),
            SampleShot("stadium", "sunset", "4 red person, white person"),
            SampleShot("street", "sunset", "2 red person, bicycle"),
        ),
    ),
    SampleOccasion(
        id="ana-2023-06-lake-trip",
        owner="ana",
        title="Trip to the lake",
        town="Bled",
        day=date(2023, 6, 17),
        days=2,
        lat=46.3636,
        lon=14.0938,
        altitude=481.0,
        utc_offset=2,
        dusk=20.8,
        shots=(
            SampleShot("lake", "day", "red boat, person, dog", moving="boat"),
            SampleShot("forest", "night", "tent, dog"),
            SampleShot("forest", "day", "tent, person, bicycle"),
            SampleShot("lake", "sunset", "boat, hot-air balloon"),
            SampleShot("lake", "fog", "boat"),
        ),
    ),
    SampleOccasion(
        id="ana-2023-09-birthday",
        owner="ana",
        title="Birthday",
        town="Ghent",
        day=date(2023, 9, 9),
        days=1,
        lat=51.0536,
        lon=3.7253,
        altitude=9.0,
        utc_offset=2,
        dusk=19.9,
        shots=(
            SampleShot("kitchen", "day", "cake, 2 mug, 3 apple"),
            SampleShot("garden", "day", "cake, 3 red balloon, person"),
            SampleShot("garden", "day", "dog, ball, person, tree", moving="ball"),
            SampleShot("garden", "sunset", "4 balloon, 2 person, house"),
            SampleShot("kitchen", "night", "mug, cat, cake"),
        ),
    ),
    SampleOccasion(
        id="ben-2023-12-sailing",
        owner="ben",
        title="Sailing week",
        town="Wellington",
        day=date(2023, 12, 28),
        days=2,
        lat=-41.2906,
        lon=174.7839,
        altitude=3.0,
        utc_offset=13,
        dusk=20.8,
        shots=(
            SampleShot("harbour", "day", "2 boat, person"),
            SampleShot("beach", "day", "umbrella, 2 boat, dog", moving="boat"),
            SampleShot("harbour", "fog", "boat, person"),
            SampleShot("beach", "sunset", "kite, person"),
            SampleShot("harbour", "night", "2 boat"),
        ),
    ),
    SampleOccasion(
        id="ana-2024-01-beach-holiday",
        owner="ana",
        title="Beach holiday",
        town="Valparaíso",
        day=date(2024, 1, 20),
        days=3,
        lat=-33.0247,
        lon=-71.5518,
        altitude=4.0,
        utc_offset=-3,
        dusk=20.7,
        shots=(
            SampleShot("beach", "day", "umbrella, ball, person"),
            SampleShot("beach", "sunset", "boat, 2 person"),
            SampleShot("harbour", "day", "2 boat, bicycle"),
            SampleShot("beach", "day", "kite, dog, person", moving="dog"),
            SampleShot("harbour", "night", "boat, person"),
        ),
    ),
    SampleOccasion(
        id="ben-2024-03-city-nights",
        owner="ben",
        title="Nights in the city",
        town="Buenos Aires",
        day=date(2024, 3, 16),
        days=2,
        lat=-34.6083,
        lon=-58.3712,
        altitude=25.0,
        utc_offset=-3,
        dusk=19.3,
        shots=(
            SampleShot("street", "night", "car, person"),
            SampleShot("street", "sunset", "car, 2 person", moving="car"),
            SampleShot("market", "night", "2 person, balloon"),
            SampleShot("kitchen", "night", "mug, cat, apple"),
            SampleShot("street", "night", "bicycle, dog"),
        ),
    ),
    SampleOccasion(
        id="ben-2024-06-birthday",
        owner="ben",
        title="Garden party",
        town="Sheffield",
        day=date(2024, 6, 8),
        days=1,
        lat=53.3811,
        lon=-1.4701,
        altitude=96.0,
        utc_offset=1,
        dusk=21.3,
        shots=(
            SampleShot("garden", "day", "cake, 4 balloon, person"),
            SampleShot("garden", "day", "person, dog, kite", moving="dog"),
            SampleShot("kitchen", "day", "cake, mug, 2 apple"),
            SampleShot("garden", "sunset", "house, tree, 2 person"),
            SampleShot("garden", "night", "3 balloon, cake, person"),
        ),
    ),
    SampleOccasion(
        id="ben-2024-09-evening-match",
        owner="ben",
        title="Evening match",
        town="Sheffield",
        day=date(2024, 9, 14),
        days=1,
        lat=53.3703,
        lon=-1.4709,
        altitude=72.0,
        utc_offset=1,
        dusk=19.3,
        shots=(
            SampleShot("stadium", "night", "3 red person, 2 blue person, ball", moving="ball"),
            SampleShot("stadium", "sunset", "2 red person, 2 blue person, ball"),
            SampleShot("street", "night", "car, 2 red person"),
            SampleShot("stadium", "night", "2 red person, 3 blue person, ball"),
            SampleShot("stadium", "night", "4 red person, ball"),
        ),
    ),
    SampleOccasion(
        id="ana-2024-10-market-day",
        owner="ana",
        title="Market day",
        town="Ghent",
        day=date(2024, 10, 5),
        days=1,
        lat=51.0555,
        lon=3.7226,
        altitude=10.0,
        utc_offset=2,
        dusk=19.0,
        shots=(
            SampleShot("market", "day", "2 person, bicycle"),
            SampleShot("street", "day", "car, bicycle, person"),
            SampleShot("market", "fog", "person, dog"),
            SampleShot("market", "sunset", "3 balloon, person"),
            SampleShot("street", "night", "car, dog"),
        ),
    ),
    SampleOccasion(
        id="ben-2024-10-dead-sea",
        owner="ben",
        title="By the Dead Sea",
        town="Ein Bokek",
        day=date(2024, 10, 26),
        days=1,
        lat=31.2001,
        lon=35.3625,
        altitude=-430.0,
        utc_offset=3,
        dusk=17.7,
        shots=(
            SampleShot("beach", "day", "umbrella, person"),
            SampleShot("beach", "fog", "dog, ball"),
            SampleShot("beach", "day", "hot-air balloon, 2 person"),
            SampleShot("beach", "sunset", "umbrella, kite"),
            SampleShot("beach", "night", "tent, person"),
        ),
    ),
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
