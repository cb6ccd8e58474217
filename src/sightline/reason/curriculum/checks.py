"""The checks of every record before anything is written: counted by check, and listed where one fails.

One of them is overlap: words of a target step that can already be read in what is shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from sightline.english import counted
from sightline.errors import FoundError
from sightline.reason.curriculum.contamination import NOTHING_SHARED, SharedPictures
from sightline.reason.curriculum.leakage import is_marked, leaking_sentence
from sightline.reason.curriculum.lessons import IMAGE, TITLES, Exercise, Lesson, pictures_named
from sightline.reason.curriculum.measure import NGRAM, LeakageFigure, summarized, told_to_reader
from sightline.reason.curriculum.plan import StepName
from sightline.reason.curriculum.pool import LessonPicture, QuestionPool
from sightline.reason.curriculum.schedule import ScheduleEntries
from sightline.reason.curriculum.tokens import TokenCounter, TokenCounts, foreign_mark, unusable

RUN = 8
"""Words in a row that count as evidence wherever they are."""
MOST = 0.5
"""Share of a target step's runs that may be shown: sentences about the same things have some in common."""
NEARLY = 0.8
"""From this likeness on, a target step is shown in one place nearly word for word."""
_FEWEST = 4
"""A step of fewer words is not text that could be copied, unless it is a whole sentence of what is shown."""
_SKIP = 0.5
"""What a word costs that one of two texts has and the other has not."""

# Chinese and Japanese are written without spaces: each sign is a word.
_SIGN = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_SIGN}]|[^\W{_SIGN}]+")
_SENTENCE = re.compile(r"[.!?。！？;:：；\n]+")
_CLOSING = re.compile(r"\s*\bThe answer is \S+\.?\s*$")
Check: TypeAlias = Literal["leak", "answer", "pictures", "steps", "files", "test", "tokens"]
CHECKS: Mapping[Check, str] = {
    "leak": "no known form of the target or the answer in the prompt",
    "answer": "the conclusion names the right option",
    "pictures": "as many pictures as placeholders, and no other tool's marks",
    "steps": "every picture that a step speaks of is shown",
    "files": "every picture is there and can be read",
    "test": "no picture of the test, or nearly one",
    "tokens": "within the limit of tokens",
}
_NAMED = 1000
_SHOWN = 20
_LONGEST = 120


class SharedPassage(NamedTuple):
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


def word_similarity(step: str, shown: str) -> float:
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


def shared_text(exercise: Exercise) -> Iterator[SharedPassage]:
    """What of each target step is in the given steps and in the question; options are no part of the question here."""
    lesson, stage = exercise.lesson, exercise.stage
    given = "\n".join(said.words for kind in stage.given for said in lesson.steps[kind])
    for kind in stage.target:
        for said in lesson.steps[kind]:
            told = _told(said.words, lesson) if kind == "conclusion" else said.words
            for place, shown in (("the given steps", given), ("the question", lesson.stem)):
                yield SharedPassage(kind, place, overlap(said.words, shown), word_similarity(told, shown))


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


def largest(shared: Iterable[SharedPassage]) -> float:
    """The largest share of runs."""
    return max((one.runs for one in shared), default=0.0)


@dataclass(frozen=True, slots=True)
class RecordFault:
    """A check that one record fails, and how."""

    check: Check
    stage: str
    task: str
    message: str

    def __str__(self) -> str:
        return f"{self.stage}, {self.task}: {self.check}: {self.message}"


@dataclass(frozen=True, slots=True)
class ProofLimits:
    """What records are held against: a limit of tokens and a test's pictures, where they are given."""

    limit_tokens: int | None = None
    test: Path | None = None
    twins: SharedPictures = NOTHING_SHARED
    same_bits: int | None = None


@dataclass
class CurriculumProof:
    """Counts by check, the faults that were found, and the largest overlap of those that passed.

    Every record is `checked` once, however often it is trained on; `records` are those of the training, `different` how
    many different ones it has.
    """

    against: ProofLimits
    tokens: str
    records: int = 0
    different: int = 0
    checked: int = 0
    worst_overlap: float = 0.0
    longest: int = 0
    failed: Counter[Check] = field(default_factory=Counter)
    failed_records: int = 0
    faults: list[RecordFault] = field(default_factory=list)
    reader: str = NGRAM
    leakage: list[LeakageFigure] = field(default_factory=list)

    def take(self, faults: list[RecordFault], overlap: float, tokens: TokenCounts) -> bool:
        """Count one record; does it hold?"""
        self.checked += 1
        self.failed.update({fault.check for fault in faults})
        self.faults += faults[: max(0, _NAMED - len(self.faults))]
        if faults:
            self.failed_records += 1
        else:
            self.worst_overlap = max(self.worst_overlap, overlap)
            self.longest = max(self.longest, tokens.total)
        return not faults

    def count(self, stages: Sequence[ScheduleEntries]) -> None:
        """Count what is trained on, all of which passed."""
        self.records = sum(map(len, stages))
        self.different = len(
            {pair for one in stages for pair in zip(one.forms.tolist(), one.rows.tolist(), strict=True)}
        )

    def asked(self, check: Check) -> bool:
        """Was there something to hold records against?"""
        wanted = {"tokens": self.against.limit_tokens is not None, "test": self.against.test is not None}
        return wanted.get(check, True)

    def refuse(self) -> None:
        """End here if any record failed, naming the first of them."""
        if not self.faults:
            return
        shown = [f"  {fault}" for fault in self.faults[:_SHOWN]]
        more = self.failed_records - len({(fault.stage, fault.task) for fault in self.faults[:_SHOWN]})
        if more > 0:
            shown.append(f"  … and {more:,} more")
        raise FoundError(
            "\n".join([f"{self.failed_records:,} of {self.checked:,} records fail a check:", *shown]),
            "correct the benchmark, or add --drop to leave them out; nothing was written",
        )

    def to_json(self) -> dict[str, Any]:
        """As in `proof.json`."""
        checks = {
            check: {"says": says, "checked": self.checked, "failed": self.failed[check]} if self.asked(check) else None
            for check, says in CHECKS.items()
        }
        against = self.against
        return {
            "records": self.records,
            "different": self.different,
            "checked": self.checked,
            "proved": self.checked - self.failed_records,
            "checks": checks,
            "largest_overlap": round(self.worst_overlap, 4),
            "overlap_allowed": MOST,
            "longest_record": self.longest,
            "tokens": self.tokens,
            "limit_tokens": against.limit_tokens,
            "test": None if against.test is None else against.test.resolve().name,
            "same_bits": against.same_bits,
            "test_pictures": against.twins.pictures,
            "test_pictures_by_checksum_alone": against.twins.by_checksum,
            "leakage": summarized(self.leakage, self.reader),
            "dropped": [
                {"check": fault.check, "stage": fault.stage, "task": fault.task, "message": fault.message}
                for fault in self.faults
            ],
        }


