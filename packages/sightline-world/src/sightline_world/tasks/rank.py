"""`rank`: queries in words, what each asks of a picture, and a grade for every picture of the owner.

Each thing that is asked for has a *miss* of 0, 1 or 2:

- things (kinds, colour, count): 0 as asked and plain to see; 1 where colour or count differs, where they are hardly to
  be seen, or where the place itself is full of them; 2 where colour and count differ, or there are none.
- a person (hair, headgear, coat): 0 where someone fits; 1 where one of several looks differs, or someone who fits is
  hardly to be seen; 2 otherwise.
- words on a sign: 0 where they can be read, 1 where they are there but can't be read, 2 otherwise.
- a relation: 0 where it holds, 1 where both are there and it does not hold, 2 otherwise.
- places: 0 in one of them, else 2. Lights: 0 in one of them, else 1.

The misses add up: 0 is grade 3, 1 is grade 2, 2 is grade 1, more is grade 0. A picture in which none of the asked
things, people or words is found at all (each has a miss of 2) has grade 0, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline.class_names import known_as, name_of
from sightline.english import article, listed
from sightline.types import Json, Relevance, Task
from sightline_world.data import read_data
from sightline_world.draw.places import PLACES
from sightline_world.scene import Figure, SceneGraph, Thing
from sightline_world.tasks.album import TaskAlbum, is_noticed, is_readable
from sightline_world.tasks.phrases import (
    FAMILIES,
    LIGHT_WORDS,
    PLACE_WORDS,
    Family,
    Templates,
    family_of,
    headwear,
    pick,
    sentence,
)
from sightline_world.tasks.task import Lot, MadeTask, labels
from sightline_world.vocabulary import noun_of, phrase

STYLES: tuple[Style, ...] = ("keyword", "sentence", "question", "vague")
TEMPLATES: Mapping[str, Templates] = read_data("tasks/templates.toml")["rank"]
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "some animal": ("dog", "cat", "horse", "cow", "sheep", "rabbit", "duck", "bird"),
        "some vehicle on wheels": ("bicycle", "car", "bus", "truck", "motorbike"),
        "something that flies": ("bird", "hot-air balloon", "plane", "kite", "balloon"),
        "some fruit": ("apple", "pear"),
    }
)
"""What vague queries call several kinds by."""
REGIONS: tuple[tuple[tuple[str, ...], tuple[str, str, str]], ...] = (
    (("beach", "lake", "harbour"), ("by the water", "at the water's edge", "close to the water")),
    (("street", "market", "station"), ("in the middle of a town", "amid the bustle of a town", "somewhere in a town")),
    (("kitchen", "library"), ("indoors", "under a roof", "inside a building")),
)
"""What they call several places by, in each family."""
_DARK = (("sunset", "night"), ("late or very early in the day", "with little daylight left", "in dim or no daylight"))
_WET = (("fog", "rain", "snowfall"), ("in bad weather", "with no sun to be seen", "under a grey sky"))
_MOST = 0.15
"""A query that fits more of the pictures than this is not asked."""
_NEAR = 6
"""Pictures that come near to what the hardest queries ask."""
_DRAFTS = 60


@known_as("AskThings")
@dataclass(frozen=True, slots=True)
class AskThings:
    """So many things of one of the kinds, of a colour; None leaves it open, and then one is enough."""

    kinds: tuple[str, ...]
    colour: str | None = None
    count: int | None = None

    def miss(self, graph: SceneGraph) -> int:
        here = [thing for thing in graph.things if thing.kind in self.kinds]
        plain = [thing for thing in here if is_noticed(thing)]
        if self._fit(plain):
            return 0
        scenery = any(kind in PLACES[graph.place].scenery_kinds for kind in self.kinds)
        if self._fit(here) or scenery:
            return 1
        return 1 if plain and (self.count is None or self.colour is None or self._nearly(plain)) else 2

    def _fit(self, things: Sequence[Thing]) -> bool:
        coloured = [thing for thing in things if self.colour in (None, thing.colour)]
        return bool(coloured) and self.count in (None, len(coloured))

    def _nearly(self, things: Sequence[Thing]) -> bool:
        """Of colour and count, one is right."""
        return len(things) == self.count or any(thing.colour == self.colour for thing in things)


@known_as("AskPerson")
@dataclass(frozen=True, slots=True)
class AskPerson:
    """Someone of certain looks; None leaves a look open. Headgear and its colour are one look."""

    hair: str | None = None
    headwear: tuple[str, str | None] | None = None
    coat: str | None = None

    def miss(self, graph: SceneGraph) -> int:
        wrong = [self._wrong(figure) + (not is_noticed(figure)) for figure in graph.figures]
        asked = sum(look is not None for look in (self.hair, self.headwear, self.coat))
        least = min(wrong, default=2)
        return 2 if least > 1 or (asked == 1 and least == 1 and not self._hardly(graph)) else least

    def _wrong(self, figure: Figure) -> int:
        worn = (figure.headgear, figure.headgear_colour)
        return (
            (self.hair not in (None, figure.hair))
            + (self.headwear not in (None, worn))
            + (self.coat not in (None, figure.coat))
        )

    def _hardly(self, graph: SceneGraph) -> bool:
        return any(self._wrong(figure) == 0 for figure in graph.figures)


@known_as("AskWords")
@dataclass(frozen=True, slots=True)
class AskWords:
    """A sign that says this."""

    words: str

    def miss(self, graph: SceneGraph) -> int:
        signs = [sign for sign in graph.signs if sign.words == self.words]
        return 2 if not signs else 0 if any(map(is_readable, signs)) else 1


@known_as("AskRelation")
@dataclass(frozen=True, slots=True)
class AskRelation:
    """One thing or person in a relation to another; a person is told by the colour of the coat."""

    subject: tuple[str, str]
    predicate: str
    object: tuple[str, str]

    def miss(self, graph: SceneGraph) -> int:
        shown: list[Thing | Figure] = [*graph.things, *graph.figures]
        items = {item.id: described(item) for item in shown}
        for relation in graph.relations:
            if relation.predicate == self.predicate and (
                (items.get(relation.subject), items.get(relation.object)) == (self.subject, self.object)
            ):
                return 0
        there = list(items.values())
        twice = 2 if self.subject == self.object else 1
        return 1 if there.count(self.subject) >= twice and there.count(self.object) >= twice else 2


Subject: TypeAlias = AskThings | AskPerson | AskWords | AskRelation


@dataclass(frozen=True, slots=True)
class RankQuery:
    """All that one query asks; no places or no lights means any."""

    subjects: tuple[Subject, ...]
    places: tuple[str, ...] = ()
    lights: tuple[str, ...] = ()

    def grade(self, graph: SceneGraph) -> int:
        """How relevant a picture is, 0 to 3."""
        misses = [subject.miss(graph) for subject in self.subjects]
        if misses and min(misses) == 2:
            return 0
        elsewhere = 2 * (bool(self.places) and graph.place not in self.places)
        otherwise = bool(self.lights) and graph.light not in self.lights
        return max(0, 3 - sum(misses) - elsewhere - otherwise)

    def as_json(self) -> dict[str, Json]:
        """For a machine to grade again."""
        return {
            "subjects": [{"ask": name_of(type(each)), **_fields(each)} for each in self.subjects],
            "places": list(self.places),
            "lights": list(self.lights),
        }


def _fields(subject: Subject) -> dict[str, Json]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(subject).items()}


def described(item: Thing | Figure) -> tuple[str, str]:
    """Kind and colour; of a person, the coat's."""
    return ("person", item.coat) if isinstance(item, Figure) else (item.kind, item.colour)


