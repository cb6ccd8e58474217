"""A compiled curriculum: its records in the order of the training, made when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sightline.reason.curriculum.checks import CurriculumProof
from sightline.reason.curriculum.lessons import Exercise, Lesson
from sightline.reason.curriculum.pictures import CurriculumPictures
from sightline.reason.curriculum.plan import CurriculumPlan
from sightline.reason.curriculum.pool import QuestionPool
from sightline.reason.curriculum.schedule import StageLayout
from sightline.reason.curriculum.tokens import TokenCounter, TokenCounts

DIGITS = 7


@dataclass(frozen=True, slots=True)
class CurriculumRecord:
    """One record of the training; `order` counts from 1 over all stages.

    `images` are paths from the curriculum's folder, in the order of the prompt's `<image>`.
    """

    order: int
    phase: str
    stage: str
    exercise: Exercise
    images: tuple[str, ...]
    tokens: TokenCounts

    @property
    def id(self) -> str:
        return f"{self.order:0{DIGITS}}-{self.exercise.lesson.task}"

    @property
    def messages(self) -> list[dict[str, str]]:
        """The user's and the assistant's message; the loss belongs on the second alone."""
        return [
            {"role": "user", "content": self.exercise.prompt},
            {"role": "assistant", "content": self.exercise.target},
        ]


@dataclass(frozen=True, slots=True)
class CompiledCurriculum:
    """Everything that a format needs: the plan, the stages as laid out, their records, the proof."""

    plan: CurriculumPlan
    seed: int
    stages: list[StageLayout]
    proof: CurriculumProof
    pool: QuestionPool
    counter: TokenCounter
    pictures: CurriculumPictures

    @property
    def count(self) -> int:
        return sum(len(stage.entries) for stage in self.stages)

    @property
    def tokens(self) -> int:
        return sum(stage.tokens for stage in self.stages)

    @property
    def trained(self) -> str:
        """Where the commands of a README put what is trained: beside the curriculum, which may be written again."""
        return f"../{re.sub(r'[^A-Za-z0-9._-]+', '-', self.plan.name)}-{self.seed}-trained"

    def records(self, only: StageLayout | None = None) -> Iterator[CurriculumRecord]:
        """The records of one stage, or of all; each time anew."""
        order = 0
        for stage in self.stages:
            for form, row in zip(stage.entries.forms.tolist(), stage.entries.rows.tolist(), strict=True):
                order += 1
                if only is None or stage is only:
                    yield self._record(order, stage, form, row)

    def rows(self) -> list[int]:
        """The rows of all questions that are taught, in the order of the benchmark."""
        return sorted({row for stage in self.stages for row in stage.entries.rows.tolist()})

    def lessons(self) -> Iterator[Lesson]:
        """Every question that is taught, once."""
        return (self.pool.lesson(row) for row in self.rows())

    def _record(self, order: int, stage: StageLayout, form: int, row: int) -> CurriculumRecord:
        exercise = Exercise(self.pool.lesson(row), self.plan.stages[form])
        names = exercise.lesson.images
        sizes = [self.pool.picture(name).size for name in names]
        tokens = self.counter.count(exercise.prompt, exercise.target, sizes)
        return CurriculumRecord(order, stage.phase, stage.name, exercise, tuple(map(self.pictures.path, names)), tokens)
