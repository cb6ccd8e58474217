"""What one picture shows, as traits: each surely there, perhaps there, or not there.

A thing or a person is surely there when one would notice it (at most half hidden, and not tiny), a sign when it can be
read. What is drawn but does not come up to that is perhaps there, and so is a kind that the place itself is full of
(trees in a forest, houses along a street): no truth of a task may depend on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

from sightline.types import Box, Json
from sightline_world.draw.places import PLACES
from sightline_world.scene import Figure, SceneGraph, Sign, Thing

TraitKind: TypeAlias = Literal["place", "light", "thing", "several", "people", "nobody", "person", "words"]
NOTICED_HIDDEN, NOTICED_AREA = 0.5, 0.0015
READ_PX, READ_HIDDEN = 7.0, 0.1
ANY = ""
"""Stands for a look that a trait of a person leaves open."""


@dataclass(frozen=True, slots=True, order=True)
class Trait:
    """One thing that can be said of one picture.

    `place` and `light`: which. `thing`: its kind, or kind and colour. `several`: kind and "at least this many".
    `people`: at least so many; `nobody`: none. `person`: hair, headgear, its colour, coat; `ANY` leaves one open.
    `words`: what a sign says.
    """

    kind: TraitKind
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sight:
    """In which pictures of an album a trait surely is, and in which perhaps: bit n is picture n."""

    sure: int = 0
    perhaps: int = 0

    @property
    def at_all(self) -> int:
        return self.sure | self.perhaps

    def __and__(self, other: Sight) -> Sight:
        sure = self.sure & other.sure
        return Sight(sure, self.at_all & other.at_all & ~sure)


def traits_of(graph: SceneGraph) -> tuple[frozenset[Trait], frozenset[Trait]]:
    """What is surely there, and what is perhaps there on top of it."""
    things = [thing for thing in graph.things if is_noticed(thing)]
    figures = [figure for figure in graph.figures if is_noticed(figure)]
    signs = [sign for sign in graph.signs if is_readable(sign)]
    sure = {Trait("place", (graph.place,)), Trait("light", (graph.light,)), *_seen(things, figures, signs)}
    if not graph.figures:
        sure.add(Trait("nobody"))
    perhaps = {*_seen(graph.things, graph.figures, graph.signs), *_scenery(graph.place)}
    if graph.figures and not figures:
        perhaps.add(Trait("nobody"))
    return frozenset(sure), frozenset(perhaps - sure)


def _seen(things: Sequence[Thing], figures: Sequence[Figure], signs: Sequence[Sign]) -> Iterator[Trait]:
    counts = Counter(thing.kind for thing in things)
    for kind, count in counts.items():
        yield Trait("thing", (kind,))
        for least in range(2, count + 1):
            yield Trait("several", (kind, str(least)))
    for thing in things:
        yield Trait("thing", (thing.kind, thing.colour))
    for least in range(1, len(figures) + 1):
        yield Trait("people", (str(least),))
    for figure in figures:
        yield from _looks(figure)
    for sign in signs:
        yield Trait("words", (sign.words,))


def _looks(figure: Figure) -> Iterator[Trait]:
    heads = [(ANY, ANY), (figure.headgear, figure.headgear_colour or ANY)]
    for hair, (headgear, colour), coat in product((ANY, figure.hair), heads, (ANY, figure.coat)):
        if hair or headgear or coat:
            yield Trait("person", (hair, headgear, colour, coat))


def _scenery(place: str) -> Iterator[Trait]:
    """Of these there may be any number in any colour; traits that no thing of the life has do no harm."""
    for kind in PLACES[place].scenery_kinds:
        yield Trait("thing", (kind,))


def is_noticed(item: Thing | Figure) -> bool:
    return item.hidden <= NOTICED_HIDDEN and area(item.box) >= NOTICED_AREA


def is_readable(sign: Sign) -> bool:
    return sign.letter_px >= READ_PX and sign.hidden <= READ_HIDDEN


def area(box: Box) -> float:
    """The share of the picture that a box covers."""
    return (box.right - box.left) * (box.bottom - box.top)


def looks(figure: Figure, *, coat: bool = False) -> Trait:
    """Who it is by what lasts (hair and headgear), and today's coat if asked for."""
    return Trait("person", (figure.hair, figure.headgear, figure.headgear_colour or ANY, figure.coat if coat else ANY))


def fits(figure: Figure, trait: Trait) -> bool:
    """Whether a person has the looks of a trait."""
    own = (figure.hair, figure.headgear, figure.headgear_colour or ANY, figure.coat)
    return all(wanted in (ANY, has) for wanted, has in zip(trait.values, own, strict=True))


def as_json(traits: Iterable[Trait]) -> list[Json]:
    """Traits as lists of words."""
    return [[trait.kind, *trait.values] for trait in traits]