Style: TypeAlias = Literal["keyword", "sentence", "question", "vague"]


@dataclass(frozen=True, slots=True)
class _Query:
    """What is asked, and the words for it."""

    ask: RankQuery
    subject: str
    where: str


class RankMaker:
    """Makes tasks from one album."""

    def __init__(self, album: TaskAlbum) -> None:
        self._album = album

    def make(self, name: str, rng: Random, difficulty: float, family: Family | None = None) -> MadeTask | None:
        """A query by lot, answered by at least one picture and by few."""
        for _ in range(_DRAFTS):
            lot = Lot(self._album, rng, family_of(rng, family), difficulty)
            style = rng.choices(STYLES, (3, 3, 2, 1 + 4 * difficulty))[0]
            query = _query(lot, style)
            if query is None:
                continue
            grades = {shot.id: query.ask.grade(shot.graph) for shot in self._album.shots}
            full, near = (sum(grade in wanted for grade in grades.values()) for wanted in ((3,), (1, 2)))
            if 1 <= full <= max(1, _MOST * len(grades)) and near >= round(_NEAR * difficulty):
                return _task(name, lot, style, query, grades)
        return None


def _task(name: str, lot: Lot, style: Style, query: _Query, grades: dict[str, int]) -> MadeTask:
    words = _filled(pick(TEMPLATES[style], lot.family, lot.rng), query)
    facts = len(query.ask.subjects) + bool(query.ask.places) + bool(query.ask.lights)
    task = Task(
        id=name,
        kind="rank",
        prompt=(words if style == "keyword" else sentence(words),),
        scope=lot.scope(),
        labels=labels(
            lot.difficulty,
            style=style,
            phrasing=lot.family,
            facts=facts,
            look_alikes="many" if sum(grade == 2 for grade in grades.values()) > 10 else "few",
            hops=0,
            needs_search=True,
            needs_zoom=False,
            needs_web=False,
        ),
        extra={"ask": query.ask.as_json()},
    )
    return MadeTask(task, Relevance(grades))


def _filled(template: str, query: _Query) -> str:
    """The template in words; where no place and no light is asked for, what would join them falls away."""
    words = template.format(subject=query.subject, where=query.where)
    return re.sub(r"[ ,]*([.?:])", r"\1", " ".join(words.split())).strip(" ,/")


