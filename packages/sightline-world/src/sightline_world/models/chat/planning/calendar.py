"""When and where every picture was taken, as far as filters and metadata tell."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sightline.models.json_schema import json_values
from sightline_world.models.chat.claims import Meant
from sightline_world.models.chat.planning.finding import SCOPE, TARGET, Finder, Move
from sightline_world.models.chat.planning.results import Facts
from sightline_world.models.chat.planning.scopes import between
from sightline_world.models.chat.planning.toolbox import argument

_ASKED_AT_ONCE = 100
_CALLS_AT_ONCE = 8
_MOST_PAGES = 12


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
