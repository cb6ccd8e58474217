"""Where an event goes on its days, and at which times pictures are taken there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from random import Random

from sightline_world.draw import PLACES
from sightline_world.histories.occasions import Occasion, Stage
from sightline_world.histories.towns import address_in, zone_of
from sightline_world.truth import Home, Town

PAUSE = timedelta(seconds=20)
ANY_TIME, EARLY, LATE = (0.0, 1.0), (0.0, 0.3), (0.7, 1.0)
_AT_HOME = ("kitchen", "garden")


@dataclass(frozen=True, slots=True)
class Visit:
    """A stage on one day: where exactly it was."""

    stage: Stage
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


def visits_on(occasion: Occasion, town: Town, home: Home, rng: Random) -> list[Visit]:
    """The places of one day: the first, the last, and some of those in between."""
    middle = [stage for stage in occasion.stages[1:-1] if rng.random() < 0.6]
    return [visit_to(stage, town, home, rng) for stage in (occasion.stages[0], *middle, occasion.stages[-1])]


def visit_to(stage: Stage, town: Town, home: Home, rng: Random) -> Visit:
    """Rooms and garden of a home keep their look; elsewhere it is another spot of the town."""
    at_home = stage.place in _AT_HOME and town.name == home.town
    lot = Random(f"{home.address}/{stage.place}") if at_home else rng
    variant = lot.randrange(PLACES[stage.place].variants)
    spot = Random(home.address) if at_home else rng
    lat, lon = (round(value + spot.uniform(-0.011, 0.011), 6) for value in (town.lat, town.lon))
    return Visit(stage, town, variant, lat, lon, home.address if at_home else address_in(town, rng))


def clock(town: Town, day: date, stage: Stage, rng: Random, span: tuple[float, float]) -> datetime:
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
