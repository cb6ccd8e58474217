"""Answers of several parts: "A; B and C", "1. x 2. y", 甲、乙和丙."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sightline.score.answers.dates import find_dates
from sightline.score.answers.normalise import fold
from sightline.score.answers.numerals import find_numbers

_CIRCLED = re.compile("[①-⑳]")
_MARKER = re.compile(r"(?:^|(?<=[\s;,，；。]))[(]?(?P<number>\d{1,2})(?:[.)、:](?!\d)|\s*[)])\s*")
_BULLET = re.compile(r"^\s*[-*•·]\s+", re.MULTILINE)
_STRONG = re.compile(r"\s*[;\n、]\s*(?:and\s+)?")
_AND = re.compile(
    r"\s+(?:and|as well as)\s+|\s*&\s*|(?<=[\u4e00-\u9fff]{2})(?:以及|和|与|及)(?=[\u4e00-\u9fff]{2})", re.I
)
_WEAK = re.compile(rf"\s*,(?!\d)\s*(?:and\s+)?|{_AND.pattern}", re.IGNORECASE)
_BRACKETED = re.compile(r"[(\[]([^()\[\]]+)[)\]]\.?")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an answer; their order counts if they are numbered or a bracketed tuple."""

    items: tuple[str, ...]
    ordered: bool = False


def split_parts(text: str) -> Parts:
    """An answer's parts; one that is no list has one part.

    Numbers 1, 2, … win over semicolons and lines, and these over commas; "and" separates at every level, but for
    numbered items. A date, a number or a name with a comma before digits stays whole.
    """
    text = fold(_CIRCLED.sub(lambda found: f" {ord(found[0]) - ord('①') + 1}. ", text)).strip()
    numbered = _numbered(text)
    if numbered:
        return Parts(numbered, ordered=True)
    bracketed = _BRACKETED.fullmatch(text)
    if bracketed is not None:
        items = _cut(bracketed[1], _WEAK)
        return Parts(items, ordered=True) if len(items) > 1 else Parts((text,))
    text = _BULLET.sub("", text)
    items = _cut(text, _STRONG)
    if len(items) == 1:
        return Parts(_cut(text, _WEAK) or (text,))
    return Parts(tuple(part for item in items for part in _cut(item, _AND)))


def count_right(truth: Parts, said: Sequence[str], same: Callable[[str, str], bool]) -> int:
    """How many parts of the truth were said: place by place if ordered, else each at most once."""
    if truth.ordered:
        return sum(same(true, other) for true, other in zip(truth.items, said, strict=False))
    edges = [[place for place, other in enumerate(said) if same(true, other)] for true in truth.items]
    taken: dict[int, int] = {}
    return sum(_augment(part, edges, taken, set()) for part in range(len(edges)))


def _augment(part: int, edges: Sequence[Sequence[int]], taken: dict[int, int], seen: set[int]) -> bool:
    """Finds a place for a part, moving others if need be (largest matching by augmenting paths)."""
    for place in edges[part]:
        if place not in seen:
            seen.add(place)
            if place not in taken or _augment(taken[place], edges, taken, seen):
                taken[place] = part
                return True
    return False


def _numbered(text: str) -> tuple[str, ...]:
    """The items of "1. x 2. y": markers that count up from 1 and begin with the text."""
    wanted, marks = 1, []
    for mark in _MARKER.finditer(text):
        if int(mark["number"]) == wanted:
            marks.append(mark)
            wanted += 1
    if len(marks) < 2 or text[: marks[0].start()].strip():
        return ()
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return tuple(text[mark.end() : end].strip(" \n;,.") for mark, end in zip(marks, ends, strict=True))


def _cut(text: str, separator: re.Pattern[str]) -> tuple[str, ...]:
    """The pieces between separators that are not inside a date or a number."""
    whole = [(found.start, found.end) for found in find_dates(text)]
    whole += [(found.start, found.end) for found in find_numbers(text)]
    pieces, start = [], 0
    for mark in separator.finditer(text):
        if not any(first < mark.end() and mark.start() < last for first, last in whole):
            pieces.append(text[start : mark.start()])
            start = mark.end()
    pieces.append(text[start:])
    return tuple(piece.strip() for piece in pieces if piece.strip(" .,;"))
