"""`describe`: all that a picture shows, in two styles, and as a list of facts to check a description against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

from sightline.english import listed
from sightline.types import Box, Json, PictureRef, Task, Trace, Traces
from sightline_world.data import read_data
from sightline_world.draw.places import PLACES as SCENERY
from sightline_world.scene import SCENE_KINDS, Figure, SceneGraph, Thing
from sightline_world.tasks.album import TaskAlbum, is_noticed, is_readable, looks
from sightline_world.tasks.phrases import LIGHT_WORDS, PLACE_WORDS, Family, Templates, family_of, person, pick, sentence
from sightline_world.tasks.task import Lot, MadeTask, labels
from sightline_world.vocabulary import phrase

TEMPLATES: Templates = read_data("tasks/templates.toml")["describe"]
_DRAFTS, _ABSENT = 8, 5
_SIDES = ("on the left", "in the middle", "on the right")
_ORDER = ("place", "light", "thing", "person", "words", "relation")


class DescribeMaker:
    """Makes tasks from one album; the harder, the more there is to tell."""

    def __init__(self, album: TaskAlbum) -> None:
        self._album = album
        self._originals = [shot for shot in album.shots if shot.duplicate_of is None] or list(album.shots)

    def make(self, name: str, rng: Random, difficulty: float, family: Family | None = None) -> MadeTask | None:
        lot = Lot(self._album, rng, family_of(rng, family), difficulty)
        drawn = [rng.choice(self._originals) for _ in range(_DRAFTS)]
        wanted = 3 + 15 * difficulty
        shot = min(drawn, key=lambda each: abs(len(facts_of(each.graph)) - wanted))
        facts = facts_of(shot.graph)
        absent = _absent(shot.graph, rng)
        kinds = Counter(str(fact["fact"]) for fact in facts)
        task = Task(
            id=name,
            kind="describe",
            prompt=(pick(TEMPLATES, lot.family, rng), PictureRef(shot.id)),
            scope=lot.scope(),
            labels=labels(
                difficulty,
                phrasing=lot.family,
                people="yes" if kinds["person"] else "no",
                words="yes" if kinds["words"] else "no",
                hops=0,
                needs_search=False,
                needs_zoom=False,
                needs_web=False,
            ),
            extra={"facts": list(facts), "absent": list(absent)},
        )
        truth = Traces((inventory(shot.graph), walk(shot.graph)))
        return MadeTask(task, truth)


def facts_of(graph: SceneGraph) -> list[dict[str, Json]]:
    """What is surely to be seen, one fact each, with where it is and in words."""
    return [
        {"fact": "place", "value": graph.place, "text": PLACE_WORDS[graph.place][0]},
        {"fact": "light", "value": graph.light, "text": LIGHT_WORDS[graph.light][0]},
        *_things(graph),
        *_people(graph),
        *_words(graph),
        *_relations(graph),
    ]


def _things(graph: SceneGraph) -> Iterator[dict[str, Json]]:
    groups: dict[tuple[str, str], list[Thing]] = {}
    for thing in graph.things:
        if is_noticed(thing):
            groups.setdefault((thing.kind, thing.colour), []).append(thing)
    for (kind, colour), things in groups.items():
        yield {
            "fact": "thing",
            "kind": kind,
            "colour": colour,
            "count": len(things),
            "sizes": [thing.size for thing in things],
            "boxes": [_corners(thing.box) for thing in things],
            "text": phrase(kind, colour, len(things)),
        }


def _people(graph: SceneGraph) -> Iterator[dict[str, Json]]:
    for figure in graph.figures:
        if is_noticed(figure):
            yield {
                "fact": "person",
                "hair": figure.hair,
                "headgear": figure.headgear,
                "headgear_colour": figure.headgear_colour,
                "coat": figure.coat,
                "boxes": [_corners(figure.box)],
                "text": person(looks(figure, coat=True)),
            }


def _words(graph: SceneGraph) -> Iterator[dict[str, Json]]:
    for sign in graph.signs:
        if is_readable(sign):
            yield {"fact": "words", "value": sign.words, "boxes": [_corners(sign.box)], "text": f"a sign: {sign.words}"}


def _relations(graph: SceneGraph) -> Iterator[dict[str, Json]]:
    """Holding and resting always; left of and behind only where both are told apart by kind and colour."""
    shown: list[Thing | Figure] = [*graph.things, *graph.figures]
    items = {item.id: item for item in shown if is_noticed(item)}
    names = Counter(_name(item) for item in items.values())
    for relation in graph.relations:
        if relation.subject in items and relation.object in items:
            one, other = (_name(items[each]) for each in (relation.subject, relation.object))
            if relation.predicate in ("holding", "on") or names[one] == names[other] == 1:
                text = f"{one} {relation.predicate} {other}"
                boxes: list[Json] = [_corners(items[each].box) for each in (relation.subject, relation.object)]
                yield {
                    "fact": "relation",
                    "subject": one,
                    "predicate": relation.predicate,
                    "object": other,
                    "boxes": boxes,
                    "text": text,
                }


def _name(item: Thing | Figure) -> str:
    return phrase("person", item.coat) if isinstance(item, Figure) else phrase(item.kind, item.colour)


def _corners(box: Box) -> Json:
    return [box.left, box.top, box.right, box.bottom]


def _absent(graph: SceneGraph, rng: Random) -> list[str]:
    """Kinds that are surely not there: what names them, sees things."""
    there = {thing.kind for thing in graph.things} | {*SCENERY[graph.place].scenery_kinds}
    return sorted(rng.sample([kind for kind in SCENE_KINDS if kind not in there], _ABSENT))


def inventory(graph: SceneGraph) -> Trace:
    """Everything in order: the setting, things by kind, people, words, relations."""
    facts = facts_of(graph)
    by_kind = {kind: [str(fact["text"]) for fact in facts if fact["fact"] == kind] for kind in _ORDER}
    setting = f"{by_kind['place'][0]} {by_kind['light'][0]}"
    thinking = [f"The surroundings look like this: {setting}."]
    thinking += [f"Things: {', '.join(by_kind['thing'])}." if by_kind["thing"] else "I see no things of note."]
    thinking += [f"People: {'; '.join(by_kind['person'])}." if by_kind["person"] else "There is nobody."]
    answer = [f"The picture was taken {setting}."]
    seen = [*by_kind["thing"], *by_kind["person"]]
    answer += [f"It shows {listed(seen)}."] if seen else ["It shows nothing else of note."]
    for fact in facts:
        if fact["fact"] == "words":
            thinking.append(f"There are letters: {fact['value']}.")
            answer.append(f"A sign says {fact['value']}.")
        elif fact["fact"] == "relation":
            answer.append(f"{sentence(str(fact['subject']))} is {fact['predicate']} {fact['object']}.")
    return Trace(" ".join(thinking), " ".join(answer), "world/inventory")


def walk(graph: SceneGraph) -> Trace:
    """The same from the left to the right, as someone would tell it."""
    sides: dict[str, list[str]] = {side: [] for side in _SIDES}
    shown: list[Thing | Figure] = [*graph.things, *graph.figures]
    for item in sorted((each for each in shown if is_noticed(each)), key=_middle):
        words = person(looks(item, coat=True)) if isinstance(item, Figure) else _sized(item)
        sides[_SIDES[min(2, int(3 * _middle(item)))]].append(words)
    told = [f"{sentence(side)} there is {listed(words)}." for side, words in sides.items() if words]
    opening = f"We are {PLACE_WORDS[graph.place][1]}, {LIGHT_WORDS[graph.light][1]}."
    read = [f"One can read {sign.words} on a sign." for sign in graph.signs if is_readable(sign)]
    thinking = [f"I go through it from left to right, {sum(map(len, sides.values()))} items in all."]
    thinking += [f"{sentence(side)}: {', '.join(words) or 'nothing that stands out'}." for side, words in sides.items()]
    nobody = [] if graph.figures else ["Nobody is about."]
    return Trace(" ".join(thinking), " ".join([opening, *told, *read, *nobody]), "world/walk")


def _sized(thing: Thing) -> str:
    return phrase(thing.kind, thing.colour, size=thing.size)


def _middle(item: Thing | Figure) -> float:
    return (item.box.left + item.box.right) / 2
