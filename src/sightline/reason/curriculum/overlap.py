"""Is what is to be written already there to be read? Words that a target step has in common with what is shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sightline.reason.curriculum.lessons import TITLES, Exercise, Lesson
from sightline.reason.curriculum.plan import StepName

RUN = 8
"""Words in a row that count as evidence wherever they are."""
MOST = 0.5
"""Share of a target step's runs that may be shown: sentences about the same things have some in common."""
NEARLY = 0.8
"""From this likeness on, a target step is shown in one place nearly word for word."""
_FEWEST = 4
"""A step of fewer words is no text that could be copied, unless it is a whole sentence of what is shown."""
_SKIP = 0.5
"""What a word costs that one of two texts has and the other has not."""

# Chinese and Japanese are written without spaces: each sign is a word.
_SIGN = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_SIGN}]|[^\W{_SIGN}]+")
_SENTENCE = re.compile(r"[.!?。！？;:：；\n]+")
_CLOSING = re.compile(r"\s*\bThe answer is \S+\.?\s*$")


class Shared(NamedTuple):
    """What of one target step is shown in one place: the share of its runs, and the best likeness."""

    step: StepName
    place: str
    runs: float
    likeness: float

    @property
    def leaks(self) -> bool:
        return self.runs > MOST or self.likeness >= NEARLY

    def __str__(self) -> str:
        if self.likeness >= NEARLY:
            how = "word for word" if self.likeness == 1.0 else "nearly word for word"
            return f"the target's {TITLES[self.step]} is in {self.place} {how}"
        return f"{self.runs:.0%} of the target's {TITLES[self.step]} is in {self.place}, in runs of {RUN} words"


def words_of(text: str) -> list[str]:
    """The words of a text, whatever their case, width and punctuation."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def overlap(step: str, shown: str) -> float:
    """The share of a step's runs of `RUN` words that are shown, wherever; 0 for a step that has no such run."""
    runs = _runs(words_of(step))
    return len(runs & _runs(words_of(shown))) / len(runs) if runs else 0.0


def likeness(step: str, shown: str) -> float:
    """How much of a step is shown in one place and in its order; 1 is word for word.

    The best score of any passage over the step's number of words: 1 for each word in common, less a half for each word
    in between that only one of the two has. A step of fewer than 4 words is shown (1) or not (0) as a sentence.
    """
    words = words_of(step)
    if len(words) < _FEWEST:
        return float(bool(words) and any(words_of(sentence) == words for sentence in _SENTENCE.split(shown)))
    there = words_of(shown)
    common = {*words} & {*there}
    if sum(word in common for word in words) < NEARLY * len(words):
        return 0.0  # It can't come near, and most steps do not.
    return _best_passage(words, there) / len(words)


def shared_text(exercise: Exercise) -> Iterator[Shared]:
    """What of each target step is in the given steps and in the question; options are no part of the question here."""
    lesson, stage = exercise.lesson, exercise.stage
    given = "\n".join(said.words for kind in stage.given for said in lesson.steps[kind])
    for kind in stage.target:
        for said in lesson.steps[kind]:
            told = _told(said.words, lesson) if kind == "conclusion" else said.words
            for place, shown in (("the given steps", given), ("the question", lesson.stem)):
                yield Shared(kind, place, overlap(said.words, shown), likeness(told, shown))


def _told(conclusion: str, lesson: Lesson) -> str:
    """What a conclusion says before its closing words; nothing, where it merely repeats an option."""
    words = _CLOSING.sub("", conclusion)
    return "" if _is_option(words, lesson) else words


def _is_option(text: str, lesson: Lesson) -> bool:
    words = f" {' '.join(words_of(text))} "
    return any(words in f" {' '.join(words_of(option.text))} " for option in lesson.options)


def _best_passage(step: Sequence[str], shown: Sequence[str]) -> float:
    """A local alignment, one row for each word of the step."""
    numbers = {word: number for number, word in enumerate(dict.fromkeys(step))}
    there = np.array([numbers.get(word, -1) for word in shown])
    skipped = _SKIP * np.arange(len(there) + 1)
    best, above = 0.0, np.zeros(len(there) + 1)
    for word in step:
        met = above[:-1] + np.where(there == numbers[word], 1.0, -_SKIP)
        row = np.maximum(0.0, np.concatenate(([0.0], np.maximum(met, above[1:] - _SKIP))))
        above = np.maximum.accumulate(row + skipped) - skipped  # Words that only what is shown has.
        best = max(best, float(above.max()))
    return best


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def largest(shared: Iterable[Shared]) -> float:
    """The largest share of runs."""
    return max((one.runs for one in shared), default=0.0)
