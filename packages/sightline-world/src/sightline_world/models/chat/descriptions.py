"""A reading in words: captions, descriptions with what led to them, tags, and queries in several styles."""

from __future__ import annotations

from collections import Counter
from typing import Literal, TypeAlias

from sightline.english import listed, number_word
from sightline_world.models.chat.claims import At, Claim, Exists, Lit, Meant, Wanted, say, say_all, say_light, say_where
from sightline_world.models.chat.lexicon import ANIMALS, INDOORS, PERSON, SIGN, VEHICLES
from sightline_world.models.chat.verification import area, colour_of, describe, items_of, kind_of
from sightline_world.models.scene_reader import Reading
from sightline_world.scene import SceneGraph
from sightline_world.vocabulary import phrase

Style: TypeAlias = Literal["keyword", "sentence", "question", "vague"]
STYLES: tuple[Style, ...] = ("keyword", "sentence", "question", "vague")
_UNSURE = 0.6


def groups(graph: SceneGraph) -> list[tuple[str, str, int]]:
    """Kind, colour and number of equal things, those that fill most of the picture first; signs left out."""
    counts: Counter[tuple[str, str]] = Counter()
    areas: dict[tuple[str, str], float] = {}
    for item in items_of(graph):
        if kind_of(item) != SIGN:
            key = (kind_of(item), colour_of(item))
            counts[key] += 1
            areas[key] = areas.get(key, 0.0) + area(item)
    ordered = sorted(counts, key=lambda key: (-areas[key], key))
    return [(kind, colour, counts[kind, colour]) for kind, colour in ordered]


def caption(graph: SceneGraph, most: int = 4) -> str:
    """One sentence: what is there, where, and in which light."""
    things = [phrase(kind, colour or None, count) for kind, colour, count in groups(graph)[:most]]
    where = f"{say_where(graph.place)} {say_light(graph.light)}".rstrip()
    return _sentence(f"{listed(things)} {where}" if things else f"an empty scene {where}")


def description(graph: SceneGraph) -> str:
    """All that is seen, sentence by sentence."""
    said = [caption(graph, most=8)]
    people = [describe(figure) for figure in graph.figures]
    if people:
        said.append(_sentence(f"there {'is' if len(people) == 1 else 'are'} {listed(people)}"))
    names = {item.id: item for item in items_of(graph)}
    for relation in graph.relations:
        if relation.predicate in ("on", "holding", "behind"):
            subject, thing = names.get(relation.subject), names.get(relation.object)
            if subject is not None and thing is not None:
                pair = [phrase(kind_of(item), colour_of(item) or None) for item in (subject, thing)]
                said.append(_sentence(f"{pair[0]} is {relation.predicate} {pair[1]}"))
    said += [f'A sign says "{sign.words}".' for sign in graph.signs if sign.words]
    return " ".join(dict.fromkeys(said))


def thinking(reading: Reading) -> str:
    """How the description came about, and what is not sure: this is what a teacher shows."""
    graph = reading.graph
    steps = [
        f"The background looks like {graph.place} ({reading.place:.0%} sure) and the light like {graph.light} "
        f"({reading.light:.0%} sure).",
    ]
    seen = sorted(items_of(graph), key=lambda item: -area(item))
    for item in seen:
        across = (item.box.left + item.box.right) / 2
        where = "on the left" if across < 1 / 3 else "on the right" if across > 2 / 3 else "in the middle"
        sure = reading.sure.get(item.id, 0.5)
        doubt = ", though I am not sure" if sure < _UNSURE else ""
        steps.append(f"{_capital(where)} I see {describe(item)} ({sure:.0%}){doubt}.")
    if not seen:
        steps.append("I see no thing, no person and no sign in it.")
    counted = [f"{number_word(count)} × {colour} {kind}" for kind, colour, count in groups(graph) if count > 1]
    if counted:
        steps.append(f"Counted together: {', '.join(counted)}.")
    if graph.relations:
        names = {item.id: f"the {colour_of(item)} {kind_of(item)}".replace("  ", " ") for item in seen}
        told = [
            f"{names[each.subject]} is {each.predicate} {names[each.object]}"
            for each in graph.relations
            if each.subject in names and each.object in names
        ]
        steps.append(f"Between them: {'; '.join(list(dict.fromkeys(told))[:8])}.")
    return " ".join(steps)


def tags(graph: SceneGraph) -> list[str]:
    """Place, light, kinds, and kinds with their colours; each once."""
    named = [graph.place, graph.light, "indoors" if graph.place in INDOORS else "outdoors"]
    for kind, colour, _ in groups(graph):
        named += [kind] if kind == PERSON else [kind, f"{colour} {kind}"]
        named += ["animal"] * (kind in ANIMALS) + ["vehicle"] * (kind in VEHICLES)
    return list(dict.fromkeys([*named, *(["sign"] if graph.signs else [])]))


def facts(graph: SceneGraph, most: int = 2) -> Meant:
    """What somebody who looks for this picture would remember of it."""
    claims: list[Claim] = []
    for kind, colour, count in groups(graph)[:most]:
        wanted = Wanted((kind,), (colour,) if colour else ())
        claims.append(Exists(wanted, count, count) if count > 1 else Exists(wanted))
    for sign in graph.signs[:1]:
        if sign.words and len(claims) < most:
            claims.append(Exists(Wanted((SIGN,), words=sign.words)))
    claims += [At((graph.place,))] if graph.place else []
    return Meant((*claims, *([Lit((graph.light,))] if graph.light else [])))


def query(meant: Meant, style: Style) -> str:
    """Words that somebody would search with."""
    match style:
        case "keyword":
            return _keywords(meant)
        case "question":
            return f"Which pictures show {say_all(meant.claims)}?"
        case "vague":
            return _vague(meant)
        case _:
            return _sentence(say_all(meant.claims))


def _keywords(meant: Meant) -> str:
    words: list[str] = []
    for claim in meant.claims:
        match claim:
            case Exists(wanted, high=high) if high > 0:
                words += [*wanted.colours[:1], wanted.kinds[0], *([wanted.words.lower()] if wanted.words else [])]
            case At(places):
                words.append(places[0])
            case Lit(lights):
                words.append(lights[0])
            case _:
                words.append(say(claim))
    return " ".join(words)


def _vague(meant: Meant) -> str:
    """Kinds become families, the light is forgotten."""
    things: list[str] = []
    places = [claim for claim in meant.claims if isinstance(claim, At)]
    for wanted in meant.wanted[:1]:
        kind = wanted.kinds[0]
        family = "an animal" if kind in ANIMALS else "a vehicle" if kind in VEHICLES else ""
        colour = wanted.colours[0] if wanted.colours else ""
        name = family or ("someone" if kind == PERSON else "a sign" if kind == SIGN else f"something {colour}".strip())
        things.append(name)
    return _sentence(" ".join(filter(None, (listed(things) or "that one", *(say(place) for place in places[:1])))))


def _sentence(text: str) -> str:
    return f"{_capital(text)}."


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
