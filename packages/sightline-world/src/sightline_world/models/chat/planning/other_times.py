"""Words for other times than the occasion's, such as "from any later time", "before that" and "elsewhere"."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from sightline_world.models.chat.planning.occasions import EVENTS
from sightline_world.models.chat.scanning import scan

When: TypeAlias = Literal["", "in", "after", "before", "other"]
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
