"""What is known for a field of a reply: by its name, from one picture, one thing in it, or a query.

The name of a field tells its topic: the terms of annotations and judgments, by the words in the name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from sightline.english import listed
from sightline_world.data import read_data
from sightline_world.models.chat.answers import the_question
from sightline_world.models.chat.claims import Meant
from sightline_world.models.chat.descriptions import Style, caption, description, facts, query, tags, thinking
from sightline_world.models.chat.images import SeenImage
from sightline_world.models.chat.lexicon import INDOORS, SIGN, plain
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.questions import answer
from sightline_world.models.chat.verification import (
    Item,
    QueryGrade,
    area,
    check_all,
    colour_of,
    describe,
    grade,
    items_of,
    kind_of,
    matching,
)
from sightline_world.scene import Figure, Sign, Thing

Topic: TypeAlias = Literal[
    "confidence", "grade", "relevant", "reason", "thinking", "id", "option", "query", "answer", "summary", "title",
    "words", "tags", "kinds", "colour", "people", "place", "light", "setting", "count", "size", "box", "relations",
    "unknown",
]  # fmt: skip
_TOPICS: Mapping[Topic, tuple[str, ...]] = read_data("models/chat/field_topics.toml")["topics"]
_BY_PHRASE: Mapping[tuple[str, ...], Topic] = {
    tuple(phrase.split()): topic for topic, phrases in _TOPICS.items() for phrase in phrases
}
_LONGEST = max(map(len, _BY_PHRASE))
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FRAME = "has is are have contains contain shows show with num number count total of n there any"
_ASKING = frozenset(_FRAME.split())


def words_of(name: str) -> list[str]:
    """`mainColour`, `main_colour`, `main-colour` → ["main", "colour"]."""
    return re.findall(r"[a-z]+|\d+", plain(_CAMEL.sub(" ", name)))


def topic_of(name: str) -> Topic:
    """What a field of that name is about: by the whole name, else by its last words that are known."""
    words = words_of(name)
    whole = _BY_PHRASE.get(tuple(words))
    if whole is not None:
        return whole
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - length, -1, -1):
            found = _BY_PHRASE.get(tuple(words[start : start + length]))
            if found is not None:
                return found
    return "unknown"


@dataclass(frozen=True, slots=True)
class Situation:
    """What a reply is made from: the request's words, its pictures, and which of them a part of the reply is about."""

    text: str = ""
    seen: tuple[SeenImage, ...] = ()
    query: str = ""
    focus: SeenImage | None = None
    item: Item | None = None
    count: int = 1
    style: Style | None = None
    option: str = ""
    answered: tuple[str, float, str] | None = None
    meant: Meant = field(default_factory=Meant)

    def about(self, seen: SeenImage) -> Situation:
        return replace(self, focus=seen, item=None)

    @property
    def grade(self) -> QueryGrade | None:
        """How far the picture in focus fits the query, where there are both."""
        return grade(self.meant, self.focus.reading) if self.query and self.focus is not None else None

    @property
    def labels(self) -> dict[str, SeenImage]:
        return {each.label: each for each in self.seen}

    @property
    def number(self) -> int | None:
        """The number of the picture in focus: the one that its label gives, else its place from 1 on."""
        if self.focus is not None and len(self.labels) == len(self.seen) and all(map(str.isdecimal, self.labels)):
            return int(self.focus.label)
        return next((place for place, each in enumerate(self.seen, 1) if each is self.focus), None)


def claims_of(name: str) -> Meant:
    """`has_red_car` → what that says of a picture."""
    return understand(" ".join(word for word in words_of(name) if word not in _ASKING))


def text_for(name: str, here: Situation) -> tuple[str, float] | None:
    """What a text field should hold, and how sure that is; None where nothing is known."""
    topic = topic_of(name)
    if here.item is not None:
        found = _item_text(topic, here.item)
        if found is not None:
            return found, _item_sure(here)
    match topic:
        case "reason" | "thinking":
            return _reason(topic, here), 0.7
        case "id":
            return (here.focus.label, 0.95) if here.focus is not None else None
        case "option":
            return (here.option, 0.5) if here.option else None
        case "answer":
            return _answer(here)
        case "query":
            return _query(here)
        case _:
            return _seen_text(name, topic, here)


def _reason(topic: Topic, here: Situation) -> str:
    judged = here.grade
    if judged is not None and topic == "reason":
        return judged.reason
    if here.answered is not None:
        return here.answered[2]
    if here.focus is not None:
        return thinking(here.focus.reading)
    return "I see no picture, so this rests on the text alone."


def _answer(here: Situation) -> tuple[str, float] | None:
    if here.option:
        return here.option, 0.5
    if here.answered is not None:
        return here.answered[:2]
    if not here.seen:
        return None
    found = answer(the_question(here.text), here.seen)
    return found.text, found.sure


def _query(here: Situation) -> tuple[str, float] | None:
    if here.focus is None:
        return (here.query, 0.5) if here.query else None
    return query(facts(here.focus.reading.graph), here.style or "sentence"), 0.7


