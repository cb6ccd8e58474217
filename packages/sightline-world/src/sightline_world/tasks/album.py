"""One owner's pictures in the order of time, with what each shows: what tasks are made from.

What a picture shows are traits: each surely there, perhaps there, or not there.
A thing or a person is surely there when one would notice it (at most half hidden, and not tiny), a sign when it can be
read. What is drawn but does not come up to that is perhaps there, and so is a kind that the place itself is full of
(trees in a forest, houses along a street): no truth of a task may depend on it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from itertools import product
from typing import Literal, TypeAlias

from sightline.types import Box, Json
from sightline_world.draw.places import PLACES
from sightline_world.scene import Figure, SceneGraph, Sign, Thing
from sightline_world.truth import Event, ShotTruth, SyntheticHistory

TraitKind: TypeAlias = Literal["place", "light", "thing", "several", "people", "nobody", "person", "words"]
NOTICED_HIDDEN, NOTICED_AREA = 0.5, 0.0015
READ_PX, READ_HIDDEN = 7.0, 0.1
ANY = ""
"""Stands for a look that a trait of a person leaves open."""


@dataclass(frozen=True, slots=True, order=True)
class Trait:
    """One thing that can be said of one picture.

    `place` and `light`: which. `thing`: its kind, or kind and colour. `several`: kind and "at least this many".
    `people`: at least so many; `nobody`: none. `person`: hair, headgear, its colour, coat; `ANY` leaves one open.
    `words`: what a sign says.
    """

    kind: TraitKind
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sight:
    """In which pictures of an album a trait surely is, and in which perhaps: bit n is picture n."""

    sure: int = 0
    perhaps: int = 0

    @property
    def at_all(self) -> int:
        return self.sure | self.perhaps

    def __and__(self, other: Sight) -> Sight:
        sure = self.sure & other.sure
        return Sight(sure, self.at_all & other.at_all & ~sure)


def traits_of(graph: SceneGraph) -> tuple[frozenset[Trait], frozenset[Trait]]:
    """What is surely there, and what is perhaps there on top of it."""
    things = [thing for thing in graph.things if is_noticed(thing)]
    figures = [figure for figure in graph.figures if is_noticed(figure)]
    signs = [sign for sign in graph.signs if is_readable(sign)]
    sure = {Trait("place", (graph.place,)), Trait("light", (graph.light,)), *_seen(things, figures, signs)}
    if not graph.figures:
        sure.add(Trait("nobody"))
    perhaps = {*_seen(graph.things, graph.figures, graph.signs), *_scenery(graph.place)}
    if graph.figures and not figures:
        perhaps.add(Trait("nobody"))
    return frozenset(sure), frozenset(perhaps - sure)


def _seen(things: Sequence[Thing], figures: Sequence[Figure], signs: Sequence[Sign]) -> Iterator[Trait]:
    counts = Counter(thing.kind for thing in things)
    for kind, count in counts.items():
        yield Trait("thing", (kind,))
        for least in range(2, count + 1):
            yield Trait("several", (kind, str(least)))
    for thing in things:
        yield Trait("thing", (thing.kind, thing.colour))
    for least in range(1, len(figures) + 1):
        yield Trait("people", (str(least),))
    for figure in figures:
        yield from _looks(figure)
    for sign in signs:
        yield Trait("words", (sign.words,))


def _looks(figure: Figure) -> Iterator[Trait]:
    heads = [(ANY, ANY), (figure.headgear, figure.headgear_colour or ANY)]
    for hair, (headgear, colour), coat in product((ANY, figure.hair), heads, (ANY, figure.coat)):
        if hair or headgear or coat:
            yield Trait("person", (hair, headgear, colour, coat))


def _scenery(place: str) -> Iterator[Trait]:
    """Of these there may be any number in any colour; traits that no thing of the life has do no harm."""
    for kind in PLACES[place].scenery_kinds:
        yield Trait("thing", (kind,))


def is_noticed(item: Thing | Figure) -> bool:
    return item.hidden <= NOTICED_HIDDEN and area(item.box) >= NOTICED_AREA


def is_readable(sign: Sign) -> bool:
    return sign.letter_px >= READ_PX and sign.hidden <= READ_HIDDEN


def area(box: Box) -> float:
    """The share of the picture that a box covers."""
    return (box.right - box.left) * (box.bottom - box.top)


def looks(figure: Figure, *, coat: bool = False) -> Trait:
    """Who it is by what lasts (hair and headgear), and today's coat if asked for."""
    return Trait("person", (figure.hair, figure.headgear, figure.headgear_colour or ANY, figure.coat if coat else ANY))


def fits(figure: Figure, trait: Trait) -> bool:
    """Whether a person has the looks of a trait."""
    own = (figure.hair, figure.headgear, figure.headgear_colour or ANY, figure.coat)
    return all(wanted in (ANY, has) for wanted, has in zip(trait.values, own, strict=True))


