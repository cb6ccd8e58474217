"""Traces of several teachers beside each other, with the words that contradict each other marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from markupsafe import Markup, escape

from sightline.metrics.steps.contradictions import find_contradictions
from sightline.types import Trace

_NUMBERS = {"1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight"}


@dataclass(frozen=True, slots=True)
class MarkedTrace:
    """One teacher's trace, marked."""

    model: str
    thinking: Markup
    answer: Markup


@dataclass(frozen=True, slots=True)
class TraceComparison:
    """All traces on one picture, and where they contradict each other: kind, and the words on either side."""

    traces: tuple[MarkedTrace, ...]
    conflicts: tuple[tuple[str, str, str], ...]


def side_by_side(traces: Sequence[Trace]) -> TraceComparison:
    """Each answer compared with each other one; heuristics on words, as in `metrics.steps.contradictions`."""
    marks: list[set[str]] = [set() for _ in traces]
    conflicts = []
    for one, other in combinations(range(len(traces)), 2):
        for found in find_contradictions(traces[one].answer, traces[other].answer):
            conflicts.append((found.kind, found.reference, found.predicted))
            mine, theirs = set(found.reference.split()), set(found.predicted.split())
            marks[one] |= mine - theirs or mine
            marks[other] |= theirs - mine or theirs
    said = tuple(
        MarkedTrace(trace.model or f"teacher {place + 1}", escape(trace.thinking), marked(trace.answer, marks[place]))
        for place, trace in enumerate(traces)
    )
    return TraceComparison(said, tuple(dict.fromkeys(conflicts)))


def marked(text: str, words: Iterable[str]) -> Markup:
    """The text with these words marked wherever they stand; a figure also where it is spelt out."""
    wanted = {word.lower() for word in words if word}
    wanted |= {_NUMBERS[word] for word in wanted if word in _NUMBERS}
    if not wanted:
        return escape(text)
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in sorted(wanted)), re.IGNORECASE)
    parts, at = [], 0
    for found in pattern.finditer(text):
        parts += [escape(text[at : found.start()]), Markup("<mark>"), escape(found[0]), Markup("</mark>")]
        at = found.end()
    return Markup("").join([*parts, escape(text[at:])])
