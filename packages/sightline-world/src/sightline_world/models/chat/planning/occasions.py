"""An occasion as people tell of it: by what was seen there, or by how it lies to another occasion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline_world.models.chat.claims import Meant
from sightline_world.models.chat.grammar import understand

Side: TypeAlias = Literal["", "after", "before"]
How: TypeAlias = Literal["seen", "day", "first", "last", "next", "previous", "town", "part"]
DAYS = "days?|afternoons?|mornings?|evenings?|nights?|dates?"
_TRIPS = (
    r"(?:(?:(?:day|weekend|road|boat|train|bus|family) )?trip|journey|excursion|holiday|vacation|travel|getaway|voyage|"
    r"expedition|tour|cruise|outing|adventure|stay|escape|jaunt)s?"
)
EVENTS = (
    rf"(?:market days?|days? out|{_TRIPS}|{DAYS}|visits?|events?|occasions?|part(?:y|ies)|birthdays?|weekends?|times?|"
    r"walks?|concerts?|picnics?|episodes?|celebrations?|gatherings?|festivals?|hikes?|strolls?|fairs?|get-togethers?|"
    r"rambles?|reunions?|happenings?|match(?:es)?|games?)"
)
_MOMENTS = (
    r"(?:moments?|points?|instants?|minutes?|seconds?|hours?|sight(?:ing)?s?|glimpses?|appearances?|times?|arrivals?)"
)
TOWNS = r"(?:towns?|cit(?:y|ies)|villages?|places?|locations?|destinations?|spots?|municipalit(?:y|ies)|settlements?)"
_AWAY = re.compile(
    rf"\b(?:{_TRIPS}|away|travell?ed|travell?ing|left home|abroad|journeyed|set (?:off|out)|went off)\b", re.IGNORECASE
)
_AFTER = (
    r"after|following|follow(?:s|ed)?|since|later than|subsequent to|succeed(?:s|ed|ing)?|on the heels of|"
    r"in the wake of|once|as soon as|no earlier than|"
    r"not before|no sooner than|from when|from the (?:moment|point|time|instant)|starting (?:with|when|from)|"
    r"later\b(?:\s+\w+){1,4}?\s+than|by the time|having (?:already )?(?:seen|met|noticed|passed|spotted)"
)
_BEFORE = (
    r"before|prior to|preced(?:e|es|ed|ing)|ahead of|earlier than|until|till|up to|previous to|leading up to|"
    r"in advance of|"
    r"no later than|not after|sooner than|not yet|as long as .{0,20} not|without yet having|"
    r"earlier\b(?:\s+\w+){1,4}?\s+than|yet to (?:see|meet|notice|spot|come across)"
)
ORDER = re.compile(rf"\b(?:(?P<after>{_AFTER})(?!\s+by\b)|(?P<before>{_BEFORE}))\b", re.IGNORECASE)
_NOUN = re.compile(rf"\b(?P<event>{EVENTS}|{TOWNS})\b", re.IGNORECASE)
_SPEAKERS = "we|i|they|there|having|seeing|you|had|saw|seen|somebody|someone|a|an"
_OCCASION_FIRST = re.compile(
    rf"\W*(?:(?:that|the|this|our|my|one|on|of|from|to|during|at|in)\s+)*"
    rf"(?:(?!(?:{_SPEAKERS})\b)[\w-]+\s+){{0,3}}?(?:an?\s+)?(?:{EVENTS}|{TOWNS})\b|"
    r"\W*(?:the|that|this)\s+one\b|\W*(?:that|it|this)\b(?!\s+\w+ed\b)",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:first|earliest|oldest|initial(?:ly)?|original(?:ly)?|debut|inaugural|premiere)\b", re.IGNORECASE
)
_LAST = re.compile(r"\b(?:last|latest|most recent(?:ly)?|newest|final(?:ly)?)\b", re.IGNORECASE)
_STEP = re.compile(
    rf"\b(?:(?P<next>next|following|subsequent|ensuing|succeeding)|previous|preceding|prior|"
    rf"foregoing)\s+(?:{EVENTS}|one)\b|"
    rf"\b(?:{EVENTS}|one)\s+(?:\w+\s+){{0,4}}?(?P<later>later|next|thereafter|afterwards?)\b|"
    rf"\b(?:{EVENTS}|one)\s+(?:\w+\s+){{0,4}}?(?:earlier|beforehand|previously)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:]\s+|\s(?:but|while|with|and|when|only)\s", re.IGNORECASE)
_ALREADY = re.compile(r"\b(?:already|by then|from then on|onwards?|afterwards|behind us|later)\b", re.IGNORECASE)
_YET = re.compile(
    r"\b(?:yet|still (?:to|ahead|lay|missing)|so far|until then|beforehand|earlier|not .{0,30}(?:so far|yet))\b",
    re.IGNORECASE,
)
_MOMENT_FIRST = re.compile(rf"\W*(?:(?:the|that|our|a|an|very|first|last|of|at)\s+)*{_MOMENTS}\b", re.IGNORECASE)
_OF_A_TRIP = re.compile(
    rf"\b(?:{DAYS})\s+(?:out\s+)?(?:of|on|in|during|within|from)\s+(?:\w+\s+){{0,3}}?(?:{_TRIPS})\b", re.IGNORECASE
)
_OTHER = re.compile(
    r"\b(?:an?other|different|other|others|elsewhere|again|else|return(?:s|ed)?|further|remaining|rest|also)\b",
    re.IGNORECASE,
)
_ONE_DAY = re.compile(
    rf"\b(?:same|very|single|one|that)\s+(?:{DAYS})\b|\b(?:day|date) (?:as|on which .+ also)\b", re.IGNORECASE
)
_SAID_TWICE = re.compile(r"\bonly\b|\bbut\b|\bjust\b", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:from|on|during|of|in|at|to|for|within|inside|the|that|this|our|my|an?|one|very|same|next|first|last|following|"
    r"previous|preceding|soonest|earliest|latest|nearest|closest|other|another|only|exact|single|particular|"
    r"whole|entire|"
    r"right|just|immediately|directly|most|recent|taken|shot|made|dating|back|belonging|coming|came|photographed|"
    r"captured|snapped|recorded|subsequent|final|initial|and|was|were|is|are|as)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Occasion:
    """When something happened; its pictures are found from `about` and from the occasion `of`.

    *seen*: where `about` was seen; *day*: that day alone; *first*, *last*: the first or last time of `about`; *next*,
    *previous*: the nearest one after or before `of` (away from home for `trips`; one that shows `about`, if that is
    told); *town*: all in the town of `of`, without itself for `other`; *part*: what is before or after (`side`) `about`
    was seen, within `of`.
    """

    how: How
    about: Meant | None = None
    of: Occasion | None = None
    side: Side = ""
    trips: bool = False
    other: bool = False

    def __iter__(self) -> Iterator[Occasion]:
        """Itself, and the ones that it is told by."""
        yield self
        if self.of is not None:
            yield from self.of


def occasion_at(text: str, start: int = 0) -> int | None:
    """Where the first words for an occasion begin, with what leads to them ("from the next trip")."""
    found = _NOUN.search(text, start)
    return None if found is None else _led(text, found.start())


def _led(text: str, at: int) -> int:
    while True:
        before = re.search(r"([\w'-]+)\s*$", text[:at])
        if before is None or _LEAD.fullmatch(before[1]) is None:
            return at
        at = before.start()


def says(text: str) -> bool:
    """Does the text tell of something that can be seen?"""
    return bool(understand(text).claims)


def read_occasion(text: str) -> Occasion | None:
    """What a text tells of; None where it says nothing that could be found."""
    for cue in ORDER.finditer(text):
        found = _ordered(text[: cue.start()], text[cue.end() :], "after" if cue["after"] else "before")
        if found is not None:
            return found
    town = re.search(rf"\b{TOWNS}\b", text, re.IGNORECASE)
    if town is not None:
        inner = read_occasion(text[town.end() :])
        if inner is not None and not says(text[: town.start()]):
            return Occasion("town", of=inner, other=bool(_OTHER.search(text[: town.start()])))
    return _leaf(text)


def _ordered(left: str, right: str, side: Side) -> Occasion | None:
    """What stands on both sides of "after" or "before"."""
    told = says(left)
    how: How = "next" if side == "after" else "previous"
    moment = told and (_MOMENT_FIRST.match(right) is not None or _SAID_TWICE.search(left[-16:]) is not None)
    if _OCCASION_FIRST.match(right) and not moment:
        inner = read_occasion(right)
        if inner is None:
            return None
        if told:
            return Occasion(how, understand(left), inner)
        return Occasion(how, of=inner, trips=bool(_AWAY.search(left)))
    if not told or not says(right):
        return None
    inner = read_occasion(left)
    return None if inner is None else Occasion("part", understand(right), inner, side)


def _leaf(text: str) -> Occasion | None:
    # "The same day as a kite": the day is the same, and not the kite.
    about = understand(re.sub(r"\b(?:same|that very)\b", " ", text, flags=re.IGNORECASE))
    if not about.claims:
        return None
    step = _STEP.search(text)
    if step is not None:
        how: How = "next" if step["next"] or step["later"] else "previous"
        return Occasion(how, of=Occasion("seen", about), trips=bool(_AWAY.search(step[0])))
    part = _parted(text)
    if part is not None:
        return part
    if _FIRST.search(text):
        return Occasion("first", about)
    if _LAST.search(text):
        return Occasion("last", about)
    return Occasion("day" if _is_day(text) else "seen", about)


def _parted(text: str) -> Occasion | None:
    """`the day with a kite, by then we had seen a boat already`: a part of an occasion without "after" or "before"."""
    for mark in _CLAUSE.finditer(text):
        left, right = text[: mark.start()], text[mark.end() :]
        late, early = _ALREADY.search(right), _YET.search(right)
        if (late or early) and says(left) and says(right):
            inner = _leaf(left)
            side: Side = "before" if early is not None else "after"
            return None if inner is None else Occasion("part", understand(right), inner, side)
    return None


def _is_day(text: str) -> bool:
    """A day of a longer trip, and not just "the day when"."""
    return _OF_A_TRIP.search(text) is not None or _ONE_DAY.search(text) is not None
