"""Questions about a picture that other pictures answer: of the same occasion, of another one, or of the first time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sightline_world.models.chat.answers import the_question
from sightline_world.models.chat.checking import area, check_all, colour_of, items_of, matching
from sightline_world.models.chat.claims import At, Exists, Lit, Meant, Wanted, say_where
from sightline_world.models.chat.grammar import understand
from sightline_world.models.chat.lexicon import PERSON
from sightline_world.models.chat.planning.calendar import Calendar
from sightline_world.models.chat.planning.finding import Move
from sightline_world.models.chat.planning.history import History
from sightline_world.models.chat.planning.occasions import EVENTS
from sightline_world.models.chat.planning.scopes import whole
from sightline_world.models.chat.planning.toolbox import Toolbox
from sightline_world.models.chat.questions import answer
from sightline_world.models.chat.seeing import Seen
from sightline_world.scene import Figure, Sign, Thing

_FIRST = re.compile(r"\b(?:first|earliest|oldest|initially|debut)\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:year|when)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(
    rf"\b(?:also|another|other|elsewhere|as well|too|same|else)\b|\b(?:{EVENTS})\s+(?:as|of|in)\s+(?:this|here|the)\b",
    re.IGNORECASE,
)
_BOARD = re.compile(r"\b(?:sign|board|plate|placard|signpost|notice|poster|words?|letters)\b", re.IGNORECASE)
LABEL = re.compile(r"^\s*photo_id:.*$", re.MULTILINE)  # The name of a file says nothing about what it shows.
_IT = re.compile(r"\b(?:it|its|they|them|that one)\b", re.IGNORECASE)
_PHASE = "recall"
_SURE = 0.6


@dataclass(frozen=True, slots=True)
class Recalled:
    """What other pictures tell: calls that are needed first, an answer, or pictures that have signs."""

    move: Move | None = None
    text: str = ""
    sure: float = 0.0
    why: str = ""
    seen: tuple[Seen, ...] = ()


def needs_others(history: History) -> bool:
    """Does a question about a picture speak of other pictures?"""
    return bool(history.shown) and bool(_ELSEWHERE.search(history.asked) or _FIRST.search(history.asked))


def recall(history: History, tools: Toolbox) -> Recalled | None:
    """The next step to an answer from other pictures; None where none is understood."""
    if not tools.has("search") or not tools.has("metadata") or not tools.has("view"):
        return None
    return _Recaller(history, tools).recall()


class _Recaller(Calendar):
    """Finds the pictures that answer; everything that it knows comes from the history."""

    def __init__(self, history: History, tools: Toolbox) -> None:
        super().__init__(history, tools)
        self._own = history.shown[0]
        asked = LABEL.sub(" ", history.asked)
        self._question = the_question(asked)
        self._told = asked.replace(self._question, " ").strip() or self._question

    def recall(self) -> Recalled | None:
        told = understand(self._told)
        if _FIRST.search(self._question) or (_FIRST.search(self._told) and not told.wanted):
            return self._first(told)
        if told.wanted and told.wanted[0].kinds == (PERSON,) and any(isinstance(claim, At) for claim in told.claims):
            return self._other_time(told)
        return self._same_occasion(told)

    def _first(self, told: Meant) -> Recalled | None:
        """The first picture of something in the picture at hand, and its place or its year."""
        thing = self._thing(told)
        if thing is None:
            return None
        about = Meant((Exists(Wanted((thing.kind,), (thing.colour,))),))
        found = self._likely(about)
        facts = found if isinstance(found, Move) else self._asked_facts(found, "When was that?")
        if isinstance(facts, Move):
            return Recalled(facts)
        timed = sorted((each.time, name) for name, each in facts.items() if each.time is not None)
        names = [name for _, name in timed]
        for at, name in enumerate(names):
            if not self._is_known(_PHASE, name):
                views = self._views(_PHASE, names[at:], about)
                if views is not None:
                    return Recalled(views)
            elif self._shows(_PHASE, name, about) and name in self._history.seen:
                when = facts[name].time
                if _YEAR.search(self._question) and when is not None:
                    return Recalled(text=str(when.year), sure=_SURE, why=f"It is first seen in {name}.")
                place = self._history.seen[name].reading.graph.place
                return Recalled(text=place, sure=_SURE, why=f"It is first seen {say_where(place)}, in {name}.")
        return None

    def _thing(self, told: Meant) -> Thing | None:
        """The thing that is spoken of: by its kind, else the largest of its colour."""
        graph = self._own.reading.graph
        wanted = [item for each in told.wanted for item in matching(each, graph) if isinstance(item, Thing)]
        colours = {colour for each in told.wanted for colour in each.colours}
        alike = [item for item in items_of(graph) if isinstance(item, Thing) and colour_of(item) in colours]
        return max(wanted or alike, key=area, default=None)

    def _other_time(self, told: Meant) -> Recalled | None:
        """The same person elsewhere, in another coat."""
        people = [item for item in matching(told.wanted[0], self._own.reading.graph) if isinstance(item, Figure)]
        if not people:
            return None
        who = people[0]
        colours = (who.headgear_colour,) if who.headgear_colour else ()
        looks = Wanted((PERSON,), hair=(who.hair,), headgear=(who.headgear,), headgear_colours=colours)
        about = Meant((Exists(looks), *(claim for claim in told.claims if isinstance(claim, At | Lit))))
        found = self.sought(_PHASE, about, None)
        facts = found if isinstance(found, Move) else self._asked_facts([self._own.label, *found], "When was that?")
        if isinstance(facts, Move):
            return Recalled(facts)
        own = set(whole([self._own.label], facts))
        for name in found if isinstance(found, list) else ():
            if name not in own and name in self._history.seen:
                same = matching(looks, self._history.seen[name].reading.graph)
                if same:
                    return Recalled(text=colour_of(same[0]), sure=_SURE, why=f"The same person is in {name}.")
        return None

    def _same_occasion(self, told: Meant) -> Recalled | None:
        """What else was seen on the occasion of the picture at hand."""
        signs = not told.wanted and _BOARD.search(self._history.asked) is not None
        about = understand("a sign") if signs or _only_signs(told) else Meant(tuple(_seen_things(told)))
        if not about.claims:
            return None
        found = self._likely(about)
        facts = found if isinstance(found, Move) else self._asked_facts([self._own.label, *found], "When was that?")
        if isinstance(facts, Move):
            return Recalled(facts)
        near = [name for name in whole([self._own.label], facts) if name != self._own.label]
        showing = self.sought(_PHASE, about, near)
        if isinstance(showing, Move):
            return Recalled(showing)
        seen = [self._history.seen[name] for name in showing if name in self._history.seen]
        seen = [each for each in seen if check_all(about, each.reading).holds] or seen
        if not seen:
            return None
        if signs or _only_signs(told):
            return Recalled(seen=tuple(seen), why="There are signs in other pictures of it.")
        return self._answered(told, seen)

    def _answered(self, told: Meant, seen: Sequence[Seen]) -> Recalled:
        kind = told.wanted[0].kinds[0] if told.wanted else ""
        question = _IT.sub(f"the {kind}", self._question, count=1) if kind else self._question
        if _BOARD.search(self._question):
            seen = [each for each in seen if any(sign.words for sign in each.reading.graph.signs)] or seen
        said = answer(question, seen[:1])
        return Recalled(text=said.text, sure=said.sure, why=said.why, seen=tuple(seen))


def _only_signs(told: Meant) -> bool:
    return bool(told.wanted) and all(wanted.kinds == ("sign",) for wanted in told.wanted)


def _seen_things(told: Meant) -> list[Exists]:
    return [claim for claim in told.claims if isinstance(claim, Exists) and claim.wanted.kinds != ("sign",)]


def signs_of(seen: Sequence[Seen]) -> list[str]:
    """What is written in pictures, most frequent first."""
    words = [sign.words for each in seen for sign in each.reading.graph.signs if isinstance(sign, Sign) and sign.words]
    return sorted(set(words), key=lambda word: (-words.count(word), -len(word), word))