def _query(lot: Lot, style: Style) -> _Query | None:
    """What one picture shows, or a part of it."""
    graph = lot.rng.choice(lot.album.shots).graph
    vague = style == "vague"
    subjects = _subjects(lot, graph, 1 + lot.chance(0.2, 0.8), vague)
    if not subjects:
        return None
    places, place_words = _place(lot, graph, vague)
    lights, light_words = _light(lot, graph, vague)
    if not places and not lights and len(subjects) == 1 and lot.difficulty > 0.3:
        return None
    ask = RankQuery(tuple(subject for subject, _ in subjects), places, lights)
    return _Query(ask, listed(words for _, words in subjects), f"{place_words} {light_words}".strip())


def _subjects(lot: Lot, graph: SceneGraph, count: int, vague: bool) -> list[tuple[Subject, str]]:
    things = [thing for thing in graph.things if is_noticed(thing)]
    figures = [figure for figure in graph.figures if is_noticed(figure)]
    signs = [sign for sign in graph.signs if is_readable(sign)]
    related = _relation(lot, graph)
    if related is not None and not vague and lot.rng.random() < 0.2:
        return [related]
    found: list[tuple[Subject, str]] = []
    if things:
        first = lot.rng.choice(things)
        found.append(_things(lot, graph, first, vague))
        others = [thing for thing in things if thing.kind != first.kind]
        if others and not vague:
            found.append(_things(lot, graph, lot.rng.choice(others), vague))
    if signs and not vague:
        sign = lot.rng.choice(signs)
        found.append((AskWords(sign.words), f"a sign that says {sign.words.lower()}"))
    if figures:
        found.append(_person(lot, lot.rng.choice(figures), vague))
    lot.rng.shuffle(found)
    return sorted(found[:count], key=lambda each: isinstance(each[0], AskPerson))


def _things(lot: Lot, graph: SceneGraph, thing: Thing, vague: bool) -> tuple[Subject, str]:
    if vague:
        names = [name for name, kinds in GROUPS.items() if thing.kind in kinds]
        if names and lot.rng.random() < 0.7:
            name = lot.rng.choice(names)
            return AskThings(GROUPS[name]), name
        return AskThings((thing.kind,)), phrase(thing.kind)
    same = [each for each in graph.things if each.kind == thing.kind and each.colour == thing.colour]
    whole = len(same) > 1 and all(is_noticed(each) for each in same)
    count = len(same) if whole and lot.rng.random() < 0.7 else None
    words = phrase(thing.kind, thing.colour, count or 1)
    if count is None and len(same) == 1 and lot.rng.random() < 0.2 and lot.family == "held-out":
        words = phrase(thing.kind, thing.colour, word=noun_of(thing.kind, 1, lot.rng.randrange(8)))
    return AskThings((thing.kind,), thing.colour, count), words


def _person(lot: Lot, figure: Figure, vague: bool) -> tuple[Subject, str]:
    if vague:
        return AskPerson(coat=figure.coat), f"somebody in {figure.coat}"
    coat = f"{article(figure.coat)} {figure.coat} coat"
    if figure.headgear == "none" or lot.rng.random() < 0.3:
        if lot.rng.random() < 0.5:
            return AskPerson(hair=figure.hair, coat=figure.coat), f"a {figure.hair}-haired person in {coat}"
        return AskPerson(coat=figure.coat), f"a person in {coat}"
    worn = (figure.headgear, figure.headgear_colour)
    hat = headwear(figure.headgear, figure.headgear_colour or "")
    if lot.rng.random() < 0.6:
        return AskPerson(headwear=worn, coat=figure.coat), f"a person in {coat} and {hat}"
    return AskPerson(headwear=worn), f"a person in {hat}"


def _relation(lot: Lot, graph: SceneGraph) -> tuple[Subject, str] | None:
    shown: list[Thing | Figure] = [*graph.things, *graph.figures]
    items = {item.id: item for item in shown if is_noticed(item)}
    known = [each for each in graph.relations if each.subject in items and each.object in items]
    if not known:
        return None
    relation = lot.rng.choice(known)
    one, other = (described(items[name]) for name in (relation.subject, relation.object))
    words = f"{phrase(*one)} {relation.predicate} {phrase(*other)}"
    return AskRelation(one, relation.predicate, other), words


def _place(lot: Lot, graph: SceneGraph, vague: bool) -> tuple[tuple[str, ...], str]:
    if not lot.chance(0.5, 0.8):
        return (), ""
    regions = [each for each in REGIONS if graph.place in each[0]]
    if vague and regions:
        return regions[0][0], regions[0][1][_side(lot.family)]
    return (graph.place,), PLACE_WORDS[graph.place][_side(lot.family)]


def _light(lot: Lot, graph: SceneGraph, vague: bool) -> tuple[tuple[str, ...], str]:
    if not lot.chance(0.3, 0.6):
        return (), ""
    for lights, words in (_DARK, _WET):
        if vague and graph.light in lights:
            return lights, words[_side(lot.family)]
    return (graph.light,), LIGHT_WORDS[graph.light][_side(lot.family)]


def _side(family: Family) -> int:
    return FAMILIES.index(family)
