"""Two pictures that differ in one thing: what a model must look closely for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline.errors import UserError
from sightline_world.draw.camera import view
from sightline_world.draw.compose import shaken, stage, truth
from sightline_world.draw.kinds import HOLDS, KINDS, RIDERS, SUPPORTS, habitat_in
from sightline_world.draw.layout import CARRYING
from sightline_world.draw.places import PLACES
from sightline_world.draw.plan import ScenePlan, ThingWish
from sightline_world.scene import (
    HEADGEAR,
    SCENE_COLOURS,
    SCENE_KINDS,
    SCENE_LIGHTS,
    SCENE_PLACES,
    SCENE_SIZES,
    Relation,
)
from sightline_world.scene_plans import MOST, sign_styles, suits, told_apart
from sightline_world.sign_words import sign_words

Attribute: TypeAlias = Literal[
    "colour", "count", "kind", "size", "place", "light", "relation", "headgear", "coat", "words"
]
_Hidden: TypeAlias = Mapping[str, float]
_Change: TypeAlias = Callable[[ScenePlan, Random, _Hidden], ScenePlan | None]
# A change to what is hidden by more than this might not be seen; a head is a small part of a person.
_MOST_HIDDEN, _MOST_HIDDEN_HEAD = 0.4, 0.1


def vary(plan: ScenePlan, attribute: Attribute, seed: int | str) -> ScenePlan:
    """The plan, pinned, with one attribute of something well seen changed and nothing else moved."""
    pinned, hidden = _looked_at(plan)
    changed = _CHANGES[attribute](pinned, Random(f"{seed}/{attribute}"), hidden)
    if changed is None:
        raise UserError(f"this plan has no {attribute} to change.", "ask `variable` what can be changed in a plan")
    return changed


def variable(plan: ScenePlan) -> tuple[Attribute, ...]:
    """The attributes that can be changed in a plan."""
    pinned, hidden = _looked_at(plan)
    return tuple(name for name, change in _CHANGES.items() if change(pinned, Random(0), hidden) is not None)


def _looked_at(plan: ScenePlan) -> tuple[ScenePlan, _Hidden]:
    """The plan pinned, and for everything that its picture shows the share that is hidden."""
    staged = stage(plan)
    graph = truth(plan, staged, view(shaken(plan), plan.size))
    hidden = {one.id: one.hidden for group in (graph.things, graph.figures, graph.signs) for one in group}
    return plan.pinned({item.id: item.spot for item in staged.items}), hidden


def _seen(names: Iterable[str], hidden: _Hidden, most: float = _MOST_HIDDEN) -> list[int]:
    """The numbers of those that are well seen."""
    return [int(name[1:]) for name in names if hidden.get(name, 1.0) <= most]


def _things(plan: ScenePlan, hidden: _Hidden) -> list[int]:
    return _seen((f"t{number}" for number in range(len(plan.things))), hidden)


def _carried(plan: ScenePlan) -> dict[int, Relation]:
    """The numbers of things that lie on something or are held, with the relation that says so."""
    links = {}
    for relation in plan.relations:
        if relation.predicate in CARRYING:
            name = relation.subject if relation.predicate == "on" else relation.object
            links[int(name[1:])] = relation
    return links


def _with_thing(plan: ScenePlan, number: int, thing: ThingWish) -> ScenePlan:
    return replace(plan, things=(*plan.things[:number], thing, *plan.things[number + 1 :]))


def _colour(plan: ScenePlan, rng: Random, hidden: _Hidden) -> ScenePlan | None:
    able = [number for number in _things(plan, hidden) if len(KINDS[plan.things[number].kind].colours) > 1]
    if not able:
        return None
    number = rng.choice(able)
    thing = plan.things[number]
    other = [colour for colour in KINDS[thing.kind].colours if colour != thing.colour]
    return _with_thing(plan, number, replace(thing, colour=rng.choice(other)))


def _count(plan: ScenePlan, rng: Random, hidden: _Hidden) -> ScenePlan | None:
    """One more or one fewer of the things of one kind and colour."""
    linked = {name for relation in plan.relations for name in (relation.subject, relation.object)}
    loose = [number for number in _things(plan, hidden) if f"t{number}" not in linked]
    if not loose:
        return None
    number = rng.choice(loose)
    thing = plan.things[number]
    alike = sum((other.kind, other.colour) == (thing.kind, thing.colour) for other in plan.things)
    if alike == MOST or (alike > 1 and rng.random() < 0.5):
        return _without(plan, number)
    return replace(plan, things=(*plan.things, replace(thing, spot=None)))


def _without(plan: ScenePlan, number: int) -> ScenePlan:
    """The plan less one thing; those after it move up, and relations follow."""

    def renamed(name: str) -> str:
        return f"t{int(name[1:]) - 1}" if name[0] == "t" and int(name[1:]) > number else name

    relations = tuple(Relation(renamed(r.subject), r.predicate, renamed(r.object)) for r in plan.relations)
    return replace(plan, things=plan.things[:number] + plan.things[number + 1 :], relations=relations)


def _kind(plan: ScenePlan, rng: Random, hidden: _Hidden) -> ScenePlan | None:
    """Another kind of the same colour in the same spot."""
    carried, carriers = _carried(plan), {r.object for r in plan.relations if r.predicate == "on"}
    choices = []
    for number in _things(plan, hidden):
        thing, link = plan.things[number], carried.get(number)
        kinds = [kind for kind in SCENE_KINDS if kind != thing.kind and thing.colour in KINDS[kind].colours]
        if link is not None:
            able: tuple[str, ...] = RIDERS if link.predicate == "on" else tuple(HOLDS)
            kinds = [kind for kind in kinds if kind in able and kind not in PLACES[plan.place].scenery_kinds]
        else:
            home = habitat_in(thing.kind, PLACES[plan.place])
            kinds = [kind for kind in kinds if suits(kind, plan.place, plan.light)]
            kinds = [kind for kind in kinds if habitat_in(kind, PLACES[plan.place]) == home]
            if f"t{number}" in carriers:
                kinds = [kind for kind in kinds if kind in SUPPORTS]
        choices += [(number, kind) for kind in kinds]
    if not choices:
        return None
    number, kind = rng.choice(choices)
    return _with_thing(plan, number, replace(plan.things[number], kind=kind))


def _size(plan: ScenePlan, rng: Random, hidden: _Hidden) -> ScenePlan | None:
    able = _things(plan, hidden)
    if not able:
        return None
    number = rng.choice(able)
    thing = plan.things[number]
    return _with_thing(plan, number, replace(thing, size=rng.choice([s for s in SCENE_SIZES if s != thing.size])))


def _place(plan: ScenePlan, rng: Random, hidden: _Hidden) -> ScenePlan | None:
    """Another place where all of it can be, with everything in the same part of its zone."""
    del hidden
    carried = _carried(plan)
    here = PLACES[plan.place]
    loose = [thing.kind for number, thing in enumerate(plan.things) if number not in carried]
    able = []
    for name in SCENE_PLACES:
        other = PLACES[name]
        if name == plan.place or (plan.people and "ground" not in other.zones):
            continue
        same = all(habitat_in(kind, other) == habitat_in(kind, here) for kind in loose)
        signs = all(sign.style in sign_styles(name) for sign in plan.signs)
        if same and signs and all(suits(kind, name, plan.light) for kind in loose):
            able.append(name)
    return replace(plan, place=rng.choice(able), score=None) if able else None


def _light(plan: ScenePlan, rng: Random, hidden: _Hidden) -> ScenePlan | None:
    del hidden
    return replace(plan, light=rng.choice([light for light in SCENE_LIGHTS if light != plan.light]))


def _relation(plan: ScenePlan, rng: Random, hidden: _Hidden) -> ScenePlan | None:
    """A wished relation turned round, or given up: what was on something or held is elsewhere now."""
    for number in rng.sample(range(len(plan.relations)), len(plan.relations)):
        relation = plan.relations[number]
        if len(_seen((relation.subject, relation.object), hidden, 0.7)) < 2:
            continue
        changed = _put_down(plan, relation, rng) if relation.predicate in CARRYING else _turned(plan, relation)
        if changed is not None:
            return changed
    return None


def _turned(plan: ScenePlan, relation: Relation) -> ScenePlan | None:
    if not told_apart(plan, relation.subject, relation.object):
        return None
    swapped = _swapped(plan, relation.subject, relation.object)
    return _with_relation(swapped, relation, Relation(relation.object, relation.predicate, relation.subject))


def _with_relation(plan: ScenePlan, old: Relation, new: Relation | None) -> ScenePlan:
    kept = [new if relation == old else relation for relation in plan.relations]
    return replace(plan, relations=tuple(relation for relation in kept if relation is not None))


def _put_down(plan: ScenePlan, relation: Relation, rng: Random) -> ScenePlan | None:
    """What is held goes to someone else, or stands by itself; so does what lies on something."""
    name = relation.subject if relation.predicate == "on" else relation.object
    if relation.predicate == "holding":
        busy = {other.subject for other in plan.relations if other.predicate == "holding"}
        free = [f"p{number}" for number in range(len(plan.people)) if f"p{number}" not in busy]
        if free:
            return _with_relation(plan, relation, Relation(rng.choice(free), "holding", name))
    number = int(name[1:])
    if not suits(plan.things[number].kind, plan.place, plan.light):
        return None
    loose = replace(plan.things[number], spot=None)
    return _with_relation(_with_thing(plan, number, loose), relation, None)


def _swapped(plan: ScenePlan, first: str, second: str) -> ScenePlan:
    """The plan with two that have changed places."""
    a, b = plan.spot(first), plan.spot(second)
    assert a is not None and b is not None  # the plan is pinned
    return plan.pinned({first: replace(b, look=a.look), second: replace(a, look=b.look)})


def _headgear(plan: ScenePlan, rng: Random, hidden: _Hidden) -> ScenePlan | None:
    able = _seen((f"p{number}" for number in range(len(plan.people))), hidden, _MOST_HIDDEN_HEAD)
    if not able:
        return None
    number = rng.choice(able)
    person = plan.people[number]
    headgear = rng.choice([kind for kind in HEADGEAR if kind != person.headgear])
    colour = None if headgear == "none" else person.headgear_colour or rng.choice(SCENE_COLOURS)
    changed = replace(person, headgear=headgear, headgear_colour=colour)
    return replace(plan, people=(*plan.people[:number], changed, *plan.people[number + 1 :]))


def _coat(plan: ScenePlan, rng: Random, hidden: _Hidden) -> ScenePlan | None:
    able = _seen((f"p{number}" for number in range(len(plan.people))), hidden)
    if not able:
        return None
    number = rng.choice(able)
    person = plan.people[number]
    changed = replace(person, coat=rng.choice([colour for colour in SCENE_COLOURS if colour != person.coat]))
    return replace(plan, people=(*plan.people[:number], changed, *plan.people[number + 1 :]))


def _words(plan: ScenePlan, rng: Random, hidden: _Hidden) -> ScenePlan | None:
    able = _seen((f"s{number}" for number in range(len(plan.signs))), hidden)
    if not able:
        return None
    number = rng.choice(able)
    words = sign_words(rng)
    while words == plan.signs[number].words:
        words = sign_words(rng)
    changed = replace(plan.signs[number], words=words)
    return replace(plan, signs=(*plan.signs[:number], changed, *plan.signs[number + 1 :]))


_CHANGES: Mapping[Attribute, _Change] = MappingProxyType(
    {
        "colour": _colour,
        "count": _count,
        "kind": _kind,
        "size": _size,
        "place": _place,
        "light": _light,
        "relation": _relation,
        "headgear": _headgear,
        "coat": _coat,
        "words": _words,
    }
)
