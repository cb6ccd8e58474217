"""`rank`: queries in words, with a grade for every picture of the owner."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline.english import article, listed
from sightline.types import Relevance, Task
from sightline_world.scene import Figure, SceneGraph, Thing
from sightline_world.tasks.album import Album
from sightline_world.tasks.asking import Ask, AskPerson, AskRelation, AskThings, AskWords, Subject, described
from sightline_world.tasks.made import Lot, MadeTask, labels
from sightline_world.tasks.phrases import FAMILIES, LIGHTS, PLACES, Family, Templates, headwear, pick, sentence
from sightline_world.tasks.traits import is_noticed, is_readable
from sightline_world.vocabulary import noun_of, phrase

Style: TypeAlias = Literal["keyword", "sentence", "question", "vague"]
STYLES: tuple[Style, ...] = ("keyword", "sentence", "question", "vague")
TEMPLATES: Mapping[str, Templates] = MappingProxyType(
    {
        "keyword": {
            "training": ("{subject} {where}",),
            "held-out": ("pics {where}: {subject}", "photo: {subject} / {where}"),
        },
        "sentence": {
            "training": ("A picture of {subject} {where}.", "{subject} can be seen {where}."),
            "held-out": ("This is about {subject}, {where}.", "I once photographed {subject} {where}."),
        },
        "question": {
            "training": ("Which pictures show {subject} {where}?", "Is there a picture of {subject} {where}?"),
            "held-out": ("Where did I put the shot of {subject} {where}?", "Do I own a photo with {subject} {where}?"),
        },
        "vague": {
            "training": ("something with {subject} {where}", "{subject}, more or less, {where}"),
            "held-out": ("{subject} or so, if I remember right, {where}", "that one of {subject}, you know, {where}"),
        },
    }
)
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "some animal": ("dog", "cat", "horse", "cow", "sheep", "rabbit", "duck", "bird"),
        "some vehicle on wheels": ("bicycle", "car", "bus", "truck", "motorbike"),
        "something that flies": ("bird", "hot-air balloon", "plane", "kite", "balloon"),
        "some fruit": ("apple", "pear"),
    }
)
"""What vague queries call several kinds by."""
REGIONS: tuple[tuple[tuple[str, ...], tuple[str, str]], ...] = (
    (("beach", "lake", "harbour"), ("by the water", "at the water's edge")),
    (("street", "market", "station"), ("in the middle of a town", "amid the bustle of a town")),
    (("kitchen", "library"), ("indoors", "under a roof")),
)
"""What they call several places by, in both families."""
_DARK = (("sunset", "night"), ("late or very early in the day", "with little daylight left"))
_WET = (("fog", "rain", "snowfall"), ("in bad weather", "with no sun to be seen"))
_MOST = 0.15
"""A query that fits more of the pictures than this is not asked."""
_NEAR = 6
"""Pictures that come near to what the hardest queries ask."""
_DRAFTS = 60


@dataclass(frozen=True, slots=True)
class _Query:
    """What is asked, and the words for it."""

    ask: Ask
    subject: str
    where: str


class RankMaker:
    """Makes tasks from one album."""

    def __init__(self, album: Album) -> None:
        self._album = album

    def make(self, name: str, rng: Random, difficulty: float) -> MadeTask | None:
        """A query by lot, answered by at least one picture and by few."""
        for _ in range(_DRAFTS):
            lot = Lot(self._album, rng, rng.choice(FAMILIES), difficulty)
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
    ask = Ask(tuple(subject for subject, _ in subjects), places, lights)
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
    return (graph.place,), PLACES[graph.place][_side(lot.family)]


def _light(lot: Lot, graph: SceneGraph, vague: bool) -> tuple[tuple[str, ...], str]:
    if not lot.chance(0.3, 0.6):
        return (), ""
    for lights, words in (_DARK, _WET):
        if vague and graph.light in lights:
            return lights, words[_side(lot.family)]
    return (graph.light,), LIGHTS[graph.light][_side(lot.family)]


def _side(family: Family) -> int:
    return FAMILIES.index(family)
