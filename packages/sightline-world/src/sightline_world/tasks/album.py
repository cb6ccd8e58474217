"""One owner's pictures in the order of time, with what each shows: what tasks are made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import reduce

from sightline_world.draw.places import PLACES
from sightline_world.tasks.traits import ANY, Sight, Trait, traits_of
from sightline_world.truth import Event, Life, ShotTruth


@dataclass(frozen=True, slots=True)
class Occasion:
    """An event with its pictures; a trip is one away from home. `days` has the pictures of each day."""

    number: int
    event: Event
    pictures: int
    trip: bool
    days: tuple[int, ...]

    @property
    def noun(self) -> str:
        return "trip" if self.trip else "day"


class Album:
    """The pictures of one life by number, in the order of time.

    Sets of pictures are whole numbers: bit n stands for picture n. Files that do not say when they were taken
    (received ones, screenshots) are not `dated`: nothing that goes by time or event holds of them.
    """

    def __init__(self, life: Life, shots: Iterable[ShotTruth]) -> None:
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

    def occasion_of(self, number: int) -> Occasion | None:
        return next((each for each in self.occasions if each.pictures >> number & 1), None)

    def occasions_in(self, pictures: int) -> list[Occasion]:
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

    def _occasions(self) -> Iterator[Occasion]:
        for number, event in enumerate(sorted(self.life.events, key=lambda event: event.first)):
            mine = self.where(shot.event == event.id for shot in self.shots) & self.dated
            if not mine:
                continue
            days: dict[date, int] = defaultdict(int)
            for each in self.numbers(mine):
                days[self.shots[each].when.date()] |= 1 << each
            yield Occasion(number, event, mine, event.town != self._home_on(event.first), tuple(days.values()))

    def _home_on(self, day: date) -> str:
        return [home.town for home in self.life.homes if home.since <= day or home is self.life.homes[0]][-1]