class Prover:
    """Holds records against the checks."""

    def __init__(self, pool: QuestionPool, counter: TokenCounter, against: ProofLimits, max_pixels: int) -> None:
        self._pool, self._counter, self._against = pool, counter, against
        # Neighbouring records share pictures.
        self._unusable = lru_cache(maxsize=4096)(partial(unusable, max_pixels=max_pixels))

    def prove(self, exercise: Exercise, proof: CurriculumProof) -> TokenCounts | None:
        """The tokens of a record that holds; None, and its faults in the proof, for one that does not."""
        pictures = [self._pool.picture(name) for name in exercise.lesson.images]
        tokens = self._counter.count(exercise.prompt, exercise.target, [shown.size for shown in pictures])
        shared = list(shared_text(exercise))
        found = [
            RecordFault(check, exercise.stage.name, exercise.lesson.task, message)
            for check, message in self._faults(exercise, pictures, tokens, shared)
        ]
        return tokens if proof.take(found, largest(shared), tokens) else None

    def _faults(
        self, exercise: Exercise, pictures: list[LessonPicture], tokens: TokenCounts, shared: list[SharedPassage]
    ) -> Iterator[tuple[Check, str]]:
        lesson, limit = exercise.lesson, self._against.limit_tokens
        yield from _leaks(exercise, shared)
        if all(option.key != lesson.answer for option in lesson.options):
            yield "answer", f"the answer is {lesson.answer}, which is none of the options"
        elif "conclusion" in exercise.stage.target and lesson.concludes != lesson.answer:
            yield "answer", f"the answer is {lesson.answer}, but the conclusion says {lesson.concludes}"
        if (marks := exercise.prompt.count(IMAGE)) != len(lesson.images):
            yield "pictures", f"{len(lesson.images)} pictures, but {IMAGE} {marks} times"
        if IMAGE in exercise.target:
            yield "pictures", f"{IMAGE} in the target, where there is no picture"
        for place, text in (("prompt", exercise.prompt), ("target", exercise.target)):
            if (mark := foreign_mark(text)) is not None:
                yield "pictures", f"{mark} in the {place}, which a tokenizer may take for its own"
        yield from _strays(exercise)
        for name, shown in zip(lesson.images, pictures, strict=True):
            if (why := self._unusable(shown.path)) is not None:
                yield "files", f'"{name}" {why}'
            if (twin := self._against.twins.found.get(name)) is not None:
                how = "is" if twin.same_file else "looks like"
                yield "test", f'"{name}" {how} "{twin.test}" of the test'
        if limit is not None and tokens.total > limit:
            yield "tokens", f"{tokens.total:,} tokens are over {limit:,}"


def _leaks(exercise: Exercise, shared: list[SharedPassage]) -> Iterator[tuple[Check, str]]:
    worst = max((one for one in shared if one.leaks), key=lambda one: (one.likeness, one.runs), default=None)
    if worst is not None:
        yield "leak", str(worst)
    lesson = exercise.lesson
    if is_marked(lesson):
        yield "leak", f"the list of options shows that the answer is {lesson.answer}"
    given = "\n".join(said.words for kind in exercise.stage.given for said in lesson.steps[kind])
    for place, text, reasons in (("a given step", given, True), ("the question", lesson.stem, False)):
        if (sentence := leaking_sentence(text, lesson, reasons=reasons)) is not None:
            yield "leak", f'{place} says that the answer is {lesson.answer}: "{_short(sentence)}"'
        elif (sentence := told_to_reader(text, lesson)) is not None:
            yield "leak", f'a reader of {place} alone is sure that the answer is {lesson.answer}: "{_short(sentence)}"'


def _strays(exercise: Exercise) -> Iterator[tuple[Check, str]]:
    """Pictures that steps speak of, by number or by a region, and that are neither shown nor named in the question."""
    lesson = exercise.lesson
    known = {*range(1, len(lesson.images) + 1), *pictures_named(lesson.question)}
    for kind in (*exercise.stage.given, *exercise.stage.target):
        for said in lesson.steps[kind]:
            for number in sorted(pictures_named(said.words) - known):
                shown = counted(len(lesson.images), "picture")
                yield "steps", f"{TITLES[kind]} speaks of picture {number}, but the question shows {shown}"
            for name in said.elsewhere:
                yield "steps", f'{TITLES[kind]} is about "{name}", which the question does not show'


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= _LONGEST else f"{sentence[: _LONGEST - 1]}…"
