"""Searching and looking: candidates by words, and which of them show what is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from sightline.types import ToolCall
from sightline_world.models.chat.claims import Meant, say_all
from sightline_world.models.chat.descriptions import query
from sightline_world.models.chat.images import SeenImage
from sightline_world.models.chat.planning.conversation import ToolConversation, note
from sightline_world.models.chat.planning.tools import VIEWED_AT_ONCE, Toolbox, Use, argument
from sightline_world.models.chat.verification import Judged, check_all

TARGET = "target"
SCOPE = "scope"
VIEWED_WHOLE = 80
"""Up to so many pictures are looked at one by one; among more, a search comes first."""
_UNSEEN_TAKEN = 5
"""Without looking, so many of the best ranked are taken for what was searched."""
_GOOD_SHARE = 0.8
_TARGET_TOPS, _OTHER_TOPS = (60, 40, 120), (30, 30, 150)
"""How far down searches go for the target, and for an occasion: a sentence, keywords, the sentence again."""
_VIEWS_AT_ONCE = 2
"""Calls for pictures in one turn."""


@dataclass(frozen=True, slots=True)
class Move:
    """Tool calls, or the final answer (`ids`); `thought` says why, `notes` what must not be forgotten."""

    thought: str
    calls: tuple[ToolCall, ...] = ()
    ids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Finder:
    """Finds pictures with the tools that there are; everything that it knows comes from the history.

    A `phase` is what pictures are looked at for; verdicts are noted under its name.
    """

    def __init__(self, history: ToolConversation, tools: Toolbox) -> None:
        self._history, self._tools = history, tools
        self._notes: list[str] = []

    def keep(self, phase: str, meant: Meant) -> None:
        """Note what the last turn has shown, for when its pictures are gone from the conversation."""
        self._notes += verdict_notes(phase, meant, self._history.last_seen)

    def look_again(self, names: Sequence[str]) -> Move | None:
        """The call for the best of what was found, where the conversation does not hold them any more."""
        most = self._tools.most("view", "photos", VIEWED_AT_ONCE)
        gone = [name for name in names[:most] if name not in self._history.seen]
        call = self._call("view", photos=gone) if gone and not self._history.must_answer else None
        return None if call is None else self._step([call], "Look once more at what was found.")

    def sought(self, phase: str, meant: Meant, scope: list[str] | None, inside: str | None = None) -> Move | list[str]:
        """The pictures that show something: candidates by search or from the scope, then each looked at.

        `inside` is the name of a saved subset that holds the scope.
        """
        if scope is not None and len(scope) <= VIEWED_WHOLE and self._tools.has("view"):
            candidates = scope
        else:
            found = self._search(phase, meant, scope, inside)
            if isinstance(found, Move):
                return found
            candidates = found
        candidates = candidates[: _tops(phase)[2]]
        if not self._tools.has("view"):
            return list(candidates[: _UNSEEN_TAKEN if phase == TARGET else 1])
        views = self._views(phase, candidates, meant)
        if views is not None:
            return views
        showing = [name for name in candidates if self._shows(phase, name, meant)]
        return showing if showing or phase == TARGET else self._nearly(candidates, meant)

    def _views(self, phase: str, candidates: Sequence[str], meant: Meant) -> Move | None:
        """The calls that look at those that were not looked at yet."""
        unseen = [name for name in candidates if not self._is_known(phase, name)]
        most = self._tools.most("view", "photos", VIEWED_AT_ONCE)
        parts = [unseen[at : at + most] for at in range(0, len(unseen), most)][:_VIEWS_AT_ONCE]
        calls = [call for part in parts if (call := self._call("view", photos=part)) is not None]
        return self._step(calls, f"Look whether they show {say_all(meant.claims)}.") if calls else None

    def _nearly(self, candidates: Sequence[str], meant: Meant) -> list[str]:
        """Where nothing fits in full, what fits almost: readers err."""
        rated = [(self._judged(name, meant), name) for name in candidates]
        shares = {name: judged.share for judged, name in rated if judged is not None}
        best = max(shares.values(), default=0.0)
        return [name for name, share in shares.items() if share == best] if best >= _GOOD_SHARE else []

    def _search(self, phase: str, meant: Meant, scope: Sequence[str] | None, inside: str | None) -> Move | list[str]:
        """Ids in the order of the search; asked again in other words where the first words found too little."""
        if not self._tools.has("search"):
            return list(scope or ())
        sentence, keywords = say_all(meant.claims), query(meant, "keyword")
        top, other, more = _tops(phase)
        found: dict[str, None] = {}
        for number, (words, most) in enumerate(((sentence, top), (keywords, other), (sentence, more))):
            ids = self._searched(words, most, inside)
            if ids is None:
                if number and not self._wants_more(phase, list(found), meant):
                    break
                count = self._tools.most("search", "top_k", most)
                call = self._call("search", text=words, top_k=count, search_within=inside)
                if call is None:
                    continue
                return self._step([call], f"Search for {words}.")
            found |= dict.fromkeys(ids)
        allowed = None if scope is None else set(scope)
        return [name for name in found if allowed is None or name in allowed]

    def _likely(self, meant: Meant) -> Move | list[str]:
        """Whatever may show something, by one search that goes far down."""
        words, most = say_all(meant.claims), _OTHER_TOPS[2]
        found = self._searched(words, most, None)
        if found is not None or not self._tools.has("search"):
            return found or []
        call = self._call("search", text=words, top_k=self._tools.most("search", "top_k", most))
        return self._step([call], f"Search for {words}.") if call is not None else []

    def _searched(self, words: str, top: int, inside: str | None) -> list[str] | None:
        """What this search has found; None if it was not made."""
        for arguments, ids in self._history.found("search")[::-1]:
            same = argument(arguments, "text") == words and argument(arguments, "search_within") == inside
            asked = argument(arguments, "top_k")
            if same and (not isinstance(asked, int) or asked >= self._tools.most("search", "top_k", top)):
                return ids
        return None

    def _wants_more(self, phase: str, found: Sequence[str], meant: Meant) -> bool:
        """Search on where nothing fits yet (an occasion), or where much of what was found does (the target)."""
        known = [name for name in found if self._is_known(phase, name)]
        if len(known) < len(found[: _tops(phase)[0]]):
            return False
        hits = sum(self._shows(phase, name, meant) for name in known)
        return hits == 0 if phase != TARGET else hits * 4 >= len(known)

    def _is_known(self, phase: str, name: str) -> bool:
        tried = any(step.use == "view" and name in map(str, listed(step.arguments)) for step in self._history.steps)
        noted = self._history.noted(f"{phase} yes") + self._history.noted(f"{phase} no")
        return name in self._history.seen or name in noted or tried

    def _shows(self, phase: str, name: str, meant: Meant) -> bool:
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

    def _step(self, calls: Sequence[ToolCall], thought: str) -> Move:
        first = len(self._history.steps) + 1
        numbered = tuple(ToolCall(f"call_{first + at}", call.name, call.arguments) for at, call in enumerate(calls))
        return Move(thought, numbered, notes=tuple(self._notes))


def verdict_notes(phase: str, meant: Meant, seen: Mapping[str, SeenImage]) -> list[str]:
    """Which of these show something and which do not, as notes."""
    verdicts = {name: check_all(meant, each.reading).holds for name, each in seen.items()} if meant.claims else {}
    told = {word: [name for name, holds in verdicts.items() if holds == (word == "yes")] for word in ("yes", "no")}
    return [note(f"{phase} {word}", names) for word, names in told.items() if names]


def _tops(phase: str) -> tuple[int, int, int]:
    return _TARGET_TOPS if phase == TARGET else _OTHER_TOPS


def listed(arguments: Mapping[str, Any]) -> list[Any]:
    """The list among a call's arguments."""
    return next((value for value in arguments.values() if isinstance(value, list)), [])
