"""Leakage as a figure: how often a reader of the text alone guesses the answer, by stage and by kind of step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from sightline.calls.ask_many import Ask, AskJob, ask_many
from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.metrics.answers.reply import plain, sentences
from sightline.metrics.choices.parse import parse_choice
from sightline.metrics.statistics.estimates import estimate
from sightline.reason.curriculum.lessons import Exercise, Lesson
from sightline.reason.curriculum.plan import CurriculumStage
from sightline.reason.curriculum.reader import (
    SURE,
    BlindQuestion,
    NgramReader,
    names_every_option,
    option_features,
    shipped_reader,
)
from sightline.types import ChatRequest, Estimate, Failure, Message, Option
from sightline.types.chat import split_model

STAGE = "leakage"
NGRAM = "ngram"
MOST = 500
"""Records of a stage that are read for the figure."""
_FOLDS = 5
_MAX_TOKENS = 64
_ASKED = """\
Below is the text of a question about pictures that you cannot see. Guess which option is right from the text alone.
Write the letter of the option and nothing else.

"""


def blind_question(lesson: Lesson, text: str) -> BlindQuestion:
    """A text about a lesson's options, as a reader gets it."""
    return BlindQuestion(text, {option.key: option.text for option in lesson.options}, lesson.answer)


def told_to_reader(text: str, lesson: Lesson) -> str | None:
    """The sentence from which the shipped reader is sure of the right option; None without any."""
    for sentence in sentences(plain(text)):
        question = blind_question(lesson, sentence)
        sure = shipped_reader().shares(option_features(question)).get(lesson.answer, 0.0) >= SURE
        if sure and not names_every_option(question):
            return sentence
    return None


@dataclass(frozen=True, slots=True)
class LeakageFigure:
    """Right guesses among the records of a stage or a kind of step, beside those of chance."""

    of: str
    name: str
    accuracy: Estimate
    chance: float
    unanswered: int = 0
    "Records that got no guess: a call that failed, or a reply that names no option. They are in no figure."

    @property
    def leaks(self) -> bool:
        """Is the whole interval above chance?"""
        return self.accuracy.low > self.chance

    def __str__(self) -> str:
        left_out = f", {self.unanswered:,} without a guess" if self.unanswered else ""
        if not self.accuracy.n:
            return f"{self.name}: nothing was guessed{left_out}"
        figure, verdict = f"{self.accuracy:.2f}", "above chance" if self.leaks else "not above chance"
        if (why := self.accuracy.no_interval) is not None:
            figure, verdict = f"{self.accuracy.mean:.2f}", f"{why} to tell"
        return f"{self.name}: {figure} of {self.accuracy.n:,}{left_out}, chance {self.chance:.2f}: {verdict}"

    def to_json(self) -> dict[str, Any]:
        """As in `proof.json`."""
        return {
            self.of: self.name,
            "accuracy": {"mean": self.accuracy.mean, "low": self.accuracy.low, "high": self.accuracy.high},
            "n": self.accuracy.n,
            "unanswered": self.unanswered,
            "chance": self.chance,
            "above_chance": self.leaks,
        }


class BlindReader(Protocol):
    """Guesses from texts alone; the key of an option, or None, for each."""

    name: str

    def guesses(self, questions: Sequence[BlindQuestion]) -> list[str | None]: ...


class CrossfittedReader:
    """The shipped reader, trained further on the records of the other folds."""

    name = NGRAM

    def guesses(self, questions: Sequence[BlindQuestion]) -> list[str | None]:
        read = [(option_features(one), one.answer) for one in questions]
        found: list[str | None] = [None] * len(read)
        for fold in range(min(_FOLDS, len(read))):
            others = (one for at, one in enumerate(read) if at % _FOLDS != fold)
            reader = NgramReader.trained(others, shipped_reader().weights)
            for at in range(fold, len(read), _FOLDS):
                shares = reader.shares(read[at][0])
                best = max(shares.values())
                tied = [key for key, share in shares.items() if share == best]
                found[at] = Random(f"{at}").choice(tied)  # By lot: answers may follow the order of questions.
        return found


class ChatReader:
    """Any chat model, asked once for each record through the journal and the budget."""

    def __init__(self, model: str, session: Session) -> None:
        self.name = split_model(model)[0]
        self._model, self._session = model, session

    def guesses(self, questions: Sequence[BlindQuestion]) -> list[str | None]:
        asks = [Ask(str(at), self._request(one)) for at, one in enumerate(questions)]
        replies = [reply for _, reply in ask_many(asks, AskJob(STAGE, self._model), self._session)]
        failures = [reply for reply in replies if isinstance(reply, Failure)]
        if failures and len(failures) == len(replies):
            raise UserError(f"{failures[0].message.rstrip('.')}.", "check the model, or leave out --leak-reader")
        return [
            None if isinstance(reply, Failure) else _choice(reply.text, one)
            for one, reply in zip(questions, replies, strict=True)
        ]

    def _request(self, question: BlindQuestion) -> ChatRequest:
        options = "\n".join(f"{key}. {words}" for key, words in question.options.items())
        shown = f"{_ASKED}{question.text}\n\nOptions:\n{options}"
        return ChatRequest(self.name, (Message("user", (shown,)),), max_tokens=_MAX_TOKENS)


def _choice(text: str, question: BlindQuestion) -> str | None:
    return parse_choice(text, [Option(key, (words,)) for key, words in question.options.items()]).option


def measured_leakage(
    exercises: Iterable[tuple[CurriculumStage, Sequence[Lesson]]], reader: BlindReader
) -> Iterator[LeakageFigure]:
    """The figure of each stage, and of each kind of step that any stage gives, over the records that are trained on."""
    by_kind: dict[str, dict[str, BlindQuestion]] = {}
    for stage, lessons in exercises:
        shown = lessons[:MOST]
        yield _figure("stage", stage.name, [_prompted(Exercise(one, stage)) for one in shown], reader)
        for kind in stage.given:
            kept = by_kind.setdefault(kind, {})
            kept.update((one.task, blind_question(one, one.written([kind]))) for one in shown[: MOST - len(kept)])
    for step, questions in by_kind.items():
        yield _figure("step", step, [*questions.values()], reader)


def _prompted(exercise: Exercise) -> BlindQuestion:
    """The list of options names each of them once, which tells a reader of n-grams nothing."""
    return blind_question(exercise.lesson, f"{exercise.lesson.stem}\n{exercise.given}")


def _figure(of: str, name: str, questions: list[BlindQuestion], reader: BlindReader) -> LeakageFigure:
    guesses = zip(reader.guesses(questions), questions, strict=True)
    guessed = [(guess, one) for guess, one in guesses if guess is not None]
    right = [float(guess == one.answer) for guess, one in guessed]
    chance = sum(1 / len(one.options) for _, one in guessed) / max(1, len(guessed))
    return LeakageFigure(of, name, estimate(right, proportion=True), chance, len(questions) - len(guessed))


def summarized(figures: Sequence[LeakageFigure], reader: str) -> Mapping[str, Any]:
    """As in `proof.json`."""
    return {"reader": reader, "figures": [one.to_json() for one in figures]}
