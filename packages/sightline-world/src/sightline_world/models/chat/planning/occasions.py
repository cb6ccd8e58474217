"""An occasion as people tell of it: by what was seen there, or by how it lies to another occasion.

Words for other times than the occasion's, such as "from any later time", "before that" and "elsewhere", are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline_world.models.chat.claims import Meant
from sightline_world.models.chat.lexicon import scan
from sightline_world.models.chat.parser import understand

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
PICTURES = r"(?:pictures?|photos?|photographs?|images?|shots?|snaps?|snapshots?|frames?|pics?|prints?)"
_WHENEVER = (
    r"times?|dates?|points?(?: in time)?|occasions?|moments?|periods?|days?|years?|events?|outings?|trips?|episodes?"
)
_ANY_TIME = (
    re.compile(
        r"[,;]?\s*(?:\b(?:and|but|taken|dating|made|shot|only|just|though)\s+)*(?:\b(?:from|at|of|on|in|during|to)\s+)?"
        r"(?:\b(?:any|some|an|all|every|a|our|whatever|whichever)\s+)?"
        rf"\b(?P<side>later|earlier|other|another|different|separate)\s+(?:{_WHENEVER})\b"
        r"(?!\s+(?:on|in|at|during)\s+which\b|\s+(?:when|where|with|that|to|of|after|before|in)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"[,;]?\s*\b(?:at any (?:time|point|moment)|any ?time|some ?time|ever|long|well|years?|months?|weeks?|days?)\s+"
        r"(?P<side>later|earlier|before|after(?:wards?)?|since)\b(?:\s+(?:that|then|it)\b)?+"
        r"(?!\s+\w)",
        re.IGNORECASE,
    ),
    re.compile(
        r"[,;]?\s*\b(?P<side>later on|afterwards?|subsequently|thereafter|since then|from then on|earlier on|"
        r"previously|"
        r"beforehand|before that|after that|before then|elsewhere|once more)\b(?=\s*(?:[,;.?!]|$))",
        re.IGNORECASE,
    ),
)
_PRONOUN_TIME = re.compile(
    r"[,;]?\s*(?:\b(?:and|but|only|ever|any ?time|some ?time|whenever|at any (?:time|point|moment|date)|from|"
    r"back|long|taken|"
    r"dating|at|well)\s+)*\b(?P<side>after|before|since|outside(?: of)?|apart from|other than|except(?: for)?|"
    r"away from|"
    rf"later than|earlier than|prior to)\s+(?:it|this|then|that)(?:\s+(?:very\s+)?(?:{EVENTS}))?\b"
    r"(?!\s+(?:we|i|the|an?|on which|when|where|one|with)\b)",
    re.IGNORECASE,
)
_NO_MATTER_WHEN = re.compile(
    rf"[,;]?\s*(?:\b(?:and|but|from|at|on|of|in)\s+)*\b(?:any|some|every|each|whatever|whichever|"
    rf"all)\s+(?:{_WHENEVER})\s+"
    r"(?:that\s+|which\s+)?(?:is\s+|was\s+|came\s+|lies\s+|lay\s+)?(?P<side>later|earlier|afterwards?|beforehand)\b|"
    r"[,;]?\s*(?:\b(?:from|at|on|of|in)\s+)?(?:\b(?:any|some|all|the)\s+)?"
    rf"\b(?P<adjective>future|past|former|subsequent|succeeding|preceding|prior)\s+(?:{_WHENEVER}|{PICTURES})\b"
    r"(?!\s+(?:on which|when|where|with|that|to|of|after|before))",
    re.IGNORECASE,
)
_NEXT_TO = re.compile(rf"\b(?:{EVENTS}|one)\s+(?:\w+\s+){{0,2}}$", re.IGNORECASE)
_LATER_OR_EARLIER = re.compile(
    r"[,;]?\s*(?:\b(?:at|from|on|in|of|only|but|and|taken|dating)\s+)*(?:\b(?:any|some|an?|the|all|other|every|"
    r"much|even)\s+)*"
    r"\b(?P<side>later|earlier|newer|older|more recent|afterwards?|subsequently|subsequent|thereafter|since then|"
    r"from then on|previously|beforehand|before that|before then|after that|ever after|prior)\b"
    rf"(?:\s+(?:than that|on|in (?:my|our) li(?:fe|ves)|{_WHENEVER}|{PICTURES}|ones?)\b)*+"
    r"(?!\s+(?:than|the|we|i|our|my|an?|with|when|where|(?:on|in|at|during) which|that|to|of|after|before|showing)\b)",
    re.IGNORECASE,
)
_WORE = re.compile(r"\b(?:wore|was wearing|had on|was dressed|was clad|had worn|was seen in)\b", re.IGNORECASE)
_POINTING = ("the", "that", "this", "my", "our", "whichever", "whatever")
_LATE = re.compile(
    r"\b(?:later|future|succeeding|after\w*|since|subsequent\w*|then on|thereafter|newer|more recent|following)\b",
    re.IGNORECASE,
)
_EARLY = re.compile(r"\b(?:earlier|past|former|preceding|before\w*|previous\w*|older|prior)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToldOccasion:
    """When something happened; its pictures are found from `about` and from the occasion `of`.

    *seen*: where `about` was seen; *day*: that day alone; *first*, *last*: the first or last time of `about`; *next*,
    *previous*: the nearest one after or before `of` (away from home for `trips`; one that shows `about`, if that is
    told); *town*: all in the town of `of`, without itself for `other`; *part*: what is before or after (`side`) `about`
    was seen, within `of`.
    """

    how: How
    about: Meant | None = None
    of: ToldOccasion | None = None
    side: Side = ""
    trips: bool = False
    other: bool = False

    def __iter__(self) -> Iterator[ToldOccasion]:
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


def read_occasion(text: str) -> ToldOccasion | None:
    """What a text tells of; None where it says nothing that could be found."""
    for cue in ORDER.finditer(text):
        found = _ordered(text[: cue.start()], text[cue.end() :], "after" if cue["after"] else "before")
        if found is not None:
            return found
    town = re.search(rf"\b{TOWNS}\b", text, re.IGNORECASE)
    if town is not None:
        inner = read_occasion(text[town.end() :])
        if inner is not None and not says(text[: town.start()]):
            return ToldOccasion("town", of=inner, other=bool(_OTHER.search(text[: town.start()])))
    return _leaf(text)


def _ordered(left: str, right: str, side: Side) -> ToldOccasion | None:
    """What stands on both sides of "after" or "before"."""
    told = says(left)
    how: How = "next" if side == "after" else "previous"
    moment = told and (_MOMENT_FIRST.match(right) is not None or _SAID_TWICE.search(left[-16:]) is not None)
    if _OCCASION_FIRST.match(right) and not moment:
        inner = read_occasion(right)
        if inner is None:
            return None
        if told:
            return ToldOccasion(how, understand(left), inner)
        return ToldOccasion(how, of=inner, trips=bool(_AWAY.search(left)))
    if not told or not says(right):
        return None
    inner = read_occasion(left)
    return None if inner is None else ToldOccasion("part", understand(right), inner, side)


def _leaf(text: str) -> ToldOccasion | None:
    # "The same day as a kite": the day is the same, and not the kite.
    about = understand(re.sub(r"\b(?:same|that very)\b", " ", text, flags=re.IGNORECASE))
    if not about.claims:
        return None
    step = _STEP.search(text)
    if step is not None:
        how: How = "next" if step["next"] or step["later"] else "previous"
        return ToldOccasion(how, of=ToldOccasion("seen", about), trips=bool(_AWAY.search(step[0])))
    part = _parted(text)
    if part is not None:
        return part
    if _FIRST.search(text):
        return ToldOccasion("first", about)
    if _LAST.search(text):
        return ToldOccasion("last", about)
    return ToldOccasion("day" if _is_day(text) else "seen", about)


def _parted(text: str) -> ToldOccasion | None:
    """`the day with a kite, by then we had seen a boat already`: a part of an occasion without "after" or "before"."""
    for mark in _CLAUSE.finditer(text):
        left, right = text[: mark.start()], text[mark.end() :]
        late, early = _ALREADY.search(right), _YET.search(right)
        if (late or early) and says(left) and says(right):
            inner = _leaf(left)
            side: Side = "before" if early is not None else "after"
            return None if inner is None else ToldOccasion("part", understand(right), inner, side)
    return None


def _is_day(text: str) -> bool:
    """A day of a longer trip, and not just "the day when"."""
    return _OF_A_TRIP.search(text) is not None or _ONE_DAY.search(text) is not None


When: TypeAlias = Literal["", "in", "after", "before", "other"]


def without_other_times(text: str) -> tuple[str, When]:
    """The text without "from any later time", and which times are meant."""
    loose = [_LATER_OR_EARLIER] if _points(text) else []
    for pattern in (*_ANY_TIME, _NO_MATTER_WHEN, _PRONOUN_TIME, *loose):
        for found in pattern.finditer(text):
            if pattern is _PRONOUN_TIME and _NEXT_TO.search(text[: found.start("side")]):
                continue  # "The trip right after that" is an occasion.
            groups = found.groupdict()
            side = groups.get("side") or groups.get("adjective") or ""
            when: When = "after" if _LATE.search(side) else "before" if _EARLY.search(side) else "other"
            return f"{text[: found.start()]}{text[found.end() :]}", when
    return text, ""


def _points(text: str) -> bool:
    """Does a text speak of "the guitar" or "that person", without a word for how it looks?"""
    if _WORE.search(text):
        return True
    terms = scan(text)
    for at, term in enumerate(terms[:-1]):
        if term.text in _POINTING or term.sort == "same":
            near = next((each for each in terms[at + 1 : at + 4] if each.sort not in ("stop", "unknown", "same")), None)
            if near is not None and near.sort == "kind":
                return True
    return False
