"""The fact base: entities, what is true of them, and since when."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from sightline.errors import UserError
from sightline_world.draw import ScenePlan

EntityKind: TypeAlias = Literal[
    "country",
    "region",
    "river",
    "mountain",
    "town",
    "person",
    "team",
    "stadium",
    "season",
    "match",
    "festival",
    "museum",
    "painting",
    "company",
    "product",
    "breed",
    "dish",
]
SITE = "https://almanac.world.invalid"
"""The encyclopaedia: the site whose pages are true today. The domain is reserved, so that no real page has it."""
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class PersonLooks:
    """How someone always looks; nobody else looks the same."""

    hair: str
    headgear: str
    headgear_colour: str
    coat: str


@dataclass(frozen=True, slots=True)
class Colours:
    """What a team's players wear; no other team wears the same."""

    shirt: str
    headgear: str
    headgear_colour: str


@dataclass(frozen=True, slots=True)
class Entity:
    """Something with a page of its own.

    `name` is what texts call it, `short` a second, shorter mention; `note` says what it is, and is a part of `title`
    where that tells namesakes apart. `looks` are for people, `colours` for teams. `shape` is the kind of thing that
    pictures of it show; a town's is where it lies (`truth.Setting`).
    """

    id: str
    kind: EntityKind
    name: str
    short: str
    note: str = ""
    title: str = ""
    looks: PersonLooks | None = None
    colours: Colours | None = None
    shape: str = ""

    @property
    def url(self) -> str:
        """The address of its page in the encyclopaedia."""
        return f"{SITE}/{self.id}"


@dataclass(frozen=True, slots=True)
class Fact:
    """`subject` has a `property` with a value: text, and the entity that it names if it is one.

    `since` and `until` are years; a fact with an `until` is no longer true. What is `shown` stands in no text:
    only the picture on the subject's page tells it.
    """

    subject: str
    property: str
    value: str
    object: str | None = None
    since: int | None = None
    until: int | None = None
    shown: bool = False

    def held_in(self, year: int) -> bool:
        """Whether it was true at the end of that year."""
        return (self.since is None or self.since <= year) and (self.until is None or year < self.until)


@dataclass(frozen=True, slots=True)
class FactBase:
    """All entities and facts of one world; `facts` also holds what is true no longer."""

    seed: int
    entities: Mapping[str, Entity]
    facts: tuple[Fact, ...]
    pictures: Mapping[str, ScenePlan]
    _of: Mapping[str, tuple[Fact, ...]] = field(repr=False, compare=False, default_factory=dict)
    _to: Mapping[str, tuple[Fact, ...]] = field(repr=False, compare=False, default_factory=dict)
    _named: Mapping[str, tuple[Entity, ...]] = field(repr=False, compare=False, default_factory=dict)

    @classmethod
    def of(
        cls, seed: int, entities: Mapping[str, Entity], facts: Iterable[Fact], pictures: Mapping[str, ScenePlan]
    ) -> FactBase:
        """The base with its look-up tables."""
        facts = tuple(facts)
        of = _table((fact.subject, fact) for fact in facts)
        to = _table((fact.object, fact) for fact in facts if fact.object is not None)
        names = _table((name, entity) for entity in entities.values() for name in _names(entity))
        return cls(seed, entities, facts, pictures, of, to, names)

    def of_subject(self, id_: str) -> tuple[Fact, ...]:
        """All facts about an entity, old ones included."""
        return self._of.get(id_, ())

    def to_object(self, id_: str) -> tuple[Fact, ...]:
        """All facts whose value is that entity, old ones included."""
        return self._to.get(id_, ())

    def current(self, subject: str, property_: str) -> tuple[Fact, ...]:
        """What is true now: at most one fact for most properties."""
        return tuple(fact for fact in self.of_subject(subject) if fact.property == property_ and fact.until is None)

    def subjects(self, property_: str, object_: str, kind: str) -> tuple[str, ...]:
        """The entities of a kind for which the property now has that entity as its value."""
        return tuple(
            fact.subject
            for fact in self.to_object(object_)
            if fact.property == property_ and fact.until is None and self.entities[fact.subject].kind == kind
        )

    def of_kind(self, kind: EntityKind) -> tuple[Entity, ...]:
        """All entities of a kind, in the order in which they were made."""
        return tuple(entity for entity in self.entities.values() if entity.kind == kind)

    def named(self, name: str) -> tuple[Entity, ...]:
        """All entities with that name, in any letter case: a sign's words will do."""
        return self._named.get(plain(name), ())

    def find(self, kind: EntityKind, name: str) -> Entity:
        """The one entity of a kind with that name."""
        found = [entity for entity in self.named(name) if entity.kind == kind]
        if len(found) != 1:
            raise UserError(
                f"the world with seed {self.seed} has {len(found) or 'no'} {kind} named {name!r}.",
                "give the seed and the photo histories with which the pictures were made",
            )
        return found[0]


def _table(pairs: Iterable[tuple[str, _Item]]) -> dict[str, tuple[_Item, ...]]:
    found: dict[str, list[_Item]] = defaultdict(list)
    for key, item in pairs:
        found[key].append(item)
    return {key: tuple(items) for key, items in found.items()}


def _names(entity: Entity) -> list[str]:
    """All that it is called, each once."""
    return list(dict.fromkeys(plain(name) for name in (entity.name, entity.short, entity.title)))


def plain(text: str) -> str:
    """A name without case, accents and signs, as names are compared."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    return " ".join(re.findall(r"[a-z0-9]+", letters))


def slug(text: str) -> str:
    """A name as a part of an address."""
    return plain(text.removeprefix("the ")).replace(" ", "-")
