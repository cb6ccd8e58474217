"""The years of one owner: homes, friends, belongings, devices, and which events happen when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import ceil
from random import Random

from sightline.errors import UserError
from sightline_world.histories.events import BIRTHDAY, EVENT_KINDS, MARKET, MOVE, EventKind
from sightline_world.histories.people import Kit, belonging, circle, first_belongings, kit, owned, wants
from sightline_world.histories.towns import address_in, towns_of
from sightline_world.scene import SCENE_COLOURS
from sightline_world.sign_words import invented
from sightline_world.truth import Event, Friend, Home, Setting, SyntheticHistory, Team, Town

MOST_PICTURES = 3000
"""Of one life: more would have to happen every few days."""
FEWEST, MOST = 5, 40
"""Pictures of an event."""
_EVENTS_A_YEAR = 24
_FIRST_YEARS = (2012, 2018)
_TO_MEET = 3
_TOWNS: tuple[tuple[Setting, int], ...] = (("coast", 2), ("lake", 2), ("mountain", 2), ("desert", 1), ("inland", 1))


@dataclass(frozen=True, slots=True)
class Outing:
    """An event, with all that decides its pictures; `number` is that of its first picture in the life."""

    event: Event
    occasion: EventKind
    town: Town
    home: Home
    number: int
    copies: int
    first_copy: int


@dataclass(frozen=True, slots=True)
class HistoryPlan:
    """A life before its pictures are drawn, so with no links yet."""

    seed: str
    life: SyntheticHistory
    kit: Kit
    outings: tuple[Outing, ...]
    between: tuple[date, ...]
    folders: int
    band: str
    size: tuple[int, int]

    def town(self, name: str) -> Town:
        return next(town for town in self.life.towns if town.name == name)

    def home_on(self, day: date) -> Home:
        return [home for home in self.life.homes if home.since <= day or home is self.life.homes[0]][-1]


def plan_history(seed: int, owner: str, towns: Sequence[Town], pictures: int, size: tuple[int, int]) -> HistoryPlan:
    """Exactly so many pictures of one owner's life, copies and what lies between events included."""
    if not 1 <= pictures <= MOST_PICTURES:
        raise UserError(
            f"a photo history has 1 to {MOST_PICTURES} pictures; {pictures} were asked for.",
            "spread them over more owners",
        )
    return _Planner(seed, owner, towns, pictures).plan(size)


def parts(total: int, rng: Random) -> list[int]:
    """Sizes of events that add up to the total."""
    sizes: list[int] = []
    while total > 0:
        size = round(rng.triangular(FEWEST + 1, MOST - 5, 13))
        if total - size < FEWEST:
            size = total if total <= MOST else total // 2
        sizes.append(size)
        total -= size
    return sizes


