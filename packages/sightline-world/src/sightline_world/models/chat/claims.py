"""What a text says that a picture shows: claims that can be checked one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from sightline.english import article, listed, number_word
from sightline_world.models.chat.lexicon import INDOORS, PERSON
from sightline_world.scene import SCENE_KINDS, SCENE_PLACES
from sightline_world.vocabulary import HEADGEAR_WORDS, LIGHT_PHRASES, PLACE_PHRASES, noun_of

MANY = 1_000_000
"""No upper limit of a count."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A kind of thing as it is spoken of: any of `kinds`, with the attributes that were named; empty means any.

    For a person `colours` are those of the coat; for a sign `words` is what stands on it.
    `same` says that the text means one that was spoken of before.
    """

    kinds: tuple[str, ...]
    colours: tuple[str, ...] = ()
    other_than: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    hair: tuple[str, ...] = ()
    headgear: tuple[str, ...] = ()
    headgear_colours: tuple[str, ...] = ()
    words: str = ""
    same: bool = False

    @property
    def is_person(self) -> bool:
        return self.kinds == (PERSON,)


@dataclass(frozen=True, slots=True)
class Exists:
    """Between `low` and `high` of them are there; a high of 0 says that none is. `region` is a half of the picture."""

    wanted: Wanted
    low: int = 1
    high: int = MANY
    region: str = ""


@dataclass(frozen=True, slots=True)
class At:
    """The picture was taken at one of these places, or at none of them."""

    places: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Lit:
    """The light or the weather is one of these, or none of them."""

    lights: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Related:
    """One thing stands in a relation to another."""

    subject: Wanted
    predicate: str
    object: Wanted
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of these holds."""

    options: tuple[Exists, ...]


Claim: TypeAlias = Exists | At | Lit | Related | Either


@dataclass(frozen=True, slots=True)
class Meant:
    """What was understood of a text: claims in their order, and the words that mean nothing here."""

    claims: tuple[Claim, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """The things that the text speaks of and wants to be there."""
        found: list[Wanted] = []
        for claim in self.claims:
            match claim:
                case Exists(wanted, high=high) if high > 0:
                    found.append(wanted)
                case Related(subject, object=thing):
                    found += [subject, thing]
                case Either(options):
                    found += [option.wanted for option in options]
                case _:
                    continue
        return tuple(dict.fromkeys(found))


def say(claim: Claim) -> str:
    """A claim in plain words."""
    match claim:
        case Exists(wanted, low, high, region):
            return say_count(wanted, low, high) + (f" in the {region} half" if region else "")
        case At(places, negated):
            return f"not {say_place(places)}" if negated else say_place(places)
        case Lit(lights, negated):
            words = " or ".join(LIGHT_PHRASES[light][0] for light in lights)
            return f"not {words}" if negated else words
        case Related(subject, predicate, thing, negated):
            return f"{say_one(subject)} {'not ' if negated else ''}{predicate} {say_one(thing)}"
        case Either(options):
            return " or ".join(map(say, options))


def say_all(claims: Iterable[Claim]) -> str:
    """Claims in one line: what is there first, then where and in which light."""
    ordered = sorted(claims, key=lambda claim: isinstance(claim, At) + 2 * isinstance(claim, Lit))
    things = [say(claim) for claim in ordered if not isinstance(claim, At | Lit)]
    return " ".join(filter(None, (listed(things), *(say(claim) for claim in ordered if isinstance(claim, At | Lit)))))


def say_where(place: str) -> str:
    """ "on a beach"; a place that nobody told is somewhere."""
    return PLACE_PHRASES[place][0] if place in PLACE_PHRASES else "somewhere"


def say_light(light: str) -> str:
    """ "at sunset"; nothing where the light is not known."""
    return LIGHT_PHRASES[light][0] if light in LIGHT_PHRASES else ""


def say_place(places: tuple[str, ...]) -> str:
    """One place by its phrase; many by what they have in common."""
    if places == INDOORS:
        return "indoors"
    if len(places) == len(SCENE_PLACES) - len(INDOORS):
        return "outdoors"
    return " or ".join(PLACE_PHRASES[place][0] for place in places)


def say_count(wanted: Wanted, low: int, high: int) -> str:
    if high == 0:
        return f"no {say_name(wanted, 1)}"
    if low == high and low > 1:
        return f"{number_word(low)} {say_name(wanted, low)}"
    if low == high == 1:
        return f"exactly one {say_name(wanted, 1)}"
    if low > 1:
        return f"at least {number_word(low)} {say_name(wanted, low)}"
    if high < MANY:
        return f"at most {number_word(high)} {say_name(wanted, high)}"
    return say_one(wanted)


def say_one(wanted: Wanted) -> str:
    """ "a red kite", "a person with blond hair in a blue coat"."""
    name = say_name(wanted, 1)
    return f"{article(name)} {name}"


def say_name(wanted: Wanted, count: int) -> str:
    """The noun with its attributes and no article."""
    before = [*wanted.sizes[:1], *([] if wanted.is_person else [" or ".join(wanted.colours)])]
    noun = say_kinds(wanted.kinds, count)
    after = []
    if wanted.is_person:
        after = _say_looks(wanted)
    if wanted.other_than:
        after.append(f"that is not {' or '.join(wanted.other_than)}")
    if wanted.words:
        after.append(f'that says "{wanted.words}"')
    return " ".join(filter(None, (*before, noun, *after)))


def _say_looks(wanted: Wanted) -> list[str]:
    looks = []
    if wanted.hair:
        looks.append(f"with {' or '.join(wanted.hair)} hair")
    if wanted.headgear == ("none",):
        looks.append("without a hat")
    elif wanted.headgear or wanted.headgear_colours:
        gear = " or ".join(HEADGEAR_WORDS.get(each, each) for each in wanted.headgear) or "hat"
        words = " ".join(filter(None, (" or ".join(wanted.headgear_colours), gear)))
        looks.append(f"with {article(words)} {words}")
    if wanted.colours:
        words = f"{' or '.join(wanted.colours)} coat"
        looks.append(f"in {article(words)} {words}")
    return looks


def say_kinds(kinds: tuple[str, ...], count: int = 1) -> str:
    """One kind by its noun, many by a word for them all."""
    if len(kinds) == 1:
        return noun_of(kinds[0], count)
    many = count != 1
    if kinds == SCENE_KINDS:
        return "things" if many else "thing"
    if kinds == SCENE_KINDS[:8]:
        return "animals" if many else "animal"
    if kinds == SCENE_KINDS[8:16]:
        return "vehicles" if many else "vehicle"
    return " or ".join(noun_of(kind, count) for kind in kinds)