def as_json(traits: Iterable[Trait]) -> list[Json]:
    """Traits as lists of words."""
    return [[trait.kind, *trait.values] for trait in traits]


@dataclass(frozen=True, slots=True)
class AlbumEvent:
    """An event with its pictures; a trip is one away from home. `days` has the pictures of each day."""

    number: int
    event: Event
    pictures: int
    trip: bool
    days: tuple[int, ...]

    @property
    def noun(self) -> str:
        return "trip" if self.trip else "day"


class TaskAlbum:
    """The pictures of one life by number, in the order of time.

    Sets of pictures are whole numbers: bit n stands for picture n. Files that do not say when they were taken
    (received ones, screenshots) are not `dated`: nothing that goes by time or event holds of them.
    """

    def __init__(self, life: SyntheticHistory, shots: Iterable[ShotTruth]) -> None:
        self.life = life
        self.shots = tuple(
            sorted((shot for shot in shots if shot.owner == life.owner), key=lambda shot: (shot.when, shot.id))
        )
        self.number = {shot.id: number for number, shot in enumerate(self.shots)}
        self.all = (1 << len(self.shots)) - 1
        self.dated = self.where(shot.taken_at is not None for shot in self.shots)
        self.sights = self._sights()
        self.occasions = tuple(self._occasions())
        self.belongings = {(item.kind, item.colour): item for item in life.belongings}
        self.friends = {
            Trait("person", (friend.hair, friend.headgear, friend.headgear_colour or ANY, ANY)): friend
            for friend in life.friends
        }

    def where(self, holds: Iterable[bool]) -> int:
        """The set of the pictures for which something holds, given in their order."""
        return sum(1 << number for number, yes in enumerate(holds) if yes)

    def numbers(self, pictures: int) -> Iterator[int]:
        """The pictures of a set in the order of time."""
        while pictures:
            lowest = pictures & -pictures
            yield lowest.bit_length() - 1
            pictures ^= lowest

    def ids(self, pictures: int) -> tuple[str, ...]:
        return tuple(self.shots[number].id for number in self.numbers(pictures))

    def sight(self, traits: Iterable[Trait]) -> Sight:
        """Pictures that have all of these traits."""
        return reduce(Sight.__and__, (self.sights.get(trait, Sight()) for trait in traits), Sight(self.all))

    def before(self, number: int) -> int:
        """Dated pictures that were taken earlier than a picture."""
        when = self.shots[number].when
        return self.where(shot.when < when for shot in self.shots) & self.dated

    def after(self, number: int) -> int:
        """Dated pictures that were taken later than a picture."""
        when = self.shots[number].when
        return self.where(shot.when > when for shot in self.shots) & self.dated

    def occasion_of(self, number: int) -> AlbumEvent | None:
        return next((each for each in self.occasions if each.pictures >> number & 1), None)

    def occasions_in(self, pictures: int) -> list[AlbumEvent]:
        """The events that have some of these pictures, in order."""
        return [each for each in self.occasions if each.pictures & pictures]

    def undated_copies(self, pictures: int) -> bool:
        """Whether one of these pictures is also there as a file that tells no time: is it asked for, or not?"""
        return any(
            shot.taken_at is None and shot.duplicate_of is not None and pictures >> self.number[shot.duplicate_of] & 1
            for shot in self.shots
        )

    def _sights(self) -> dict[Trait, Sight]:
        sure: dict[Trait, int] = defaultdict(int)
        perhaps: dict[Trait, int] = defaultdict(int)
        for number, shot in enumerate(self.shots):
            surely, possibly = traits_of(shot.graph)
            for trait in surely:
                sure[trait] |= 1 << number
            for trait in possibly:
                perhaps[trait] |= 1 << number
        for trait in {*sure, *perhaps}:
            if trait.kind in ("thing", "several"):
                perhaps[trait] |= self._amid(trait.values[0]) & ~sure[trait]
        return {trait: Sight(sure[trait], perhaps[trait]) for trait in sorted({*sure, *perhaps})}

    def _amid(self, kind: str) -> int:
        """Pictures of places that have things of the kind in their background."""
        return self.where(kind in PLACES[shot.graph.place].scenery_kinds for shot in self.shots)

    def _occasions(self) -> Iterator[AlbumEvent]:
        for number, event in enumerate(sorted(self.life.events, key=lambda event: event.first)):
            mine = self.where(shot.event == event.id for shot in self.shots) & self.dated
            if not mine:
                continue
            days: dict[date, int] = defaultdict(int)
            for each in self.numbers(mine):
                days[self.shots[each].when.date()] |= 1 << each
            yield AlbumEvent(number, event, mine, event.town != self._home_on(event.first), tuple(days.values()))

    def _home_on(self, day: date) -> str:
        return [home.town for home in self.life.homes if home.since <= day or home is self.life.homes[0]][-1]
