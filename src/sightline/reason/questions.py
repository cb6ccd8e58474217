"""The questions of a benchmark, and asking a model about all of them.

A question is a task with its ground truth and where its pictures are: all that a worker process needs. Asking is priced
beforehand, runs many calls at once, and stops cleanly when a budget is used up or a server is down.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from sightline.benchmark.folder import read_benchmark
from sightline.calls.ask_many import CallJob, ask_many, price_first
from sightline.calls.plan import CostPlan
from sightline.calls.session import Session
from sightline.errors import SightlineError, UserError
from sightline.metrics.choices.options import right_option
from sightline.retrieval.index.content import absolute
from sightline.runs.task_prompt import ShownPicture, TaskPrompts
from sightline.types import Benchmark, ChatRequest, Failure, ImagePart, Picture, Task, TaskKind, Truth

_AT_ONCE = 128
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class TaskQuestion:
    """A task, what is true of it, and its pictures with addresses that hold anywhere on this machine."""

    task: Task
    truth: Truth
    pictures: Mapping[str, Picture]


def questions_of(
    benchmark: Benchmark, base: Path | None, kinds: Collection[TaskKind], limit: int | None = None
) -> Iterator[TaskQuestion]:
    """The tasks of these kinds whose truth is known, in their order."""
    known = benchmark.corpus.pictures
    asked = (task for task in benchmark.tasks.values() if task.kind in kinds and task.id in benchmark.truth)
    for task in islice(asked, limit):
        own = {ref.id: absolute(known[ref.id], base) for ref in task.shown if ref.id in known}
        yield TaskQuestion(task, benchmark.truth[task.id], own)


def content_of(question: TaskQuestion) -> tuple[str | ImagePart, ...] | Failure:
    """Its words and pictures as a message has them; a failure where a picture can't be shown."""
    content = TaskPrompts(question.pictures).content(question.task)
    if isinstance(content, Failure):
        return content
    return tuple(part.part if isinstance(part, ShownPicture) else part for part in content)


def has_right_option(task: Task, truth: Truth) -> bool:
    """Is one of the options right? Yes where there is none to choose."""
    return task.kind != "choose" or right_option(task, truth) is not None


def require_tasks(questions: Collection[object], benchmark: Benchmark, kinds: Collection[TaskKind]) -> None:
    """Refuse a benchmark that has nothing to ask about."""
    if not questions:
        listed = " or ".join(sorted(kinds))
        raise UserError(f'"{benchmark.name}" has no {listed} tasks with a truth.', "give a benchmark that has some")


class QuestionResults(NamedTuple, Generic[R]):
    """What came of questions, by task; `stopped` is to be raised when that is written."""

    results: dict[str, R | Failure]
    stopped: SightlineError | None


@dataclass(frozen=True, slots=True)
class QuestionWork:
    """A benchmark on disk, and what is needed to ask about its questions."""

    source: Path
    session: Session = field(default_factory=Session)
    limit: int | None = None

    def opened(self, kinds: Collection[TaskKind]) -> tuple[Benchmark, list[TaskQuestion]]:
        """The benchmark, and its questions of these kinds."""
        benchmark = read_benchmark(self.source)
        questions = list(questions_of(benchmark, self.source, kinds, self.limit))
        require_tasks(questions, benchmark, kinds)
        return benchmark, questions

    def ask(self, questions: Sequence[TaskQuestion], job: CallJob[TaskQuestion, R]) -> QuestionResults[R]:
        """Each question through a job, until all are done or a budget, or a server that is down, stops it."""
        found: dict[str, R | Failure] = {}
        limits = self.session.calls.limits
        at_once = _AT_ONCE if limits is None else max(8, limits.most)
        try:
            for question, result in ask_many(questions, job, self.session, concurrency=at_once):
                found[question.task.id] = result
        except SightlineError as stopped:
            return QuestionResults(found, stopped)
        return QuestionResults(found, None)

    def price(self, model: str, stage: str, requests: Iterable[ChatRequest | Failure], calls: int) -> CostPlan:
        """What so many requests would cost; nobody is asked."""
        return CostPlan((price_first(requests, model, stage, self.session, calls),))