class _Planner:
    """Draws one life's lots in a fixed order."""

    def __init__(self, seed: int, owner: str, towns: Sequence[Town], pictures: int) -> None:
        self.owner, self.tag = owner, f"{seed}/{owner}"
        self.rng = rng = Random(f"{self.tag}/life")
        self.copies, self.quiet = pictures // 30, pictures // 25
        self.sizes = parts(pictures - self.copies - self.quiet, rng)
        count = len(self.sizes)
        years = max(rng.randint(3, 8), ceil(count / _EVENTS_A_YEAR))
        self.first = date(rng.randint(*_FIRST_YEARS), rng.randint(1, 12), 1)
        self.last = self.first + timedelta(days=365 * years)
        self.slot = (self.last - self.first).days // count
        self.birthday = (rng.randint(1, 12), rng.randint(1, 28))
        self.team = Team(invented(rng), rng.choice([colour for colour in SCENE_COLOURS if colour != "grey"]))
        self.homes, self.known = self._homes(towns)
        friends = list(circle(owner, rng, rng.randint(6, 9)))
        self.friends, self.strangers = friends[:-_TO_MEET], friends[-_TO_MEET:]
        self.had = first_belongings(owner, self.team.colour, self.first, self.last, rng)
        self.wanted = wants(self.had, rng)
        self.kinds: list[EventKind] = []

    def plan(self, size: tuple[int, int]) -> HistoryPlan:
        outings = self._outings()
        events = tuple(outing.event for outing in outings)
        homes = tuple(home for home in self.homes if home.since <= self.last)
        life_kit = kit(self.rng, self.first, self.last)
        life = SyntheticHistory(
            self.owner,
            homes,
            tuple(self.known),
            tuple(self.friends),
            tuple(self.had),
            self.team,
            life_kit.devices,
            events,
        )
        between = self._between(events)
        folders, band = self.rng.randrange(3), invented(self.rng)
        return HistoryPlan(self.tag, life, life_kit, tuple(outings), between, folders, band, size)

    def _homes(self, towns: Sequence[Town]) -> tuple[list[Home], list[Town]]:
        """The first home and, should the owner move, the second; and all towns that this life will see."""
        rng = self.rng
        first, second = rng.sample(towns_of(towns, ("inland", "coast", "lake")), 2)
        homes = [
            Home(first.name, address_in(first, rng), self.first),
            Home(second.name, address_in(second, rng), date.max),
        ]
        known = {first.name: first, second.name: second}
        for setting, count in _TOWNS:
            for town in rng.sample(towns_of(towns, (setting,)), count):
                known[town.name] = town
        return homes, list(known.values())

    def _outings(self) -> list[Outing]:
        outings, done = [], 0
        total = sum(self.sizes)
        for number, size in enumerate(self.sizes):
            occasion, town, day, days = self._what(number)
            if occasion is MOVE:
                self.homes[1] = replace(self.homes[1], since=day)
            event = self._event(occasion, town, day, days, size)
            before, after = (self.copies * count // total for count in (done, done + size))
            home = [home for home in self.homes if home.since <= day][-1]
            outings.append(Outing(event, occasion, town, home, done, after - before, before))
            done += size
        return outings

    def _what(self, number: int) -> tuple[EventKind, Town, date, int]:
        """What happens in a slot of the years, where, and on which days."""
        rng, count = self.rng, len(self.sizes)
        start = self.first + timedelta(days=number * self.slot)
        forced = {count // 4: MARKET, 3 * count // 4: MARKET} | ({count // 2: MOVE} if count >= 8 else {})
        day = start + timedelta(days=rng.randint(1, max(1, self.slot - 8)))
        birthday = self._birthday_in(start)
        occasion = forced.get(number)
        if occasion is None and birthday is not None and self.kinds.count(BIRTHDAY) <= count // 6:
            occasion, day = BIRTHDAY, birthday
        if occasion is None:
            occasion = self._by_lot(day)
        self.kinds.append(occasion)
        days = min(rng.randint(*occasion.days), max(1, self.sizes[number] // 4))
        return occasion, self._where(occasion, day), day, days

    def _birthday_in(self, start: date) -> date | None:
        for year in (start.year, start.year + 1):
            day = date(year, *self.birthday)
            if start < day < start + timedelta(days=self.slot):
                return day
        return None

    def _by_lot(self, day: date) -> EventKind:
        before = self.kinds[-1:]
        suitable = [each for each in EVENT_KINDS if each.weight and each not in before and self._candidates(each, day)]
        return self.rng.choices(suitable, [each.weight for each in suitable])[0]

    def _candidates(self, occasion: EventKind, day: date) -> list[Town]:
        """Towns where it can happen in that month."""
        if not occasion.away:
            return [self._home_town(day)] if day.month in occasion.months else []
        home = self._home_town(day)
        towns = [town for town in towns_of(self.known, occasion.settings) if town is not home]
        return [town for town in towns if (day.month if town.lat > 0 else (day.month + 5) % 12 + 1) in occasion.months]

    def _home_town(self, day: date) -> Town:
        home = [home for home in self.homes if home.since <= day][-1]
        return next(town for town in self.known if town.name == home.town)

    def _where(self, occasion: EventKind, day: date) -> Town:
        if occasion is MOVE:
            return next(town for town in self.known if town.name == self.homes[1].town)
        towns = self._candidates(occasion, day) or [self._home_town(day)]
        return self.rng.choice(towns)

    def _event(self, occasion: EventKind, town: Town, day: date, days: int, size: int) -> Event:
        rng = self.rng
        id_ = f"{self.owner}/{day}-{occasion.kind.replace(' ', '-')}"
        last = day + timedelta(days=days - 1)
        known = self.friends[1:]
        friends = rng.sample(known, min(len(known), rng.randint(*occasion.friends)))
        if occasion.away and self.strangers and (rng.random() < 0.6 or len(self.strangers) == _TO_MEET):
            friends.append(self._met(id_))
        had = [each for each in owned(self.had, day) if each.kind in occasion.brings and rng.random() < 0.8]
        if occasion is MARKET and self.wanted:
            want = self.wanted.pop()
            had.insert(0, belonging(self.owner, want.kind, want.colour, want.size, day, id_))
            self.had.append(had[0])
        title = f"{rng.choice(occasion.titles)} in {town.name}"
        names = tuple(each.name for each in had)
        return Event(id_, occasion.kind, title, town.name, day, last, size, tuple(f.name for f in friends), names)

    def _met(self, event: str) -> Friend:
        friend = replace(self.strangers.pop(), met=event)
        self.friends.append(friend)
        return friend

    def _between(self, events: Sequence[Event]) -> tuple[date, ...]:
        """Days, in order, at least one day away from any event, for pictures of nothing in particular."""
        days: list[date] = []
        span = (self.last - self.first).days
        while len(days) < self.quiet:
            day = self.first + timedelta(days=self.rng.randrange(span))
            if all(day < event.first - timedelta(days=1) or day > event.last + timedelta(days=1) for event in events):
                days.append(day)
        return tuple(sorted(days))
