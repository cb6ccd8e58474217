"""Text that goes round in circles: where a loop begins, and how much of a text was said before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sightline.score.text.tokens import word_tokens

_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W_]+")
_STUTTER = re.compile(r"(\S{1,6}?)\1{39,}")
_STUTTER_LENGTH = 40
_GRAM = 4
_LONG_GRAM = 8
_ROUNDS = 3
"""A passage said once and then so many times more, without a break, is a loop."""
_SHORTEST_LOOP = 24
"""Words that a loop has at least: "very, very, very" is none."""


@dataclass(frozen=True, slots=True)
class Circles:
    """`cut` is where in the text the first loop has gone round once (None: there is none).

    `repeated` = 1 − distinct 8-grams / 8-grams of words; 0 for a text of fewer than 16 words.
    """

    words: int
    repeated: float
    cut: int | None


def find_circles(text: str) -> Circles:
    """One pass over the words; a CJK character is a word."""
    words = word_tokens(text) if text.isascii() else [word.lower() for word in _WORD.findall(text)]
    cut = _stutter(text) if _has_long_word(text) else None
    if len(set(_grams(words, _GRAM))) > len(words) - _GRAM:  # Nothing was said twice.
        return Circles(len(words), 0.0, cut)
    eights = max(0, len(words) - _LONG_GRAM + 1)
    repeated = 1 - len(set(_grams(words, _LONG_GRAM))) / eights if eights > _LONG_GRAM else 0.0
    start = _loop(words)
    if start is not None:
        again = next(islice(_WORD.finditer(text), start, None)).start()
        cut = again if cut is None else min(cut, again)
    return Circles(len(words), repeated, cut)


def _stutter(text: str) -> int | None:
    """Where letters begin to repeat without a space, as in "hahahaha…"."""
    found = _STUTTER.search(text)
    return None if found is None else found.end(1)


def _has_long_word(text: str) -> bool:
    """Is there a stretch without a blank that is long enough to stutter? Looks from blank to blank, back from afar."""
    at = _STUTTER_LENGTH
    while at <= len(text):
        blank = text.rfind(" ", at - _STUTTER_LENGTH, at)
        if blank < 0:
            return True
        at = blank + 1 + _STUTTER_LENGTH
    return False


def _grams(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*[words[place:] for place in range(size)], strict=False)


def _loop(words: Sequence[str]) -> int | None:
    """The word at which the first loop begins its second round: the same words at one distance, for long enough."""
    last: dict[tuple[str, ...], int] = {}
    looked: dict[int, int] = {}  # By distance, how far the words were compared.
    for place, gram in enumerate(_grams(words, _GRAM)):
        before = last.get(gram)
        last[gram] = place
        if before is None:
            continue
        period = place - before
        if place < looked.get(period, 0):
            continue
        end = place
        while end < len(words) and words[end] == words[end - period]:
            end += 1
        looked[period] = end
        while place > period and words[place - 1] == words[place - 1 - period]:
            place -= 1
        if end - place >= max(_ROUNDS * period, _SHORTEST_LOOP):
            return place
    return None
