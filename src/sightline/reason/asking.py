"""Asking a model about the questions of a benchmark: many at once, priced beforehand, stopped cleanly."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from sightline import bench
from sightline.config import Config
from sightline.engine.budget import Budget
from sightline.engine.plan import Plan
from sightline.engine.spreading import StageSpec, run_spread
from sightline.errors import SightlineError
from sightline.models.asking import Asking
from sightline.models.chat import open_chat
from sightline.reason.questions import Question, questions_of, require_tasks
from sightline.types import Benchmark, ChatRequest, Failure, TaskKind

_AT_ONCE = 128
_PLANNED = 2_000
"""Requests that a plan looks at; of more, the first so many stand for the rest."""
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

    def ask(self, questions: Sequence[Question], spec: StageSpec[Question, R]) -> Came[R]:
        """Each question through a stage, until all are done or a budget, or a server that is down, stops it."""
        found: dict[str, R | Failure] = {}
        limits, budget = self.asking.limits, self.asking.budget
        results = run_spread(
            questions,
            spec,
            self.workspace,
            engine=self.engine,
            budget=budget if isinstance(budget, Budget) else None,
            concurrency=_AT_ONCE if limits is None else max(8, limits.most),
        )
        try:
            for question, result in results:
                found[question.task.id] = result
        except SightlineError as stopped:
            return Came(found, stopped)
        return Came(found, None)

    def price(self, model: str, stage: str, requests: Iterable[ChatRequest | Failure], calls: int) -> Plan:
        """What so many requests would cost; nobody is asked."""
        sent = (request for request in requests if not isinstance(request, Failure))

        async def planned() -> Plan:
            asked = replace(self.asking, plan=True)
            async with open_chat(model, self.config, workspace=self.workspace, asking=asked, stage=stage) as caller:
                return Plan((caller.plan(islice(sent, _PLANNED), None if calls <= _PLANNED else calls),))

        return asyncio.run(planned())
