"""What is true of a task, and what a system said: one small class for each form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sightline.class_names import known_as
from sightline.types.chat import Partial, Usage
from sightline.types.corpus import PictureRef

StepKind: TypeAlias = Literal[
    "summary", "caption", "text-to-region", "region-to-region", "conclusion", "think", "search"
]


@known_as("Step")
@dataclass(frozen=True, slots=True)
class Step:
    """One step of reasoning, with the pictures or regions that it speaks of."""

    kind: StepKind
    text: str
    pictures: tuple[PictureRef, ...] = ()


@known_as("Relevance")
@dataclass(frozen=True, slots=True)
class Relevance:
    """Truth of `rank`: the grade of each judged picture; 0 is judged and not relevant, absent is unjudged."""

    grades: Mapping[str, int]


@known_as("PictureSet")
@dataclass(frozen=True, slots=True)
class PictureSet:
    """Truth and prediction of `select`: exactly these pictures."""

    pictures: tuple[str, ...]


@known_as("Answer")
@dataclass(frozen=True, slots=True)
class Answer:
    """Truth of `answer`: the text, other right forms of it, and how exact a number must be."""

    text: str
    aliases: tuple[str, ...] = ()
    translations: Mapping[str, str] = field(default_factory=dict)
    unit: str | None = None
    tolerance: float | None = None
    steps: tuple[Step, ...] = ()


@known_as("Choice")
@dataclass(frozen=True, slots=True)
class Choice:
    """Truth and prediction of `choose`: the option's key, how it was read, and the steps that led to it."""

    option: str | None
    status: str = "given"
    steps: tuple[Step, ...] = ()


@known_as("Trace")
@dataclass(frozen=True, slots=True)
class Trace:
    """Prediction of `describe`, or one reference: thinking kept apart from the answer."""

    thinking: str
    answer: str
    model: str | None = None


@known_as("Traces")
@dataclass(frozen=True, slots=True)
class Traces:
    """Truth of `describe`: one or more reference traces."""

    references: tuple[Trace, ...]


@known_as("Ranking")
@dataclass(frozen=True, slots=True)
class Ranking:
    """Prediction of `rank`: pictures, best first, with scores where the system gave them."""

    pictures: tuple[str, ...]
    scores: tuple[float, ...] | None = None


@known_as("Text")
@dataclass(frozen=True, slots=True)
class Text:
    """Prediction of `answer`: free text."""

    text: str


@known_as("Failure")
@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, and why: always counted and shown, never mistaken for an answer.

    `usage` and `usd` are what a model's call took that failed (`usd` None: nobody knows); without `usage` there was
    no such call. `partial` is what a model had said until then: no answer. `from_journal`: it cost nothing now.
    """

    kind: str
    message: str
    retryable: bool = False
    usage: Usage | None = field(default=None, compare=False, repr=False)
    usd: float | None = field(default=None, compare=False, repr=False)
    partial: Partial | None = field(default=None, compare=False, repr=False)
    from_journal: bool = field(default=False, compare=False, repr=False)


Truth: TypeAlias = Relevance | PictureSet | Answer | Choice | Traces
Prediction: TypeAlias = Ranking | PictureSet | Text | Choice | Trace | Failure


def grades_of(truth: Truth | None) -> Mapping[str, int]:
    """The grade of each judged picture, 1 for those of an exact set; empty where the truth is no pictures."""
    if isinstance(truth, PictureSet):
        return dict.fromkeys(truth.pictures, 1)
    return truth.grades if isinstance(truth, Relevance) else {}


def relevant_pictures(truth: Truth | None) -> tuple[str, ...]:
    """The pictures to be found, the best first."""
    grades = grades_of(truth)
    return tuple(sorted((name for name, grade in grades.items() if grade > 0), key=lambda name: -grades[name]))
