"""A request for pictures of a life → what to look for, and the occasion that it is tied to."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sightline_world.models.chat.claims import Claim, Either, Exists, Meant, Related, Wanted
from sightline_world.models.chat.grammar import understand
from sightline_world.models.chat.lexicon import PERSON, lexicon, tokens
from sightline_world.models.chat.planning.occasions import EVENTS, TOWNS, Occasion, Side, read_occasion
from sightline_world.models.chat.planning.other_times import When
from sightline_world.models.chat.planning.splitting import split
from sightline_world.scene import SCENE_KINDS

_ASIDE = re.compile(
    rf"\b(?:(?:on|during|from|in|at|of)\s+)?(?:(?:that|the|this)\s+(?:very\s+)?same|that|this)\s+(?:{EVENTS}|{TOWNS})\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_SEASONS = {"spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11), "fall": (9, 10, 11), "winter": (12, 1, 2)}
_IN_TOWN = re.compile(r"\b(?:in|at|from|near|around|to)\s+((?:[A-Z][a-z]{2,}\s?){1,2})")


@dataclass(frozen=True, slots=True)
class Errand:
    """What is looked for: `target`, in, after, before or outside (`when`) an occasion, or by times and towns alone.

    `thing` is something that was at the occasion and is looked for again: the target holds it, marked `same`. `moved`
    is before or after the move to another home.
    """

    target: Meant
    occasion: Occasion | None = None
    when: When = ""
    thing: Meant | None = None
    moved: Side = ""
    years: tuple[int, ...] = ()
    months: tuple[int, ...] = ()
    towns: tuple[str, ...] = ()

    @property
    def is_dated(self) -> bool:
        """Do the words themselves tell a time or a town?"""
        return bool(self.years or self.months or self.towns)


def read_errand(text: str) -> Errand:
    """What a request asks for, whatever order it says it in."""
    text = " ".join(text.split())
    parts = split(text)
    occasion = read_occasion(parts.occasion) if parts.occasion else None
    if occasion is not None and parts.part:
        occasion = Occasion("part", understand(parts.part), occasion, parts.side)
    target = _particular(understand(_ASIDE.sub(" ", parts.target)))
    towns = () if parts.moved else _towns(text)
    errand = Errand(target, moved=parts.moved, years=_years(text), months=_months(text), towns=towns)
    if occasion is None:
        return (
            errand if target.claims or parts.moved or not parts.occasion else replace(errand, target=understand(text))
        )
    thing = understand(parts.thing) if parts.thing else None
    if thing is not None and thing.wanted:
        again = Exists(Wanted(thing.wanted[-1].kinds, same=True))
        errand = replace(errand, target=Meant((*target.claims, again), target.unknown), thing=thing)
    elif not target.claims and occasion.how in ("first", "last") and occasion.about is not None:
        errand = replace(errand, target=occasion.about)
    return replace(errand, occasion=occasion, when=parts.when or "in")


def _particular(target: Meant) -> Meant:
    """Without "something" and "anything", which stand for the pictures themselves, where more is said."""
    claims = tuple(claim for claim in target.claims if not _is_anything(claim))
    return Meant(claims or target.claims, target.unknown)


def _is_anything(claim: Claim) -> bool:
    return isinstance(claim, Exists) and claim.wanted == Wanted(SCENE_KINDS)


def same_as(target: Meant, looks: tuple[Wanted, ...]) -> Meant:
    """The target with everything marked `same` replaced by how it looked at the anchor."""
    return Meant(tuple(_resolved(claim, looks) for claim in target.claims), target.unknown)


def _resolved(claim: Claim, looks: tuple[Wanted, ...]) -> Claim:
    match claim:
        case Exists(wanted):
            return replace(claim, wanted=_one(wanted, looks))
        case Related(subject, object=thing):
            return replace(claim, subject=_one(subject, looks), object=_one(thing, looks))
        case Either(options):
            return Either(tuple(replace(option, wanted=_one(option.wanted, looks)) for option in options))
        case _:
            return claim


def _one(wanted: Wanted, looks: tuple[Wanted, ...]) -> Wanted:
    if not wanted.same:
        return wanted
    return next((each for each in looks if set(each.kinds) & set(wanted.kinds)), replace(wanted, same=False))


def lasting(wanted: Wanted) -> Wanted:
    """What stays the same on other days: a coat does not."""
    return replace(wanted, colours=(), same=False) if wanted.kinds == (PERSON,) else replace(wanted, same=False)


def _years(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(year) for year in _YEAR.findall(text)))


def _months(text: str) -> tuple[int, ...]:
    found: list[int] = []
    words = [token.text for token in tokens(text)]
    for at, word in enumerate(words):
        lower = word.lower()
        # "may" is a month only with a capital letter, or after "in".
        if lower in _MONTHS and (lower not in ("may", "march") or word[0].isupper() or words[at - 1].lower() == "in"):
            found.append(_MONTHS.index(lower) + 1)
        if lower in _SEASONS and at and words[at - 1].lower() in ("in", "that", "last", "the", "this", "one", "of"):
            found += _SEASONS[lower]
    return tuple(dict.fromkeys(found))


def _towns(text: str) -> tuple[str, ...]:
    found = []
    for match in _IN_TOWN.finditer(text):
        name = match[1].strip()
        if lexicon().get((name.lower(),)) is None and name.lower() not in (*_MONTHS, *_SEASONS):
            found.append(name)
    return tuple(dict.fromkeys(found))
