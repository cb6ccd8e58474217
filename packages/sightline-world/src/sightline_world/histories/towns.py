"""The map: invented towns at real spots, their hours and their daylight."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta, timezone
from random import Random
from typing import NamedTuple

from sightline_world.data import read_data
from sightline_world.sign_words import invented
from sightline_world.truth import Setting, Town

_LONGEST_NAME = 9
_DATA = read_data("histories/towns.toml")
_STREETS: tuple[str, ...] = _DATA["streets"]


class TownSpot(NamedTuple):
    """A real spot on land with its country, height, standard time, and whether summer time is kept by the EU's rule."""

    country: str
    setting: Setting
    lat: float
    lon: float
    altitude: float
    utc_offset: int
    summer_time: bool = True


SPOTS = tuple(TownSpot(*row) for row in _DATA["spots"])


def town_map(seed: int) -> tuple[Town, ...]:
    """A town with a name of its own at every spot; all lives of one seed share the map."""
    rng = Random(f"{seed}/map")
    names: list[str] = []
    while len(names) < len(SPOTS):
        name = invented(rng).title()
        if 4 <= len(name) <= _LONGEST_NAME and name not in names:
            names.append(name)
    return tuple(Town(name, *spot) for name, spot in zip(names, SPOTS, strict=True))


def towns_of(towns: Sequence[Town], settings: Sequence[Setting]) -> list[Town]:
    """The towns that lie by the sea, by a lake, …"""
    return [town for town in towns if town.setting in settings]


def address_in(town: Town, rng: Random) -> str:
    """ "12 Mill Lane, Stainford, Ireland"."""
    return f"{rng.randint(1, 120)} {rng.choice(_STREETS)}, {town.name}, {town.country}"


def zone_of(town: Town, day: date) -> timezone:
    """The town's offset from UTC on a day; the day of a change counts as changed."""
    summer = town.summer_time and _last_sunday(day.year, 3) <= day < _last_sunday(day.year, 10)
    return timezone(timedelta(hours=town.utc_offset + summer))


def _last_sunday(year: int, month: int) -> date:
    last = date(year, month, 31)
    return last - timedelta(days=(last.weekday() + 1) % 7)


class Daylight(NamedTuple):
    """Hours of the clock at which the sun rises and sets."""

    rise: float
    set: float

    def light(self, hour: float) -> str:
        """ "day", "sunset" (also the hour of sunrise) or "night"."""
        if min(abs(hour - self.rise), abs(hour - self.set)) <= 0.75:
            return "sunset"
        return "day" if self.rise < hour < self.set else "night"


def daylight(town: Town, day: date) -> Daylight:
    """When the sun rises and sets, to some minutes; near the pole there is always a little of both."""
    turn = 2 * math.pi * (day.timetuple().tm_yday + 10) / 365.25
    tilt = -math.radians(23.44) * math.cos(turn)
    reach = -math.tan(math.radians(town.lat)) * math.tan(tilt)
    half = math.degrees(math.acos(max(-0.97, min(0.97, reach)))) / 15
    offset = zone_of(town, day).utcoffset(None)
    noon = 12 + offset.total_seconds() / 3600 - town.lon / 15
    return Daylight(noon - half, noon + half)


def is_winter(town: Town, day: date) -> bool:
    """Whether rain falls as snow: north of 40 degrees, for longer in the mountains."""
    cold = (11, 12, 1, 2, 3, 4) if town.setting == "mountain" else (12, 1, 2, 3)
    return town.lat > 40 and day.month in cold


def weather(town: Town, day: date, seed: str) -> Iterator[str | None]:
    """For morning, afternoon and evening what hides the sun: fog, rain, snowfall or nothing."""
    rng = Random(f"{seed}/weather/{town.name}/{day}")
    wet = "snowfall" if is_winter(town, day) else "rain"
    foggy, wetter = (0.1, 0.02) if town.setting == "desert" else (0.3, 0.16)
    falling = False
    for part in range(3):
        fog = rng.random() < (foggy if part == 0 else foggy / 5)
        falling = rng.random() < (0.5 if falling else wetter)
        yield "fog" if fog else wet if falling else None


def light_at(town: Town, when: datetime, seed: str) -> str:
    """The world's word for the light at a time: weather hides the day, and the night hides the weather."""
    hour = when.hour + when.minute / 60
    light = daylight(town, when.date()).light(hour)
    hidden = list(weather(town, when.date(), seed))[0 if hour < 11 else 1 if hour < 17 else 2]
    return light if light == "night" or hidden is None else hidden
