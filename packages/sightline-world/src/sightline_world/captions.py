"""A scene in words: from tags to a full description, in phrasings for training and in others held out from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from sightline.english import listed
from sightline.types import Box
from sightline_world.data import read_data
from sightline_world.scene import Figure, SceneGraph, Sign, Thing
from sightline_world.vocabulary import HEADGEAR_WORDS, LIGHT_PHRASES, PLACE_PHRASES, noun_of, phrase

Level: TypeAlias = Literal["tags", "short", "sentence", "full"]
Phrasing: TypeAlias = Literal["plain", "training", "held-out"]
"""`plain` says everything in one way; the other two vary, and share no template."""

SHORT = 12
"""Words that a short caption has at most."""
SEEN, SEEN_AREA = 0.6, 0.0015
"""What is hidden by more than this, or has a smaller share of the picture, is not spoken of."""
READABLE_PX, READABLE_HIDDEN = 7.0, 0.05
"""Words in smaller letters, or partly hidden, are not quoted."""

_TEMPLATES: Mapping[str, tuple[str, ...]] = read_data("captions.toml")


@dataclass(frozen=True, slots=True)
class _Group:
    """Equal things, said together."""

    kind: str
    colour: str
    size: str | None
    count: int
    area: float
    looks: str = ""


def caption(
    graph: SceneGraph, level: Level = "sentence", rng: Random | None = None, phrasing: Phrasing = "plain"
) -> str:
    """What the picture shows; equal arguments give equal words."""
    rng = rng or Random(0)
    if level == "tags":
        return ", ".join(tags(graph))
    if level == "full":
        return _full(graph)
    speaker = _Speaker(graph, rng, phrasing)
    return speaker.short() if level == "short" else speaker.sentence()


def tags(graph: SceneGraph) -> tuple[str, ...]:
    """Place, light, kinds, and kinds with their colours; each once."""
    named = [graph.place, graph.light]
    for group in _groups(graph):
        named += [group.kind, f"{group.colour} {group.kind}"] if group.kind != "person" else ["person"]
    return tuple(dict.fromkeys([*named, *(["sign"] if graph.signs else [])]))


class _Speaker:
    """Fills templates with what is in one scene."""

    def __init__(self, graph: SceneGraph, rng: Random, phrasing: Phrasing) -> None:
        self._graph, self._rng, self._phrasing = graph, rng, phrasing
        self._groups = _groups(graph)
        if phrasing != "plain":
            rng.shuffle(self._groups)

    def short(self) -> str:
        """At most `SHORT` words: a template that can be filled, and fits."""
        templates = list(_TEMPLATES[self._phrasing])
        if self._phrasing != "plain":
            self._rng.shuffle(templates)
        for template in (*templates, "{place} {light}"):
            said = self._fill(template)
            if said is not None and len(said.split()) <= SHORT:
                return said
        raise AssertionError("a place and a light always fit")

    def sentence(self) -> str:
        """One sentence with up to four groups, place and light."""
        things = [self._say(group) for group in self._groups[:4]]
        where = f"{self._place()} {self._light()}"
        said = f"{listed(things)} {where}" if things else where
        return f"{said[0].upper()}{said[1:]}."

    def _fill(self, template: str) -> str | None:
        """The template in words, or None where the scene lacks what it speaks of."""
        needed = {name for name in ("a", "b", "c", "relation", "sign", "words") if f"{{{name}}}" in template}
        groups = [self._say(group) for group in self._groups[: len(needed & {"a", "b", "c"})]]
        if len(groups) < len(needed & {"a", "b", "c"}):
            return None
        values = dict(zip("abc", groups, strict=False))
        if "relation" in needed:
            relation = self._relation()
            if relation is None:
                return None
            values["relation"] = relation
        if needed & {"sign", "words"}:
            readable = [sign for sign in self._graph.signs if _readable(sign)]
            if not readable:
                return None
            words = self._rng.choice(readable).words.lower()
            values |= {"words": words, "sign": f"a sign that says {words}"}
        return template.format(place=self._place(), light=self._light(), **values)

    def _say(self, group: _Group) -> str:
        if self._phrasing == "plain":
            return _phrase(group)
        word = ""
        if group.count == 1 and group.kind != "person" and self._rng.random() < 0.25:
            word = noun_of(group.kind, 1, self._rng.randrange(8))
        sized = self._rng.random() < 0.15 and group.kind != "person"
        coloured = self._rng.random() < 0.85 or group.kind == "person"
        return _phrase(group, word, coloured, sized)

    def _relation(self) -> str | None:
        ids = _items(self._graph)
        known = [r for r in self._graph.relations if r.subject in ids and r.object in ids]
        if not known:
            return None
        relation = self._rng.choice(known)
        subject, thing = (_phrase(_one(ids[name])) for name in (relation.subject, relation.object))
        return f"{subject} {relation.predicate} {thing}"

    def _place(self) -> str:
        phrases = PLACE_PHRASES[self._graph.place]
        return phrases[0] if self._phrasing == "plain" else self._rng.choice(phrases)

    def _light(self) -> str:
        phrases = LIGHT_PHRASES[self._graph.light]
        return phrases[0] if self._phrasing == "plain" else self._rng.choice(phrases)


def _full(graph: SceneGraph) -> str:
    """Everything that is known, sentence by sentence."""
    groups = _groups(graph, sized=True)
    said = [f"The picture was taken {PLACE_PHRASES[graph.place][0]} {LIGHT_PHRASES[graph.light][0]}."]
    if groups:
        said.append(f"It shows {listed(_phrase(group, sized=True) for group in groups)}.")
    ids = _items(graph)
    for relation in graph.relations:
        if relation.subject in ids and relation.object in ids:
            subject, thing = (_phrase(_one(ids[name])) for name in (relation.subject, relation.object))
            said.append(f"{subject[0].upper()}{subject[1:]} is {relation.predicate} {thing}.")
    said += [f'A sign says "{sign.words}".' for sign in graph.signs if _readable(sign)]
    return " ".join(said)


def looks_of(figure: Figure) -> str:
    """What a person looks like: "person in a red coat with a blue cap"."""
    if figure.headgear == "none":
        return f"person in a {figure.coat} coat with {figure.hair} hair"
    return f"person in a {figure.coat} coat with a {figure.headgear_colour} {HEADGEAR_WORDS[figure.headgear]}"


def _phrase(group: _Group, word: str = "", coloured: bool = True, sized: bool = False) -> str:
    if group.looks:
        return phrase("person", word=group.looks)
    return phrase(
        group.kind, group.colour if coloured else None, group.count, size=group.size if sized else None, word=word
    )


def _one(item: Thing | Figure) -> _Group:
    if isinstance(item, Figure):
        return _Group("person", item.coat, None, 1, _area(item.box))
    return _Group(item.kind, item.colour, item.size, 1, _area(item.box))


def _items(graph: SceneGraph) -> dict[str, Thing | Figure]:
    """What can be seen well enough to be spoken of."""
    items: tuple[Thing | Figure, ...] = (*graph.things, *graph.figures)
    return {item.id: item for item in items if _seen(item)}


def _seen(item: Thing | Figure) -> bool:
    return item.hidden <= SEEN and _area(item.box) >= SEEN_AREA


def _readable(sign: Sign) -> bool:
    return sign.letter_px >= READABLE_PX and sign.hidden <= READABLE_HIDDEN


def _groups(graph: SceneGraph, *, sized: bool = False) -> list[_Group]:
    """Equal things together, the largest first; one person alone is told by looks."""
    singles = [_one(item) for item in _items(graph).values()]
    counts: Counter[tuple[str, str, str | None]] = Counter()
    areas: dict[tuple[str, str, str | None], float] = {}
    for single in singles:
        key = (single.kind, single.colour, single.size if sized else None)
        counts[key] += 1
        areas[key] = max(areas.get(key, 0.0), single.area)
    sizes = _common_sizes(singles)
    groups = [
        _Group(kind, colour, size if sized else sizes[kind, colour], count, areas[kind, colour, size])
        for (kind, colour, size), count in counts.items()
    ]
    figures = [figure for figure in graph.figures if figure.hidden <= SEEN]
    if len(figures) == 1:
        groups = [
            _Group("person", g.colour, None, 1, g.area, looks_of(figures[0])) if g.kind == "person" else g
            for g in groups
        ]
    return sorted(groups, key=lambda group: (-group.area, group.kind, group.colour))


def _common_sizes(singles: Sequence[_Group]) -> dict[tuple[str, str], str | None]:
    """The size of each kind and colour where all of them have the same."""
    sizes: dict[tuple[str, str], str | None] = {}
    for single in singles:
        key = (single.kind, single.colour)
        sizes[key] = single.size if sizes.setdefault(key, single.size) == single.size else None
    return sizes


def _area(box: Box) -> float:
    return (box.right - box.left) * (box.bottom - box.top)
