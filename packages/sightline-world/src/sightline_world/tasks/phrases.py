"""Traits and tasks in words: families of phrasings that share no template, for training, held out, and never looked at.

Templates are data (templates.toml, `TEMPLATES` of each maker), so that a test can compare the families. Words for
places and lights are chosen to fit one value only, as a truth depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from sightline.english import article, listed, number_word
from sightline_world.data import read_data
from sightline_world.tasks.album import Trait
from sightline_world.vocabulary import HEADGEAR_WORDS, noun_of, phrase

Family: TypeAlias = Literal["training", "held-out", "unseen"]
FAMILIES: tuple[Family, ...] = ("training", "held-out", "unseen")
_NOBODY: Mapping[Family, str] = {
    "training": "with nobody in view",
    "held-out": "with not a soul in sight",
    "unseen": "without any people around",
}
Templates: TypeAlias = Mapping[Family, tuple[str, ...]]

PLACE_WORDS: Mapping[str, tuple[str, str, str]] = read_data("tasks/templates.toml")["places"]
"""Where, in the words of each family."""
LIGHT_WORDS: Mapping[str, tuple[str, str, str]] = read_data("tasks/templates.toml")["lights"]


@dataclass(frozen=True, slots=True)
class Wording:
    """Traits as parts of a sentence: what one sees, and the circumstances; either may be empty."""

    subject: str
    where: str

    @property
    def that(self) -> str:
        """After a noun: "with a red boat at night", "taken at night"."""
        return _joined(f"with {self.subject}" if self.subject else "taken", self.where)

    @property
    def shows(self) -> str:
        """After a plural noun as a predicate: "show a red boat at night", "were taken at night"."""
        return _joined(f"show {self.subject}" if self.subject else "were taken", self.where)

    @property
    def plain(self) -> str:
        """As key words: "a red boat at night"."""
        return _joined(self.subject, self.where)


def said(traits: Iterable[Trait], family: Family, owned: Iterable[tuple[str, str]] = ()) -> Wording:
    """Traits in the words of a family; things in `owned` (kind and colour) are the owner's: "my red boat"."""
    traits, owned = tuple(traits), frozenset(owned)
    seen = [trait for trait in traits if trait.kind not in ("place", "light", "nobody")]
    # Looks are long, so people come last.
    subjects = [noun_phrase(trait, owned) for trait in sorted(seen, key=lambda trait: trait.kind == "person")]
    where = [_circumstance(trait, family) for kind in ("place", "light") for trait in traits if trait.kind == kind]
    if any(trait.kind == "nobody" for trait in traits):
        where.append(_NOBODY[family])
    return Wording(listed(subjects), " ".join(where))


def noun_phrase(trait: Trait, owned: Iterable[tuple[str, str]] = ()) -> str:
    """ "a red boat", "two or more ducks", "a person in a blue coat", "a sign that says OPEN"."""
    match trait:
        case Trait("thing", (kind,)):
            return phrase(kind)
        case Trait("thing", (kind, colour)):
            return f"my {colour} {kind}" if (kind, colour) in owned else phrase(kind, colour)
        case Trait("several", (kind, least)):
            return f"{number_word(int(least))} or more {noun_of(kind, 2)}"
        case Trait("people", (least,)):
            return "at least one person" if least == "1" else f"{number_word(int(least))} or more people"
        case Trait("person"):
            return person(trait)
        case Trait("words", (words,)):
            return f"a sign that says {words}"
    raise ValueError(f"{trait} is not something that one sees")


def person(trait: Trait, the: str = "") -> str:
    """ "a grey-haired person in a blue cap and a red coat"; `the` replaces the article."""
    hair, headgear, colour, coat = trait.values
    kinds = [f"{hair}-haired"] if hair else []
    if headgear == "none":
        kinds.append("bare-headed")
    worn = [headwear(headgear, colour)] if headgear not in ("", "none") else []
    worn += [f"{article(coat)} {coat} coat"] if coat else []
    noun = f"{', '.join(kinds)} person".strip()
    return f"{the or article(noun)} {noun}" + (f" in {' and '.join(worn)}" if worn else "")


def headwear(headgear: str, colour: str) -> str:
    """ "a blue cap"."""
    words = f"{colour} {HEADGEAR_WORDS[headgear]}"
    return f"{article(words)} {words}"


def _circumstance(trait: Trait, family: Family) -> str:
    words = PLACE_WORDS if trait.kind == "place" else LIGHT_WORDS
    return words[trait.values[0]][FAMILIES.index(family)]


def family_of(rng: Random, given: Family | None) -> Family:
    """The family that is wanted, else one of the first two by lot: the third is only for whoever asks for it."""
    drawn = rng.choice(FAMILIES[:2])
    return given or drawn


def pick(templates: Templates, family: Family, rng: Random) -> str:
    """A template of the family, by lot."""
    return rng.choice(templates[family])


def sentence(words: str) -> str:
    """With a capital at the start."""
    return f"{words[0].upper()}{words[1:]}"


def every_template(*tables: Templates | Mapping[str, Templates]) -> dict[Family, set[str]]:
    """All templates of nested tables, by family."""
    found: dict[Family, set[str]] = {family: set() for family in FAMILIES}
    for table in tables:
        for key, value in table.items():
            if isinstance(value, Mapping):
                for family, templates in value.items():
                    found[family].update(templates)
            else:
                found[next(family for family in FAMILIES if family == key)].update(value)
    return found


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def described(traits: Sequence[Trait]) -> str:
    """Traits in plain words, for the steps of a solution."""
    return said(traits, "training").plain
