"""A request for pictures of a life → what to look for, and the episode that it is tied to."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from sightline.models.builtin.chat.claims import Claim, Either, Exists, Meant, Related, Wanted
from sightline.models.builtin.chat.grammar import understand
from sightline.models.builtin.chat.lexicon import PERSON, lexicon, tokens
from sightline.models.builtin.chat.planning.splitting import ASIDE, EVENTS, PICTURES, Bond, Side, Split, split

_OTHER = re.compile(
    rf"\b(?:an?other|different|other|elsewhere|again)\b(?:\s+(?:{EVENTS}|years?|{PICTURES}))?", re.IGNORECASE
)
_FIRST = re.compile(r"\b(?:first|earliest|for the first time|oldest)\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?:last|latest|most recent|newest|for the last time)\b", re.IGNORECASE)
_SAME_TIME = re.compile(rf"\b(?:same|that) {EVENTS}\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(it|them|him|her|she|he|they)\b", re.IGNORECASE)
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
    """What is looked for: `target`, at the episode that `anchor` tells of, or by times and towns alone.

    `side` is before or after the anchor within its episode. Of the episodes next to it, `via` says what the right one
    shows too, and `trips` that it is away from home; in the same episode `side` speaks of `via`. `moved` is before or
    after the move to another home. `other` leaves out the anchor's own episode; `pick` keeps the
    first or the last episode only.
    """

    target: Meant
    anchor: Meant | None = None
    bond: Bond = ""
    side: Side = ""
    via: Meant | None = None
    trips: bool = False
    moved: Side = ""
    other: bool = False
    pick: Literal["", "first", "last"] = ""
    years: tuple[int, ...] = ()
    months: tuple[int, ...] = ()
    towns: tuple[str, ...] = ()

    @property
    def is_filtered(self) -> bool:
        """Does metadata alone narrow it down?"""
        return bool(self.years or self.months or self.towns or self.moved)


def read_errand(text: str) -> Errand:
    """What a request asks for, whatever order it says it in."""
    text = " ".join(text.split())
    parts = split(text)
    about = understand(ASIDE.sub(" ", parts.target))
    errand = Errand(about, moved=parts.moved, years=_years(text), months=_months(text), towns=_towns(text))
    anchor = understand(ASIDE.sub(" ", parts.anchor))
    if anchor.claims:
        errand = _anchored(errand, parts, anchor, text)
    elif parts.anchor and not about.claims:
        errand = replace(errand, target=understand(text))
    return replace(errand, pick=_pick(text if errand.anchor is None else parts.anchor))


def _anchored(errand: Errand, parts: Split, anchor: Meant, text: str) -> Errand:
    """The errand, tied to its anchor."""
    other = bool(_OTHER.search(parts.target)) or (parts.bond == "town" and bool(_OTHER.search(text)))
    target = _bound(errand.target, parts.target, anchor)
    bond: Bond = parts.bond
    if any(wanted.same for wanted in target.wanted) and bond in ("", "day", "event") and not _SAME_TIME.search(text):
        # The same thing is looked for elsewhere: where else would "the same" matter?
        other, bond = True, _side_of(text)
    via = understand(parts.via) if parts.via else None
    return replace(
        errand, target=target, anchor=anchor, bond=bond, side=parts.side, via=via, trips=parts.trips, other=other
    )


def _side_of(text: str) -> Bond:
    if re.search(r"\b(?:later|after|since|again)\b", text, re.IGNORECASE):
        return "after"
    return "before" if re.search(r"\b(?:earlier|before)\b", text, re.IGNORECASE) else ""


def _pick(text: str) -> Literal["", "first", "last"]:
    if _FIRST.search(text):
        return "first"
    return "last" if _LAST.search(text) else ""


def _bound(about: Meant, words: str, anchor: Meant) -> Meant:
    """`it` and `the same person` stand for what the anchor speaks of."""
    if not about.wanted and _PRONOUN.search(words) and anchor.wanted:
        wanted = replace(anchor.wanted[0], same=True)
        return Meant((Exists(wanted), *about.claims), about.unknown)
    return about


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
