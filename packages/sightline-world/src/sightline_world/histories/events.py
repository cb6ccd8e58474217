"""Kinds of events: where and when they happen, what one sees there, and what comes along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sightline_world.data import read_data
from sightline_world.truth import Setting

Words: TypeAlias = Literal["town", "team", "band"]

# Kitchens and streets are part of many events, so that they would fill the years.
_EVERYDAY = ("kitchen", "street")
_WORTH_MORE = ("snow", "lake", "stadium", "library")


@dataclass(frozen=True, slots=True)
class EventStage:
    """A part of the day in one place: the hours, the kinds of things that one may see, and how much one photographs."""

    place: str
    hours: tuple[float, float]
    things: tuple[str, ...]
    weight: int = 1


@dataclass(frozen=True, slots=True)
class EventKind:
    """A kind of event; with no `settings` it is at home. Months are those of the north.

    On every day of it the first and the last stage are visited, and some of the others. `brings` are the kinds of
    belongings that come along, `words` is what its signs say.
    """

    kind: str
    titles: tuple[str, ...]
    stages: tuple[EventStage, ...]
    brings: tuple[str, ...]
    settings: tuple[Setting, ...] = ()
    months: tuple[int, ...] = tuple(range(1, 13))
    days: tuple[int, int] = (1, 1)
    friends: tuple[int, int] = (1, 3)
    words: Words = "town"
    weight: int = 2

    @property
    def away(self) -> bool:
        return bool(self.settings)


def _event_kind(told: Mapping[str, Any]) -> EventKind:
    stages = (EventStage(**stage, weight=_weight(stage["place"])) for stage in told["stages"])
    return EventKind(**{**told, "stages": tuple(stages)})


def _weight(place: str) -> int:
    return 4 if place in _WORTH_MORE else 1 if place in _EVERYDAY else 2


EVENT_KINDS = tuple(map(_event_kind, read_data("histories/events.toml")["event"]))
"""All kinds of events; `weight` is how often they happen by lot."""
_BY_KIND = {each.kind: each for each in EVENT_KINDS}
BIRTHDAY, MARKET, MOVE = _BY_KIND["birthday"], _BY_KIND["market day"], _BY_KIND["move"]
"""Kinds that the plan of a history puts where they belong."""
