"""What the words of a request may not tell: pictures, labels of notes, dates, addresses, and how a link looks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from sightline.mine.knowledge import Knowledge
from sightline.mine.nouns import Draft

PICTURE, LABEL, DATE = "names a picture", "tells a label of the notes", "tells a date"
PLACE, LINK = "tells an address", "tells how the link looks"
_SHORTEST = 5
"""Ids and file names of fewer letters are words by chance."""
_SHORTEST_PLACE = 4
_LABELS = re.compile(r"\b[CPE]\d{1,3}\b")
_MONTHS = "January|February|April|June|July|August|September|October|November|December"
_DATES = re.compile(
    r"\b(?:19|20)\d\d\b"  # A year, also within a date.
    r"|\b\d{1,2}[./]\d{1,2}\b"
    rf"|\b(?:{_MONTHS})\b"
    r"|\b(?:\d{1,2}(?:st|nd|rd|th)?(?: of)?|in|of|early|late|mid|last|that|this) (?:March|May)\b"
    r"|\b(?:March|May) \d"
)
"""March and May are also words: they count where a day or a preposition stands beside them."""


def told(draft: Draft, known: Knowledge) -> Iterator[str]:
    """Each kind of thing that a request tells and must not; words that its clues themselves show are no fault."""
    said = _without_clues(draft, known)
    names = {*known.photos, *(event.id for event in known.events), *(PurePosixPath(id_).stem for id_ in known.photos)}
    if any(len(name) >= _SHORTEST and name.casefold() in draft.query.casefold() for name in names):
        yield PICTURE
    if _LABELS.search(said):
        yield LABEL
    if _DATES.search(said):
        yield DATE
    if any(re.search(rf"\b{re.escape(place)}\b", said) for place in _places(draft, known)):
        yield PLACE
    if _tells_link(draft, known):
        yield LINK


def _without_clues(draft: Draft, known: Knowledge) -> str:
    said = draft.query
    for key in (*draft.logic.anchor, *draft.logic.target):
        for shown in (known.clues[key].text, known.clues[key].look) if key in known.clues else ():
            said = re.sub(re.escape(shown), " ", said, flags=re.IGNORECASE)
    return said


def _places(draft: Draft, known: Knowledge) -> set[str]:
    """Parts of the addresses of the photos that a request was made from."""
    addresses = (known.photos[photo].address or "" for photo in {*draft.photos, *draft.targets})
    parts = (part.strip() for address in addresses for part in address.split(","))
    return {part for part in parts if len(part) >= _SHORTEST_PLACE}


def _tells_link(draft: Draft, known: Knowledge) -> bool:
    """Of a link only the noun may be told: what it looks like, or who it is, has to be found out."""
    clue = None if draft.logic.link is None else known.clues.get(draft.logic.link)
    if clue is None or clue.look == clue.noun:
        return False
    said = draft.query.casefold()
    return any(re.search(rf"\b{re.escape(words.casefold())}\b", said) for words in (clue.look, clue.text))
