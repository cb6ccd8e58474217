"""Multiple-choice questions: the options in a text, the likeliest of them, and the form in which it is wanted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sightline.english import number_word
from sightline_world.models.chat.answers import Answer, the_question
from sightline_world.models.chat.checking import check_all
from sightline_world.models.chat.grammar import understand
from sightline_world.models.chat.lexicon import plain
from sightline_world.models.chat.questions import answer
from sightline_world.models.chat.seeing import Seen

_LINE = re.compile(r"^[ \t]*[(\[]?([A-H])[)\].:][ \t]*(.*)$", re.MULTILINE)
_INLINE = re.compile(r"(?:(?<=\s)|^)\(?([A-H])[).:]\s+(.+?)(?=\s+\(?[A-H][).:]\s|$)", re.DOTALL)
_FORM = re.compile(
    r"(?:your option|the answer is|final answer|answer|option)\s*:\s*[<\[({\"']?\s*(?:[xX]\b|…|\.\.\.|letter|option|_)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Chosen:
    """An option, and why; `guess` says that nothing that was seen speaks for it."""

    key: str
    sure: float
    why: str
    guess: bool = False


def options_in(text: str) -> dict[str, str]:
    """Options by their letter, where a text has at least two that follow each other from A on."""
    for pattern in (_LINE, _INLINE):
        found: dict[str, str] = {}
        for key, words in pattern.findall(text):
            if key == chr(ord("A") + len(found)):
                found[key] = words.strip()
        if len(found) > 1:
            return found
    return {}


def choose(text: str, options: Mapping[str, str], seen: Sequence[Seen]) -> Chosen:
    """The option that fits what is seen."""
    stem = text[: _start(text)]
    said = answer(the_question(stem) or stem, seen)
    scores = {key: _likeness(said, words) for key, words in options.items()}
    best = max(scores, key=lambda key: (scores[key], -ord(key)))
    if said.known and scores[best] >= 0.5:
        return Chosen(best, said.sure, f"{said.why} That is option {best}.")
    shown = {key: _shown(words, seen) for key, words in options.items()}
    best = max(shown, key=lambda key: (shown[key], -ord(key)))
    if shown[best] > 0 and sum(score == shown[best] for score in shown.values()) == 1:
        return Chosen(best, 0.5, f"What I see fits option {best} best: {options[best]}.")
    return Chosen(
        best, 1 / len(options), f"{said.why} Nothing decides between the options, so {best} is a guess.", True
    )


def in_form(text: str, key: str) -> str:
    """The letter as the request wants it: alone, or after the words that it gives."""
    found = _FORM.search(text)
    if found is None:
        return key
    lead = found[0].split(":")[0].strip()
    return f"{lead}: {key}"


def _start(text: str) -> int:
    found = _LINE.search(text) or _INLINE.search(text)
    return found.start() if found and found.start() > 0 else len(text)


def _likeness(said: Answer, option: str) -> float:
    """How much of an option the short answer says: 1 when they are the same words."""
    mine, other = _words(said.text), _words(option)
    if not mine or not other:
        return 0.0
    if mine == other:
        return 1.0
    return len(mine & other) / len(mine | other)


def _words(text: str) -> set[str]:
    words = _WORD.findall(plain(text))
    return {number_word(int(word)) if word.isdigit() and len(word) < 3 else word for word in words} - {"a", "an", "the"}


def _shown(option: str, seen: Sequence[Seen]) -> float:
    meant = understand(option)
    return max((check_all(meant, each.reading).share for each in seen), default=0.0) if meant.claims else 0.0
