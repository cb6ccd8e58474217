"""What all makers of facts share: names that nobody else has, people, entities, and the facts as they are found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from random import Random

from sightline_world.draw import ScenePlan
from sightline_world.histories.people import FIRST_NAMES
from sightline_world.scene import HAIR, HEADGEAR, SCENE_COLOURS, SCENE_KINDS
from sightline_world.sign_words import PLAIN, invented
from sightline_world.web.facts import Colours, Entity, EntityKind, Fact, FactBase, PersonLooks, slug

_SHORTEST = 4
TODAY = 2026
"""The year in which the web is read."""
CHANGES = (2009, 2023)
"""First and last year of a change of office, …: the archive is older than the later of them."""


class Namer:
    """Gives out names, each once."""

    def __init__(self, rng: Random, taken: Iterable[str] = ()) -> None:
        self._rng = rng
        self._taken = {word.upper() for word in (*taken, *PLAIN, *SCENE_COLOURS, *SCENE_KINDS, *HAIR, *FIRST_NAMES)}

    def word(self) -> str:
        """A name that can stand on a sign: one word of four to nine letters."""
        while True:
            word = invented(self._rng)
            if len(word) >= _SHORTEST and word not in self._taken:
                self._taken.add(word)
                return word.title()

    def person(self) -> tuple[str, str]:
        """A full name and its surname, which nobody else has."""
        surname = self.word()
        return f"{self._rng.choice(FIRST_NAMES)} {surname}", surname


class FactMaker:
    """Collects the entities and facts of one world."""

    def __init__(self, seed: int, taken: Sequence[str]) -> None:
        self.seed = seed
        self.rng = Random(f"{seed}/web")
        self.names = Namer(self.rng, taken)
        self.entities: dict[str, Entity] = {}
        self.facts: list[Fact] = []
        self.pictures: dict[str, ScenePlan] = {}
        looks = list(product(HAIR, HEADGEAR[1:], SCENE_COLOURS, SCENE_COLOURS))
        self._looks = [PersonLooks(*each) for each in self.rng.sample(looks, len(looks))]
        self._kits = _kits(self.rng)

    def add(self, kind: EntityKind, name: str, *, short: str = "", note: str = "", shape: str = "") -> Entity:
        """An entity with that name; the note tells it from a namesake, and always from a town."""
        id_, title = f"{kind}/{slug(name)}", name
        if id_ in self.entities or f"town/{slug(name)}" in self.entities:
            id_, title = f"{kind}/{slug(f'{name} {note}')}", f"{name} ({note})"
        entity = Entity(id_, kind, name, short or name, note, title, shape=shape)
        self.entities[id_] = entity
        return entity

    def add_person(self, role: str, name: tuple[str, str] | None = None) -> Entity:
        """Someone of that profession, with looks that nobody else has."""
        return self._put(self.add_forgotten(role, name), looks=self._looks.pop())

    def add_forgotten(self, role: str, name: tuple[str, str] | None = None) -> Entity:
        """Someone whose looks nobody remembers."""
        full, surname = name or self.names.person()
        return self.add("person", full, short=surname, note=role)

    def add_team(self, word: str, shirt: str | None = None) -> Entity:
        """A team whose banners carry the word, in colours that no other team wears."""
        colours = next(each for each in self._kits if shirt in (None, each.shirt))
        self._kits.remove(colours)
        return self._put(self.add("team", f"{word} FC", short=word, note="team"), colours=colours)

    def _put(self, entity: Entity, looks: PersonLooks | None = None, colours: Colours | None = None) -> Entity:
        self.entities[entity.id] = made = replace(entity, looks=looks, colours=colours)
        return made

    def tell(
        self, subject: Entity, property_: str, value: Entity | str, since: int | None = None, until: int | None = None
    ) -> None:
        """A fact that pages state."""
        self.facts.append(_fact(subject, property_, value, since, until))

    def show(self, subject: Entity, property_: str, value: Entity | str) -> None:
        """A fact that only the picture on the subject's page tells."""
        self.facts.append(_fact(subject, property_, value, shown=True))

    def change(self, subject: Entity, property_: str, before: Entity | str, now: Entity | str) -> None:
        """A value that was another one until some years ago."""
        year = self.rng.randint(*CHANGES)
        self.tell(subject, property_, before, year - self.rng.randint(4, 9), year)
        self.tell(subject, property_, now, year)

    def year(self, first: int, last: int) -> str:
        return str(self.rng.randint(first, last))

    def done(self) -> FactBase:
        return FactBase.of(self.seed, self.entities, self.facts, self.pictures)


def _kits(rng: Random) -> list[Colours]:
    """All that teams can wear, by lot; first those that no other has in the same two colours."""
    pairs = [(shirt, other) for shirt in SCENE_COLOURS for other in SCENE_COLOURS if "grey" != shirt != other]
    shapes = {pair: rng.sample(HEADGEAR[1:], len(HEADGEAR) - 1) for pair in pairs}
    rounds = (rng.sample(pairs, len(pairs)) for _ in HEADGEAR[1:])
    return [Colours(pair[0], shapes[pair].pop(), pair[1]) for turn in rounds for pair in turn]


def _fact(
    subject: Entity,
    property_: str,
    value: Entity | str,
    since: int | None = None,
    until: int | None = None,
    shown: bool = False,
) -> Fact:
    text, object_ = (value.name, value.id) if isinstance(value, Entity) else (value, None)
    return Fact(subject.id, property_, text, object_, since, until, shown)


def number(value: int) -> str:
    """ "12,400"."""
    return f"{value:,}"
