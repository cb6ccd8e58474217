"""Episodes in time and place: pictures grouped by their metadata, and filters that find an episode's neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from sightline.models.builtin.chat.planning.episodes import Errand
from sightline.models.builtin.chat.planning.results import Facts

_APART = timedelta(hours=20)
_MOVED = timedelta(hours=3)
_AROUND = timedelta(days=5)
_NEXT = timedelta(days=3650)
_EVENT_PICTURES = 3
"""Fewer pictures than this are no event."""


def group(facts: Mapping[str, Facts]) -> list[list[str]]:
    """Ids by episode, in time: a night at home, or another town after some hours, ends one."""
    known = sorted(((found.time, name) for name, found in facts.items() if found.time is not None))
    episodes: list[list[str]] = []
    last: Facts | None = None
    for when, name in known:
        here = facts[name]
        if last is None or last.time is None or _parted(last, here, when - last.time):
            episodes.append([])
        episodes[-1].append(name)
        last = here
    return episodes


def _parted(before: Facts, after: Facts, gap: timedelta) -> bool:
    moved = bool(before.town and after.town) and before.town != after.town
    return gap > (_MOVED if moved else _APART)


def expression(errand: Errand, anchor: Sequence[Facts]) -> str:
    """A filter over time and address that holds the pictures in question, and perhaps some more."""
    times = sorted(found.time for found in anchor if found.time is not None)
    towns = list(dict.fromkeys(found.town for found in anchor if found.town))
    tests: list[str] = []
    if times:
        tests += _time_tests(errand.bond, times[0], times[-1])
    if errand.bond == "town" and towns:
        tests.append(f"match_address(address, {_quoted(towns[0])})")
    if errand.moved:
        tests.append(_from(datetime(1900, 1, 1)))
    tests += _said_tests(errand)
    return " and ".join(tests)


def _time_tests(bond: str, first: datetime, last: datetime) -> list[str]:
    match bond:
        case "day":
            return [_from(_day(first)), _to(_day(last) + timedelta(days=1))]
        case "event":
            return [_from(_day(first) - _AROUND), _to(_day(last) + _AROUND + timedelta(days=1))]
        case "after":
            return [f'time > "{last.isoformat(timespec="seconds")}"']
        case "before":
            return [_to(first)]
        case "next":
            return [_from(_day(first) - _AROUND), _to(_day(last) + _NEXT)]
        case "previous":
            return [_from(_day(first) - _NEXT), _to(_day(last) + _AROUND)]
        case _:
            return []


def _said_tests(errand: Errand) -> list[str]:
    tests = []
    if errand.years:
        tests.append(f"time.year in [{', '.join(map(str, errand.years))}]")
    if errand.months:
        tests.append(f"time.month in [{', '.join(map(str, errand.months))}]")
    if errand.towns:
        named = " or ".join(f"match_address(address, {_quoted(town)})" for town in errand.towns)
        tests.append(f"({named})" if len(errand.towns) > 1 else named)
    return tests


def within(errand: Errand, anchor: Mapping[str, Facts], facts: Mapping[str, Facts]) -> list[str]:
    """The ids among `facts` that are in the episode in question, exactly."""
    everything = {**facts, **anchor}
    keep: Callable[[str], bool] = lambda name: _said(errand, facts[name])  # noqa: E731
    own = {name for episode in group(everything) if set(episode) & set(anchor) for name in episode}
    times = sorted(found.time for found in anchor.values() if found.time is not None)
    chosen = list(facts)
    match errand.bond:
        case "day":
            days = {when.date() for when in times}
            chosen = [name for name in facts if (when := facts[name].time) is not None and when.date() in days]
        case "event":
            chosen = [name for name in facts if name in own]
        case "town":
            towns = {found.town for found in anchor.values() if found.town}
            chosen = [name for name in facts if facts[name].town in towns]
        case "after" | "before" if times:
            chosen = [name for name in facts if _beside(facts[name].time, times, errand.bond)]
        case "next" | "previous":
            chosen = _neighbour(errand, everything, set(anchor))
        case _:
            pass
    if errand.moved:
        chosen = _around_move(facts, errand.moved)
    if errand.side and times and errand.via is None:
        chosen = [name for name in chosen if name in facts and _beside(facts[name].time, times, errand.side)]
    if errand.other:
        chosen = [name for name in chosen if name not in own]
    return [name for name in chosen if name in facts and keep(name)]


def _beside(when: datetime | None, times: Sequence[datetime], side: str) -> bool:
    if when is None:
        return False
    return when > times[-1] if side == "after" else when < times[0]


def _around_move(facts: Mapping[str, Facts], side: str) -> list[str]:
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
    return [name for name, found in facts.items() if found.time in limits or _beside(found.time, limits, side)]


def beside_moment(
    names: Sequence[str], facts: Mapping[str, Facts], moment: Mapping[str, Facts], side: str
) -> list[str]:
    """Those of the names that were taken before the first, or after the last, of other pictures."""
    times = sorted(found.time for found in moment.values() if found.time is not None)
    return [name for name in names if times and name in facts and _beside(facts[name].time, times, side)]


def _neighbour(errand: Errand, facts: Mapping[str, Facts], anchor: set[str]) -> list[str]:
    """The episode after (or before) the anchor's; single pictures between events are none, nor is home a trip."""
    episodes = group(facts)
    step = 1 if errand.bond == "next" else -1
    at = [number for number, episode in enumerate(episodes) if anchor & set(episode)]
    number = (at[-1] if step > 0 else at[0]) + step if at else -1
    home = home_of(facts) if errand.trips else ""
    while 0 <= number < len(episodes):
        towns = {facts[name].town for name in episodes[number]} - {""}
        if len(episodes[number]) >= _EVENT_PICTURES and towns != {home}:
            return list(episodes[number])
        number += step
    return []


def home_of(facts: Mapping[str, Facts]) -> str:
    """The town of most days."""
    days = {(found.town, found.time.date()) for found in facts.values() if found.town and found.time is not None}
    counts = Counter(town for town, _ in days)
    return max(sorted(counts), key=lambda town: counts[town], default="")


def next_to(anchor: Mapping[str, Facts], facts: Mapping[str, Facts], bond: str) -> dict[str, Facts]:
    """Of the episodes that `facts` tell of, the nearest one after (or before) the anchor's."""
    own = {name for episode in group({**facts, **anchor}) if set(episode) & set(anchor) for name in episode}
    times = sorted(found.time for found in anchor.values() if found.time is not None)
    side = "after" if bond == "next" else "before"
    left = {k: v for k, v in facts.items() if k not in own and times and _beside(v.time, times, side)}
    episodes = group(left)
    return {name: left[name] for name in (episodes[0] if side == "after" else episodes[-1])} if episodes else {}


def _said(errand: Errand, found: Facts) -> bool:
    if errand.years and (found.time is None or found.time.year not in errand.years):
        return False
    if errand.months and (found.time is None or found.time.month not in errand.months):
        return False
    return not errand.towns or any(town.lower() in found.address.lower() for town in errand.towns)


def _day(when: datetime) -> datetime:
    return when.replace(hour=0, minute=0, second=0, microsecond=0)


def _from(when: datetime) -> str:
    return f'time >= "{when.isoformat(timespec="seconds")}"'


def _to(when: datetime) -> str:
    return f'time < "{when.isoformat(timespec="seconds")}"'


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "").replace('"', "") + '"'
