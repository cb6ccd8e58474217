"""Relevance: how far a picture fits a query, as a grade with its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sightline_world.models.chat.checking import check_all
from sightline_world.models.chat.claims import Meant
from sightline_world.models.reader import Reading

_TAGGED = re.compile(r"<query>\s*(.+?)\s*</query>", re.IGNORECASE | re.DOTALL)
_JSON = re.compile(r'"(?:query|query_text|search_query)"\s*:\s*"((?:[^"\\]|\\.)+)"', re.IGNORECASE)
_NAMED = re.compile(
    r"^[ \t>*#-]*\**(?:search |the |user |text )*query(?: text)?\**\s*(?:is\s*)?[:=]\s*\**\s*(.+?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(r"\bquery\b[^\"“\n]{0,40}[\"“]([^\"”\n]+)[\"”]", re.IGNORECASE)
_NEARLY = 0.74
_PARTLY = 0.5


@dataclass(frozen=True, slots=True)
class Grade:
    """0 to 3; `holds` is the same as a yes or no."""

    grade: int
    holds: bool
    sure: float
    reason: str


def query_in(text: str) -> str:
    """The query that a text holds, by its mark (`Query: …`, quotation, tags, JSON); empty if there is none."""
    for pattern in (_TAGGED, _JSON, _NAMED, _QUOTED):
        found = pattern.search(text)
        if found is not None:
            return found[1].strip().strip("\"“”'")
    return ""


def grade(meant: Meant, reading: Reading) -> Grade:
    """3: every claim holds. 2: all but an attribute. 1: a good half. 0: less than that."""
    judged = check_all(meant, reading)
    if judged.holds:
        value = 3
    elif judged.share >= _NEARLY:
        value = 2
    else:
        value = 1 if judged.share >= _PARTLY else 0
    return Grade(value, judged.holds, judged.sure, judged.reason)


def scaled(value: int, low: int, high: int) -> int:
    """A grade of 0 to 3 on another scale; on one with two values only full relevance is the higher."""
    if high - low == 1:
        return high if value == 3 else low
    return low + round(value * (high - low) / 3)
