"""Pairs of sentences about a drawn scene: of one fact, in other words or said falsely, and of two facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Literal, TypeAlias

from sightline.english import number_word
from sightline_world.draw import draw
from sightline_world.scene import SCENE_COLOURS, SCENE_KINDS, SceneGraph, Thing
from sightline_world.scene_plans import random_plan
from sightline_world.vocabulary import LIGHT_PHRASES, PLACE_PHRASES, noun_of

Relation: TypeAlias = Literal["same", "conflict", "neither"]
_OPPOSITE = {"left of": "right of", "behind": "in front of"}
_LIGHTS = ("day", "night")
_FAR = 0.15


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences of which the first is true; what they are about, and how they stand to each other."""

    one: str
    other: str
    about: str
    relation: Relation


def pairs(scenes: int, seed: str = "pairs") -> Iterator[Pair]:
    for number in range(scenes):
        graph, rng = draw(random_plan(f"{seed}/{number}", 0.3)).graph, Random(f"{seed}/{number}")
        by_kind: dict[str, list[Thing]] = {}
        for thing in graph.things:
            by_kind.setdefault(thing.kind, []).append(thing)
        for kind, things in by_kind.items():
            yield from _numbers(kind, things, rng)
            yield from _colours(kind, things, rng)
        single = [things[0] for things in by_kind.values() if len(things) == 1]
        yield from _sides(single)
        yield from _relations(graph, {thing.id: thing.kind for thing in single})
        yield from _presence(by_kind, rng)
        yield from _settings(graph, rng)
        yield from _unlike(single, rng)


def _numbers(kind: str, things: list[Thing], rng: Random) -> Iterator[Pair]:
    count = len(things)
    if count < 2:
        return
    noun, wrong = noun_of(kind, count), rng.choice([number for number in (2, 3, 4, 5) if number != count])
    true = f"There are {number_word(count)} {noun} in the picture."
    yield Pair(true, f"I can see {number_word(count)} {noun}.", "number", "same")
    yield Pair(true, f"I can see {number_word(wrong)} {noun}.", "number", "conflict")
    yield Pair(true, f"There are {number_word(wrong)} {noun} in the picture.", "number", "conflict")


def _colours(kind: str, things: list[Thing], rng: Random) -> Iterator[Pair]:
    seen = sorted({thing.colour for thing in things})
    other = rng.choice([colour for colour in SCENE_COLOURS if colour not in seen])
    if len(things) == 1:
        true = f"The {kind} is {seen[0]}."
        yield Pair(true, f"There is a {seen[0]} {kind} in the picture.", "colour", "same")
        yield Pair(true, f"The {kind} is {other}.", "colour", "conflict")
        yield Pair(true, f"There is a {other} {kind} in the picture.", "colour", "conflict")
    elif len(seen) > 1:
        yield Pair(f"There is a {seen[0]} {kind}.", f"There is a {seen[1]} {kind}.", "colours of two", "neither")


def _sides(single: list[Thing]) -> Iterator[Pair]:
    for thing in single:
        across = (thing.box.left + thing.box.right) / 2
        if abs(across - 0.5) > _FAR:
            side, wrong = ("left", "right") if across < 0.5 else ("right", "left")
            true = f"The {thing.kind} is on the {side} side of the picture."
            yield Pair(true, f"On the {side} side, a {thing.kind} is visible.", "side", "same")
            yield Pair(true, f"On the {wrong} side, a {thing.kind} is visible.", "side", "conflict")


def _relations(graph: SceneGraph, kinds: dict[str, str]) -> Iterator[Pair]:
    for relation in graph.relations:
        if relation.predicate not in _OPPOSITE or not {relation.subject, relation.object} <= kinds.keys():
            continue
        one, other = kinds[relation.subject], kinds[relation.object]
        word, turned = relation.predicate, _OPPOSITE[relation.predicate]
        true = f"The {one} is {word} the {other}."
        yield Pair(true, f"The {other} is {turned} the {one}.", "relation", "same")
        yield Pair(true, f"The {other} is {word} the {one}.", "relation", "conflict")
        yield Pair(true, f"The {one} is {turned} the {other}.", "relation", "conflict")


def _presence(by_kind: dict[str, list[Thing]], rng: Random) -> Iterator[Pair]:
    missing = rng.choice([kind for kind in SCENE_KINDS if kind not in by_kind])
    true = f"There is no {missing} in the picture."
    yield Pair(true, f"A {missing} is not visible.", "presence", "same")
    yield Pair(true, f"There is a {missing} in the picture.", "presence", "conflict")
    for kind in list(by_kind)[:2]:
        yield Pair(f"There is a {kind}.", f"There is no {kind} in the picture.", "presence", "conflict")
        yield Pair(f"There is a {kind}.", true, "presence", "neither")


def _settings(graph: SceneGraph, rng: Random) -> Iterator[Pair]:
    chosen = [("place", graph.place, PLACE_PHRASES, [*PLACE_PHRASES])]
    if graph.light in _LIGHTS:
        chosen.append(("light", graph.light, LIGHT_PHRASES, [*_LIGHTS]))
    for about, value, phrases, values in chosen:
        other = rng.choice([one for one in values if one != value])
        true = f"The picture was taken {phrases[value][0]}."
        yield Pair(true, f"It was taken {phrases[value][1]}.", about, "same")
        yield Pair(true, f"The picture was taken {phrases[other][0]}.", about, "conflict")


def _unlike(single: list[Thing], rng: Random) -> Iterator[Pair]:
    """True sentences of the same form about two things."""
    for one, other in pairwise(single):
        if one.colour == other.colour:
            yield Pair(
                f"The {one.kind} is {one.colour}.", f"The {other.kind} is {other.colour}.", "two things", "neither"
            )
        form = rng.choice(("There is a {} in the picture.", "A {} can be seen on the {} side."))
        sides = ["left" if thing.box.left + thing.box.right < 1 else "right" for thing in (one, other)]
        yield Pair(form.format(one.kind, sides[0]), form.format(other.kind, sides[1]), "two things", "neither")
