"""Answers from elsewhere than the picture that a question shows.

From page to page: `the coach of the rival of the team on the sign`, one step for each "of". And from other pictures: of
the same occasion, of another one, or of the first time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sightline.models.json_schema import json_values
from sightline.types import ToolCall
from sightline_world.models.chat.answers import the_question
from sightline_world.models.chat.claims import At, Exists, Lit, Meant, Wanted, say_where
from sightline_world.models.chat.images import SeenImage
from sightline_world.models.chat.lexicon import PERSON
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.planning.calendar import Calendar, whole
from sightline_world.models.chat.planning.conversation import ToolConversation
from sightline_world.models.chat.planning.occasions import EVENTS
from sightline_world.models.chat.planning.search import Move
from sightline_world.models.chat.planning.tools import Toolbox, Use, argument
from sightline_world.models.chat.questions import answer
from sightline_world.models.chat.verification import area, check_all, colour_of, items_of, matching
from sightline_world.scene import Figure, Sign, Thing

_LINKS = re.compile(r"\s+(?:of|by|for|at|in|from|to|with)\s+(?:the|its|their|his|her|this|that)\s+", re.IGNORECASE)
_NAMED = re.compile(
    r"\b(?:named|called|mentioned|written|shown|whose name|that (?:is|was) (?:named|written)|which (?:is|was) named)\b|"
    r"\bon (?:a|the|this|that) (?:sign|board)\b",
    re.IGNORECASE,
)
_FACT = re.compile(r"^[-*]\s*(?P<label>[^:\n]{2,60}):\s*(?P<value>.+)$", re.MULTILINE)
_LINK = re.compile(r"\[(?P<name>[^\]\n]{1,120})\]\((?P<url>[^)\s]{1,2048})\)")
_SENTENCE = re.compile(r"(?:[^.!?\n]|\.(?=\S))+[.!?]?")
_YEAR = re.compile(r"\b1[0-9]\d\d\b|\b20\d\d\b")
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
_SMALL = frozenset(
    """who whom whose what which when where how is was are were does did do the a an of in on at by year name called
    named kind sort many much it its has have had that this there one person""".split()  # noqa: SIM905
)
_SAME: tuple[frozenset[str], ...] = (
    frozenset({"foun", "esta", "char", "orig"}),
    frozenset({"open", "inau", "buil"}),
    frozenset({"popu", "inha", "peop", "live"}),
    frozenset({"heig", "alti", "elev", "tall", "high", "abov"}),
    frozenset({"coac", "trai", "mana"}),
    frozenset({"dire", "head", "lead", "led"}),
    frozenset({"born", "birt"}),
    frozenset({"twin", "sist", "part"}),
    frozenset({"breed", "bree", "dog", "pet", "keep", "kept"}),
    frozenset({"favo", "pref", "lik", "love"}),
    frozenset({"pain", "arti", "pict"}),
    frozenset({"play", "home", "stad", "grou"}),
    frozenset({"riva", "arch", "oppo"}),
    frozenset({"mayo", "hall"}),
)
_FIRST = re.compile(r"\b(?:first|earliest|oldest|initially|debut)\b", re.IGNORECASE)
_ASKS_WHEN = re.compile(r"\b(?:year|when)\b", re.IGNORECASE)
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
class Found:
    """What a walk came to: an answer, the call that is needed first, or neither."""

    text: str = ""
    call: ToolCall | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    url: str = ""


def relations_in(question: str) -> list[str]:
    """What is asked of what, the last step first: `coach`, `rival`; the thing that has a sign is left out."""
    asked = _NAMED.split(question, maxsplit=1)[0]
    parts = [part.strip(" ?.,") for part in _LINKS.split(asked)]
    return [part for part in parts[:-1] if _stems(part)]


def walk(history: ToolConversation, tools: Toolbox, relations: Sequence[str], subject: str) -> Found:
    """Open the subject's page, and from each page the one that the next relation leads to."""
    value = _Value(subject)
    for relation in reversed(relations):
        page = _page(history, tools, value)
        if isinstance(page, Found):
            return page
        found = _look(page, relation)
        if found is None:
            return Found(why=f"The page of {value.text} says nothing of the {relation}.")
        value = found
    return Found(value.text, why=f"Pages lead from {subject} to {value.text}.")


def _page(history: ToolConversation, tools: Toolbox, value: _Value) -> str | Found:
    """The text of a page; searched for by its name where no address is known."""
    url = value.url
    if not url:
        hits = _done(history, "web", "query", value.text)
        if hits is None:
            return _ask(history, tools, "web", query=value.text, top_k=5)
        url = _best(hits, value.text)
    text = _done(history, "open", "url", url) if url else ""
    return _ask(history, tools, "open", url=url) if text is None else text


def _done(history: ToolConversation, use: Use, field: str, wanted: str) -> str | None:
    """What a call has answered; None if it was not made, nothing if it failed."""
    for step in history.steps:
        if step.use == use and argument(step.arguments, field) == wanted:
            return "" if step.failed or step.text is None else step.text
    return None


def _ask(history: ToolConversation, tools: Toolbox, use: Use, **wanted: object) -> Found:
    call = tools.call(use, len(history.steps) + 1, **wanted)
    return Found(call=call, why="Look it up." if use == "web" else "Read the page itself.")


