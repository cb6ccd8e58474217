"""A trace beside what is known of its picture: the name of its class, its caption, exact facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline.reason.traces.claims import Claim, content_words, speak_of_one
from sightline.score.steps.contradictions import find_contradictions
from sightline.score.text.porter import stem
from sightline.score.text.tokens import word_tokens

LabelState: TypeAlias = Literal["answer", "thinking", "partly", "denied", "missing"]
LABEL_SCORES: dict[LabelState, float] = {"answer": 1.0, "thinking": 0.5, "partly": 0.5, "denied": 0.0, "missing": 0.0}
"""Named in the answer; only in the thinking; only its last word ("shark" for "white shark"); denied; not there."""
_DENIALS = frozenset({"not", "no", "never", "without", "isn", "aren", "neither", "nor", "cannot"})
_REACH = 3
_SAID = 0.75


@dataclass(frozen=True, slots=True)
class Covered:
    """How much of a text that is true the trace says, and what it says against it.

    `score` = share of the text's words in the trace, halved by a contradiction.
    """

    score: float
    against: tuple[str, ...] = ()


def find_label(labels: Sequence[str], thinking: str, answer: str) -> LabelState:
    """Is any of the names said, and where? Words count by their stems, and in order; a denied name is not said."""
    said, thought = _stems(answer), _stems(thinking)
    names = [name for name in (_stems(label.replace("_", " ")) for label in labels) if name]
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


def cover_caption(caption: str, claims: Sequence[Claim], text: str) -> Covered:
    """The caption's words in the trace, and contradictions of claims that speak of the same."""
    wanted = content_words(caption)
    share = len(wanted & content_words(text)) / len(wanted) if wanted else 1.0
    against = _against(caption, claims)
    return Covered(share / 2 if against else share, against)


def cover_facts(facts: Sequence[str], claims: Sequence[Claim]) -> Covered:
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
    return Covered(max(0.0, said / len(facts)), tuple(against))


def _against(truth: str, claims: Sequence[Claim]) -> tuple[str, ...]:
    known = Claim(truth, content_words(truth))
    return tuple(
        f"{found.reference} ≠ {found.predicted}"
        for claim in claims
        if speak_of_one(known, claim)
        for found in find_contradictions(truth, claim.text)
    )


def _stems(text: str) -> list[str]:
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
