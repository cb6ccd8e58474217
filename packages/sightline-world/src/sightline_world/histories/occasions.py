"""Kinds of events: where and when they happen, what one sees there, and what comes along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline_world.truth import Setting

Words: TypeAlias = Literal["town", "team", "band"]

_ALL_YEAR = tuple(range(1, 13))
_WARM, _COLD = (5, 6, 7, 8, 9), (12, 1, 2, 3)
# Kitchens and streets are part of many events, so that they would fill the years.
_EVERYDAY = ("kitchen", "street")
_WORTH_MORE = ("snow", "lake", "stadium", "library")
_AWAY: tuple[Setting, ...] = ("inland", "coast", "lake", "mountain")


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
    months: tuple[int, ...] = _ALL_YEAR
    days: tuple[int, int] = (1, 1)
    friends: tuple[int, int] = (1, 3)
    words: Words = "town"
    weight: int = 2

    @property
    def away(self) -> bool:
        return bool(self.settings)


def _stage(place: str, first: float, last: float, things: str) -> EventStage:
    weight = 4 if place in _WORTH_MORE else 1 if place in _EVERYDAY else 2
    return EventStage(place, (first, last), tuple(word.replace("_", " ") for word in things.split()), weight)


BIRTHDAY = EventKind(
    "birthday",
    ("Birthday", "Birthday party"),
    (
        _stage("kitchen", 10.0, 12.0, "cake apple pear bowl bottle mug balloon"),
        _stage("garden", 14.0, 19.0, "balloon bench ball tree cake bottle kite flag"),
        _stage("kitchen", 19.5, 22.0, "cake bottle mug bowl teapot vase"),
    ),
    ("dog", "cat", "guitar", "ball", "mug", "teapot", "vase", "clock", "lamp", "camera", "umbrella"),
    friends=(3, 6),
    weight=0,
)
MARKET = EventKind(
    "market day",
    ("Market day", "Saturday market", "Flea market"),
    (
        _stage("market", 8.5, 12.5, "balloon bench bucket bird suitcase duck rabbit umbrella bicycle"),
        _stage("street", 12.0, 15.0, "bicycle car mailbox bench bird motorbike"),
        _stage("kitchen", 16.0, 19.0, "apple pear bowl bottle vase teapot book"),
    ),
    ("dog", "bicycle", "umbrella", "camera", "mug", "teapot", "lamp", "clock", "vase", "guitar", "cat"),
    weight=1,
)
MOVE = EventKind(
    "move",
    ("Moving day", "The move"),
    (
        _stage("street", 8.0, 12.0, "truck suitcase mailbox bench car bird"),
        _stage("station", 12.5, 15.0, "suitcase bench bicycle bird"),
        _stage("garden", 15.5, 18.5, "tree house suitcase bucket bench"),
        _stage("kitchen", 19.0, 22.0, "lamp bottle bowl mug book vase"),
    ),
    ("dog", "cat", "bicycle", "suitcase", "lamp", "clock", "teapot", "guitar", "vase", "mug", "car"),
    friends=(2, 4),
    weight=0,
)
OCCASIONS = (
    BIRTHDAY,
    MARKET,
    MOVE,
    EventKind(
        "beach holiday",
        ("Days by the sea", "Summer at the beach", "Beach week"),
        (
            _stage("beach", 7.5, 11.0, "umbrella ball bucket bird boat kite"),
            _stage("harbour", 11.0, 14.0, "boat bird bicycle suitcase bench"),
            _stage("street", 12.0, 15.0, "car bicycle mailbox bench motorbike"),
            _stage("beach", 15.0, 19.0, "umbrella ball bucket kite boat dog duck"),
            _stage("market", 17.0, 20.0, "balloon bench bucket bird"),
            _stage("harbour", 20.5, 22.8, "boat bench bird bottle"),
        ),
        ("dog", "umbrella", "ball", "kite", "bicycle", "suitcase", "camera", "car", "guitar", "bucket"),
        ("coast",),
        _WARM,
        (2, 5),
        weight=9,
    ),
    EventKind(
        "winter holiday",
        ("Winter week", "Days in the snow", "Winter trip"),
        (
            _stage("snow", 7.8, 11.5, "sled snowman house bird dog flag"),
            _stage("forest", 11.0, 14.0, "sled snowman bench bird rabbit"),
            _stage("snow", 13.0, 17.0, "sled snowman house hot-air_balloon horse"),
            _stage("kitchen", 19.0, 22.5, "mug teapot bottle bowl book lamp"),
        ),
        ("dog", "sled", "suitcase", "camera", "mug", "guitar", "car", "tent"),
        ("mountain",),
        _COLD,
        (2, 4),
        weight=10,
    ),
    EventKind(
        "camping",
        ("Camping", "Nights in the tent", "Camping trip"),
        (
            _stage("forest", 7.5, 10.5, "bucket bird rabbit bench mug bottle"),
            _stage("lake", 10.5, 15.0, "boat duck bird bench kite bicycle"),
            _stage("forest", 15.0, 18.0, "bicycle bird rabbit bucket ball"),
            _stage("lake", 18.5, 21.0, "boat duck hot-air_balloon bottle"),
            _stage("forest", 21.0, 23.0, "bucket bottle bench suitcase"),
        ),
        ("tent", "dog", "bicycle", "guitar", "camera", "mug", "kite", "car", "motorbike"),
        ("lake",),
        _WARM,
        (2, 3),
        weight=9,
    ),
    EventKind(
        "desert journey",
        ("Into the desert", "Desert road", "Days among the dunes"),
        (
            _stage("desert", 7.5, 11.0, "hot-air_balloon horse tent bird flag"),
            _stage("market", 11.0, 14.0, "suitcase bucket bench bird balloon"),
            _stage("desert", 15.0, 19.0, "truck motorbike tent horse plane"),
            _stage("desert", 20.5, 23.0, "tent bottle bucket car"),
        ),
        ("tent", "suitcase", "camera", "guitar", "umbrella", "kite", "motorbike"),
        ("desert",),
        (10, 11, 12, 1, 2, 3, 4),
        (2, 4),
        weight=3,
    ),
    EventKind(
        "city trip",
        ("City days", "A long weekend away", "Weekend in the city"),
        (
            _stage("station", 7.5, 10.0, "suitcase bench bird bicycle"),
            _stage("street", 10.0, 13.0, "bus car bicycle mailbox motorbike bird"),
            _stage("library", 11.0, 15.0, "book lamp clock mug vase"),
            _stage("market", 14.0, 17.0, "balloon bench bucket bird"),
            _stage("playground", 15.0, 18.0, "ball bench bird kite balloon"),
            _stage("street", 20.0, 22.8, "car bus bicycle bench motorbike"),
        ),
        ("suitcase", "camera", "umbrella", "book", "bicycle"),
        _AWAY,
        _ALL_YEAR,
        (2, 3),
        weight=2,
    ),
    EventKind(
        "match",
        ("The match", "Derby", "Cup match"),
        (
            _stage("station", 11.0, 13.0, "bench bird suitcase bicycle"),
            _stage("street", 12.5, 14.5, "car bicycle bus bench"),
            _stage("stadium", 15.0, 18.0, "ball flag balloon bird"),
            _stage("street", 18.5, 20.5, "car bicycle bottle motorbike"),
        ),
        ("flag", "camera", "umbrella", "ball"),
        friends=(2, 5),
        words="team",
        weight=4,
    ),
    EventKind(
        "concert",
        ("Open-air concert", "Concert night", "The festival"),
        (
            _stage("street", 16.0, 18.5, "car bicycle bench balloon bottle"),
            _stage("garden", 18.5, 21.0, "guitar bench balloon bottle flag tree"),
            _stage("garden", 21.0, 23.4, "guitar balloon bottle lamp flag"),
        ),
        ("guitar", "camera", "umbrella", "dog", "bicycle"),
        months=_WARM,
        friends=(2, 5),
        words="band",
        weight=6,
    ),
    EventKind(
        "bicycle tour",
        ("Bicycle tour", "The long ride", "Sunday ride"),
        (
            _stage("street", 8.0, 10.0, "car mailbox bench bicycle bird"),
            _stage("forest", 10.0, 13.0, "bird rabbit bench bicycle"),
            _stage("lake", 13.0, 16.5, "boat duck bench bird bicycle"),
            _stage("garden", 17.0, 19.5, "cow sheep horse tree house bench"),
        ),
        ("bicycle", "dog", "camera", "bottle", "umbrella"),
        months=(4, *_WARM, 10),
        weight=3,
    ),
    EventKind(
        "farm visit",
        ("On the farm", "A day with the animals"),
        (
            _stage("garden", 9.0, 12.0, "cow sheep horse rabbit duck bucket house tree"),
            _stage("garden", 12.0, 16.0, "cow sheep horse truck bucket cat bench"),
            _stage("kitchen", 16.0, 18.0, "bowl apple pear bottle teapot cake"),
        ),
        ("dog", "camera", "car", "ball", "umbrella"),
        months=(3, 4, *_WARM, 10),
        weight=3,
    ),
    EventKind(
        "sailing day",
        ("Sailing", "A day on the boat"),
        (
            _stage("harbour", 8.5, 12.0, "boat bird bucket suitcase bench"),
            _stage("beach", 12.0, 16.0, "boat umbrella bird bucket ball"),
            _stage("harbour", 17.0, 21.0, "boat bird bottle flag"),
        ),
        ("boat", "dog", "camera", "umbrella", "ball", "guitar"),
        ("coast",),
        _WARM,
        weight=6,
    ),
    EventKind(
        "picnic",
        ("Picnic", "Afternoon outside", "Kites and cake"),
        (
            _stage("playground", 11.0, 14.0, "ball kite balloon bench bird tree"),
            _stage("garden", 14.0, 18.0, "apple bowl bottle kite ball bench tree"),
        ),
        ("dog", "ball", "kite", "umbrella", "bicycle", "guitar", "cat"),
        months=(4, *_WARM),
        friends=(2, 5),
        weight=4,
    ),
    EventKind(
        "reading days",
        ("Exam weeks", "A day among books"),
        (
            _stage("library", 10.0, 13.0, "book lamp clock mug vase camera"),
            _stage("library", 14.0, 18.0, "book lamp clock mug teapot"),
            _stage("street", 18.0, 20.5, "car bicycle bus mailbox"),
        ),
        ("mug", "lamp", "clock", "teapot", "vase", "camera", "bicycle", "umbrella"),
        months=(10, 11, 12, 1, 2, 3),
        friends=(1, 2),
        weight=3,
    ),
)
"""All kinds of events; `weight` is how often they happen by lot."""