def _best(hits: str, name: str) -> str:
    """The address of the page that has the name for its title, else of the first one."""
    said = next(json_values(hits), None)
    rows = said.get("results", said.get("pages", [])) if isinstance(said, dict) else said
    pages = [row for row in rows if isinstance(row, dict) and row.get("url")] if isinstance(rows, list) else []
    exact = [row for row in pages if str(row.get("title", "")).casefold() == name.casefold()]
    return str((exact or pages)[0]["url"]) if pages else ""


def _look(page: str, relation: str) -> _Value | None:
    """The value of the fact whose label is nearest to a relation, else of the sentence that speaks of it."""
    page = page.replace("\\n", "\n")
    stems = _stems(relation)
    facts = [(_near(stems, found["label"]), found["value"]) for found in _FACT.finditer(page)]
    best = max(facts, default=(0, ""), key=lambda fact: fact[0])
    if best[0]:
        return _value(best[1], relation)
    told = [(_near(stems, found[0]), found[0]) for found in _SENTENCE.finditer(page)]
    spoken = max(told, default=(0, ""), key=lambda fact: fact[0])
    return _value(spoken[1], relation) if spoken[0] else None


def _value(text: str, relation: str) -> _Value:
    if re.search(r"\b(?:year|when)\b", relation, re.IGNORECASE) and (year := _YEAR.search(text)):
        return _Value(year[0])
    link = _LINK.search(text)
    if link is not None:
        return _Value(link["name"], link["url"])
    if re.search(r"\bhow (?:many|much|high|tall|old|long)\b|\bpopulation\b", relation, re.IGNORECASE):
        number = _NUMBER.search(text)
        return _Value(number[0] if number else text.strip())
    return _Value(text.strip().rstrip('",'))


def _stems(text: str) -> frozenset[str]:
    words = [word for word in re.findall(r"[a-z]+", text.lower()) if word not in _SMALL]
    return frozenset(word[:4] for word in words)


def _near(stems: frozenset[str], text: str) -> int:
    """Twice the words in common, and once those of the same meaning."""
    said = _stems(text)
    alike = sum(bool(stems & group and said & group) for group in _SAME)
    return 2 * len(stems & said) + alike


@dataclass(frozen=True, slots=True)
class Recalled:
    """What other pictures tell: calls that are needed first, an answer, or pictures that have signs."""

    move: Move | None = None
    text: str = ""
    sure: float = 0.0
    why: str = ""
    seen: tuple[SeenImage, ...] = ()


def needs_others(history: ToolConversation) -> bool:
    """Does a question about a picture speak of other pictures?"""
    return bool(history.shown) and bool(_ELSEWHERE.search(history.asked) or _FIRST.search(history.asked))


def recall(history: ToolConversation, tools: Toolbox) -> Recalled | None:
    """The next step to an answer from other pictures; None where none is understood."""
    if not tools.has("search") or not tools.has("metadata") or not tools.has("view"):
        return None
    return _Recaller(history, tools).recall()


class _Recaller(Calendar):
    """Finds the pictures that answer; everything that it knows comes from the history."""

    def __init__(self, history: ToolConversation, tools: Toolbox) -> None:
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
        self.keep(_PHASE, about)
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
            elif not self._shows(_PHASE, name, about):
                continue
            elif (again := self.look_again([name])) is not None:
                return Recalled(again)
            elif name in self._history.seen:
                when = facts[name].time
                if _ASKS_WHEN.search(self._question) and when is not None:
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
        self.keep(_PHASE, about)
        found = self.sought(_PHASE, about, None)
        facts = found if isinstance(found, Move) else self._asked_facts([self._own.label, *found], "When was that?")
        if isinstance(facts, Move):
            return Recalled(facts)
        own = set(whole([self._own.label], facts))
        others = [name for name in found if name not in own] if isinstance(found, list) else []
        again = self.look_again(others)
        if again is not None:
            return Recalled(again)
        for name in others:
            if name in self._history.seen:
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
        self.keep(_PHASE, about)
        found = self._likely(about)
        facts = found if isinstance(found, Move) else self._asked_facts([self._own.label, *found], "When was that?")
        if isinstance(facts, Move):
            return Recalled(facts)
        near = [name for name in whole([self._own.label], facts) if name != self._own.label]
        showing = self.sought(_PHASE, about, near)
        if isinstance(showing, Move):
            return Recalled(showing)
        again = self.look_again(showing)
        if again is not None:
            return Recalled(again)
        seen = [self._history.seen[name] for name in showing if name in self._history.seen]
        seen = [each for each in seen if check_all(about, each.reading).holds] or seen
        if not seen:
            return None
        if signs or _only_signs(told):
            return Recalled(seen=tuple(seen), why="There are signs in other pictures of it.")
        return self._answered(told, seen)

    def _answered(self, told: Meant, seen: Sequence[SeenImage]) -> Recalled:
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


def signs_of(seen: Sequence[SeenImage]) -> list[str]:
    """What is written in pictures, most frequent first."""
    words = [sign.words for each in seen for sign in each.reading.graph.signs if isinstance(sign, Sign) and sign.words]
    return sorted(set(words), key=lambda word: (-words.count(word), -len(word), word))
