"""The claims of a trace, sentence by sentence.

Claims of two traces are compared: do they say the same, or contradict each other? And claims are compared with what is
known of the picture: the name of its class, its caption, exact facts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sightline.metrics.answers.reply import plain, sentences
from sightline.metrics.steps.contradictions import NEGATIONS, OPPOSITES, find_contradictions, on_other_sides, tokens_of
from sightline.metrics.text.porter import stem
from sightline.metrics.text.tokens import word_tokens

MOST_CLAIMS = 40
VERIFIED_EACH = 12
"""Claims of one trace that are verified: those of its answer, from the first on."""
_WORDS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "claim_words.toml").read_text("utf-8"))
_STOPS = frozenset(_WORDS["stop_words"].split())
_WRITTEN: dict[str, str] = {
    **{word: str(number) for number, word in enumerate(_WORDS["numbers"].split(), 2)},
    **_WORDS["spellings"],
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
LabelState: TypeAlias = Literal["answer", "thinking", "partly", "denied", "missing"]
LABEL_SCORES: dict[LabelState, float] = {"answer": 1.0, "thinking": 0.5, "partly": 0.5, "denied": 0.0, "missing": 0.0}
"""Named in the answer; only in the thinking; only its last word ("shark" for "white shark"); denied; not there."""
_DENIALS = frozenset({"not", "no", "never", "without", "isn", "aren", "neither", "nor", "cannot"})
_REACH = 3
_SAID = 0.75


@dataclass(frozen=True, slots=True)
class TraceClaim:
    """A sentence that says something of the picture, and the stems of its words that matter."""

    text: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class ClaimConflict:
    """Two claims of two traces that can't both be true: the kind, and the words on either side."""

    kind: str
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class ClaimAgreement:
    """`share` = 2 · claims that have a partner / all claims of both; None where one of them claims nothing."""

    share: float | None
    conflicts: tuple[ClaimConflict, ...]


def content_words(text: str) -> frozenset[str]:
    """The stems of the words that matter; a number, or what is spelt in two ways, is the same in each of them."""
    return frozenset(map(_root, set(word_tokens(text)) - _STOPS))


@lru_cache(maxsize=65_536)
def _root(word: str) -> str:
    return stem(_WRITTEN.get(word, word))


def split_claims(text: str, most: int = MOST_CLAIMS) -> tuple[TraceClaim, ...]:
    """The declarative sentences of a text, each once; questions, headings and talk about the task are left out."""
    found: dict[str, TraceClaim] = {}
    for sentence in sentences(plain(text)):
        if (bullet := _BULLET.match(sentence)) is not None:
            sentence = sentence[bullet.end() :]
        if sentence.endswith(("?", "？", ":", "：")) or _NO_CLAIM.match(sentence):
            continue
        words = content_words(sentence)
        enough = len(words) >= _FEWEST_WORDS or (words and len(sentence.split()) >= _SENTENCE_WORDS)
        if enough and sentence not in found:
            found[sentence] = TraceClaim(sentence, words)
            if len(found) == most:
                break
    return tuple(found.values())


def compare_claims(first: Sequence[TraceClaim], second: Sequence[TraceClaim]) -> ClaimAgreement:
    """Claims paired one to one, most similar first; pairs that speak of the same are searched for contradictions."""
    if not first or not second:
        return ClaimAgreement(None, ())
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
    conflicts: dict[ClaimConflict, None] = {}
    for similarity, row, column in pairs:
        if row in rows or column in columns:
            continue
        rows.add(row)
        columns.add(column)
        one, other = first[row].text, second[column].text
        against = find_contradictions(one, other) if one != other else ()
        conflicts.update({ClaimConflict(found.kind, found.reference, found.predicted): None for found in against})
        same += similarity >= _SAME and not against and not _says_otherwise(first[row], second[column])
    return ClaimAgreement(2 * same / (len(first) + len(second)), tuple(conflicts))


def speak_of_one(one: TraceClaim, other: TraceClaim) -> bool:
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


def _says_otherwise(one: TraceClaim, other: TraceClaim) -> bool:
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


def _stems(claim: TraceClaim) -> list[str]:
    """The words that matter, in order."""
    return [_root(word) for word in word_tokens(claim.text) if word not in _STOPS]


@dataclass(frozen=True, slots=True)
class TruthCoverage:
    """How much of a text that is true the trace says, and what it says against it.

    `score` = share of the text's words in the trace, halved by a contradiction.
    """

    score: float
    against: tuple[str, ...] = ()


def find_label(labels: Sequence[str], thinking: str, answer: str) -> LabelState:
    """Is any of the names said, and where? Words count by their stems, and in order; a denied name is not said."""
    said, thought = _stemmed_words(answer), _stemmed_words(thinking)
    names = [name for name in (_stemmed_words(label.replace("_", " ")) for label in labels) if name]
    in_answer = [_occurs(name, said) for name in names]
    if "said" in in_answer:
        return "answer"
    if "denied" in in_answer:
        return "denied"
    if any(_occurs(name, thought) == "said" for name in names):
        return "thinking"
    if any(len(name) > 1 and _occurs(name[-1:], said) == "said" for name in names):
        return "partly"
    return "missing"


def cover_caption(caption: str, claims: Sequence[TraceClaim], text: str) -> TruthCoverage:
    """The caption's words in the trace, and contradictions of claims that speak of the same."""
    wanted = content_words(caption)
    share = len(wanted & content_words(text)) / len(wanted) if wanted else 1.0
    against = _against(caption, claims)
    return TruthCoverage(share / 2 if against else share, against)


def cover_facts(facts: Sequence[str], claims: Sequence[TraceClaim]) -> TruthCoverage:
    """`score` = (facts said in one claim − facts contradicted) / facts, no less than 0."""
    said, against = 0, list[str]()
    for fact in facts:
        words = content_words(fact)
        denied = _against(fact, claims)
        against += denied
        if denied:
            said -= 1
        elif words and any(len(words & claim.words) >= _SAID * len(words) for claim in claims):
            said += 1
    return TruthCoverage(max(0.0, said / len(facts)), tuple(against))


def _against(truth: str, claims: Sequence[TraceClaim]) -> tuple[str, ...]:
    known = TraceClaim(truth, content_words(truth))
    return tuple(
        f"{found.reference} ≠ {found.predicted}"
        for claim in claims
        if speak_of_one(known, claim)
        for found in find_contradictions(truth, claim.text)
    )


def _stemmed_words(text: str) -> list[str]:
    return [stem(word) for word in word_tokens(text)]


def _occurs(name: Sequence[str], words: Sequence[str]) -> Literal["said", "denied", "missing"]:
    state: Literal["denied", "missing"] = "missing"
    size, first = len(name), name[0]
    for place, word in enumerate(words):
        if word == first and list(words[place : place + size]) == list(name):
            if not _DENIALS & set(words[max(0, place - _REACH) : place]):
                return "said"
            state = "denied"
    return state
