"""What a trace claims, sentence by sentence, and whether two traces claim the same or the opposite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from sightline.score.answers.reply import plain, sentences
from sightline.score.steps.contradictions import find_contradictions
from sightline.score.steps.opposites import OPPOSITES, on_other_sides
from sightline.score.steps.wording import NEGATIONS, tokens_of
from sightline.score.text.porter import stem
from sightline.score.text.tokens import word_tokens

MOST_CLAIMS = 40
VERIFIED_EACH = 12
"""Claims of one trace that are verified: those of its answer, from the first on."""
_STOP_WORDS = (
    "a an the of in on at to for with by from and or but is are was were be been being it its this that these those "
    "as there here has have had which who what also very quite some more one 1 can may might could would seem seems "
    "appear appears likely possibly probably image picture photo photograph shows show shown see seen visible depicts "
    "的 了 是 在 有 和 与 也 就 都 而 及 着 图 片"
)
_STOPS = frozenset(_STOP_WORDS.split())
_NUMBERS = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_SPELLINGS = """
    gray grey | grays greys | grayish greyish | color colour | colors colours | colored coloured | colorful colourful
    multicolored multicoloured | center centre | centers centres | centered centred | theater theatre | harbor harbour
    meter metre | meters metres | fiber fibre | jewelry jewellery | mustache moustache | tire tyre | tires tyres
    airplane aeroplane | airplanes aeroplanes | pajamas pyjamas | donut doughnut | donuts doughnuts
    beside next | alongside next | adjacent next | both 2
"""
_WRITTEN = {
    **{word: str(number) for number, word in enumerate(_NUMBERS.split(), 2)},
    **dict(pair.split() for line in _SPELLINGS.strip().splitlines() for pair in line.split("|")),
}
"""What is written in two ways, and the one that counts."""
_NO_CLAIM = re.compile(
    r"^(?:let(?:'s| me| us)|i(?:'ll| will| should| need| want)|now\b|okay|ok\b|so,? let|(?:first|next),? (?:i|let)"
    r"|wait\b|hmm|step \d+|overall,? (?:i|let)|in (?:summary|conclusion)[:,]?$|got it)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^(?:[-*•–]|\(?\d{1,2}[.)])\s+")
_FEWEST_WORDS = 2
_SENTENCE_WORDS = 4
"""A sentence of so many words, such as "There is a dog.", claims something even if only one of them matters."""
_SAME = 0.5
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that says something of the picture, and the stems of its words that matter."""

    text: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two claims of two traces that can't both be true: the kind, and the words on either side."""

    kind: str
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """`share` = 2 · claims that have a partner / all claims of both; None where one of them claims nothing."""

    share: float | None
    conflicts: tuple[Conflict, ...]


def content_words(text: str) -> frozenset[str]:
    """The stems of the words that matter; a number, or what is spelt in two ways, is the same in each of them."""
    return frozenset(map(_root, set(word_tokens(text)) - _STOPS))


@lru_cache(maxsize=65_536)
def _root(word: str) -> str:
    return stem(_WRITTEN.get(word, word))


def split_claims(text: str, most: int = MOST_CLAIMS) -> tuple[Claim, ...]:
    """The declarative sentences of a text, each once; questions, headings and talk about the task are left out."""
    found: dict[str, Claim] = {}
    for sentence in sentences(plain(text)):
        if (bullet := _BULLET.match(sentence)) is not None:
            sentence = sentence[bullet.end() :]
        if sentence.endswith(("?", "？", ":", "：")) or _NO_CLAIM.match(sentence):
            continue
        words = content_words(sentence)
        enough = len(words) >= _FEWEST_WORDS or (words and len(sentence.split()) >= _SENTENCE_WORDS)
        if enough and sentence not in found:
            found[sentence] = Claim(sentence, words)
            if len(found) == most:
                break
    return tuple(found.values())


def compare_claims(first: Sequence[Claim], second: Sequence[Claim]) -> Agreement:
    """Claims paired one to one, most similar first; pairs that speak of the same are searched for contradictions."""
    if not first or not second:
        return Agreement(None, ())
    pairs = sorted(
        (
            (_similarity(one.words, other.words), row, column)
            for row, one in enumerate(first)
            for column, other in enumerate(second)
            if speak_of_one(one, other)
        ),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    rows: set[int] = set()
    columns: set[int] = set()
    same = 0
    conflicts: dict[Conflict, None] = {}
    for similarity, row, column in pairs:
        if row in rows or column in columns:
            continue
        rows.add(row)
        columns.add(column)
        one, other = first[row].text, second[column].text
        against = find_contradictions(one, other) if one != other else ()
        conflicts.update({Conflict(found.kind, found.reference, found.predicted): None for found in against})
        same += similarity >= _SAME and not against and not _says_otherwise(first[row], second[column])
    return Agreement(2 * same / (len(first) + len(second)), tuple(conflicts))


def speak_of_one(one: Claim, other: Claim) -> bool:
    """Do two sentences have a third of their words in common, or a short one that says "the" half of its own?

    "The bicycle is blue" speaks of the one in "A red bicycle stands beside a bench"; "There are two bicycles" and "One
    bicycle leans against a wall" do not contradict each other.
    """
    common = len(one.words & other.words)
    if not common or 6 * common >= len(one.words) + len(other.words):
        return common > 0
    shorter = one if len(one.words) < len(other.words) else other
    return 2 * common >= len(shorter.words) and shorter.text.startswith("The ")


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """2 · common words / words of both."""
    return 2 * len(one & other) / (len(one) + len(other))


def _says_otherwise(one: Claim, other: Claim) -> bool:
    """Of two that don't contradict each other: has each words of its own, as many as in common or in the same places?

    "A glove on one hand" and "a wristband on one hand" are not the same claim, nor are "the man on the left" and "… on
    the right" the same man. "Not open" and "closed", or "A left of B" and "B right of A", may be the same.
    """
    mine, theirs = one.words - other.words - NEGATIONS, other.words - one.words - NEGATIONS
    opposites = _opposite_stems()
    against = {word for word in mine if not opposites.get(word, _NONE).isdisjoint(theirs)}
    if against:
        if on_other_sides(tokens_of(one.text), tokens_of(other.text)):
            return True
        mine, theirs = mine - against, frozenset(word for word in theirs if opposites.get(word, _NONE).isdisjoint(mine))
    if not mine or not theirs:
        return False
    if len(mine) + len(theirs) >= len(one.words & other.words):
        return True
    return any(here in mine and there in theirs for here, there in zip(_stems(one), _stems(other), strict=False))


@cache
def _opposite_stems() -> dict[str, frozenset[str]]:
    return {_root(word): frozenset(map(_root, others)) for word, others in OPPOSITES.items()}


def _stems(claim: Claim) -> list[str]:
    """The words that matter, in order."""
    return [_root(word) for word in word_tokens(claim.text) if word not in _STOPS]
