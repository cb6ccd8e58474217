"""Occasions in time and place: pictures grouped by their metadata, and the ones that lie next to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sightline_world.models.chat.planning.episodes import Errand
from sightline_world.models.chat.planning.occasions import How, Side
from sightline_world.models.chat.planning.results import Facts

_APART = timedelta(hours=20)
_MOVED = timedelta(hours=3)
_EVENT_PICTURES = 3
"""Fewer pictures than this are no event."""
_LIVED_SHARE = 0.5
"""A town with more than this share of occasions, of those in the town that has most, is one that somebody lived in."""


def group(facts: Mapping[str, Facts]) -> list[list[str]]:
    """Ids by occasion, in time: a night at home, or another town after some hours, ends one."""
    known = sorted(((found.time, name) for name, found in facts.items() if found.time is not None))
    occasions: list[list[str]] = []
    last: Facts | None = None
    for when, name in known:
        here = facts[name]
        if last is None or last.time is None or _parted(last, here, when - last.time):
            occasions.append([])
        occasions[-1].append(name)
        last = here
    return occasions


def _parted(before: Facts, after: Facts, gap: timedelta) -> bool:
    moved = bool(before.town and after.town) and before.town != after.town
    return gap > (_MOVED if moved else _APART)


def whole(names: Collection[str], facts: Mapping[str, Facts]) -> list[str]:
    """The occasion that most of these belong to, with all of its pictures."""
    wanted = set(names)
    return max(group(facts), key=lambda each: len(wanted & set(each)), default=[]) if wanted & facts.keys() else []


def same_days(names: Collection[str], facts: Mapping[str, Facts]) -> list[str]:
    """What was taken on the day of most of these, on the same occasion."""
    own = whole(names, facts)
    days = Counter(when.date() for name in own if name in names and (when := facts[name].time) is not None)
    day = days.most_common(1)[0][0] if days else None
    return [name for name in own if (when := facts[name].time) is not None and when.date() == day]


def neighbour(names: Collection[str], facts: Mapping[str, Facts], how: How, trips: bool) -> list[str]:
    """The occasion after (or before) that of these; single pictures between events are none, nor is home a trip."""
    occasions = group(facts)
    step = 1 if how == "next" else -1
    at = [number for number, each in enumerate(occasions) if set(names) & set(each)]
    number = (at[-1] if step > 0 else at[0]) + step if at else -1
    homes = homes_of(facts) if trips else frozenset()
    while 0 <= number < len(occasions):
        towns = {facts[name].town for name in occasions[number]} - {""}
        if len(occasions[number]) >= _EVENT_PICTURES and not (towns and towns <= homes):
            return list(occasions[number])
        number += step
    return []


def homes_of(facts: Mapping[str, Facts]) -> frozenset[str]:
    """The towns that somebody lived in: those of by far the most occasions."""
    counts = Counter(town for each in group(facts) for town in {facts[name].town for name in each} - {""})
    most = max(counts.values(), default=0)
    return frozenset(town for town, count in counts.items() if count > _LIVED_SHARE * most)


def in_town(names: Collection[str], facts: Mapping[str, Facts], other: bool) -> list[str]:
    """Whatever was taken in the town of these; `other` leaves out the occasion itself."""
    towns = Counter(facts[name].town for name in names if name in facts and facts[name].town)
    town = towns.most_common(1)[0][0] if towns else None
    # Pictures without an address belong to the town of their occasion.
    near = [each for each in group(facts) if town in {facts[name].town for name in each}]
    own = set(whole(names, facts)) if other else set()
    return [name for each in near for name in each if name not in own]


def beside(names: Sequence[str], facts: Mapping[str, Facts], moment: Collection[str], side: str) -> list[str]:
    """Those of the names that were taken before the first, or after the last, of other pictures."""
    times = sorted(when for name in moment if name in facts and (when := facts[name].time) is not None)
    return [name for name in names if times and name in facts and _is_beside(facts[name].time, times, side)]


def _is_beside(when: datetime | None, times: Sequence[datetime], side: str) -> bool:
    if when is None:
        return False
    return when > times[-1] if side == "after" else when < times[0]


def around_move(facts: Mapping[str, Facts], side: Side) -> list[str]:
    """What was taken before the last picture at the old home, or after the first at the new one."""
    stays: dict[str, list[datetime]] = {}
    for found in facts.values():
        if found.time is not None and found.address:
            stays.setdefault(found.address, []).append(found.time)
    homes = sorted(stays, key=lambda address: (-len({when.date() for when in stays[address]}), address))[:2]
    if len(homes) < 2:
        return []
    old, new = sorted(homes, key=lambda address: min(stays[address]))
    limits = [max(stays[old])] if side == "before" else [min(stays[new])]
    return [name for name, found in facts.items() if found.time in limits or _is_beside(found.time, limits, side)]


def is_said(errand: Errand, found: Facts) -> bool:
    """Does a picture fit the years, months and towns that the request names?"""
    if errand.years and (found.time is None or found.time.year not in errand.years):
        return False
    if errand.months and (found.time is None or found.time.month not in errand.months):
        return False
    return not errand.towns or any(town.lower() in found.address.lower() for town in errand.towns)


def between(first: datetime | None, last: datetime | None = None) -> str:
    """A filter for a span of time; without an end, all that is later."""
    tests = [f'time >= "{(first or datetime(1900, 1, 1)).isoformat(timespec="seconds")}"']
    if last is not None:
        tests.append(f'time <= "{last.isoformat(timespec="seconds")}"')
    return " and ".join(tests)


def said_filter(errand: Errand) -> str:
    """A filter for the years, months and towns that the request names."""
    tests = []
    if errand.years:
        tests.append(f"time.year in [{', '.join(map(str, errand.years))}]")
    if errand.months:
        tests.append(f"time.month in [{', '.join(map(str, errand.months))}]")
    if errand.towns:
        named = " or ".join(f"match_address(address, {_quoted(town)})" for town in errand.towns)
        tests.append(f"({named})" if len(errand.towns) > 1 else named)
    return " and ".join(tests)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "").replace('"', "") + '"'
