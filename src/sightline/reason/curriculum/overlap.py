"""Is what is to be written already there to be read? Runs of words that a target step and the prompt have in common."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from sightline.reason.curriculum.lessons import Exercise

RUN = 8
"""Words in a row that count as evidence."""
MOST = 0.5
"""Share of a target step's runs that given steps may hold: sentences about the same things have some in common."""

# Chinese and Japanese are written without spaces: each sign is a word.
_SIGN = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_SIGN}]|[^\W{_SIGN}]+")
# The key itself in its own case: "a" is a word too.
_ANSWER = r"\b(?i:answer|(?:correct|right|best) (?:option|choice))\s*(?i:is|would be|must be|:|=)?\s*(?i:option\s*)?"
_SENTENCE = re.compile(r"[.!?。！？;:：；\n]+")


def words_of(text: str) -> list[str]:
    """The words of a text, whatever their case, width and punctuation."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def overlap(step: str, prompt: str) -> float:
    """The share of a step's runs of `RUN` words that are in the prompt; 1 is all of it.

    A shorter step has no such run: it is there (1) or not (0) as a sentence of its own.
    """
    words = words_of(step)
    if not words:
        return 0.0
    if len(words) < RUN:
        return float(any(words_of(sentence) == words for sentence in _SENTENCE.split(prompt)))
    runs = _runs(words)
    return len(runs & _runs(words_of(prompt))) / len(runs)


def largest_overlap(exercise: Exercise) -> float:
    """The largest overlap of any target step with the given steps."""
    lesson, given = exercise.lesson, exercise.given
    return max(overlap(said.words, given) for kind in exercise.stage.target for said in lesson.steps[kind])


def repeats_question(exercise: Exercise) -> bool:
    """Is all of a target step in the question? The conclusion may be: its words are those of an option as a rule."""
    lesson = exercise.lesson
    steps = [said.words for kind in exercise.stage.target if kind != "conclusion" for said in lesson.steps[kind]]
    return any(overlap(step, lesson.question) == 1.0 for step in steps)


def states_answer(exercise: Exercise) -> bool:
    """Does a given step say outright which option is right?"""
    said = rf"{_ANSWER}[(\[*\"']*{re.escape(exercise.lesson.answer)}\b"
    return re.search(said, exercise.given) is not None


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}
