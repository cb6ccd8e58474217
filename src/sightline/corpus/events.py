"""Events of a photo history: cut at long pauses and long jumps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sightline.config import EventSettings


@dataclass(frozen=True, slots=True)
class Moment:
    """When and where a picture was taken."""

    id: str
    owner: str | None
    taken_at: str
    seconds: float
    lat: float | None
    lon: float | None


def split_events(moments: Iterable[Moment], settings: EventSettings) -> Iterator[list[Moment]]:
    """Cut each owner's moments, in order of time, at long pauses and long jumps."""
    event: list[Moment] = []
    last_place: Moment | None = None
    for moment in moments:
        if event and _begins_event(event[-1], last_place, moment, settings):
            yield event
            event, last_place = [], None
        event.append(moment)
        if moment.lat is not None:
            last_place = moment
    if event:
        yield event


def _begins_event(before: Moment, last_place: Moment | None, now: Moment, settings: EventSettings) -> bool:
    if now.owner != before.owner or now.seconds - before.seconds > 3600 * settings.gap_hours:
        return True
    return last_place is not None and now.lat is not None and kilometres(last_place, now) > settings.distance_km


def kilometres(a: Moment, b: Moment) -> float:
    """Great-circle distance of two moments that have a place."""
    assert a.lat is not None and a.lon is not None and b.lat is not None and b.lon is not None
    phi, theta = math.radians(a.lat), math.radians(b.lat)
    half = (
        math.sin((theta - phi) / 2) ** 2
        + math.cos(phi) * math.cos(theta) * math.sin(math.radians(b.lon - a.lon) / 2) ** 2
    )
    return 2 * 6371.0 * math.asin(math.sqrt(min(1.0, half)))
