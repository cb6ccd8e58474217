"""Searching and looking: candidates by words, and which of them show what is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import orjson

from sightline.models.builtin.chat.checking import Judged, check_all
from sightline.models.builtin.chat.claims import Meant, say_all
from sightline.models.builtin.chat.describing import query
from sightline.models.builtin.chat.planning.history import History
from sightline.models.builtin.chat.planning.toolbox import VIEWED_AT_ONCE, Toolbox, Use, argument
from sightline.types import ToolCall

Phase: TypeAlias = Literal["anchor", "via", "target"]
SCOPE = "scope"
_UNSEEN_TAKEN = 5
"""Without looking, so many of the best ranked are taken for what was searched."""
_GOOD_SHARE = 0.8
_WORTH_VIEWING_ALL = 80
_LOOKED_AT = {"anchor": 40, "via": 60, "target": 120}
"""Pictures that are looked at, at most, to find the one or the other."""
_TOP, _TOP_MORE = 20, 50


@dataclass(frozen=True, slots=True)
class Move:
    """A tool call, or the final answer (`ids`); `thought` says why, `notes` what must not be forgotten."""

    thought: str
    call: ToolCall | None = None
    ids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Finder:
    """Finds pictures with the tools that there are; everything that it knows comes from the history."""

    def __init__(self, history: History, tools: Toolbox) -> None:
        self._history, self._tools = history, tools
        self._notes: list[str] = []

    def sought(self, phase: Phase, meant: Meant, scope: list[str] | None) -> Move | list[str]:
        """The pictures that show something: candidates by search or from the scope, then each looked at."""
        if scope is not None and len(scope) <= _WORTH_VIEWING_ALL and self._tools.has("view"):
            candidates = scope
        else:
            found = self._search(phase, meant, scope)
            if isinstance(found, Move):
                return found
            candidates = found
        candidates = candidates[: _LOOKED_AT[phase]]
        if not self._tools.has("view"):
            return self._unseen(candidates, phase)
        unseen = [name for name in candidates if not self._is_known(phase, name)]
        if unseen:
            most = self._tools.most("view", "photos", VIEWED_AT_ONCE)
            call = self._call("view", photos=unseen[:most])
            if call is not None:
                return self._step(call, f"Look whether they show {say_all(meant.claims)}.")
        showing = [name for name in candidates if self._shows(phase, name, meant)]
        if not showing and phase == "anchor":
            return self._nearly(candidates, meant)
        return showing

    def _unseen(self, candidates: Sequence[str], phase: Phase) -> list[str]:
        return list(candidates[: 1 if phase == "anchor" else _UNSEEN_TAKEN])

    def _nearly(self, candidates: Sequence[str], meant: Meant) -> list[str]:
        """Where nothing fits in full, what fits almost: readers err."""
        rated = [(self._judged(name, meant), name) for name in candidates]
        shares = {name: judged.share for judged, name in rated if judged is not None}
        best = max(shares.values(), default=0.0)
        return [name for name, share in shares.items() if share == best] if best >= _GOOD_SHARE else []

    def _search(self, phase: Phase, meant: Meant, scope: list[str] | None) -> Move | list[str]:
        """Ids in the order of the search; asked again in other words where the first words found too little."""
        if not self._tools.has("search"):
            return list(scope or ())
        inside = SCOPE if scope is not None and self._tools.takes("search", "search_within") else None
        sentence, keywords = say_all(meant.claims), query(meant, "keyword")
        found: dict[str, None] = {}
        for number, (words, top) in enumerate(((sentence, _TOP), (keywords, _TOP), (sentence, _TOP_MORE))):
            ids = self._searched(words, top, inside)
            if ids is None:
                if number and not self._wants_more(phase, list(found), meant):
                    break
                most = self._tools.most("search", "top_k", top)
                call = self._call("search", text=words, top_k=most, search_within=inside)
                if call is None:
                    continue
                return self._step(call, f"Search for {words}.")
            found |= dict.fromkeys(ids)
        allowed = None if scope is None else set(scope)
        return [name for name in found if allowed is None or name in allowed]

    def _searched(self, words: str, top: int, inside: str | None) -> list[str] | None:
        """What this search has found; None if it was not made."""
        for arguments, ids in self._history.found("search")[::-1]:
            same = argument(arguments, "text") == words and argument(arguments, "search_within") == inside
            asked = argument(arguments, "top_k")
            if same and (not isinstance(asked, int) or asked >= self._tools.most("search", "top_k", top)):
                return ids
        return None

    def _wants_more(self, phase: Phase, found: Sequence[str], meant: Meant) -> bool:
        """Search on where nothing fits yet (the anchor), or where much of what was found does (the target)."""
        known = [name for name in found if self._is_known(phase, name)]
        if len(known) < len(found[:_TOP]):
            return False
        hits = sum(self._shows(phase, name, meant) for name in known)
        return hits == 0 if phase != "target" else hits * 3 >= len(known)

    def _is_known(self, phase: Phase, name: str) -> bool:
        tried = any(step.use == "view" and name in map(str, listed(step.arguments)) for step in self._history.steps)
        noted = self._history.noted(f"{phase} yes") + self._history.noted(f"{phase} no")
        return name in self._history.seen or name in noted or tried

    def _shows(self, phase: Phase, name: str, meant: Meant) -> bool:
        judged = self._judged(name, meant)
        return judged.holds if judged is not None else name in self._history.noted(f"{phase} yes")

    def _judged(self, name: str, meant: Meant) -> Judged | None:
        seen = self._history.seen.get(name)
        return None if seen is None else check_all(meant, seen.reading)

    def _call(self, use: Use, **wanted: Any) -> ToolCall | None:
        """A call, unless the very same one was made before."""
        call = self._tools.call(use, len(self._history.steps) + 1, **wanted)
        if call is None:
            return None
        arguments = orjson.loads(call.arguments)
        again = any(step.name == call.name and dict(step.arguments) == arguments for step in self._history.steps)
        return None if again else call

    def _step(self, call: ToolCall, thought: str) -> Move:
        return Move(thought, call, notes=tuple(self._notes))


def listed(arguments: Mapping[str, Any]) -> list[Any]:
    """The list among a call's arguments."""
    return next((value for value in arguments.values() if isinstance(value, list)), [])
