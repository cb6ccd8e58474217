"""What a `rank` query asks of a picture, and how near a picture comes to it.

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

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from sightline.class_names import known_as, name_of
from sightline.types import Json
from sightline_world.draw.places import PLACES
from sightline_world.scene import Figure, SceneGraph, Thing
from sightline_world.tasks.traits import is_noticed, is_readable


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
class Ask:
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
