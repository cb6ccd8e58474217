"""When and where every picture was taken, as far as filters and metadata tell.

Occasions are pictures grouped by time and place; some are known by the groups that lie next to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sightline.models.json_schema import json_values
from sightline_world.models.chat.claims import Meant
from sightline_world.models.chat.planning.occasions import How, Side
from sightline_world.models.chat.planning.search import SCOPE, TARGET, Finder, Move
from sightline_world.models.chat.planning.tools import Facts, argument

_APART = timedelta(hours=20)
_MOVED = timedelta(hours=3)
_EVENT_PICTURES = 3
"""Fewer pictures than this are no event."""
_LIVED_SHARE = 0.5
"""A town with more than this share of occasions, of those in the town that has most, is one that somebody lived in."""
_ASKED_AT_ONCE = 100
_CALLS_AT_ONCE = 8
_MOST_PAGES = 12


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


def between(first: datetime | None, last: datetime | None = None) -> str:
    """A filter for a span of time; without an end, all that is later."""
    tests = [f'time >= "{(first or datetime(1900, 1, 1)).isoformat(timespec="seconds")}"']
    if last is not None:
        tests.append(f'time <= "{last.isoformat(timespec="seconds")}"')
    return " and ".join(tests)


class Calendar(Finder):
    """Knows times and towns: of all pictures with a filter, of those that searches found without one."""

    def _calendar(self, wanted: Meant) -> Move | dict[str, Facts]:
        """Facts by id in the order of their times; empty where no tool tells them.

        `wanted` is searched for where no filter lists the pictures.
        """
        if not self._tools.has("metadata"):
            return {}
        names = self._everything() if self._tools.has("filter") else self._come_across(wanted)
        if isinstance(names, Move):
            return names
        known = self._asked_facts(names, "When and where was everything taken?")
        if isinstance(known, Move):
            return known
        timed = [(found.time, name) for name, found in known.items() if found.time is not None]
        return {name: known[name] for _, name in sorted(timed)}

    def _everything(self) -> Move | list[str]:
        """Every picture that has a time; lists that are cut off are taken up where they end."""
        names: dict[str, None] = {}
        start: datetime | None = None
        for _ in range(_MOST_PAGES):
            page = self._filtered(between(start))
            if isinstance(page, Move):
                return page
            new = [name for name in page if name not in names]
            names |= dict.fromkeys(new)
            if not new or self._is_complete(between(start)):
                break
            known = self._asked_facts(new, "Where does this list end?")
            if isinstance(known, Move):
                return known
            start = max((found.time for found in known.values() if found.time is not None), default=start)
        return list(names)

    def _is_complete(self, test: str) -> bool:
        """Did a filter list all that it counted? Not known once the conversation was compressed."""
        for step in self._history.done("filter"):
            if argument(step.arguments, "expression") == test:
                said = next(json_values(step.text or ""), None)
                count = said.get("count") if isinstance(said, dict) else None
                return not isinstance(count, int) or count <= len(step.ids)
        return False

    def _come_across(self, wanted: Meant) -> Move | list[str]:
        """Without a filter: what a search for the target finds, and whatever else was found so far."""
        found = self._search(TARGET, wanted, None, None)
        if isinstance(found, Move):
            return found
        return list(dict.fromkeys(name for _, ids in self._history.found("search") for name in ids))

    def _filtered(self, test: str, save_as: str | None = None) -> Move | list[str]:
        """What a filter selects."""
        done = [ids for asked, ids in self._history.found("filter") if argument(asked, "expression") == test]
        if done:
            return done[-1]
        call = self._call("filter", expression=test, save_as=save_as)
        return self._step([call], "Narrow it down by time and place.") if call is not None else []

    def _was_saved(self, test: str) -> bool:
        """Is what this filter selects saved as the scope?"""
        saving = [
            (argument(step.arguments, "expression"), "not_saved" not in (step.text or ""))
            for step in self._history.done("filter")
            if argument(step.arguments, "save_as") == SCOPE
        ]
        noted = [argument(asked, "expression") for asked, _ in self._history.found("filter") if "save_as" in asked]
        return saving[-1] == (test, True) if saving else test in noted[-1:]

    def _asked_facts(self, names: Sequence[str], thought: str) -> Move | dict[str, Facts]:
        """Times and addresses of these, or the calls that ask for those that are missing."""
        missing = list(dict.fromkeys(name for name in names if name not in self._history.facts))
        most = self._tools.most("metadata", "photos", _ASKED_AT_ONCE)
        parts = [missing[at : at + most] for at in range(0, len(missing), most)][:_CALLS_AT_ONCE]
        asked = [self._call("metadata", photos=part, fields=["time", "address"]) for part in parts]
        calls = [call for call in asked if call is not None]
        if calls:
            return self._step(calls, thought)
        return {name: self._history.facts[name] for name in names if name in self._history.facts}