def _seen_text(name: str, topic: Topic, here: Situation) -> tuple[str, float] | None:
    if here.focus is None:
        return None
    reading, graph = here.focus.reading, here.focus.reading.graph
    match topic:
        case "summary":
            return description(graph), 0.7
        case "title":
            return caption(graph, most=2), 0.7
        case "place":
            return (graph.place, reading.place) if graph.place else None
        case "light":
            return (graph.light, reading.light) if graph.light else None
        case "setting":
            return ("indoors" if graph.place in INDOORS else "outdoors", reading.place) if graph.place else None
        case "words":
            return listed(sign.words for sign in graph.signs if sign.words), 0.6
        case "tags":
            return ", ".join(tags(graph)), 0.7
        case "colour":
            return _colour_text(name, here)
        case "people":
            return listed(map(describe, graph.figures)) or "none", 0.6
        case "kinds":
            return _kinds_text(name, here)
        case "relations":
            return listed(relations_of(here.focus)) or "none", 0.6
        case _:
            return _named_text(name, here)


def _colour_text(name: str, here: Situation) -> tuple[str, float] | None:
    """`car_colour`: of what the name speaks of; else of what fills most of the picture."""
    found = spoken_of(name, here) or _by_area(here)
    coloured = [item for item in found if colour_of(item)]
    return (colour_of(coloured[0]), _sure_of(coloured[0], here)) if coloured else None


def _kinds_text(name: str, here: Situation) -> tuple[str, float] | None:
    found = spoken_of(name, here) or [item for item in _by_area(here) if kind_of(item) != SIGN]
    return (kind_of(found[0]), _sure_of(found[0], here)) if found else ("none", 0.5)


def _named_text(name: str, here: Situation) -> tuple[str, float] | None:
    """A field that is called like a thing of the world holds what is seen of it."""
    if not claims_of(name).wanted:
        return None
    found = spoken_of(name, here)
    return (listed(map(describe, found)), _sure_of(found[0], here)) if found else ("none", 0.6)


def spoken_of(name: str, here: Situation) -> list[Item]:
    """What the picture in focus shows of the things in a field's name, the largest first."""
    wanted = claims_of(name).wanted
    if here.focus is None or not wanted:
        return []
    found = [item for item in _by_area(here) if kind_of(item) in wanted[0].kinds]
    return [item for item in found if not wanted[0].colours or colour_of(item) in wanted[0].colours]


def relations_of(seen: SeenImage) -> list[str]:
    """All relations of a picture in words."""
    names = {item.id: f"{colour_of(item)} {kind_of(item)}".strip() for item in items_of(seen.reading.graph)}
    return [
        f"{names[each.subject]} {each.predicate} {names[each.object]}"
        for each in seen.reading.graph.relations
        if each.subject in names and each.object in names
    ]


def flag_for(name: str, here: Situation) -> tuple[bool, float]:
    """Yes or no to a field's name; no, and hardly sure, where it names nothing that is known."""
    topic = topic_of(name)
    if topic == "relevant" and here.grade is not None:
        return here.grade.holds, here.grade.sure
    if here.focus is None:
        return False, 0.2
    if topic == "words":
        return bool(here.focus.reading.graph.signs), 0.7
    meant = claims_of(name)
    if meant.claims:
        judged = check_all(meant, here.focus.reading)
        return judged.holds, judged.sure
    if topic == "answer" and here.answered is not None:
        return here.answered[0].lower().startswith("yes"), here.answered[1]
    return False, 0.2


def number_for(name: str, here: Situation) -> tuple[float, float] | None:
    """The number that a field's name asks for."""
    topic = topic_of(name)
    if topic == "confidence":
        return (here.grade.sure if here.grade is not None else 0.6), 0.6
    if here.item is not None and topic == "count":
        return float(here.count), _item_sure(here)
    if here.focus is None:
        return None
    graph = here.focus.reading.graph
    meant = claims_of(name)
    if meant.wanted:
        return float(len(matching(meant.wanted[0], graph))), 0.7
    if topic == "words":
        return float(len(graph.signs)), 0.7
    if topic in ("answer", "count") and here.answered is not None and here.answered[0].isdigit():
        return float(here.answered[0]), here.answered[1]
    return (float(len(tuple(items_of(graph)))), 0.6) if topic in ("kinds", "count") else None


def _item_text(topic: Topic, item: Item) -> str | None:
    match topic:
        case "kinds" | "title" | "answer" | "tags" | "id":
            return kind_of(item)
        case "colour":
            return colour_of(item) or "unknown"
        case "size":
            return item.size if isinstance(item, Thing) else "unknown"
        case "words":
            return item.words if isinstance(item, Sign) else ""
        case "summary" | "people":
            return describe(item)
        case _:
            return None


def looks_for(name: str, item: Figure) -> str | None:
    """`hair`, `headgear`, `coat` and their colours, of one person."""
    words = set(words_of(name))
    coloured = bool(words & {"colour", "color"})
    if "hair" in words:
        return item.hair
    if words & {"headgear", "hat", "cap", "beanie", "headwear"}:
        return (item.headgear_colour or "none") if coloured else item.headgear
    return item.coat if words & {"coat", "jacket", "clothes", "clothing"} or coloured else None


def _item_sure(here: Situation) -> float:
    return 0.5 if here.item is None else _sure_of(here.item, here)


def _sure_of(item: Item, here: Situation) -> float:
    return here.focus.reading.sure.get(item.id, 0.5) if here.focus is not None else 0.5


def _by_area(here: Situation) -> list[Item]:
    if here.focus is None:
        return []
    return sorted(items_of(here.focus.reading.graph), key=lambda item: (-area(item), item.id))
