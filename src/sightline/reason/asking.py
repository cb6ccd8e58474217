"""Asking a model about the questions of a benchmark: many at once, priced beforehand, stopped cleanly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from sightline import bench
from sightline.calls.ask_many import Job, ask_many, price_first
from sightline.calls.session import Session
from sightline.config import Config
from sightline.engine.plan import Plan
from sightline.errors import SightlineError
from sightline.models.asking import Asking
from sightline.reason.questions import Question, questions_of, require_tasks
from sightline.types import Benchmark, ChatRequest, Failure, TaskKind

_AT_ONCE = 128
R = TypeVar("R")


class Came(NamedTuple, Generic[R]):
    """What came of questions, by task; `stopped` is to be raised when that is written."""

    results: dict[str, R | Failure]
    stopped: SightlineError | None


@dataclass(frozen=True, slots=True)
class Work:
    """A benchmark on disk, and what is needed to ask about its questions."""

    source: Path
    workspace: Path
    config: Config = field(default_factory=Config)
    asking: Asking = field(default_factory=Asking)
    limit: int | None = None
    engine: str = "local"

    def opened(self, kinds: Collection[TaskKind]) -> tuple[Benchmark, list[Question]]:
        """The benchmark, and its questions of these kinds."""
        benchmark = bench.read(self.source)
        questions = list(questions_of(benchmark, self.source, kinds, self.limit))
        require_tasks(questions, benchmark, kinds)
        return benchmark, questions

    @property
    def session(self) -> Session:
        """Where and how models are asked."""
        return Session(self.workspace, self.config, self.asking, self.engine)

    def ask(self, questions: Sequence[Question], job: Job[Question, R]) -> Came[R]:
        """Each question through a job, until all are done or a budget, or a server that is down, stops it."""
        found: dict[str, R | Failure] = {}
        limits = self.asking.limits
        at_once = _AT_ONCE if limits is None else max(8, limits.most)
        try:
            for question, result in ask_many(questions, job, self.session, concurrency=at_once):
                found[question.task.id] = result
        except SightlineError as stopped:
            return Came(found, stopped)
        return Came(found, None)

    def price(self, model: str, stage: str, requests: Iterable[ChatRequest | Failure], calls: int) -> Plan:
        """What so many requests would cost; nobody is asked."""
        return Plan((price_first(requests, model, stage, self.session, calls),))
